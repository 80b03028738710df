# SPDX-License-Identifier: Apache-2.0
"""Machine code of a graph that is no function of the table: many rows with shared parameters."""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.algebra.traced_scalar import column
from kane_dynamics.compiler.cache import CachedKernel
from kane_dynamics.compiler.graphs.row_plan import RowPlan
from kane_dynamics.compiler.kernel import NO_PARAMETERS
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.compiler.llvm.module import batch_ir, kernel_ir
from kane_dynamics.compiler.llvm.native import Linker, NativeModule, start_compiling
from kane_dynamics.compiler.recipe import Kernels, Recipe
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats, NDArray

Scalars = Sequence[Any] | NDArray


class GraphKernel:
    """A function of a row of numbers and of parameters, which many rows share."""

    def __init__(
        self, robot: Robot, name: str, row: Scalars, shared: Scalars, result: Scalars
    ) -> None:
        inputs, self._width = [column(row), column(shared)], len(result)
        graph = ca.Function(name, inputs, [column(result), ca.SX(1.0)], {'cse': True})
        self._spec = KernelSpec(name, (len(row),), ((self._width,),), graph, len(shared))
        recipe = Recipe(robot, ConstraintSet(robot), RowPlan(), (), (), True)
        kernels = recipe.cached((name, graph.serialize()), self._compiled)[0]
        module = NativeModule([x.code for x in kernels.values()], [f'{name}_batch'], Linker())
        numbers = [ctypes.c_void_p] * 4, [ctypes.c_int64] * 2
        self._run = module.function(f'{name}_batch', None, *numbers[0], *numbers[1])

    def _compiled(self) -> Kernels:
        spec = self._spec
        texts = {spec.name: kernel_ir(spec), f'{spec.name}_batch': batch_ir(spec)}
        jobs = {name: start_compiling(text) for name, text in texts.items()}
        shape = spec.input_sizes, spec.output_shapes, spec.operations
        return {name: CachedKernel(job.result(), *shape) for name, job in jobs.items()}

    def __call__(self, rows: Floats, parameters: Floats = NO_PARAMETERS) -> Floats:
        """Return the results of rows, shape (n, m); NaN where a number is not finite or huge."""
        result, sound = np.empty((len(rows), self._width)), np.empty(len(rows))
        arrays = rows, parameters, result, sound
        self._run(*[x.ctypes.data for x in arrays], 0, len(rows))
        if not sound.all():
            result[sound == 0.0] = np.nan
        return result
