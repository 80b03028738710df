# SPDX-License-Identifier: Apache-2.0
"""A robot and its friction from recorded motions and efforts, and what speaks against them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from kane_dynamics.analysis.joint_friction import FrictionTerm
from kane_dynamics.analysis.momentum_observer import ObservedSpeeds
from kane_dynamics.analysis.payload import PayloadEstimate, fitted_payload
from kane_dynamics.dynamics import Dynamics, checked_dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.identification.base_parameters import (
    ALONE,
    UNSEEN,
    BaseParameters,
    base_parameters,
)
from kane_dynamics.identification.equations import Equations, Friction, Triangles
from kane_dynamics.identification.estimation import (
    NEARNESS,
    consistent_parameters,
    corrected_fit,
    least_squares,
)
from kane_dynamics.identification.friction import LINK_SIDE
from kane_dynamics.identification.result import REFUSE, Identification
from kane_dynamics.identification.samples import SampleBlocks, Samples
from kane_dynamics.robot.checks import as_several
from kane_dynamics.robot.inertial_parameters import PARAMETERS, inertial_parameters
from kane_dynamics.typing import Floats

__all__ = ['identify', 'tool_difference']

GOOD, WARN = 30.0, 150.0  # condition numbers of base columns of unit length
SAMPLES = 10.0  # equations for each unknown
_DOUBT = 2.0  # deviations that a coefficient may be below zero


def identify(
    dynamics: Dynamics,
    samples: Sequence[Samples],
    *,
    friction: Sequence[FrictionTerm] | Friction = LINK_SIDE,
    speeds: ObservedSpeeds | None = None,
    nearness: float = NEARNESS,
) -> Identification:
    """
    Return what samples say of a robot's inertial parameters and friction.

    Parameters
    ----------
    dynamics : Dynamics
        Of either engine, of the robot as it is known; compiled ones are quicker.
    samples : sequence of Samples
        From `prepared_samples`.
    friction : sequence of FrictionTerm, or mapping of str to such a sequence
        Of every observed speed, or by its name.
    speeds : ObservedSpeeds, optional
        Speeds whose efforts were measured, e.g. of wheels and arm; all where left out.
    nearness : float
        gamma, how much parameters that are hardly seen stay as they were.

    Raises
    ------
    InvalidInputError
        If there are fewer equations than unknowns, or the motion shows nothing.
    MissingPackageError
        If Clarabel is not installed.
    NotSolvedError
        If the solver ends without a solution.

    Examples
    --------
    >>> from kane_dynamics.identification.identification import identify
    >>> from kane_dynamics.identification.samples import prepared_samples
    >>> d, t = kd.dynamics(kd.serial_chain(2)), np.arange(0.0, 6.0, 0.02)
    >>> q = np.column_stack([np.sin(2.0 * t), np.cos(3.0 * t) + np.sin(t)])
    >>> v = np.gradient(q, 0.02, axis=0)
    >>> a = np.gradient(v, 0.02, axis=0)
    >>> (samples,) = prepared_samples(t, q, d.inverse_dynamics(q, v, a), v, corner=5.0)
    >>> result = identify(d, [samples])
    >>> bool((result.errors(samples).filtered < 1.0).all())
    True

    """
    lazy = isinstance(samples, SampleBlocks)
    recordings = samples if lazy else as_several(Samples, 'samples', samples)
    observed = ObservedSpeeds(checked_dynamics(dynamics)) if speeds is None else speeds
    terms = friction if isinstance(friction, Mapping) else dict.fromkeys(observed.names, friction)
    equations = Equations(dynamics, observed, terms)
    triangles = equations.triangles(recordings)
    base = _base(equations, triangles, np.ones(len(observed.names)))
    count, unknowns = int(triangles.counts.sum()), sum(x != UNSEEN for x in base.status)
    if count <= unknowns:
        raise InvalidInputError(f'samples: need more than {unknowns} efforts, got {count}')
    base = _base(equations, triangles, 1.0 / least_squares(triangles, base).deviations)
    raw = least_squares(triangles, base)
    fit = corrected_fit(equations, recordings, base, raw)
    nominal, by_base, change = np.zeros((3, len(equations.names)))
    nominal[: equations.inertial] = inertial_parameters(dynamics.robot)
    by_base[base.leading], change[base.leading] = fit.values, fit.values - raw.values
    triangles = triangles.shifted(change)
    masses = base.status[: equations.inertial : len(PARAMETERS)]
    unseen = np.array([status != ALONE for status in masses])
    solutions = {
        'nominal': nominal,
        'friction': _friction_alone(triangles, nominal, equations.inertial),
        'least_squares': by_base,
        'consistent': consistent_parameters(
            equations, triangles, fit.deviations, unseen, nearness
        ),
    }
    for one in solutions.values():
        one.setflags(write=False)
    result = Identification(equations, base, fit, MappingProxyType(solutions), ())
    return replace(result, warnings=tuple(_warnings(result, triangles)))


def tool_difference(
    dynamics: Dynamics,
    samples: Sequence[Samples],
    friction: Sequence[FrictionTerm],
    speeds: ObservedSpeeds,
) -> PayloadEstimate:
    """
    Return what the last body has more than the model says, if all other bodies are as it says.

    Parameters
    ----------
    dynamics, samples, friction, speeds
        As of `identify`; the last body is that of the last observed speed.

    Examples
    --------
    >>> from kane_dynamics.analysis.momentum_observer import ObservedSpeeds
    >>> from kane_dynamics.identification.friction import LINK_SIDE
    >>> from kane_dynamics.identification.identification import tool_difference
    >>> from kane_dynamics.identification.samples import prepared_samples
    >>> d = kd.dynamics(kd.serial_chain(2))
    >>> t = np.arange(0.0, 8.0, 0.01)[:, None]
    >>> w = np.array([2.0, 3.0])
    >>> q, v, a = np.sin(w * t), w * np.cos(w * t), -w * w * np.sin(w * t)
    >>> samples = prepared_samples(t[:, 0], q, 1.2 * d.inverse_dynamics(q, v, a), v)
    >>> more = tool_difference(d, samples, LINK_SIDE, ObservedSpeeds(d))
    >>> more.parameters.shape
    (10,)

    """
    equations = Equations(dynamics, speeds, dict.fromkeys(speeds.names, friction))
    triangles, n = equations.triangles(samples), equations.inertial
    base = _base(equations, triangles, np.ones(len(speeds.names)))
    rows = triangles.weighted(1.0 / least_squares(triangles, base).deviations)
    missing = rows[:, -1] - rows[:, :n] @ inertial_parameters(dynamics.robot)
    first = len(PARAMETERS) * dynamics.robot.body_of_joint(speeds.names[-1])
    tool = rows[:, first : first + len(PARAMETERS)]
    both = np.column_stack([rows[:, n:-1], tool, missing])
    R = np.asarray(np.linalg.qr(both, mode='r'))
    known = len(equations.columns)  # friction is fitted with it
    return fitted_payload(
        R[known:, known:-1], R[known:, -1], count=int(triangles.counts.sum()) - known
    )


def _base(equations: Equations, triangles: Triangles, weights: Floats) -> BaseParameters:
    """Return the base parameters of equations under weights."""
    rows = triangles.weighted(weights)[:, :-1]
    return base_parameters(rows, equations.names, equations.preferences)


def _friction_alone(triangles: Triangles, nominal: Floats, inertial: int) -> Floats:
    """Return the model before with the friction that fits best."""
    rows = triangles.weighted(np.ones(len(triangles.counts)))
    missing = rows[:, -1] - rows[:, :-1] @ nominal
    solution = nominal.copy()
    solution[inertial:] = np.linalg.lstsq(rows[:, inertial:-1], missing, rcond=None)[0]
    return solution


def _warnings(result: Identification, triangles: Triangles) -> list[str]:
    """Return what speaks against a result before it is compared with anything."""
    base, fit, messages = result.base, result.fit, list[str]()
    if base.condition > WARN:
        refused = ', too little for a model that others use' if base.condition > REFUSE else ''
        messages.append(
            f'condition number {base.condition:.0f} of the motion is above {WARN:g}{refused}; '
            f'below {GOOD:g} is good: move more joints, both ways, faster, longer'
        )
    count, unknowns = int(triangles.counts.sum()), len(base.names)
    if count < SAMPLES * unknowns:
        messages.append(f'{count} efforts for {unknowns} unknowns: take more samples')
    deviations = np.sqrt(np.diag(fit.covariance))
    first, columns = result.equations.inertial, result.equations.columns
    for k, value, deviation in zip(base.leading, fit.values, deviations, strict=True):
        kind = columns[k - first][1].kind if k >= first else ''
        if kind in ('viscous', 'coulomb', 'rotor_inertia') and value < -_DOUBT * deviation:
            messages.append(
                f'{base.names[k]} is {value:.3g} +- {deviation:.1g}, below zero: efforts lag '
                'behind positions, or the model is wrong'
            )
    return messages
