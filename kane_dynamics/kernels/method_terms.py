# SPDX-License-Identifier: Apache-2.0
"""Terms of the methods of forward dynamics from compiled kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.algorithms.terms import ReferenceTerms
from kane_dynamics.constraints.base import Constraint, ConstraintRows
from kane_dynamics.kernels.kernel import Kernel
from kane_dynamics.model.load import Load
from kane_dynamics.model.robot import Robot

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CompiledTerms:
    """
    All terms by compiled kernels; see `algorithms.terms.MethodTerms`.

    Robots too large for straight-line solves have no kernels of the Gibbs-Appell function, of
    Parsa's terms and of the rows: the reference gives these.

    Parameters
    ----------
    load : Load
        The robot and what it carries.
    constraints : sequence of Constraint
        All rows.
    calls : mapping of str to callable
        Functions of a compiled robot.
    kernels : mapping of str to Kernel
        Those that ``methods=True`` adds.

    """

    load: Load
    constraints: Sequence[Constraint]
    calls: Mapping[str, Callable[..., Any]]
    kernels: Mapping[str, Kernel]

    @property
    def robot(self) -> Robot:
        """Return the robot with the present gravity and payloads."""
        return self.load.robot

    @property
    def _reference(self) -> ReferenceTerms:
        return ReferenceTerms(self.robot, self.constraints)

    def mass_matrix(self, q: Floats) -> Floats:
        """Return M, shape (nv, nv)."""
        mass: Floats = self.calls['mass_matrix'](q)
        return mass

    def bias_force(self, q: Floats, v: Floats) -> Floats:
        """Return C v + g, shape (nv,)."""
        bias: Floats = self.calls['bias_force'](q, v)
        return bias

    def gravity_force(self, q: Floats) -> Floats:
        """Return g, shape (nv,)."""
        gravity: Floats = self.calls['gravity_force'](q)
        return gravity

    def mass_rate(self, q: Floats, v: Floats) -> Floats:
        """Return dM/dt = C + C' (52), shape (nv, nv)."""
        coriolis: Floats = self.calls['coriolis_matrix'](q, v)
        return coriolis + coriolis.T

    def newton_euler(self, q: Floats, v: Floats, a: Floats) -> Floats:
        """Return M a + C v + g by one run of dqNE, armature included, shape (nv,)."""
        friction = self.robot.damping * v + self.robot.friction * np.sign(v)
        effort: Floats = self.calls['inverse_dynamics'](q, v, a) - friction
        return effort

    def gibbs_gradient(self, q: Floats, v: Floats, a: Floats) -> Floats:
        """Return dS/da = M a + C v (55), shape (nv,)."""
        if 'gibbs_gradient' not in self.kernels:
            return self._reference.gibbs_gradient(q, v, a)
        gradient: Floats = self.kernels['gibbs_gradient'].call(q, v, a)
        return gradient

    def lagrange_terms(self, q: Floats, v: Floats) -> tuple[list[Floats], Floats, Floats]:
        """Return Parsa's J_i (26) of every body, M and h (39)."""
        if 'lagrange_terms' not in self.kernels:
            return self._reference.lagrange_terms(q, v)
        stack, mass, velocity_force = self.kernels['lagrange_terms'].outputs(q, v)
        return list(stack.reshape(-1, 6, self.robot.nv)), mass, velocity_force

    def rows(self, q: Floats, v: Floats, t: float) -> ConstraintRows:
        """Return the constraint rows."""
        rows: ConstraintRows = self.calls['constraint_rows'](q, v, t)
        return rows
