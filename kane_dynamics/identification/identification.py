# SPDX-License-Identifier: Apache-2.0
"""A robot from recorded motions and efforts: values, how well they are known, what is in doubt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from kane_dynamics.analysis.momentum_observer import ObservedSpeeds
from kane_dynamics.dynamics import Dynamics, checked_dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.identification.base_parameters import ALONE, BaseParameters, base_parameters
from kane_dynamics.identification.equations import Equations, Friction, Triangles
from kane_dynamics.identification.estimation import (
    NEARNESS,
    LeastSquares,
    consistent_parameters,
    least_squares,
    worth,
)
from kane_dynamics.identification.friction import LINK_SIDE, FrictionTerm, dissipation_rows
from kane_dynamics.identification.samples import Samples
from kane_dynamics.robot.body import Joint
from kane_dynamics.robot.checks import as_several, index_of
from kane_dynamics.robot.inertial_parameters import (
    PARAMETERS,
    inertial_parameters,
    with_inertial_parameters,
)
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Bools, Floats

__all__ = ['Errors', 'Identification', 'identify']

GOOD, WARN, REFUSE = 30.0, 150.0, 1000.0  # condition numbers of base columns of unit length
SAMPLES = 10.0  # equations for each unknown
_WORSE, _POINTS = 1.5, 2.0  # of consistent parameters against base parameters: times, and %
_DOUBT = 2.0  # deviations that a coefficient may be below zero


class Errors(NamedTuple):
    """How far predicted efforts are from measured ones, by observed speed, shape (n,)."""

    filtered: Floats  # 100 rms / (max - min) against filtered efforts [%]
    raw: Floats  # The same against efforts as measured [%]
    rms: Floats  # Against filtered efforts [N m or N]


@dataclass(frozen=True, eq=False)
class Identification:
    """
    What recordings say of a robot.

    Parameters
    ----------
    equations : Equations
        The robot before, observed speeds, and terms of friction.
    base : BaseParameters
        Which parameters and sums of them the motion shows.
    fit : LeastSquares
        Values of the base parameters, and their covariance, as many samples as are independent.
    solutions : mapping of str to ndarray, shape (p,)
        All unknowns of 'nominal' (the model before, no friction), 'friction' (friction fitted to
        it), 'least_squares' (base parameters) and 'consistent'.
    warnings : tuple of str
        What speaks against the result.

    """

    equations: Equations
    base: BaseParameters
    fit: LeastSquares
    solutions: Mapping[str, Floats]
    warnings: tuple[str, ...]

    @property
    def publishable(self) -> bool:
        """Return whether the motion shows enough for a model that others use."""
        return self.base.condition <= REFUSE

    @property
    def friction(self) -> dict[str, dict[FrictionTerm, float]]:
        """Return the coefficients of each observed speed, those of 'consistent'."""
        values = self.solutions['consistent'][self.equations.inertial :].tolist()
        result: dict[str, dict[FrictionTerm, float]] = {}
        for (speed, term), value in zip(self.equations.columns, values, strict=True):
            result.setdefault(speed, {})[term] = value
        return result

    @property
    def robot(self) -> Robot:
        """
        Return the robot with the consistent parameters.

        Its damping is the viscous term, its Coulomb friction that term, its armature the rotor
        inertia; a joint without such a term keeps what it had.
        """
        before = self.equations.dynamics.robot
        phi = self.solutions['consistent'][: self.equations.inertial]
        bodies = list(with_inertial_parameters(before, phi).bodies)
        for speed, terms in self.friction.items():
            owner = before.body_of_joint(speed)
            for k, body in enumerate(bodies):
                follows = body.mimic is not None and body.mimic.master == speed
                if k == owner or follows:  # what followers add is among the terms of the master
                    share = 0.0 if follows else 1.0
                    bodies[k] = replace(body, joint=_with_terms(body.joint, terms, share))
        parts = before.gravity, dict(before.frames), dict(before.wheels)
        return Robot(before.name, bodies, *parts)

    def efforts(self, samples: Samples, solution: str = 'consistent') -> Floats:
        """
        Return the efforts along the observed speeds that a solution predicts, shape (N, n).

        Parameters
        ----------
        samples : Samples
            Of a motion.
        solution : str
            One of `solutions`.

        """
        index_of('solution', solution, tuple(self.solutions))
        return self.equations.predicted(samples, self.solutions[solution])

    def errors(self, samples: Samples, solution: str = 'consistent') -> Errors:
        """Return how far predicted efforts are from measured ones; parameters as of `efforts`."""
        predicted = self.efforts(samples, solution)
        measured = self.equations.efforts(samples, samples.tau)
        raw = self.equations.efforts(samples, samples.raw)
        rms = np.sqrt(np.mean((measured - predicted) ** 2, axis=0))
        return Errors(relative_error(measured, predicted), relative_error(raw, predicted), rms)


def _with_terms(joint: Joint, terms: Mapping[FrictionTerm, float], share: float) -> Joint:
    """Return a joint with a share of the terms that a URDF or a simulation knows."""
    local = {term.kind: share * max(value, 0.0) for term, value in terms.items()}
    return replace(
        joint,
        damping=local.get('viscous', joint.damping),
        friction=local.get('coulomb', joint.friction),
        armature=local.get('rotor_inertia', joint.armature),
    )


def relative_error(measured: Floats, predicted: Floats) -> Floats:
    """Return 100 rms(measured - predicted) / (max - min of measured) of each column [%]."""
    span = np.maximum(np.ptp(measured, axis=0), 1e-300)
    return np.asarray(100.0 * np.sqrt(np.mean((measured - predicted) ** 2, axis=0)) / span)


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
        Speeds whose efforts were measured; all where left out.
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

    """
    recordings = as_several(Samples, 'samples', samples)
    observed = ObservedSpeeds(checked_dynamics(dynamics)) if speeds is None else speeds
    terms = friction if isinstance(friction, Mapping) else dict.fromkeys(observed.names, friction)
    equations = Equations(dynamics, observed, terms)
    triangles = equations.triangles(recordings)
    rows = triangles.weighted(np.ones(len(observed.names)))[:, :-1]
    base = base_parameters(rows, equations.names, equations.preferences)
    if triangles.counts.sum() <= base.rank:
        raise InvalidInputError(
            f'samples: need more than {base.rank} efforts, got {int(triangles.counts.sum())}'
        )
    fit = least_squares(triangles, base)
    nominal, by_base = np.zeros((2, len(equations.names)))
    nominal[: equations.inertial] = inertial_parameters(dynamics.robot)
    by_base[base.leading] = fit.values
    missed = [equations.efforts(x, x.tau) - equations.predicted(x, by_base) for x in recordings]
    masses = base.status[: equations.inertial : len(PARAMETERS)]
    unseen = np.array([status != ALONE for status in masses])
    solutions = {
        'nominal': nominal,
        'friction': _friction_alone(triangles, nominal, equations.inertial),
        'least_squares': by_base,
        'consistent': consistent_solution(equations, triangles, fit.deviations, unseen, nearness),
    }
    for one in solutions.values():
        one.setflags(write=False)
    known = least_squares(triangles, base, worth(missed))
    result = Identification(equations, base, known, MappingProxyType(solutions), ())
    messages = *_warnings(result, triangles), *_worse(result, recordings)
    return replace(result, warnings=messages)


