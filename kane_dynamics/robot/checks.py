# SPDX-License-Identifier: Apache-2.0
"""Argument checks: vectors, counts, known names and choices, or a named error."""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.algebra.real_numbers import as_number, as_numbers, describe, not_finite
from kane_dynamics.exceptions import InvalidInputError, NameNotFoundError, shorten

_T = TypeVar('_T')


def as_vector(name: str, x: Any, size: int) -> NDArray[np.float64]:
    """
    Return a copy of `x` as a vector of `size` finite floats.

    Raises
    ------
    InvalidInputError
        If it cannot be one; the message says what was expected and what came.

    """
    vector = np.array(as_numbers(name, x))
    if vector.shape != (size,):
        raise InvalidInputError(f'{name}: need shape ({size},), got shape {vector.shape}')
    # a sum is quicker on short vectors; that of large numbers overflows
    if not (math.isfinite(sum(vector.tolist())) or np.isfinite(vector).all()):
        raise InvalidInputError(f'{name}: need finite numbers, got {not_finite(vector)}')
    return vector


def as_count(name: str, x: Any, least: int = 0) -> int:
    """
    Return `x` as a whole number >= `least`.

    Raises
    ------
    InvalidInputError
        If it is not one.

    """
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
    """
    Return `x` if it is one of the choices.

    Raises
    ------
    InvalidInputError
        If it is none of them; the message lists them.

    """
    known = tuple(choices)
    if not isinstance(x, str) or x not in known:
        raise InvalidInputError(f'{name} must be one of {list(known)}, got {describe(x)}')
    return x


def as_names(name: str, x: Any) -> tuple[str, ...]:
    """
    Return several names.

    Raises
    ------
    InvalidInputError
        If it is one name alone, or holds anything but names.

    """
    if isinstance(x, (str, bytes)) or not isinstance(x, Iterable):
        remedy = f'; put it in a list, [{shorten(x)}]' if isinstance(x, str) else ''
        raise InvalidInputError(f'{name}: need a sequence of names, got {describe(x)}{remedy}')
    names = tuple(x)
    for entry in names:
        if not isinstance(entry, str):
            raise InvalidInputError(f'{name}: need names, got {describe(entry)}')
    return names


def as_one(kind: type[_T], name: str, x: Any, needed: str) -> _T:
    """
    Return an object of a type.

    Raises
    ------
    InvalidInputError
        If it is none; the message says what is needed.

    """
    if not isinstance(x, kind):
        raise InvalidInputError(f'{name}: need {needed}, got {describe(x)}')
    return x


def as_several(kind: type[_T], name: str, x: Any) -> tuple[_T, ...]:
    """
    Return several objects of a type.

    Raises
    ------
    InvalidInputError
        If it is one alone, or one of them is of another type.

    """
    needed = f'a sequence of {kind.__name__}'
    if isinstance(x, (str, bytes)) or not isinstance(x, Iterable):
        raise InvalidInputError(f'{name}: need {needed}, got {describe(x)}')
    return tuple(as_one(kind, name, one, needed) for one in x)


def as_text(name: str, x: Any) -> str:
    """
    Return a str.

    Raises
    ------
    InvalidInputError
        If it is none.

    """
    if not isinstance(x, str):
        raise InvalidInputError(f'{name}: need text, got {describe(x)}')
    return x


def as_function(name: str, x: Any, *arguments: str) -> Callable[..., Any]:
    """
    Return a user's function that can be called with the named arguments.

    Raises
    ------
    InvalidInputError
        If it is none, or takes other arguments.

    """
    target = f'{name}({", ".join(arguments)})'
    if not callable(x):
        raise InvalidInputError(f'{name}: need a function {target}, got {describe(x)}')
    try:
        signature = inspect.signature(x)
    except (TypeError, ValueError):
        return x  # built in, its arguments are not known
    try:
        signature.bind(*arguments)
    except TypeError:
        independent_indices = ', '.join([*signature.parameters][:8])
        raise InvalidInputError(
            f'{name}: need a function {target}, got one that takes ({independent_indices})'
        ) from None
    return x


def as_mapping(name: str, x: Any) -> Mapping[str, Any]:
    """
    Return a mapping whose keys are names.

    Raises
    ------
    InvalidInputError
        If it is none.

    """
    if not isinstance(x, Mapping):
        raise InvalidInputError(
            f'{name}: need a mapping from names, {{name: ...}}, got {describe(x)}'
        )
    as_names(name, x.keys())
    return x


def as_path(name: str, x: Any) -> str:
    """
    Return a path, or text, as a str.

    Raises
    ------
    InvalidInputError
        If it is neither a str nor a path.

    """
    if not isinstance(x, (str, os.PathLike)) or isinstance(os.fspath(x), bytes):
        raise InvalidInputError(f'{name}: need a path or text, got {describe(x)}')
    return str(os.fspath(x))


def index_of(kind: str, name: Any, names: Sequence[str]) -> int:
    """
    Return where a name stands.

    Raises
    ------
    NameNotFoundError
        If it is not there; the message lists what is.

    """
    if not isinstance(name, str) or name not in names:
        raise NameNotFoundError(kind, name, names)
    return names.index(name)


def check_increasing(name: str, x: NDArray[np.float64]) -> None:
    """
    Check that numbers are finite and each lies above the one before.

    Raises
    ------
    InvalidInputError
        If one is not; the message says which.

    """
    if not np.isfinite(x).all():
        raise InvalidInputError(f'{name} must be finite and increase, got {not_finite(x)}')
    low = np.flatnonzero(np.diff(x) <= 0.0)
    if len(low):
        k = int(low[0])
        raise InvalidInputError(
            f'{name} must be finite and increase, got {x[k + 1]:g} after {x[k]:g} at [{k + 1}]'
        )


def as_positive(name: str, x: Any) -> float:
    """
    Return `x` as a finite float above zero.

    Raises
    ------
    InvalidInputError
        If it is not one.

    """
    number = as_number(name, x)
    if not number > 0.0:
        raise InvalidInputError(f'{name} must be > 0, got {number:g}')
    return number


def as_nonnegative(name: str, x: Any) -> float:
    """
    Return `x` as a finite float, zero or above.

    Raises
    ------
    InvalidInputError
        If it is not one.

    """
    number = as_number(name, x)
    if not number >= 0.0:
        raise InvalidInputError(f'{name} must be >= 0, got {number:g}')
    return number
