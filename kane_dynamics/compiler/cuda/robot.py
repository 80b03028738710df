# SPDX-License-Identifier: Apache-2.0
"""A robot whose dynamics run on a graphics card; made by ``kd.compile(..., device='cuda')``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple, NoReturn

import numpy as np

from kane_dynamics.algorithms.traced_inverse_solve import REACHED_IN_SINGLE
from kane_dynamics.compiler.compiled import CompiledDynamics
from kane_dynamics.compiler.cuda.device import Array, CudaDevice, Usage
from kane_dynamics.compiler.cuda.kernel import CudaKernel, kernel_code
from kane_dynamics.compiler.cuda.rollouts import CardSteps, steps_code
from kane_dynamics.compiler.derivatives import (
    Derivatives,
    of_forward_dynamics,
    of_inverse_dynamics,
)
from kane_dynamics.compiler.graphs.by_name import graph_of
from kane_dynamics.compiler.graphs.trace import Tracer
from kane_dynamics.compiler.kernel_loader import Build, load_kernels
from kane_dynamics.compiler.kernel_set import checked_choices
from kane_dynamics.compiler.parameters import Parameters
from kane_dynamics.compiler.recipe import INPUTS, Progress, Recipe, silent, step_name, too_large
from kane_dynamics.dynamics.base import Arrays, Choices
from kane_dynamics.dynamics.constrained import START
from kane_dynamics.dynamics.interface import Dynamics
from kane_dynamics.dynamics.table import FUNCTIONS
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.rollouts.inputs import GRAVITY, load_rows, set_row
from kane_dynamics.simulation.motions import PayloadRows
from kane_dynamics.typing import ArrayLike, Floats


class Loads(NamedTuple):
    """What each state of a batch is under."""

    values: Array  # shape (P,) or (B, P): What kernels read, on the device
    base: Parameters  # What was set when they were made
    gravity: Floats  # shape (B, 3): [m/s^2]
    payloads: Mapping[str, PayloadRows]


class CudaDynamics(Dynamics):
    """`Dynamics` of one robot under fixed constraints on a graphics card."""

    def __init__(self, recipe: Recipe, device: CudaDevice, progress: Progress = silent) -> None:
        robot = recipe.robot
        if too_large(robot):
            raise InvalidInputError(f'this robot with {robot.nv} speeds is too large for a card')
        load, in_double = Parameters(robot, recipe.payloads), replace(recipe, precision='float64')
        super().__init__(load, recipe.constraints, recipe.frames)
        self._load: Parameters = load
        self._recipe, self.precision, self.device = in_double, recipe.precision, device
        self._dtype = np.dtype(recipe.precision)
        self._values = device.array(load.values.copy(), self._dtype)
        self._kernels: dict[tuple[Any, ...], CudaKernel] = {}
        self._steps: dict[tuple[str, bool], CardSteps] = {}
        self._loads: Loads | None = None
        self._local = Parameters(robot, recipe.payloads)  # of states that are redone one by one

        @cache
        def build() -> Build:
            return load_kernels(in_double, progress)

        self._cpu = cache(lambda load: CompiledDynamics(load, build()))

    def __repr__(self) -> str:
        rows = f'{len(self.labels)} constraint rows, ' if self.labels else ''
        robot = f"'{self.robot.name}', {self.robot.base} base, {self.robot.nv} speeds, {rows}"
        states = f'fallback_count={self.fallback_count}'
        return f"CudaDynamics({robot}device='cuda', {self.precision}, {states})"

    @property
    def on_cpu(self) -> CompiledDynamics:
        """Return the same robot for the processor, in double precision."""
        return self._cpu(self._load)

    @property
    def fallback_count(self) -> int:
        """Return how many states the processor redid, because the card was not sure of them."""
        return sum(kernel.fallback_count for kernel in self._kernels.values())

    @property
    def usage(self) -> dict[str, Usage]:
        """Return registers and local memory of the kernels that were called so far."""
        kernels = {kernel.name: kernel.usage for kernel in self._kernels.values()}
        return kernels | {step_name(*how): steps.usage for how, steps in self._steps.items()}

    @property
    def instructions(self) -> dict[str, int]:
        """Return the number of operations of the kernels that were called so far."""
        return {kernel.name: kernel.instructions for kernel in self._kernels.values()}

    def _load_changed(self) -> None:
        self._values[...] = self.device.array(self._load.values, self._dtype)

    def loads(
        self,
        gravity: ArrayLike | None = None,
        payloads: Mapping[str, Mapping[str, ArrayLike]] | None = None,
    ) -> Loads:
        """Return gravity and payloads of many states, for `under`."""
        vector = self.robot.gravity if gravity is None else gravity
        spread, of_frames = load_rows(self._load.copied(), vector, payloads, {})
        rows = spread[GRAVITY], of_frames
        values = self._load.rows(len(rows[0]), *rows)
        kept = values[0] if len(values) == 1 else values
        return Loads(self.device.array(kept, self._dtype), self._load.copied(), *rows)

    def under(self, loads: Loads) -> CudaDynamics:
        """Return the same dynamics with gravity and payloads of each state."""
        other = copy(self)
        other._loads = loads
        return other

    def steps(self, integrator: str, projection: bool) -> CardSteps:
        """Return the code of rollouts, which `kane_dynamics.rollout` runs."""
        how = integrator, projection and bool(self.constraints)
        if how not in self._steps:
            code = steps_code(self._recipe, *how, self.device, self.precision)
            self._steps[how] = CardSteps(code, self.device)
        return self._steps[how]

    def rollout_parameters(
        self,
        count: int,
        gains: Floats | None,
        gravity: Floats | None,
        payloads: Mapping[str, PayloadRows],
    ) -> Array:
        """Return what steps read: gravity, payloads, gains of the law, (P,) or (B, P)."""
        known = np.array(self.on_cpu.gains) if gains is None else gains
        values = self._load.rollout_rows(count, known, gravity, payloads)
        return self.device.array(values[0] if len(values) == 1 else values, self._dtype)

    def _call(self, name: str, arrays: Arrays, choices: Choices = (), out: Any = None) -> Any:
        selection = checked_choices(name, choices, self) if choices else ()
        kernel = self._kernel(graph_of(FUNCTIONS[name].kernel), *selection)

        def redo(cpu: CompiledDynamics, *state: Floats) -> Floats:
            if (
                name == 'constrained_effort'
                and selection[1] is None
                and self.precision == 'float32'
            ):
                q, v, a, *remainder = state
                state = q, v, _unrounded(cpu, q, v, a, remainder[-1]), *remainder
            return cpu._call(name, state, choices)

        return self._run(kernel, arrays[: kernel.count], redo, out)

    def _kernel(self, graph: Callable[..., Any], *choices: Any) -> CudaKernel:
        """Return the kernel of a graph, compiled when it is first asked for."""
        key = graph, *choices
        if key not in self._kernels:
            name, how = graph.__name__, (self.device, self.precision)
            code = kernel_code(self._recipe, graph, choices, *how)
            self._kernels[key] = CudaKernel(name, code, INPUTS[name], *how)
        return self._kernels[key]

    def _run(
        self,
        kernel: CudaKernel,
        inputs: Sequence[Any],
        call: Callable[..., Floats],
        out: Array | None = None,
    ) -> Array:
        """Return what a kernel gives; call(cpu, *state) redoes states on the processor's robot."""
        loads = self._loads

        def redo(states: np.ndarray[Any, Any], rows: list[Floats]) -> Floats:
            if loads is None:
                return call(self.on_cpu, *rows)
            result = []
            one = len(loads.gravity) == 1
            for number, *row in zip(states.tolist(), *rows, strict=True):
                self._local.take(loads.base)
                set_row(self._local, 0 if one else number, loads.gravity, loads.payloads)
                result.append(call(self._cpu(self._local), *row))
            return np.array(result)

        values = self._values if loads is None else loads.values
        return kernel(*inputs, parameters=values, redo=redo, out=out)

    def _at(self, time: Any) -> Any:
        return _times(time)

    def _not_on_a_card(self, *_: Any, **__: Any) -> NoReturn:
        raise InvalidInputError(
            'motions, rows, wrenches on links and steps of one state: ask on_cpu, not the card'
        )

    motion_at = _rows = _switched_by = _engine = _under_wrenches = _not_on_a_card

    def inverse_dynamics_derivatives(self, q: Any, v: Any, a: Any) -> Derivatives:
        """Return d tau / d(q, v, a), friction and armature included; each (B, nv, nv)."""
        nothing = np.zeros(len(self._recipe.plan.solved))
        balance = self._plain(Tracer.balance_derivatives, q, v, a, nothing, np.zeros(1))
        return of_inverse_dynamics(balance, self.mass_matrix(q))

    def forward_dynamics_derivatives(
        self, q: Any, v: Any, tau: Any, time: Any = START
    ) -> Derivatives:
        """Return d vdot / d(q, v, tau) under the constraints; each (B, nv, nv)."""
        if not self._recipe.rows_are_certain:
            raise InvalidInputError(
                'rows that repeat others: forward_dynamics_derivatives are of kd.compile without '
                'a card'
            )
        a, order = self.acceleration(q, v, tau, time), list(self._recipe.plan.solved)
        clock = _times(time)
        force = self.multipliers(q, v, tau, time)[..., order]
        balance = self._plain(Tracer.balance_derivatives, q, v, a, force, clock)
        rows = self._plain(Tracer.constraint_rows, q, v, clock)
        return of_forward_dynamics(balance, self.mass_matrix(q), rows[..., order, :])

    def _plain(self, graph: Any, *inputs: Any) -> Array:
        """Return what a graph gives that solves nothing."""
        return self._run(self._kernel(graph), inputs, _no_answer)


def _unrounded(cpu: CompiledDynamics, q: Floats, v: Floats, a: Floats, time: Floats) -> Floats:
    """Return accelerations on the rows where they are so but for roundoff of single precision."""
    nearest = cpu.consistent_acceleration(q, v, a, None, time)
    off = np.abs(nearest - a).max(axis=-1, keepdims=True)
    size = 1.0 + np.abs(a).max(axis=-1, keepdims=True)
    return np.where(off <= REACHED_IN_SINGLE * size, nearest, a)


def _times(time: Any) -> Any:
    """Return times, one or (B,), as rows of one number."""
    if isinstance(time, int | float):
        return np.array([float(time)])
    return (time if hasattr(time, 'reshape') else np.asarray(time)).reshape(-1, 1)


def _no_answer(*_: Any) -> NoReturn:
    """Say why machine code that solves nothing has no answer."""
    raise InvalidInputError('derivatives: a number is too large, or a quaternion not unit')
