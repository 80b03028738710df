# SPDX-License-Identifier: Apache-2.0
"""Terms of the methods of forward dynamics from compiled kernels."""

from __future__ import annotations

from kane_dynamics.compiler.kernel_set import KernelSet
from kane_dynamics.dynamics import Dynamics
from kane_dynamics.formulations.terms import ReferenceTerms
from kane_dynamics.typing import Floats


class CompiledTerms:
    """All terms by compiled kernels; see `formulations.problem.MethodTerms`."""

    def __init__(self, dynamics: Dynamics, kernels: KernelSet) -> None:
        self.dynamics, self.kernels = dynamics, kernels
        self.mass_matrix, self.bias_force = dynamics.mass_matrix, dynamics.bias_force
        self.gravity_force, self.rows = dynamics.gravity_force, dynamics.constraint_rows

    @property
    def _reference(self) -> ReferenceTerms:
        return ReferenceTerms(self.dynamics.robot, self.dynamics.constraints)

    def mass_rate(self, q: Floats, v: Floats) -> Floats:
        """Return dM/dt = C + C' (52), shape (nv, nv)."""
        coriolis = self.dynamics.coriolis_matrix(q, v)
        return coriolis + coriolis.T

    def newton_euler(self, q: Floats, v: Floats, a: Floats) -> Floats:
        """Return M a + C v + g by one run of dqNE, armature included, shape (nv,)."""
        return self.dynamics.inverse_dynamics(q, v, a) - self.dynamics.friction_force(v)

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
        return list(stack.reshape(-1, 6, self.dynamics.robot.nv)), mass, velocity_force
