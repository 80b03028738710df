# SPDX-License-Identifier: Apache-2.0
"""A compiled function at run time: checks, conversions, batches, the way to the reference."""

import ctypes
import itertools
import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from kane_dynamics.compiler.batches import run_batch
from kane_dynamics.compiler.cache import CachedKernel
from kane_dynamics.compiler.llvm.entry import make_entry
from kane_dynamics.compiler.llvm.limits import RCOND_LIMIT, SINGLE_HEALTH_LIMIT
from kane_dynamics.compiler.llvm.native import Linker, NativeModule
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import Arguments, as_output, fill_rows
from kane_dynamics.typing import Floats, Indices

Reference = Callable[..., Any]
NO_PARAMETERS = np.empty(0)


class Kernel:
    """One compiled function with all its ways in."""

    def __init__(
        self,
        name: str,
        cached: CachedKernel,
        input_names: Sequence[str],
        reference: Reference,
        linker: Linker,
        parameters: Floats = NO_PARAMETERS,
        unusual: Callable[..., Any] | None = None,
        *,
        batches: Callable[[], CachedKernel],
        in_single: bool = False,
        code: Sequence[bytes] = (),
    ) -> None:
        self.name = name
        self.instructions = cached.instructions
        self.fallback_count = self.double_precision_count = 0
        self._shapes = cached.output_shapes
        self._ends = [0, *itertools.accumulate(math.prod(shape) for shape in self._shapes)]
        names = tuple(input_names)[: len(cached.input_sizes)]
        self.timed, self.count = 'time' in names, len(names)
        self._arguments = Arguments(name, names, cached.input_sizes)
        self._reference = reference
        self._code, self._linker, self._make_batches = code or [cached.code], linker, batches
        module = NativeModule(self._code, [name, f'{name}_entry'], linker)
        self._pointers = [ctypes.c_void_p] * (len(names) + 1 + len(self._shapes))
        self._one = module.function(name, ctypes.c_double, *self._pointers)
        self._in_single = in_single
        self._parameters = parameters
        self.call = make_entry(module, name, unusual or self.checked, parameters, unusual)

    @cached_property
    def _batches(self) -> list[Callable[..., None]]:
        """Return the functions of many states in double and, where there is one, in single."""
        made = self._make_batches()
        names = [f'{self.name}_batch', *[f'{self.name}_single_batch'] * made.single]
        module = NativeModule([made.code, *self._code], names, self._linker)
        rows = *self._pointers, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64
        return [module.function(name, None, *rows) for name in names]

    def all_outputs(self, *inputs: Any) -> list[Floats] | None:
        """Return every output at one state, or None where the machine code has none."""
        arrays = [self._arguments.array(k, x, (1,)) for k, x in enumerate(inputs)]
        buffer = np.empty(self._ends[-1])
        first = buffer.ctypes.data
        indices = [first + 8 * start for start in self._ends[:-1]]
        arrays.append(self._parameters)
        rcond = self._one(*[x.ctypes.data for x in arrays], *indices)
        if not rcond >= RCOND_LIMIT:  # NaN too
            self.fallback_count += 1
            return None
        parts = zip(self._shapes, self._ends, self._ends[1:], strict=False)
        return [buffer[start:end].reshape(shape) for shape, start, end in parts]

    def outputs(self, *inputs: Any) -> list[Floats]:
        """Return every output, at one state, of a kernel that solves nothing."""
        results = self.all_outputs(*inputs)
        if results is None:
            raise InvalidInputError(
                f'{self.name}: the compiled code has no answer at this state: a number is not '
                'finite or too large, or a quaternion not unit'
            )
        return results

    def checked(self, *inputs: Any, out: Floats | None = None) -> Floats:
        """Return the first output for one state or many, of whatever can be arrays of them."""
        if self._in_single and _rows_are_single(inputs):
            return self._batch_in_single(inputs, out)
        arrays, rows = self._arguments.gathered(inputs, out)
        if rows is not None:
            return self._batch(arrays, rows, out)
        result = as_output(self._shapes[0], out)
        remainder = [np.empty(shape) for shape in self._shapes[1:]]
        rcond = self._one(
            *[x.ctypes.data for x in (*arrays, self._parameters, result, *remainder)]
        )
        if not rcond >= RCOND_LIMIT:  # NaN too
            finite = all(np.isfinite(x).all() for x in arrays)
            result[...] = self._by_reference(*arrays) if finite else np.nan
        return result

    def _batch(self, arrays: list[Floats], count: int, out: Floats | None) -> Floats:
        full = [_as_rows(x, count) for x in arrays]
        result = as_output((count, *self._shapes[0]), out)
        rcond = self._run(self._batches[0], full, result)
        fill_rows(self._by_reference, full, result, _ill(rcond).tolist())
        return result

    def _batch_in_single(self, inputs: Sequence[Any], out: Any) -> Floats:
        function = self._batches[1] if len(self._batches) > 1 else None
        kind = np.float64 if function is None else np.float32  # times keep their digits
        arrays, rows = self._arguments.gathered(inputs, out, kind)
        count = rows or 0
        full = [_as_rows(x, count) for x in arrays]
        result = as_output((count, *self._shapes[0]), out, np.float32)
        ill = np.arange(count)
        if function is not None:
            rcond = self._run(function, full, result)
            ill = _ill(rcond, SINGLE_HEALTH_LIMIT)
        if len(ill):
            self._in_double(full, result, ill)
        return result

    def _in_double(self, full: Sequence[Floats], result: Floats, rows: Indices) -> None:
        """Compute some rows in double, and those by the reference that need it."""
        states = [x[rows].astype(np.float64) for x in full]
        finite = np.isfinite(np.concatenate(states, axis=1)).all(axis=1)
        self.double_precision_count += int(finite.sum())
        with np.errstate(over='ignore'):  # what lies beyond all floats becomes infinite
            result[rows] = self._batch(states, len(rows), None)

    def _run(
        self, function: Callable[..., None], full: Sequence[Floats], result: Floats
    ) -> Floats:
        """Run a batch function; write the first output and return the health of each state."""
        count, kind = len(result), result.dtype
        remainder = [np.empty((count, *shape), kind) for shape in self._shapes[1:]]
        rcond: Floats = np.empty(count, kind)
        run_batch(function, [*full, self._parameters, result, *remainder], rcond)
        return rcond

    def _by_reference(self, *state: Floats) -> Any:
        self.fallback_count += 1
        return self._reference(*state)


def _ill(rcond: Floats, limit: float = RCOND_LIMIT) -> Indices:
    """Return which states are not known to be sound: NaN is not."""
    return np.flatnonzero(~(rcond >= limit))


def _as_rows(x: Floats, count: int) -> Floats:
    return x if x.ndim == 2 else np.ascontiguousarray(np.broadcast_to(x, (count, len(x))))


def _rows_are_single(inputs: Sequence[Any]) -> bool:
    """Return whether there are arrays with a row for each state, all of them float32."""
    kinds = {x.dtype for x in inputs if isinstance(x, np.ndarray) and x.ndim == 2}
    return kinds == {np.dtype(np.float32)}
