# SPDX-License-Identifier: Apache-2.0
"""
The formulations of the five papers, on the same terms and constraint rows.

A new method of `forward_dynamics` is one file here and one line of `METHODS`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kane_dynamics.algorithms.mass_matrix import gauss_coriolis_matrix, gauss_mass_matrix
from kane_dynamics.algorithms.newton_euler import joint_friction, newton_euler
from kane_dynamics.algorithms.udwadia_kalaba import Motion
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.formulations.gauss import (
    acceleration_gradient,
    by_gauss,
    by_gibbs_appell,
    by_newton_euler,
)
from kane_dynamics.formulations.generalized_speeds import (
    GeneralizedSpeeds,
    checked_generalized_speeds,
)
from kane_dynamics.formulations.kane import by_canonical, by_kane, by_nonminimal
from kane_dynamics.formulations.lagrange import (
    by_lagrange,
    lagrange_jacobians,
    mass_of_bodies,
    velocity_force_of_bodies,
)
from kane_dynamics.formulations.problem import MethodTerms, Problem
from kane_dynamics.robot.checks import as_choice
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats


class Method(NamedTuple):
    """A method of forward dynamics, and whether it works in generalized speeds of the user."""

    solve: Callable[[Problem], Motion]
    in_speeds: bool = False


METHODS = {
    'gauss': Method(by_gauss),
    'newton_euler': Method(by_newton_euler),
    'gibbs_appell': Method(by_gibbs_appell),
    'lagrange': Method(by_lagrange),
    'kane': Method(by_kane, in_speeds=True),
    'nonminimal': Method(by_nonminimal, in_speeds=True),
    'canonical': Method(by_canonical, in_speeds=True),
}
SPEED_METHODS = tuple(name for name, method in METHODS.items() if method.in_speeds)


def solve_by(
    method: str,
    robot: Robot,
    terms: MethodTerms,
    q: Floats,
    v: Floats,
    tau: Floats,
    t: float,
    speeds: GeneralizedSpeeds | None,
) -> Motion:
    """Return the motion by a named method from given terms."""
    as_choice('method', method, METHODS)
    if speeds is not None:
        checked_generalized_speeds(speeds, robot)
        if method not in SPEED_METHODS:
            raise InvalidInputError(
                f'method {method!r} has no generalized speeds; {list(SPEED_METHODS)} have'
            )
    applied = tau - joint_friction(robot, v.tolist())
    return METHODS[method].solve(Problem(terms, q, v, t, applied, terms.rows(q, v, t), speeds))


@dataclass(frozen=True, eq=False)
class ReferenceTerms:
    """All terms by the reference algorithms."""

    robot: Robot
    constraints: ConstraintSet

    def mass_matrix(self, q: Floats) -> Floats:
        """Return M (46), shape (nv, nv)."""
        return gauss_mass_matrix(self.robot, q.tolist())

    def bias_force(self, q: Floats, v: Floats) -> Floats:
        """Return C v + g, shape (nv,)."""
        return newton_euler(self.robot, q.tolist(), v.tolist(), [0.0] * self.robot.nv)

    def gravity_force(self, q: Floats) -> Floats:
        """Return g, shape (nv,)."""
        return self.bias_force(q, np.zeros(self.robot.nv))

    def mass_rate(self, q: Floats, v: Floats) -> Floats:
        """Return dM/dt = C + C', since dM/dt - 2 C is skew (52), shape (nv, nv)."""
        coriolis = gauss_coriolis_matrix(self.robot, q.tolist(), v.tolist())
        return coriolis + coriolis.T

    def newton_euler(self, q: Floats, v: Floats, a: Floats) -> Floats:
        """Return M a + C v + g by one run of dqNE, armature included, shape (nv,)."""
        effort = newton_euler(self.robot, q.tolist(), v.tolist(), a.tolist())
        return effort + self.robot.armature * a

    def gibbs_gradient(self, q: Floats, v: Floats, a: Floats) -> Floats:
        """Return dS/da = M a + C v (55), shape (nv,)."""
        return acceleration_gradient(self.robot, q.tolist(), v.tolist(), a.tolist())

    def lagrange_terms(self, q: Floats, v: Floats) -> tuple[list[Floats], Floats, Floats]:
        """Return Parsa's J_i (26) of every body, M and h (39)."""
        robot, place, speeds = self.robot, q.tolist(), v.tolist()
        bodies = lagrange_jacobians(robot, place, speeds)
        return (
            [body.jacobian for body in bodies],
            mass_of_bodies(robot, bodies),
            velocity_force_of_bodies(robot, bodies, speeds),
        )

    def rows(self, q: Floats, v: Floats, t: float) -> ConstraintRows:
        """Return the constraint rows."""
        return self.constraints.rows(q, v, t)
