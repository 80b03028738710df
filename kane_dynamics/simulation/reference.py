# SPDX-License-Identifier: Apache-2.0
"""Time steps and motions by numpy; M and C v + g by the reference algorithms, or given."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.algorithms.forward_dynamics import solve_motion
from kane_dynamics.algorithms.friction import implicit_drag
from kane_dynamics.algorithms.methods import Motion
from kane_dynamics.algorithms.projection import project
from kane_dynamics.algorithms.terms import ReferenceTerms, Terms
from kane_dynamics.algorithms.udwadia_kalaba import constrained_motion
from kane_dynamics.constraints.base import Constraint, constraint_rows
from kane_dynamics.exceptions import DivergedError
from kane_dynamics.model.integration import coordinate_rates, integrate_coordinates
from kane_dynamics.model.robot import Robot
from kane_dynamics.simulation.integrators import INTEGRATORS, STICTION_SPEED

Floats = NDArray[np.float64]

LARGEST = 1e100  # of coordinates and speeds; velocity terms hold their squares


class ReferenceDynamics:
    """
    Accelerations and impulses of a robot under constraints.

    Parameters
    ----------
    robot : Robot
        The robot.
    constraints : sequence of Constraint
        Rows that hold.
    terms : Terms
        Its M and C v + g.

    """

    def __init__(self, robot: Robot, constraints: Sequence[Constraint], terms: Terms) -> None:
        self._robot = robot
        self._constraints = tuple(constraints)
        self._terms = terms

    def motion(self, q: Floats, v: Floats, tau: Floats, t: float) -> Motion:
        """Return accelerations and multipliers; DivergedError where there are none."""
        check_not_diverged(q, v, t)
        mass, bias = self._terms.mass_matrix(q), self._terms.bias_force(q, v)
        return solve_motion(
            self._robot, self._constraints, mass, bias, q.tolist(), v.tolist(), tau, t
        )

    def acceleration(self, q: Floats, v: Floats, tau: Floats, t: float) -> Floats:
        """Return vdot, shape (nv,)."""
        return self.motion(q, v, tau, t).acceleration

    def impulse(self, q: Floats, v: Floats, tau: Floats, t: float, h: float) -> Floats:
        """Return the speeds after h [s] with implicit friction; errors as for `motion`."""
        check_not_diverged(q, v, t)
        robot, speeds = self._robot, v.tolist()
        mass, bias = self._terms.mass_matrix(q), self._terms.bias_force(q, v)
        rows = constraint_rows(robot, self._constraints, q.tolist(), speeds, t + h)
        wanted = rows.velocity_after(h)
        return constrained_motion(
            mass + h * np.diag(implicit_drag(robot, speeds, STICTION_SPEED)),
            mass @ v + h * (tau - bias),
            rows.matrix,
            wanted,
            wanted,
        ).acceleration

    def coordinate_rate(self, q: Floats, v: Floats) -> Floats:
        """Return dq/dt, shape (nq,)."""
        return coordinate_rates(self._robot, q, v)

    def retract(self, q: Floats, v: Floats, h: float) -> Floats:
        """Return q (+) v h, shape (nq,)."""
        return integrate_coordinates(self._robot, q, v, h)


def check_not_diverged(q: Floats, v: Floats, t: float) -> None:
    """
    Check that a state can still be computed with.

    Raises
    ------
    DivergedError
        If a number is not finite, or so large that its square is not.

    """
    if not ((np.abs(q) < LARGEST).all() and (np.abs(v) < LARGEST).all()):
        raise DivergedError(
            f'the motion diverged by t = {t:.6g} s; take a shorter step or the integrator '
            "'semi_implicit'"
        )


class ReferenceEngine:
    """
    Time steps and motions by numpy.

    Parameters
    ----------
    robot : Robot
        The robot.
    constraints : sequence of Constraint
        Rows that hold.
    integrator : str
        A key of `INTEGRATORS`.
    projection : bool
        Whether drift is projected away after each step.
    terms : Terms, optional
        M and C v + g from elsewhere.

    """

    def __init__(
        self,
        robot: Robot,
        constraints: Sequence[Constraint],
        integrator: str,
        projection: bool,
        terms: Terms | None = None,
    ) -> None:
        self._robot = robot
        self._constraints = tuple(constraints)
        self._dynamics = ReferenceDynamics(robot, constraints, terms or ReferenceTerms(robot))
        self._integrate = INTEGRATORS[integrator]
        self._projection = projection and bool(constraints)

    def advance(
        self, q: Floats, v: Floats, tau: Floats, t: float, h: float, n: int
    ) -> tuple[Floats, Floats]:
        """Return the state after n steps of h [s] at constant efforts."""
        for k in range(n):
            q, v = self._integrate(self._dynamics, q, v, tau, t + k * h, h)
            if self._projection:
                q, v = project(self._robot, self._constraints, q, v, t + (k + 1) * h)
        return q, v

    def motion(self, q: Floats, v: Floats, tau: Floats, t: float) -> Motion:
        """Return accelerations and multipliers at a state."""
        return self._dynamics.motion(q, v, tau, t)
