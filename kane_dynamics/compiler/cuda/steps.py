# SPDX-License-Identifier: Apache-2.0
"""Steps of many rollouts on a device, in one launch."""

from __future__ import annotations

from typing import Any

import numpy as np

from kane_dynamics.compiler.build import callees, step_name
from kane_dynamics.compiler.cache import CachedKernel
from kane_dynamics.compiler.cuda.device import Array, Device, Usage
from kane_dynamics.compiler.cuda.kernel import View
from kane_dynamics.compiler.cuda.kernel_ir import ELEMENTS
from kane_dynamics.compiler.cuda.ptx import Compiler, cached_code
from kane_dynamics.compiler.cuda.rollout_ir import ROLLOUT, rollout_ir
from kane_dynamics.compiler.recipe import Recipe
from kane_dynamics.compiler.steps.step_program import Law, Recorder, record_step
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.simulation.integrators import INTEGRATORS


def steps_code(
    recipe: Recipe,
    law: Law | None,
    integrator: str,
    projection: bool,
    compiler: Compiler,
    precision: str,
) -> CachedKernel:
    """Return the code of the rollouts of one integrator."""
    tracer = recipe.tracer(in_single=precision == 'float32')
    name, holonomic_rows = step_name(integrator, projection), bool(tracer.holonomic)
    holonomic = projection and holonomic_rows
    if precision == 'float32' and (integrator == 'midpoint' or holonomic):
        what = "the integrator 'midpoint'" if not holonomic else 'projection onto positions'
        raise InvalidInputError(
            f"{what} asks for more digits than float32 has: compile with precision='float64'"
        )

    def make() -> tuple[str, CachedKernel]:
        recorder, local = Recorder(tracer.robot, holonomic_rows), len(tracer.parameters)
        program = record_step(recorder, INTEGRATORS[integrator], projection, law, local)
        called = callees(tracer, {name: program})
        operations = sum(spec.operations for spec in called.values())
        ir = rollout_ir(program, called, ELEMENTS[precision])
        return ir, CachedKernel(b'', (), (), operations)

    return cached_code(recipe, ROLLOUT, (name, law and law.content), make, compiler, precision)


class CardSteps:
    """Code of the rollouts of one integrator."""

    def __init__(self, code: CachedKernel, device: Device) -> None:
        self._launch = device.load(code.code, ROLLOUT)

    @property
    def usage(self) -> Usage:
        """Return what the kernel takes of the device."""
        return self._launch.usage

    def run(
        self,
        indices: Array,
        q: Array,
        v: Array,
        efforts: Array,
        parameters: Array,
        kept: Array,
        done: Array,
        schedule: tuple[float, int, int, int],
    ) -> None:
        """Take steps of some rollouts, until the last or until one is not sound."""
        h, count, piece, every = schedule
        state, part, entry = [stride // efforts.itemsize for stride in efforts.strides]
        tau = efforts, np.int64(state), np.int32(entry), np.int64(part)
        inputs: list[Any] = [np.int64(len(indices)), indices]
        for array in (q, v):
            inputs += View.of(array).arguments()
        inputs += [*tau, *View.of(parameters).arguments()]
        room = [stride // kept.itemsize for stride in kept.strides]
        inputs += [kept, np.int64(room[1]), np.int64(room[0]), done, np.float64(h)]
        inputs += [np.int64(count), np.int64(piece), np.int64(every or count + 1)]
        self._launch.run(len(indices), inputs)
