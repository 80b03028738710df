# SPDX-License-Identifier: Apache-2.0
"""What an identification gives: a robot and its friction, how well they are known and predict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from kane_dynamics.analysis.joint_friction import FrictionTerm
from kane_dynamics.identification.base_parameters import BaseParameters
from kane_dynamics.identification.equations import Equations
from kane_dynamics.identification.estimation import LeastSquares
from kane_dynamics.identification.samples import Samples
from kane_dynamics.robot.body import Joint
from kane_dynamics.robot.checks import index_of
from kane_dynamics.robot.inertial_parameters import with_inertial_parameters
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats

__all__ = ['Errors', 'Identification']

REFUSE = 1000.0  # condition number of base columns of unit length: above it nobody should use it


class Errors(NamedTuple):
    """
    How far predicted efforts are from measured ones, by observed speed.

    Parameters
    ----------
    filtered, raw : ndarray, shape (n,)
        100 rms / (max - min) against filtered efforts and against efforts as measured [%].
    rms : ndarray, shape (n,)
        Against filtered efforts [N m or N].

    """

    filtered: Floats
    raw: Floats
    rms: Floats


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
        return self._errors(samples, {solution: self.efforts(samples, solution)})[solution]

    def all_efforts(self, samples: Samples) -> dict[str, Floats]:
        """Return `efforts` of each solution, of one regressor."""
        every = self.equations.predicted(samples, np.column_stack([*self.solutions.values()]))
        return dict(zip(self.solutions, np.moveaxis(every, -1, 0), strict=True))

    def all_errors(self, samples: Samples) -> dict[str, Errors]:
        """Return `errors` of each solution, of one regressor."""
        return self._errors(samples, self.all_efforts(samples))

    def _errors(self, samples: Samples, efforts: Mapping[str, Floats]) -> dict[str, Errors]:
        both = self.equations.efforts(samples, np.stack([samples.tau, samples.raw], axis=-1))
        measured, raw = np.moveaxis(both, -1, 0)
        return {
            name: Errors(
                relative_error(measured, x),
                relative_error(raw, x),
                np.sqrt(np.mean((measured - x) ** 2, axis=0)),
            )
            for name, x in efforts.items()
        }


def _with_terms(joint: Joint, terms: Mapping[FrictionTerm, float], share: float) -> Joint:
    """Return a joint with a share of the terms that a URDF or a simulation knows."""
    local = {term.kind: share * value for term, value in terms.items()}
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
