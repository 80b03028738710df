# SPDX-License-Identifier: Apache-2.0
r"""
What every method of forward dynamics gets: a state, the forces on it, and the robot's terms.

The equations of motion in generalized speeds (Roithmayr et al. (6)-(17), Gillespie (32)-(34)).

With :math:`v = W u + X` and :math:`\dot v = W \dot u + \beta`, :math:`\beta = \dot W u + \dot X`:

.. math:: F = W^T f, \qquad F^* = -Q \dot u - L, \qquad Q = W^T M W, \qquad
   L = W^T (C v + M \beta),

where f are the active forces on v. Rows A v = b0 become :math:`A W u = b_0 - A X` and
:math:`A W \dot u = b - A\beta`.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from kane_dynamics.algorithms.independent_speeds import Partition
from kane_dynamics.algorithms.udwadia_kalaba import Details, Motion, motion_of, selected_rows
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.constraints.row_selection import RowSelection
from kane_dynamics.formulations.generalized_speeds import GeneralizedSpeeds, SpeedMap
from kane_dynamics.typing import Floats


class Terms(Protocol):
    """Terms of M vdot + C v + g; friction and external wrenches are not among them."""

    def mass_matrix(self, q: Floats) -> Floats:
        """Return M (46), shape (nv, nv)."""

    def bias_force(self, q: Floats, v: Floats) -> Floats:
        """Return C v + g, shape (nv,)."""


class MethodTerms(Terms, Protocol):
    """What all methods of forward dynamics need besides."""

    def gravity_force(self, q: Floats) -> Floats:
        """Return g, shape (nv,)."""

    def mass_rate(self, q: Floats, v: Floats) -> Floats:
        """Return dM/dt along v, shape (nv, nv)."""

    def newton_euler(self, q: Floats, v: Floats, a: Floats) -> Floats:
        """Return M a + C v + g by one run of dqNE, armature included, shape (nv,)."""

    def gibbs_gradient(self, q: Floats, v: Floats, a: Floats) -> Floats:
        """Return dS/da = M a + C v (55), shape (nv,)."""

    def lagrange_terms(self, q: Floats, v: Floats) -> tuple[list[Floats], Floats, Floats]:
        """Return Parsa's J_i (26) of every body, M and h (39)."""

    def rows(self, q: Floats, v: Floats, t: float) -> ConstraintRows:
        """Return the constraint rows."""


class Problem(NamedTuple):
    """A state and the forces on it."""

    terms: MethodTerms
    q: Floats
    v: Floats
    t: float
    applied: Floats
    rows: ConstraintRows
    speeds: GeneralizedSpeeds | None = None


class SpeedBalance(NamedTuple):
    """Q udot + L = F + G' lambda with G u = c and G udot = d."""

    map: SpeedMap  # u and the way back to v
    velocity_mass: Floats  # shape (nv, nv): M, in the speeds v
    velocity_balance: Floats  # f - C v, in the speeds v: M vdot is this and the constraint force
    mass: Floats  # shape (nu, nu): Q
    active_force: Floats  # shape (nu,): F, and L of F*
    remainder: Floats  # shape (nu,): F, and L of F*
    rows: ConstraintRows  # G, c and d

    @property
    def force(self) -> Floats:
        """Return F - L."""
        return self.active_force - self.remainder


@dataclass(frozen=True, eq=False, slots=True)
class SpeedSolution(Details):
    """Rates of generalized speeds under constraint rows."""

    u: Floats  # shape (nu,): Generalized speeds and their rates
    u_rate: Floats  # shape (nu,): Generalized speeds and their rates
    multipliers: Floats  # shape (m,): Of the given rows
    partition: Partition  # Independent and dependent speeds


def speed_balance(problem: Problem) -> tuple[RowSelection, SpeedBalance]:
    """Return the rows that are taken and the equations of motion in `problem.speeds`, or in v."""
    terms, q, v = problem.terms, problem.q, problem.v
    M = terms.mass_matrix(q)
    selection = selected_rows(M, problem.rows)
    rows = selection.independent
    gravity = terms.gravity_force(q)
    active, velocity_force = problem.applied - gravity, terms.bias_force(q, v) - gravity
    given_force = active - velocity_force
    choice = SpeedMap(v, np.eye(len(v)), np.zeros_like(M), np.zeros_like(v), np.zeros_like(v))
    if problem.speeds is not None:
        choice = problem.speeds.at(q, v, problem.t)
    W, A = choice.W, rows.matrix
    return selection, SpeedBalance(
        choice,
        M,
        given_force,
        W.T @ M @ W,
        W.T @ active,
        W.T @ (velocity_force + M @ choice.bias),
        ConstraintRows.of(
            A @ W, rows.velocity - A @ choice.X, rows.acceleration - A @ choice.bias
        ),
    )


def mass_rate(terms: MethodTerms, q: Floats, v: Floats, balance: SpeedBalance) -> Floats:
    """Return dQ/dt = W' dM/dt W + dW/dt' M W + W' M dW/dt along v, shape (nu, nu)."""
    W = balance.map.W
    turning = balance.map.W_rate.T @ balance.velocity_mass @ W
    return W.T @ terms.mass_rate(q, v) @ W + turning + turning.T


def in_velocities(
    problem: Problem, selection: RowSelection, balance: SpeedBalance, result: SpeedSolution
) -> Motion:
    """Return a motion in u as one in v, with the forces of constraints built into u."""
    acceleration = balance.map.W @ result.u_rate + balance.map.bias
    motion = motion_of(selection, problem.v, acceleration, result.multipliers, result)
    if problem.speeds is None:
        return motion
    force = balance.velocity_mass @ acceleration - balance.velocity_balance
    return replace(motion, constraint_force=force)
