# SPDX-License-Identifier: Apache-2.0
"""One robot: its motion in MuJoCo, our accelerations, and how well they agree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.typing import Floats
from studies.silva import contact
from studies.silva.cases import Case
from studies.silva.comparison import (
    COMPILED,
    METHODS,
    REPORTED,
    Agreement,
    accelerations,
    agreement,
    filtered_and_differenced,
    references,
)
from studies.silva.recording import Recording, record

Tick = Callable[[str, float], None]  # what is done, and how much of it, 0 to 1
CUTOFFS = (20.0, 10.0, 5.0, 3.0, 2.0)  # of the one-way filter [Hz]
TIME_CONSTANTS = (4e-3, 2e-3, 1e-3)  # softer contacts than that of the evaluation [s]
GAUSS = 'gauss'


@dataclass(frozen=True, eq=False)
class Evaluation:
    """
    Everything about one robot.

    Parameters
    ----------
    case : Case
        The robot.
    recording : Recording
        Its motion; two samples longer than what is compared.
    samples : ndarray of int
        Samples that are compared.
    accelerations : dict of str to ndarray, shape (len(samples), nv)
        By method.
    references : dict of str to ndarray, shape (len(samples), nv)
        By reference.
    agreements : list of Agreement
        Of each method with each reference.
    cutoffs : list of tuple
        Cut-off [Hz] of the one-way filter, and the agreement of dqGP with what it leaves.

    """

    case: Case
    recording: Recording
    samples: NDArray[np.int64]
    accelerations: dict[str, Floats]
    references: dict[str, Floats]
    agreements: list[Agreement]
    cutoffs: list[tuple[float, Agreement]]

    def of(self, method: str, reference: str = REPORTED) -> Agreement:
        """Return one agreement."""
        for found in self.agreements:
            if (found.method, found.reference) == (method, reference):
                return found
        raise KeyError((method, reference))

    def as_dict(self) -> dict[str, Any]:
        """Return the figures, for the file."""
        recording = self.recording
        return {
            'robot': self.case.title,
            'seed': self.case.seed,
            'coordinates': list(self.case.robot.velocity_names),
            'constraint_rows': [row for c in self.case.constraints for row in c.labels],
            'samples': len(self.samples),
            'duration_s': float(recording.time[self.samples[-1]]),
            'mujoco_step_s': recording.step,
            'max_speed': np.abs(recording.v).max(axis=0).tolist(),
            'agreements': [found.as_dict() for found in self.agreements],
            'one_way_filter': [
                {'cutoff_hz': cutoff, **found.as_dict()} for cutoff, found in self.cutoffs
            ],
        }


@dataclass(frozen=True)
class Softness:
    """
    What a softer contact costs.

    Parameters
    ----------
    time_constant, step : float
        Of the contact and of MuJoCo [s].
    slip, expected : float
        Largest sideways speed, and what it should be [m/s].
    least : float
        Least CMC over the coordinates.
    error : float
        Largest error of an acceleration [rad/s^2 or m/s^2].

    """

    time_constant: float
    step: float
    slip: float
    expected: float
    least: float
    error: float


def evaluate(case: Case, samples: int, tick: Tick) -> Evaluation:
    """Simulate one robot and compare; tick(what is done, how much of everything, 0 to 1)."""
    methods = (*METHODS, COMPILED)
    phases = 1 + len(methods)
    length = samples + 2
    recording = record(case, length, lambda k: tick('MuJoCo', k / length / phases))
    chosen = np.arange(0, samples, case.stride)
    found = {}
    for before, method in enumerate(methods, start=1):
        tick(method, before / phases)
        found[method] = accelerations(
            case,
            recording,
            method,
            chosen,
            lambda k, m=method, b=before: tick(m, (b + k / len(chosen)) / phases),
        )
    known = {name: rows[chosen] for name, rows in references(recording).items()}
    agreements = [
        agreement(method, name, ours, theirs)
        for method, ours in found.items()
        for name, theirs in known.items()
    ]
    cutoffs = []
    for cutoff in CUTOFFS:
        theirs = filtered_and_differenced(recording.v, cutoff, zero_phase=False)[chosen]
        cutoffs.append((cutoff, agreement(GAUSS, f'{cutoff:g} Hz', found[GAUSS], theirs)))
    return Evaluation(case, recording, chosen, found, known, agreements, cutoffs)


def softness(done: Evaluation, tick: Tick) -> Iterator[Softness]:
    """Yield slip and agreement of dqGP for softer contacts, then for that of the evaluation."""
    case, samples = done.case, len(done.recording.time)
    for before, time_constant in enumerate(TIME_CONSTANTS):
        what = f'contact of {1e3 * time_constant:g} ms'
        recording = record(
            case,
            samples,
            lambda k, w=what, b=before: tick(w, (b + k / samples) / len(TIME_CONSTANTS)),
            contact.no_slip_model(case.robot, time_constant),
        )
        ours = accelerations(case, recording, GAUSS, np.arange(samples))
        found = agreement(GAUSS, REPORTED, ours, recording.acceleration)
        yield _softness(recording, time_constant, found)
    yield _softness(done.recording, contact.TIME_CONSTANT, done.of(GAUSS))


def _softness(recording: Recording, time_constant: float, found: Agreement) -> Softness:
    q, v = recording.q, recording.v
    return Softness(
        time_constant,
        recording.step,
        float(np.abs(contact.side_slip(q, v)).max()),
        float(np.abs(contact.expected_slip(q, v, time_constant)).max()),
        found.row.minimum,
        float(found.error.max()),
    )
