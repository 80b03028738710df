# SPDX-License-Identifier: Apache-2.0
"""What a compiled function is called with: one state, or many as rows, and where they go."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.exceptions import InvalidInputError, KaneDynamicsError
from kane_dynamics.robot.checks import as_numbers, describe
from kane_dynamics.typing import Floats

_Result = TypeVar('_Result')


@dataclass(frozen=True)
class Arguments:
    """
    Names and sizes of the inputs of one function, which all take one state or many.

    Parameters
    ----------
    function : str
        Its name, for messages.
    names : tuple of str
        Of the inputs.
    sizes : tuple of int
        Length of each input.

    """

    function: str
    names: tuple[str, ...]
    sizes: tuple[int, ...]

    def gathered(
        self, inputs: Iterable[Any], out: Any, dtype: type[np.floating[Any]] = np.float64
    ) -> tuple[list[Floats], int | None]:
        """
        Return the inputs as arrays of a dtype, and the number of rows, None for one state.

        Inputs that share memory with `out` are copied.

        Raises
        ------
        InvalidInputError
            If one is no array of numbers or has the wrong shape.

        """
        arrays = [self.array(k, x, dtype=dtype) for k, x in enumerate(inputs)]
        rows = {len(x) for x in arrays if x.ndim == 2}
        if len(rows) > 1:
            raise InvalidInputError(
                f'{self.function}: batches have different lengths {sorted(rows)}'
            )
        if isinstance(out, np.ndarray):  # a state must not be overwritten before it is read
            arrays = [x.copy() if np.may_share_memory(x, out) else x for x in arrays]
        return arrays, rows.pop() if rows else None

    def array(
        self,
        k: int,
        x: Any,
        dimensions: tuple[int, ...] = (1, 2),
        dtype: type[np.floating[Any]] = np.float64,
    ) -> Floats:
        """Return input k as a C-contiguous array of one state, or of many where allowed."""
        name, size = self.names[k], self.sizes[k]
        array = x if type(x) is np.ndarray and x.dtype == dtype else as_numbers(name, x)
        if array.ndim not in dimensions or array.shape[-1] != size:
            shapes = f'({size},) or (B, {size})' if 2 in dimensions else f'({size},)'
            raise InvalidInputError(f'{name}: need shape {shapes}, got {array.shape}')
        with np.errstate(over='ignore'):  # what lies beyond all floats becomes infinite
            return np.require(array, dtype, ('C', 'A'))


def as_times(time: ArrayLike) -> Floats:
    """
    Return one time [s] as an array of one number, or many, shape (B,) or (B, 1), as rows of one.

    Raises
    ------
    InvalidInputError
        If they are not finite real numbers, or have another shape.

    """
    times = as_numbers('time [s]', time)
    if times.ndim > 2 or (times.ndim == 2 and times.shape[1] != 1):
        raise InvalidInputError(f'time [s]: need one number or shape (B,), got {times.shape}')
    if not np.isfinite(times).all():
        raise InvalidInputError(f'time [s]: need finite numbers, got {describe(time)}')
    return times.reshape(1) if times.ndim == 0 else np.require(times.reshape(-1, 1), None, 'C')


def as_output(
    shape: tuple[int, ...], out: Any, dtype: type[np.floating[Any]] = np.float64
) -> Floats:
    """
    Return `out`, or a new array where it is None.

    Raises
    ------
    InvalidInputError
        If `out` cannot take the result.

    """
    if out is None:
        return np.empty(shape, dtype)
    flags = getattr(out, 'flags', None)
    if (
        not isinstance(out, np.ndarray)
        or isinstance(out, np.ma.MaskedArray)
        or out.shape != shape
        or out.dtype != dtype
        or not (flags and flags.c_contiguous and flags.writeable and flags.aligned)
    ):
        raise InvalidInputError(
            f'out: need a writeable C-contiguous {np.dtype(dtype)} array of shape {shape}, got '
            f'{getattr(out, "dtype", type(out).__name__)} of shape {np.shape(out)}'
        )
    return out


def fill_rows(
    function: Callable[..., Any], arrays: Sequence[Floats], result: Floats, rows: Iterable[int]
) -> None:
    """
    Write f(row k of all arrays) into row k of the result; NaN where an input is not finite.

    Raises
    ------
    KaneDynamicsError
        What the function raises, with the number of the row.

    """
    for k in rows:
        states = [x[k] for x in arrays]
        if not all(np.isfinite(x).all() for x in states):
            result[k] = np.nan
            continue
        try:
            result[k] = function(*states)
        except KaneDynamicsError as error:
            error.args = (f'state {k} of the batch: {error}',)
            raise


def of_rows(function: Callable[..., _Result], arrays: Sequence[Floats], blank: _Result) -> _Result:
    """
    Return the results of f(row k of all arrays) as one, whose fields have an entry for each row.

    Parameters
    ----------
    function : callable
        Returns an instance of a dataclass.
    arrays : sequence of ndarray, shape (B, n)
        Its arguments.
    blank : dataclass
        Result for rows that are not finite; its field `labels` is that of all.

    Raises
    ------
    KaneDynamicsError
        What the function raises, with the number of the row.

    """
    matches = []
    for k, states in enumerate(zip(*arrays, strict=True)):
        if not all(np.isfinite(x).all() for x in states):
            matches.append(blank)
            continue
        try:
            matches.append(function(*states))
        except KaneDynamicsError as error:
            error.args = (f'state {k} of the batch: {error}',)
            raise
    return stacked(matches, blank)


def stacked(results: Sequence[_Result], blank: _Result) -> _Result:
    """Return several results as one, whose fields have an entry for each; `labels` as in blank."""
    fields: dict[str, Any] = {}
    for name in (field.name for field in dataclasses.fields(blank)):  # type: ignore[arg-type]
        one, every = getattr(blank, name), [getattr(result, name) for result in results]
        if isinstance(one, np.ndarray):
            fields[name] = np.array(every, dtype=float).reshape(len(results), *one.shape)
        elif isinstance(one, (int, float)):
            fields[name] = np.array(every, dtype=type(one))
        else:
            fields[name] = one if name == 'labels' else tuple(every)
    return dataclasses.replace(blank, **fields)  # type: ignore[type-var]
