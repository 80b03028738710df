# SPDX-License-Identifier: Apache-2.0
"""
Real numbers, or a named error.

Every function that takes numbers from outside takes them through here, in both engines. What
numpy would quietly make a number of (truth values, text, dates, the real part of a complex number,
what lies below a mask) is refused.
"""

from __future__ import annotations

import array
from numbers import Real
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.exceptions import InvalidInputError, shorten

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
_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType)
_PLACES = 3  # of numbers that are not finite, which a message tells


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
            raise InvalidInputError(f'{name}: need real numbers, got {what}: {shorten(x)}')
        if kind == 'O':
            _check_entries(name, entries.tolist())
        with np.errstate(over='ignore'):  # what lies beyond all floats becomes infinite
            return entries.astype(np.float64)
    except InvalidInputError:
        raise
    except (TypeError, ValueError, OverflowError, NotImplementedError, RuntimeError):
        # a ragged list, a number beyond all floats, or a foreign array that holds none
        raise InvalidInputError(f'{name}: need real numbers, got {describe(x)}') from None


def _check_entries(name: str, x: Any) -> None:
    """Refuse what is no number inside lists; numpy would make a float of True and of '1'."""
    if isinstance(x, (list, tuple, range)):
        for entry in x:
            if type(entry) is not float:
                _check_entries(name, entry)
    elif isinstance(x, _TRUTH):
        raise InvalidInputError(f'{name}: need real numbers, got {describe(x)}')
    elif not isinstance(x, Real):
        if not hasattr(x, '__array__'):
            raise InvalidInputError(f'{name}: need real numbers, got {describe(x)}')
        as_numbers(name, x)


def describe(x: Any) -> str:
    """Return what came, for a message: its type, and its value where this has one to show."""
    kind, text = type(x).__name__, shorten(x)
    if x is None or text.startswith((f'{kind}(', 'array(')):
        return text
    if isinstance(x, type):
        return f'the class {x.__name__}'
    if isinstance(x, _FUNCTIONS):
        return f'the function {x.__name__}'
    if isinstance(x, ModuleType):
        return f'the module {x.__name__}'
    return kind if text.startswith('<') else f'{kind} {text}'  # <an address in memory>


def not_finite(x: NDArray[np.float64]) -> str:
    """Return which numbers are not finite, and where the first ones stand, for a message."""
    indices = np.argwhere(~np.isfinite(x)).tolist()
    shown = [f'{x[tuple(place)]:g} at {place}' for place in indices[:_PLACES]]
    more = len(indices) - len(shown)
    return ', '.join(shown) + (f' and {more} more' if more else '')


def as_number(name: str, x: Any) -> float:
    """
    Return `x` as a finite float.

    Raises
    ------
    InvalidInputError
        If it is not one finite real number.

    """
    try:
        number = as_numbers(name, x)
    except InvalidInputError:
        number = np.array(np.nan)
    if number.shape != () or not np.isfinite(number):
        raise InvalidInputError(f'{name}: need one finite number, got {describe(x)}')
    return float(number)
