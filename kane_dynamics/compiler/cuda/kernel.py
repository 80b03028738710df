# SPDX-License-Identifier: Apache-2.0
"""A kernel on a device: its code; arrays in, layouts, states that have no answer, arrays out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kane_dynamics.compiler.build import shape_of, straight_line, tracer_of
from kane_dynamics.compiler.cache import CachedKernel
from kane_dynamics.compiler.cuda.device import Array, CudaDevice, PtxCompiler
from kane_dynamics.compiler.cuda.kernel_ir import ELEMENTS, HEALTH_LIMITS, kernel_ir
from kane_dynamics.compiler.llvm.kernel_spec import KernelSpec
from kane_dynamics.compiler.recipe import Recipe
from kane_dynamics.exceptions import InvalidInputError

Redo = Callable[[np.ndarray[Any, Any], list[Any]], Any]
"""(numbers of states, their inputs as rows of float64) -> the first output at each."""


def kernel_code(
    recipe: Recipe,
    graph: Callable[..., KernelSpec],
    choices: tuple[Any, ...],
    compiler: PtxCompiler,
    precision: str,
) -> CachedKernel:
    """Return the code of a graph, from the cache where it is there and sound."""

    def make() -> CachedKernel:
        spec = straight_line(graph, tracer_of(recipe, in_single=precision == 'float32'), *choices)
        code = compiler.compile(kernel_ir(spec, ELEMENTS[precision]))
        return replace(shape_of(spec), code=code)

    how = choices, 'cuda', compiler.identity, precision
    return recipe.cached_kernel(graph.__name__, make, *how)


@dataclass(frozen=True, eq=False)
class View:
    """One array as a kernel sees it."""

    array: Array  # It
    state: int
    entry: int

    @staticmethod
    def of(array: Array) -> View:
        """Return the view of one state (n,) or of many (B, n), however they lie in memory."""
        *state, entry = [stride // array.itemsize for stride in array.strides]
        return View(array, state[0] if state else 0, entry)

    def arguments(self) -> tuple[Any, ...]:
        """Return what the kernel is given."""
        return self.array, np.int64(self.state), np.int32(self.entry)


def empty_rows(
    device: CudaDevice, states: int, shape: tuple[int, ...], dtype: Any, batch_last: bool
) -> tuple[Array, View]:
    """Return an array (states, *shape) to be written, and its view."""
    size, xp = math.prod(shape), device.xp
    if batch_last:
        memory = xp.empty((size, states), dtype)
        axes = (len(shape), *range(len(shape)))
        array = memory.reshape(*shape, states).transpose(axes)
        return array, View(memory, 1, states)
    array = xp.empty((states, *shape), dtype)
    return array, View(array, size, 1)


class CudaKernel:
    """One compiled function on a device."""

    def __init__(
        self,
        name: str,
        code: CachedKernel,
        names: Sequence[str],
        device: CudaDevice,
        precision: str,
    ) -> None:
        self.name, self.instructions, self.fallback_count = name, code.instructions, 0
        self._device = device
        self._sizes, self._shapes = code.input_sizes, code.output_shapes
        self._names = tuple(names)[: len(self._sizes)]
        self.count = len(self._names)
        self.dtype: np.dtype[Any] = np.dtype(precision)
        self._limit = HEALTH_LIMITS[ELEMENTS[precision]]
        self._run_on, self.usage = device.load(code.code, name)

    def __call__(
        self, *inputs: Any, parameters: Array, redo: Redo, out: Array | None = None
    ) -> Array:
        """Return the first output, shape (B, ...), or (...) where all inputs are of one state."""
        arrays = [self._input(k, x) for k, x in enumerate(inputs)]
        batches = {len(x) for x in (*arrays, parameters) if x.ndim == 2}
        if len(batches) > 1:
            raise InvalidInputError(
                f'{self.name}: batches have different lengths {sorted(batches)}'
            )
        states = batches.pop() if batches else 1
        alone = all(x.ndim == 1 for x in (*arrays, parameters))
        views = [View.of(x) for x in (*arrays, parameters)]
        batch_last = any(view.state == 1 and view.entry != 1 for view in views)
        target, view = self._target(states, alone, out, arrays, batch_last)
        remainder = [
            empty_rows(self._device, states, shape, self.dtype, batch_last)[1]
            for shape in self._shapes[1:]
        ]
        ill = self._run(states, [*views, view, *remainder])
        if ill is not None:
            self._fill(ill, arrays, target, redo)
        if out is not None:
            if target is not out:
                out[...] = target.reshape(out.shape)
            return out
        return target[0] if alone else target

    def _input(self, k: int, x: Any) -> Array:
        array, size = self._device.array(x, self.dtype), self._sizes[k]
        if array.ndim not in (1, 2) or array.shape[-1] != size:
            raise InvalidInputError(
                f'{self._names[k]}: need shape ({size},) or (B, {size}), got {array.shape}'
            )
        return array

    def _target(
        self, states: int, alone: bool, out: Array | None, inputs: list[Array], batch_last: bool
    ) -> tuple[Array, View]:
        """Return where the first output goes: `out` where a kernel can write it."""
        shape, xp = self._shapes[0], self._device.xp
        if out is None:
            return empty_rows(self._device, states, shape, self.dtype, batch_last)
        expected = shape if alone else (states, *shape)
        if not isinstance(out, xp.ndarray) or out.shape != expected or out.dtype != self.dtype:
            raise InvalidInputError(
                f'out: need an array of {xp.__name__}, shape {expected}, {self.dtype}, got '
                f'{type(out).__name__} {getattr(out, "shape", "")} {getattr(out, "dtype", "")}'
            )
        direct = out.ndim == 2 and not alone
        if direct and not any(xp.may_share_memory(out, x) for x in inputs):
            return out, View.of(out)
        return empty_rows(self._device, states, shape, self.dtype, batch_last)

    def _run(self, states: int, views: list[View]) -> Array | None:
        """Launch; return the numbers of the states without an answer, None where all have one."""
        if not states:
            return None
        xp = self._device.xp
        rcond, ill = xp.empty(states, self.dtype), xp.zeros(1, np.uint32)
        values = [part for view in views for part in view.arguments()]
        self._run_on(states, [np.int64(states), *values, rcond, ill])
        if not int(ill[0]):  # waits for the kernel
            return None
        return xp.flatnonzero(~(rcond >= self._limit))

    def _fill(self, ill: Array, inputs: list[Array], target: Array, redo: Redo) -> None:
        """Redo the finite ones among some states."""
        states = [x[ill] if x.ndim == 2 else x[None].repeat(len(ill), 0) for x in inputs]
        finite = self._device.xp.stack(
            [self._device.xp.isfinite(x).all(axis=1) for x in states]
        ).all(axis=0)
        again = ill[finite]
        if not len(again):
            return
        self.fallback_count += len(again)
        rows = [self._device.to_host(x[finite]).astype(np.float64) for x in states]
        result = redo(self._device.to_host(again), rows)
        target[again] = self._device.array(result, self.dtype)
