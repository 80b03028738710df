# SPDX-License-Identifier: Apache-2.0
"""
Checks at the door: real numbers of the right shape, known names and choices, or a named error.

Every function that takes numbers from outside takes them through here, in both engines. What
numpy would quietly make a number of (truth values, text, dates, the real part of a complex number,
what lies below a mask) is refused.
"""

from __future__ import annotations

import array
import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from reprlib import Repr
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.exceptions import InvalidInputError, NameNotFoundError

_NOT_NUMBERS = {
    'b': 'truth values',
    'c': 'complex numbers',
    'm': 'time differences',
    'M': 'dates',
    'S': 'text',
    'U': 'text',
    'T': 'text',
    'V': 'records',
}
_TRUTH = (bool, np.bool_)
_BUFFERS = (array.array, memoryview)
_brief = Repr()
_brief.maxother = _brief.maxstring = 60


def brief(x: Any) -> str:
    """Return what came, short enough for a message."""
    return ' '.join(_brief.repr(x).split())


def as_numbers(name: str, x: Any) -> NDArray[np.float64]:
    """
    Return `x` as an array of float64, of any shape; NaN and infinity pass.

    Raises
    ------
    InvalidInputError
        If it holds anything but real numbers; the message says what.

    """
    if type(x) is np.ndarray and x.dtype == np.float64:
        return x
    if isinstance(x, np.ma.MaskedArray):
        raise InvalidInputError(f'{name}: need real numbers, got a masked array; fill it first')
    if not (hasattr(x, '__array__') or isinstance(x, _BUFFERS)):
        _check_entries(name, x)
    try:
        entries = np.asarray(x)
        kind = entries.dtype.kind
        if kind in _NOT_NUMBERS:
            what = f'{_NOT_NUMBERS[kind]} ({entries.dtype})'
            raise InvalidInputError(f'{name}: need real numbers, got {what}: {brief(x)}')
        if kind == 'O':
            _check_entries(name, entries.tolist())
        with np.errstate(over='ignore'):  # what lies beyond all floats becomes infinite
            return entries.astype(np.float64)
    except InvalidInputError:
        raise
    except (TypeError, ValueError, OverflowError, NotImplementedError, RuntimeError):
        # a ragged list, a number beyond all floats, or a foreign array that holds none
        raise InvalidInputError(f'{name}: need real numbers, got {came(x)}') from None


def _check_entries(name: str, x: Any) -> None:
    """Refuse what is no number inside lists; numpy would make a float of True and of '1'."""
    if isinstance(x, (list, tuple, range)):
        for entry in x:
            if type(entry) is not float:
                _check_entries(name, entry)
    elif isinstance(x, _TRUTH):
        raise InvalidInputError(f'{name}: need real numbers, got {came(x)}')
    elif not isinstance(x, Real):
        if not hasattr(x, '__array__'):
            raise InvalidInputError(f'{name}: need real numbers, got {came(x)}')
        as_numbers(name, x)


def came(x: Any) -> str:
    """Return type and value of what came."""
    return f'{type(x).__name__} {brief(x)}'


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
    if not np.isfinite(vector).all():
        raise InvalidInputError(f'{name}: need finite numbers, got {vector}')
    return vector


def as_number(name: str, x: Any) -> float:
    """
    Return `x` as a finite float.

    Raises
    ------
    InvalidInputError
        If it is not one finite real number.

    """
    number = as_numbers(name, x)
    if number.shape != () or not np.isfinite(number):
        raise InvalidInputError(f'{name}: need one finite number, got {came(x)}')
    return float(number)


def as_count(name: str, x: Any) -> int:
    """
    Return `x` as a whole number >= 0.

    Raises
    ------
    InvalidInputError
        If it is not one.

    """
    number = as_number(name, x)
    if number < 0.0 or number != int(number):
        raise InvalidInputError(f'{name}: need a whole number >= 0, got {came(x)}')
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
        raise InvalidInputError(f'{name} must be one of {list(known)}, got {came(x)}')
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
        raise InvalidInputError(f'{name}: need a sequence of names, got {came(x)}')
    names = tuple(x)
    for entry in names:
        if not isinstance(entry, str):
            raise InvalidInputError(f'{name}: need names, got {came(entry)}')
    return names


def as_text(name: str, x: Any) -> str:
    """
    Return a str.

    Raises
    ------
    InvalidInputError
        If it is none.

    """
    if not isinstance(x, str):
        raise InvalidInputError(f'{name}: need text, got {came(x)}')
    return x


def as_function(name: str, x: Any, *arguments: str) -> Callable[..., Any]:
    """
    Return a user's function that can be called with the named arguments.

    Raises
    ------
    InvalidInputError
        If it is none, or takes other arguments.

    """
    wanted = f'{name}({", ".join(arguments)})'
    if not callable(x):
        raise InvalidInputError(f'{name}: need a function {wanted}, got {came(x)}')
    try:
        inspect.signature(x).bind(*arguments)
    except TypeError as error:
        raise InvalidInputError(f'{name}: need a function {wanted}, but {error}') from None
    except ValueError:
        return x  # built in, its arguments are not known
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
        raise InvalidInputError(f'{name}: need a mapping from names, got {came(x)}')
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
        raise InvalidInputError(f'{name}: need a str or a path, got {came(x)}')
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
