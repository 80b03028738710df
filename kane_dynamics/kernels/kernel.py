# SPDX-License-Identifier: Apache-2.0
"""A compiled function at run time: checks, conversions, batches, the way to the reference."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.kernels.batches import run_batch
from kane_dynamics.kernels.cache import CachedKernel
from kane_dynamics.kernels.module import HEALTH_LIMIT
from kane_dynamics.kernels.native import NativeModule, make_entry

Floats = NDArray[np.float64]
Reference = Callable[..., Any]


def as_output(shape: tuple[int, ...], out: Floats | None) -> Floats:
    """
    Return `out`, or a new array where it is None.

    Raises
    ------
    InvalidInputError
        If `out` cannot take the result.

    """
    if out is None:
        return np.empty(shape)
    flags = getattr(out, 'flags', None)
    if (
        not isinstance(out, np.ndarray)
        or out.shape != shape
        or out.dtype != np.float64
        or not (flags and flags.c_contiguous and flags.writeable and flags.aligned)
    ):
        raise InvalidInputError(
            f'out: need a writeable C-contiguous float64 array of shape {shape}, got '
            f'{getattr(out, "dtype", type(out).__name__)} of shape {np.shape(out)}'
        )
    return out


class Kernel:
    """
    One compiled function with all its ways in.

    Parameters
    ----------
    name : str
        Name in the machine code.
    cached : CachedKernel
        Machine code and shapes.
    input_names : sequence of str
        Names for messages.
    reference : callable
        The function of numpy arrays that gives the first output where a solve is ill conditioned.

    Attributes
    ----------
    call : callable
        ``call(*inputs, out=None)``: arrays of one state (1-D), or of many (2-D, one row each).
        `out` may be one of the inputs.
    fallbacks : int
        How many states went to the reference so far.
    takes : int
        Number of inputs.
    instructions : int
        Number of operations of the graph.

    """

    def __init__(
        self, name: str, cached: CachedKernel, input_names: Sequence[str], reference: Reference
    ) -> None:
        self.name = name
        self.instructions = cached.instructions
        self.fallbacks = 0
        self.takes = len(cached.input_sizes)
        self._sizes = cached.input_sizes
        self._shapes = cached.output_shapes
        self._names = tuple(input_names)[: self.takes]
        self._reference = reference
        module = NativeModule(cached.code, [name, f'{name}_batch', f'{name}_entry'])
        pointers = [ctypes.c_void_p] * (len(self._sizes) + len(self._shapes))
        self._one = module.function(name, ctypes.c_double, *pointers)
        self._many = module.function(
            f'{name}_batch', None, *pointers, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64
        )
        self.call = make_entry(module, name, self._checked_call)

    def all_outputs(self, *inputs: Any) -> list[Floats] | None:
        """Return every output at one state, or None where a solve is ill conditioned."""
        arrays = [self._as_input(k, x, (1,)) for k, x in enumerate(inputs)]
        outputs = [np.empty(shape) for shape in self._shapes]
        health = self._one(*[x.ctypes.data for x in (*arrays, *outputs)])
        if health < HEALTH_LIMIT:
            self.fallbacks += 1
            return None
        return outputs

    def outputs(self, *inputs: Any) -> list[Floats]:
        """Return every output, at one state, of a kernel that solves nothing."""
        found = self.all_outputs(*inputs)
        if found is None:
            raise InvalidInputError(f'{self.name}: not finite at this state')
        return found

    def _checked_call(self, *inputs: Any, out: Floats | None = None, **named: Any) -> Floats:
        inputs += tuple(named.pop(name) for name in self._names[len(inputs) :] if name in named)
        if named:
            raise InvalidInputError(
                f'{self.name}: no arguments {sorted(named)}; there are {[*self._names, "out"]}'
            )
        if len(inputs) == len(self._sizes) + 1 and out is None:
            *inputs, out = inputs  # type: ignore[assignment]
        if len(inputs) != len(self._sizes):
            raise InvalidInputError(
                f'{self.name}: need {", ".join(self._names)}, got {len(inputs)} arguments'
            )
        arrays = [self._as_input(k, x) for k, x in enumerate(inputs)]
        if isinstance(out, np.ndarray):  # a state must not be overwritten before it is read
            arrays = [x.copy() if np.may_share_memory(x, out) else x for x in arrays]
        rows = {len(x) for x in arrays if x.ndim == 2}
        if len(rows) > 1:
            raise InvalidInputError(f'{self.name}: batches have different lengths {sorted(rows)}')
        if rows:
            return self._batch(arrays, rows.pop(), out)
        result = as_output(self._shapes[0], out)
        rest = [np.empty(shape) for shape in self._shapes[1:]]
        health = self._one(*[x.ctypes.data for x in (*arrays, result, *rest)])
        if health < HEALTH_LIMIT:
            result[...] = self._by_reference(arrays)
        return result

    def _batch(self, arrays: list[Floats], count: int, out: Floats | None) -> Floats:
        full = [
            x if x.ndim == 2 else np.ascontiguousarray(np.broadcast_to(x, (count, len(x))))
            for x in arrays
        ]
        result = as_output((count, *self._shapes[0]), out)
        rest = [np.empty((count, *shape)) for shape in self._shapes[1:]]
        health = np.empty(count)
        run_batch(self._many, [*full, result, *rest], health)
        for k in np.flatnonzero(health < HEALTH_LIMIT):
            result[k] = self._by_reference([x[k] for x in full])
        return result

    def _by_reference(self, arrays: Sequence[Floats]) -> Floats:
        self.fallbacks += 1
        if not all(np.isfinite(x).all() for x in arrays):
            return np.full(self._shapes[0], np.nan)
        result: Floats = self._reference(*arrays)
        return result

    def _as_input(self, k: int, x: Any, dimensions: tuple[int, ...] = (1, 2)) -> Floats:
        name, size = self._names[k], self._sizes[k]
        try:
            array: Floats = np.ascontiguousarray(x, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidInputError(f'{name}: need {size} numbers, got {x!r}') from None
        if np.ndim(x) not in dimensions or array.shape[-1] != size:
            shapes = f'({size},) or (B, {size})' if 2 in dimensions else f'({size},)'
            raise InvalidInputError(f'{name}: need shape {shapes}, got {np.shape(x)}')
        return np.require(array, requirements='A')
