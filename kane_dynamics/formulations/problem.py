# SPDX-License-Identifier: Apache-2.0
"""What every method of forward dynamics gets: a state, the forces on it, and the robot's terms."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from kane_dynamics.algorithms.forward_dynamics import Details, Motion, motion_of
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.constraints.row_selection import RowSelection
from kane_dynamics.formulations.generalized_speeds import GeneralizedSpeeds
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

    def motion(
        self,
        selection: RowSelection,
        acceleration: Floats,
        multipliers: Floats,
        details: Details | None = None,
    ) -> Motion:
        """Return the motion with what follows from its accelerations and multipliers."""
        return motion_of(selection, self.v, acceleration, multipliers, details)
