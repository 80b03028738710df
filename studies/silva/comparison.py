# SPDX-License-Identifier: Apache-2.0
"""Accelerations of this package against MuJoCo's, by four ways of knowing the latter."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kane_dynamics as kd
from kane_dynamics.typing import Floats
from studies.silva.cases import Case
from studies.silva.recording import SAMPLE, Recording
from studies.silva.waveforms import (
    Statistics,
    butterworth_low_pass,
    forward_difference,
    max_error,
    multiple_correlation,
    root_mean_square_error,
    statistics,
)

METHODS = ('newton_euler', 'gauss', 'kane', 'canonical')
COMPILED = 'compiled'  # kd.compile(...).forward_dynamics
REPORTED, PAPER = 'reported', 'paper'
REFERENCES = {
    REPORTED: 'accelerations that MuJoCo reports at the samples',
    'differenced': "MuJoCo's speeds, differentiated forward",
    'both ways': 'speeds filtered forwards and backwards, then differentiated',
    PAPER: "speeds filtered forwards, then differentiated: the paper's protocol",
}
ORDER, CUTOFF = 2, 10.0  # of the Butterworth filter, [Hz]; not printed in the paper
TARGET = 0.9999  # least CMC over the coordinates against reported accelerations


@dataclass(frozen=True, eq=False)
class Agreement:
    """
    One method against one reference.

    Parameters
    ----------
    method, reference : str
        Of `METHODS` or `COMPILED`, of `REFERENCES`.
    correlation, rmse, error : ndarray, shape (nv,)
        CMC, root mean square and largest error of each coordinate [1, rad/s^2 or m/s^2].
    spread : ndarray, shape (nv,)
        Standard deviation of each reference [rad/s^2 or m/s^2].

    """

    method: str
    reference: str
    correlation: Floats
    rmse: Floats
    error: Floats
    spread: Floats

    @property
    def row(self) -> Statistics:
        """Return CMC over the coordinates."""
        return statistics(self.correlation)

    @property
    def passed(self) -> bool | None:
        """Return whether the target is met; None where there is none."""
        return bool(self.row.minimum >= TARGET) if self.reference == REPORTED else None

    def missed(self, names: Sequence[str]) -> list[str]:
        """Return the coordinates below the target, NaN included."""
        return [
            name
            for name, value in zip(names, self.correlation, strict=True)
            if not value >= TARGET
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return everything, for the file."""
        row = self.row
        return {
            'method': self.method,
            'reference': self.reference,
            'cmc': {'min': row.minimum, 'mean': row.mean, 'std': row.std, 'max': row.maximum},
            'passed': self.passed,
            'cmc_of_coordinates': self.correlation.tolist(),
            'rmse_of_coordinates': self.rmse.tolist(),
            'max_error_of_coordinates': self.error.tolist(),
            'std_of_reference': self.spread.tolist(),
        }


def lack(correlation: float) -> str:
    """Return 1 - CMC as text."""
    less = 1.0 - correlation
    return '< 1e-15' if abs(less) < 1e-15 else f'{less:.1e}'


def accelerations(
    case: Case,
    recording: Recording,
    method: str,
    samples: NDArray[np.int64],
    progress: Callable[[int], None] = lambda done: None,
) -> Floats:
    """
    Return the accelerations of one method at the states and efforts of some samples.

    The states are MuJoCo's, with what sideways slip they have: nothing is projected.
    """
    q, v, tau = recording.q[samples], recording.v[samples], recording.tau[samples]
    if method == COMPILED:
        fast = kd.compile(case.robot, case.constraints)
        progress(len(samples))
        return np.array(fast.acceleration(q, v, tau))
    rows = []
    for state in zip(q, v, tau, strict=True):
        motion = kd.forward_dynamics(case.robot, *state, case.constraints, method)
        rows.append(motion.acceleration)
        progress(len(rows))
    return np.array(rows)


def filtered_and_differenced(v: Floats, cutoff: float, zero_phase: bool) -> Floats:
    """Return accelerations from sampled speeds, two samples shorter."""
    smooth = butterworth_low_pass(v, cutoff, 1.0 / SAMPLE, ORDER, zero_phase)
    return forward_difference(smooth, SAMPLE)


def references(recording: Recording) -> dict[str, Floats]:
    """Return MuJoCo's accelerations at all samples but the last two, by each of `REFERENCES`."""
    v = recording.v
    found = (
        recording.acceleration[:-2],
        forward_difference(v, SAMPLE),
        filtered_and_differenced(v, CUTOFF, zero_phase=True),
        filtered_and_differenced(v, CUTOFF, zero_phase=False),
    )
    return dict(zip(REFERENCES, found, strict=True))


def agreement(method: str, reference: str, ours: Floats, theirs: Floats) -> Agreement:
    """Return CMC and errors of each coordinate, for samples as rows."""
    with warnings.catch_warnings():
        # what is undefined is NaN in the tables and fails the target
        warnings.simplefilter('ignore', RuntimeWarning)
        correlation = multiple_correlation(ours, theirs)
    return Agreement(
        method,
        reference,
        correlation,
        root_mean_square_error(ours, theirs),
        max_error(ours, theirs),
        theirs.std(axis=0),
    )
