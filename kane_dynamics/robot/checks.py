# SPDX-License-Identifier: Apache-2.0
"""Argument checks that several rooms share."""

import dataclasses
import inspect
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from kane_dynamics.algebra.scalars import as_number, as_numbers, describe, not_finite
from kane_dynamics.exceptions import (
    InvalidInputError,
    KaneDynamicsError,
    NameNotFoundError,
    shorten,
)
from kane_dynamics.typing import ArrayLike, Floats

_T = TypeVar('_T')


def as_vector(name: str, x: Any, size: int) -> Floats:
    """Return a copy of `x` as a vector of `size` finite floats."""
    vector = as_numbers(name, x).copy()
    if vector.shape != (size,):
        raise InvalidInputError(f'{name}: need shape ({size},), got shape {vector.shape}')
    # a sum is quicker on short vectors; that of large numbers overflows
    return vector if math.isfinite(sum(vector.tolist())) else as_finite(name, vector)


def as_finite(name: str, x: Floats) -> Floats:
    """Return an array, if all its numbers are finite."""
    if not np.isfinite(x).all():
        raise InvalidInputError(f'{name}: need finite numbers, got {not_finite(x)}')
    return x


def as_shaped(name: str, x: Any, *shapes: tuple[int | str, ...]) -> Floats:
    """Return finite numbers of one of the shapes; a word in a shape stands for any length."""
    array = as_numbers(name, x)
    for shape in shapes:
        pairs = zip(shape, array.shape, strict=False)
        if len(shape) == array.ndim and all(isinstance(w, str) or w == n for w, n in pairs):
            return as_finite(name, array)
    listed = ' or '.join(str(shape).replace("'", '') for shape in shapes)
    raise InvalidInputError(f'{name}: need shape {listed}, got {array.shape}')


def as_count(name: str, x: Any, least: int = 0) -> int:
    """Return `x` as a whole number >= `least`."""
    if type(x) is int and x >= least:
        return x
    try:
        number = as_number(name, x)
    except InvalidInputError:
        number = least - 1.0
    if number < least or number != int(number):
        raise InvalidInputError(f'{name}: need a whole number >= {least}, got {describe(x)}')
    return int(number)


def as_choice(name: str, x: Any, choices: Iterable[str]) -> str:
    """Return `x` if it is one of the choices."""
    known = tuple(choices)
    if not isinstance(x, str) or x not in known:
        raise InvalidInputError(f'{name} must be one of {list(known)}, got {describe(x)}')
    return x


def as_sequence(name: str, x: Any, entries: str, remedy: str = '') -> tuple[Any, ...]:
    """Return the entries of a sequence; a text or a mapping is none."""
    if isinstance(x, (str, bytes, Mapping)) or not isinstance(x, Iterable):
        raise InvalidInputError(f'{name}: need a sequence of {entries}, got {describe(x)}{remedy}')
    return tuple(x)


def as_names(name: str, x: Any) -> tuple[str, ...]:
    """Return several names."""
    remedy = f'; put it in a list, [{shorten(x)}]' if isinstance(x, str) else ''
    names = as_sequence(name, [*x] if isinstance(x, Mapping) else x, 'names', remedy)
    for entry in names:
        if not isinstance(entry, str):
            raise InvalidInputError(f'{name}: need names, got {describe(entry)}')
    return names


def as_one(kind: type[_T], name: str, x: Any, needed: str) -> _T:
    """Return an object of a type."""
    if not isinstance(x, kind):
        raise InvalidInputError(f'{name}: need {needed}, got {describe(x)}')
    return x


def as_several(kind: type[_T], name: str, x: Any) -> tuple[_T, ...]:
    """Return several objects of a type."""
    several = as_sequence(name, x, kind.__name__)
    return tuple(as_one(kind, name, one, f'a sequence of {kind.__name__}') for one in several)


def as_text(name: str, x: Any) -> str:
    """Return a str."""
    return as_one(str, name, x, 'text')


def as_function(name: str, x: Any, *arguments: str) -> Callable[..., Any]:
    """Return a user's function that can be called with the named arguments."""
    call = f'{name}({", ".join(arguments)})'
    if not callable(x):
        raise InvalidInputError(f'{name}: need a function {call}, got {describe(x)}')
    try:
        signature = inspect.signature(x)
    except (TypeError, ValueError):
        return x  # built in, its arguments are not known
    try:
        signature.bind(*arguments)
    except TypeError:
        parameters = ', '.join([*signature.parameters][:8])
        raise InvalidInputError(
            f'{name}: need a function {call}, got one that takes ({parameters})'
        ) from None
    return x


def as_mapping(name: str, x: Any) -> Mapping[str, Any]:
    """Return a mapping whose keys are names."""
    if not isinstance(x, Mapping):
        raise InvalidInputError(
            f'{name}: need a mapping from names, {{name: ...}}, got {describe(x)}'
        )
    as_names(name, x.keys())
    return x