def consistent_solution(
    equations: Equations,
    triangles: Triangles,
    deviations: Floats,
    unseen_masses: Bools,
    nearness: float = NEARNESS,
) -> Floats:
    """Return consistent parameters and friction; parameters as of `consistent_parameters`."""
    before = inertial_parameters(equations.dynamics.robot)
    rows = dissipation_rows(equations.columns)
    return consistent_parameters(triangles, deviations, before, rows, unseen_masses, nearness)


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
            f'below {GOOD:g} is good: move more joints, faster, longer'
        )
    if base.barely_seen:
        messages.append(f'barely seen: {", ".join(base.barely_seen)}')
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


def _worse(result: Identification, recordings: Sequence[Samples]) -> list[str]:
    """Return on which joints no body explains what base parameters explain."""
    by_base, consistent = (
        np.mean([result.errors(x, solution).filtered for x in recordings], axis=0)
        for solution in ('least_squares', 'consistent')
    )
    return [
        f'{name}: {worse:.1f} % by bodies that can exist, {better:.1f} % by base parameters: '
        'frames, signs or joint offsets of the model do not match the recording'
        for name, better, worse in zip(
            result.equations.speeds.names, by_base, consistent, strict=True
        )
        if worse > max(_WORSE * better, better + _POINTS)
    ]
