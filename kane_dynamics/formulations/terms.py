# SPDX-License-Identifier: Apache-2.0
"""The terms of the methods of forward dynamics, by the reference algorithms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kane_dynamics.algorithms.mass_matrix import gauss_coriolis_matrix, gauss_mass_matrix
from kane_dynamics.algorithms.newton_euler import newton_euler
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.formulations.gibbs_appell import acceleration_gradient
from kane_dynamics.formulations.lagrange import (
    lagrange_jacobians,
    mass_of_bodies,
    velocity_force_of_bodies,
)
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats


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