def as_path(name: str, x: Any) -> str:
    """Return a path, or text, as a str."""
    if not isinstance(x, (str, os.PathLike)) or isinstance(os.fspath(x), bytes):
        raise InvalidInputError(f'{name}: need a path or text, got {describe(x)}')
    return str(os.fspath(x))


def index_of(kind: str, name: Any, names: Sequence[str]) -> int:
    """Return where a name stands."""
    if not isinstance(name, str) or name not in names:
        raise NameNotFoundError(kind, name, names)
    return names.index(name)


def check_increasing(name: str, x: Floats) -> None:
    """Check that numbers are finite and each lies above the one before."""
    if not np.isfinite(x).all():
        raise InvalidInputError(f'{name} must be finite and increase, got {not_finite(x)}')
    low = np.flatnonzero(np.diff(x) <= 0.0)
    if len(low):
        k = int(low[0])
        raise InvalidInputError(
            f'{name} must be finite and increase, got {x[k + 1]:g} after {x[k]:g} at [{k + 1}]'
        )


def as_positive(name: str, x: Any) -> float:
    """Return `x` as a finite float above zero."""
    number = as_number(name, x)
    if not number > 0.0:
        raise InvalidInputError(f'{name} must be > 0, got {number:g}')
    return number


def as_nonnegative(name: str, x: Any) -> float:
    """Return `x` as a finite float, zero or above."""
    number = as_number(name, x)
    if not number >= 0.0:
        raise InvalidInputError(f'{name} must be >= 0, got {number:g}')
    return number


def as_share(name: str, x: Any) -> float:
    """Return `x` as a float from 0 to 1."""
    if not 0.0 <= (share := as_number(name, x)) <= 1.0:
        raise InvalidInputError(f'{name}: need a number from 0 to 1, got {share:g}')
    return share


@dataclass(frozen=True)
class Arguments:
    """Names and sizes of the inputs of one function, which all take one state or many."""

    function: str
    names: tuple[str, ...]
    sizes: tuple[int, ...]

    def gathered(
        self, inputs: Iterable[Any], out: Any, dtype: type[np.floating[Any]] = np.float64
    ) -> tuple[list[Floats], int | None]:
        """Return the inputs as arrays of a dtype, and the number of rows, None for one state."""
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
        if type(x) is np.ndarray and x.shape == (size,) and x.dtype == dtype:
            if x.flags.c_contiguous and x.flags.aligned:  # as controllers give it
                return x
        array = x if type(x) is np.ndarray and x.dtype == dtype else as_numbers(name, x)
        if array.ndim not in dimensions or array.shape[-1] != size:
            shapes = f'({size},) or (B, {size})' if 2 in dimensions else f'({size},)'
            raise InvalidInputError(f'{name}: need shape {shapes}, got {array.shape}')
        with np.errstate(over='ignore'):  # what lies beyond all floats becomes infinite
            return np.require(array, dtype, ('C', 'A'))


def as_times(time: ArrayLike) -> Floats:
    """Return one time [s] as an array of one number, or many as rows of one."""
    times = as_numbers('time [s]', time)
    if times.ndim > 2 or (times.ndim == 2 and times.shape[1] != 1):
        raise InvalidInputError(f'time [s]: need one number or shape (B,), got {times.shape}')
    if not np.isfinite(times).all():
        raise InvalidInputError(f'time [s]: need finite numbers, got {describe(time)}')
    return times.reshape(1) if times.ndim == 0 else np.require(times.reshape(-1, 1), None, 'C')


def as_output(
    shape: tuple[int, ...], out: Any, dtype: type[np.floating[Any]] = np.float64
) -> Floats:
    """Return `out`, or a new array where it is None."""
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


def _row_results(
    function: Callable[..., _T], arrays: Sequence[Floats], rows: Iterable[int]
) -> Iterator[tuple[int, _T | None]]:
    """Yield k and f(row k of all arrays), None where an input is not finite."""
    for k in rows:
        states = [x[k] for x in arrays]
        try:
            yield k, function(*states) if all(np.isfinite(x).all() for x in states) else None
        except KaneDynamicsError as error:
            error.args = (f'state {k} of the batch: {error}',)
            raise


def fill_rows(
    function: Callable[..., Any], arrays: Sequence[Floats], result: Floats, rows: Iterable[int]
) -> None:
    """Write f(row k of all arrays) into row k of the result; NaN where an input is not finite."""
    for k, row in _row_results(function, arrays, rows):
        result[k] = np.nan if row is None else row


def of_rows(function: Callable[..., _T], arrays: Sequence[Floats], blank: _T) -> _T:
    """Return the results of f(row k of all arrays), fields stacked."""
    results = _row_results(function, arrays, range(len(arrays[0])))
    return stacked([blank if row is None else row for _, row in results], blank)


def stacked(results: Sequence[_T], blank: _T) -> _T:
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
