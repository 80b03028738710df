# SPDX-License-Identifier: Apache-2.0
"""The kernels of a robot on a device: compiled when first called, and the way to the processor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.compiler.build import step_name
from kane_dynamics.compiler.compiled import CompiledRobot
from kane_dynamics.compiler.cuda.device import Array, Device, Usage
from kane_dynamics.compiler.cuda.kernel import CudaKernel
from kane_dynamics.compiler.cuda.loads import Loads, loads
from kane_dynamics.compiler.cuda.ptx import kernel_code
from kane_dynamics.compiler.cuda.steps import CardSteps, steps_code
from kane_dynamics.compiler.kernel_names import INPUTS
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.compiler.parameters import Parameters
from kane_dynamics.compiler.recipe import Recipe
from kane_dynamics.compiler.steps.step_program import Law
from kane_dynamics.robot.gravity_and_payloads import POINT
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats

OnCpu = Callable[[Parameters], CompiledRobot]
"""Returns the same robot for the processor, under gravity and payloads of its own."""

Graph = Callable[..., KernelSpec]


class GpuKernels:
    """
    The kernels of a robot on a device by graph, under its gravity and payloads.

    Parameters
    ----------
    recipe : Recipe
        Robot, constraints, frames, payloads.
    load : Parameters
        Present gravity and payloads.
    device : Device
        Where they run.
    precision : str
        'float32' or 'float64'.
    on_cpu : callable
        Gives the same robot for the processor, which redoes states.
    law : Law, optional
        Of the time steps.

    """

    def __init__(
        self,
        recipe: Recipe,
        load: Parameters,
        device: Device,
        precision: str,
        on_cpu: OnCpu,
        law: Law | None = None,
    ) -> None:
        self.constraints, self.frames = recipe.constraints, recipe.frames
        self.device, self.precision = device, precision
        self._recipe, self._load, self._make_cpu = recipe, load, on_cpu
        self._law, self._steps = law, dict[tuple[str, bool], CardSteps]()
        self._dtype, self._kernels = np.dtype(precision), dict[tuple[Any, ...], CudaKernel]()
        self._update()

    def _update(self) -> None:
        """Read gravity and payloads again."""
        self._values = self.device.array(self._load.values.copy(), self._dtype)

    @property
    def robot(self) -> Robot:
        """Return the robot with the present gravity and payloads."""
        return self._load.robot

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the names of the rows."""
        return self.constraints.labels

    @property
    def fallback_count(self) -> int:
        """Return how many states the processor redid, because the device was not sure of them."""
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

    def set_gravity(self, vector: ArrayLike) -> None:
        """Set the gravity acceleration; see `Dynamics.set_gravity`."""
        self._load.set_gravity(vector)
        self._update()

    def set_payload(
        self, frame: str, mass: float, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike = POINT
    ) -> None:
        """Set what a frame carries; see `Dynamics.set_payload`."""
        self._load.set_payload(frame, mass, com, inertia)
        self._update()

    def loads(
        self,
        gravity: ArrayLike | None = None,
        payloads: Mapping[str, Mapping[str, ArrayLike]] | None = None,
    ) -> Loads:
        """
        Return gravity and payloads of many states, for the argument `loads`.

        Parameters
        ----------
        gravity : array_like, shape (B, 3), optional
            [m/s^2]; the present one where left out.
        payloads : mapping, optional
            By frame: 'mass' (B,), 'center_of_mass' (B, 3), 'inertia' (B, 3, 3) about it; those
            of other frames are the present ones.

        """
        own = self.device, self._dtype, self._recipe.robot, self._load, self._recipe.payloads
        return loads(*own, gravity, payloads)

    def _kernel(self, graph: Graph, *choices: Any) -> CudaKernel:
        """Return the kernel of a graph."""
        key = graph, *choices
        if key not in self._kernels:
            name, device, precision = graph.__name__, self.device, self.precision
            code = kernel_code(self._recipe, graph, choices, device, precision)
            self._kernels[key] = CudaKernel(name, code, INPUTS[name], device, precision)
        return self._kernels[key]

    def steps(self, integrator: str, projection: bool) -> CardSteps:
        """Return the code of rollouts, which `kane_dynamics.rollout` runs."""
        how = integrator, projection and bool(self._recipe.constraints)
        if how not in self._steps:
            arguments = self._recipe, self._law, *how, self.device, self.precision
            self._steps[how] = CardSteps(steps_code(*arguments), self.device)
        return self._steps[how]

    def rollout_parameters(self, loads: Loads | None, gains: Floats | None) -> Array:
        """Return what steps read: gravity, payloads, gains of the law, (P,) or (B, P)."""
        values = self._values if loads is None else loads.values
        if self._law is None or not self._law.gains:
            return values
        xp = self.device.xp
        more = self.device.array(self._law.gains if gains is None else gains, self._dtype)
        rows = xp.broadcast_shapes(values.shape[:-1], more.shape[:-1])
        parts = [xp.broadcast_to(x, (*rows, x.shape[-1])) for x in (values, more)]
        return xp.concatenate(parts, axis=-1)

    def _plain(
        self,
        graph: Graph,
        inputs: tuple[Any, ...],
        arguments: Loads | None,
        out: Array | None = None,
    ) -> Array:
        """Return what a graph gives; the processor's method of the same name redoes states."""
        return self._run(self._kernel(graph), inputs, graph.__name__, arguments, out)

    def _run(
        self,
        kernel: CudaKernel,
        inputs: tuple[Any, ...],
        method: str | Callable[..., Floats],
        arguments: Loads | None,
        out: Array | None = None,
    ) -> Array:
        """Return what a kernel gives; a method of the processor's robot, or a function of it."""

        def call(cpu: CompiledRobot, *state: Floats) -> Floats:
            if callable(method):
                return method(cpu, *state)
            result: Floats = getattr(cpu, method)(*state)
            return result

        def redo(states: np.ndarray[Any, Any], rows: list[Floats]) -> Floats:
            if arguments is None:
                return call(self.on_cpu, *rows)
            cpu, local = self._cpu_alone
            result = []
            for number, *row in zip(states.tolist(), *rows, strict=True):
                arguments.put(number, local)
                result.append(call(cpu, *row))
            return np.array(result)

        values = self._values if arguments is None else arguments.values
        return kernel(*inputs, parameters=values, redo=redo, out=out)

    @cached_property
    def on_cpu(self) -> CompiledRobot:
        """Return the same robot for the processor, in double precision."""
        return self._make_cpu(self._load)

    @cached_property
    def _cpu_alone(self) -> tuple[CompiledRobot, Parameters]:
        """Return one under gravity and payloads of its own."""
        local = Parameters(self._recipe.robot, self._recipe.payloads)
        return self._make_cpu(local), local


def times(time: Any) -> Any:
    """Return times, one or (B,), as rows of one number."""
    if isinstance(time, int | float):
        return np.array([float(time)])
    return (time if hasattr(time, 'reshape') else np.asarray(time)).reshape(-1, 1)
