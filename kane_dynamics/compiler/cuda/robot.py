# SPDX-License-Identifier: Apache-2.0
"""A robot whose dynamics run on a graphics card; made by ``kd.compile(..., device='cuda')``."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.algorithms.traced_inverse_solve import REACHED_IN_SINGLE
from kane_dynamics.compiler.compiled import CompiledDynamics
from kane_dynamics.compiler.cuda.device import Array, Device, Usage
from kane_dynamics.compiler.cuda.gpu_kernels import GpuKernels, OnCpu, times
from kane_dynamics.compiler.cuda.loads import Loads
from kane_dynamics.compiler.cuda.steps import CardSteps
from kane_dynamics.compiler.derivatives import (
    Derivatives,
    of_forward_dynamics,
    of_inverse_dynamics,
)
from kane_dynamics.compiler.graphs.trace import Tracer
from kane_dynamics.compiler.kernel_set import checked_choices, graph_of
from kane_dynamics.compiler.parameters import Parameters
from kane_dynamics.compiler.recipe import Recipe
from kane_dynamics.compiler.steps.step_program import Law
from kane_dynamics.dynamics.base import Arrays, Choices
from kane_dynamics.dynamics.constrained import START
from kane_dynamics.dynamics.interface import Dynamics
from kane_dynamics.dynamics.table import FUNCTIONS
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.typing import Floats


class CudaDynamics(Dynamics):
    """`Dynamics` of one robot under fixed constraints on a graphics card."""

    def __init__(
        self,
        recipe: Recipe,
        load: Parameters,
        device: Device,
        precision: str,
        on_cpu: OnCpu,
        law: Law | None = None,
    ) -> None:
        super().__init__(load, recipe.constraints, recipe.frames)
        self.precision, self.device = precision, device
        self._on = GpuKernels(recipe, load, device, precision, on_cpu, law)
        self._loads: Loads | None = None

    def __repr__(self) -> str:
        rows = f'{len(self.labels)} constraint rows, ' if self.labels else ''
        robot = f"'{self.robot.name}', {self.robot.base} base, {self.robot.nv} speeds, {rows}"
        states = f'fallback_count={self.fallback_count}'
        return f"CudaDynamics({robot}device='cuda', {self.precision}, {states})"

    @property
    def on_cpu(self) -> CompiledDynamics:
        """Return the same robot for the processor, in double precision."""
        return self._on.cpu

    @property
    def fallback_count(self) -> int:
        """Return how many states the processor redid, because the card was not sure of them."""
        return self._on.fallback_count

    @property
    def usage(self) -> dict[str, Usage]:
        """Return registers, spills and size of code of the kernels that were called so far."""
        return self._on.usage

    @property
    def instructions(self) -> dict[str, int]:
        """Return the number of operations of the kernels that were called so far."""
        return self._on.instructions

    def _load_changed(self) -> None:
        self._on.update()

    def loads(
        self,
        gravity: ArrayLike | None = None,
        payloads: Mapping[str, Mapping[str, ArrayLike]] | None = None,
    ) -> Loads:
        """Return gravity and payloads of many states, for `under`."""
        return self._on.loads(gravity, payloads)

    def under(self, loads: Loads) -> CudaDynamics:
        """Return the same dynamics with gravity and payloads of each state."""
        other = copy(self)
        other._loads = loads
        return other

    def steps(self, integrator: str, projection: bool) -> CardSteps:
        """Return the code of rollouts, which `kane_dynamics.rollout` runs."""
        return self._on.steps(integrator, projection)

    def rollout_parameters(self, loads: Loads | None, gains: Floats | None) -> Array:
        """Return what the code of rollouts reads, (P,) or (B, P)."""
        return self._on.rollout_parameters(loads, gains)

    def _call(self, name: str, arrays: Arrays, choices: Choices = (), out: Any = None) -> Any:
        selection = checked_choices(name, choices, self) if choices else ()
        kernel = self._on.kernel(graph_of(FUNCTIONS[name].kernel), *selection)

        def redo(cpu: CompiledDynamics, *state: Floats) -> Floats:
            if (
                name == 'constrained_effort'
                and selection[1] is None
                and self.precision == 'float32'
            ):
                q, v, a, *remainder = state
                state = q, v, _unrounded(cpu, q, v, a, remainder[-1]), *remainder
            return cpu._call(name, state, choices)

        return self._on.run(kernel, arrays[: kernel.count], redo, self._loads, out)

    def _at(self, time: Any) -> Any:
        return times(time)

    def _not_on_a_card(self, *_: Any, **__: Any) -> NoReturn:
        raise InvalidInputError(
            'motions, rows, wrenches on links and steps of one state: ask on_cpu, not the card'
        )

    motion_at = _rows = _switched_by = _engine = _under_wrenches = _not_on_a_card

    def inverse_dynamics_derivatives(self, q: Any, v: Any, a: Any) -> Derivatives:
        """Return d tau / d(q, v, a), friction and armature included; each (B, nv, nv)."""
        nothing = np.zeros(len(self._on.plan.solved))
        balance = self._plain(Tracer.balance_derivatives, q, v, a, nothing, np.zeros(1))
        return of_inverse_dynamics(balance, self.mass_matrix(q))

    def forward_dynamics_derivatives(
        self, q: Any, v: Any, tau: Any, time: Any = START
    ) -> Derivatives:
        """Return d vdot / d(q, v, tau) under the constraints; each (B, nv, nv)."""
        plan = self._on.plan
        if plan.repeated or not plan.certain:
            raise InvalidInputError(
                'rows that repeat others: forward_dynamics_derivatives are of kd.compile without '
                'a card'
            )
        a, order, clock = self.acceleration(q, v, tau, time), list(plan.solved), times(time)
        force = self.multipliers(q, v, tau, time)[..., order]
        balance = self._plain(Tracer.balance_derivatives, q, v, a, force, clock)
        rows = self._plain(Tracer.constraint_rows, q, v, clock)
        return of_forward_dynamics(balance, self.mass_matrix(q), rows[..., order, :])

    def _plain(self, graph: Any, *inputs: Any) -> Array:
        """Return what a graph gives that solves nothing."""
        return self._on.run(self._on.kernel(graph), inputs, _no_answer, self._loads)


def _unrounded(cpu: CompiledDynamics, q: Floats, v: Floats, a: Floats, time: Floats) -> Floats:
    """Return accelerations on the rows where they are so but for roundoff of single precision."""
    nearest = cpu.consistent_acceleration(q, v, a, None, time)
    off = np.abs(nearest - a).max(axis=-1, keepdims=True)
    size = 1.0 + np.abs(a).max(axis=-1, keepdims=True)
    return np.where(off <= REACHED_IN_SINGLE * size, nearest, a)


def _no_answer(*_: Any) -> NoReturn:
    """Say why machine code that solves nothing has no answer."""
    raise InvalidInputError('derivatives: a number is too large, or a quaternion not unit')
