# SPDX-License-Identifier: Apache-2.0
"""The kernels of a robot on a device: compiled when first called, and the way to the processor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.compiler.build import step_name
from kane_dynamics.compiler.compiled import CompiledDynamics
from kane_dynamics.compiler.cuda.device import Array, Device, Usage
from kane_dynamics.compiler.cuda.kernel import CudaKernel
from kane_dynamics.compiler.cuda.loads import Loads, loads
from kane_dynamics.compiler.cuda.ptx import kernel_code
from kane_dynamics.compiler.cuda.steps import CardSteps, steps_code
from kane_dynamics.compiler.graphs.row_plan import RowPlan
from kane_dynamics.compiler.kernel_names import INPUTS
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.compiler.parameters import Parameters
from kane_dynamics.compiler.recipe import Recipe
from kane_dynamics.compiler.steps.step_program import Law
from kane_dynamics.typing import Floats

OnCpu = Callable[[Parameters], CompiledDynamics]
"""Returns the same robot for the processor, under gravity and payloads of its own."""

Graph = Callable[..., KernelSpec]


class GpuKernels:
    """Kernels by graph."""

    def __init__(
        self,
        recipe: Recipe,
        load: Parameters,
        device: Device,
        precision: str,
        on_cpu: OnCpu,
        law: Law | None,
    ) -> None:
        self._recipe, self._load, self._device, self._on_cpu = recipe, load, device, on_cpu
        self._law, self._steps = law, dict[tuple[str, bool], CardSteps]()
        self._precision, self._dtype = precision, np.dtype(precision)
        self._kernels: dict[tuple[Any, ...], CudaKernel] = {}
        self.update()

    def update(self) -> None:
        """Read gravity and payloads again."""
        self._values = self._device.array(self._load.values.copy(), self._dtype)

    @property
    def plan(self) -> RowPlan:
        """Return how the rows are treated."""
        return self._recipe.plan

    @property
    def fallback_count(self) -> int:
        """Return how many states the processor redid."""
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

    def loads(
        self, gravity: ArrayLike | None, payloads: Mapping[str, Mapping[str, ArrayLike]] | None
    ) -> Loads:
        """Return gravity and payloads of many states."""
        made = self._device, self._dtype, self._recipe.robot, self._load, self._recipe.payloads
        return loads(*made, gravity, payloads)

    def kernel(self, graph: Graph, *choices: Any) -> CudaKernel:
        """Return the kernel of a graph."""
        key = graph, *choices
        if key not in self._kernels:
            name, device, precision = graph.__name__, self._device, self._precision
            code = kernel_code(self._recipe, graph, choices, device, precision)
            self._kernels[key] = CudaKernel(name, code, INPUTS[name], device, precision)
        return self._kernels[key]

    def steps(self, integrator: str, projection: bool) -> CardSteps:
        """Return the rollouts of an integrator."""
        how = integrator, projection and bool(self._recipe.constraints)
        if how not in self._steps:
            arguments = self._recipe, self._law, *how, self._device, self._precision
            self._steps[how] = CardSteps(steps_code(*arguments), self._device)
        return self._steps[how]

    def rollout_parameters(self, arguments: Loads | None, gains: Floats | None) -> Array:
        """Return what steps read: gravity, payloads, gains of the law, (P,) or (B, P)."""
        values = self._values if arguments is None else arguments.values
        if self._law is None or not self._law.gains:
            return values
        xp = self._device.xp
        more = self._device.array(self._law.gains if gains is None else gains, self._dtype)
        rows = xp.broadcast_shapes(values.shape[:-1], more.shape[:-1])
        parts = [xp.broadcast_to(x, (*rows, x.shape[-1])) for x in (values, more)]
        return xp.concatenate(parts, axis=-1)

    def run(
        self,
        kernel: CudaKernel,
        inputs: Sequence[Any],
        call: Callable[..., Floats],
        arguments: Loads | None,
        out: Array | None = None,
    ) -> Array:
        """Return what a kernel gives; call(cpu, *state) redoes states on the processor's robot."""

        def redo(states: np.ndarray[Any, Any], rows: list[Floats]) -> Floats:
            if arguments is None:
                return call(self.cpu, *rows)
            cpu, local = self._cpu_alone
            result = []
            for number, *row in zip(states.tolist(), *rows, strict=True):
                arguments.put(number, local)
                result.append(call(cpu, *row))
            return np.array(result)

        values = self._values if arguments is None else arguments.values
        return kernel(*inputs, parameters=values, redo=redo, out=out)

    @cached_property
    def cpu(self) -> CompiledDynamics:
        """Return the robot on the processor under the present gravity and payloads."""
        return self._on_cpu(self._load)

    @cached_property
    def _cpu_alone(self) -> tuple[CompiledDynamics, Parameters]:
        """Return one under gravity and payloads of its own."""
        local = Parameters(self._recipe.robot, self._recipe.payloads)
        return self._on_cpu(local), local


def times(time: Any) -> Any:
    """Return times, one or (B,), as rows of one number."""
    if isinstance(time, int | float):
        return np.array([float(time)])
    return (time if hasattr(time, 'reshape') else np.asarray(time)).reshape(-1, 1)
