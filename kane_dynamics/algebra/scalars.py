# SPDX-License-Identifier: Apache-2.0
"""
Scalars that are floats or symbols, and real numbers that callers pass.

Numbers from outside come through `as_numbers`, which refuses what numpy would quietly make a
number of: truth values, text, dates, the real part of a complex number, what lies below a mask.

To numpy a CasADi ``SX`` is a matrix in some expressions, and silently NaN where code asks for a
float (``math.sin``). `TracedNumber` is a scalar to numpy; what needs its value raises TypeError.
"""

from __future__ import annotations

import array
import operator
from collections.abc import Callable, Sequence
from numbers import Real
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, NoReturn

import numpy as np

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.exceptions import InvalidInputError, shorten
from kane_dynamics.typing import Floats, NDArray

Scalar = Any
"""A real number: float, numpy array of them (batch), or a traced scalar."""
REAL_NUMBER = (float, int, np.floating, np.integer)
"""What numpy-quaternion and float arrays can hold: no batch, no complex and no traced scalar."""


def _elementary(name: str, x: Scalar) -> Scalar:
    method = getattr(x, name, None)
    return method() if method is not None else getattr(np, name)(x)


def sin(x: Scalar) -> Scalar:
    """Return the sine of `x` [rad]."""
    return _elementary('sin', x)


def cos(x: Scalar) -> Scalar:
    """Return the cosine of `x` [rad]."""
    return _elementary('cos', x)


def arctan2(y: Scalar, x: Scalar) -> Scalar:
    """Return the angle of the point (x, y) [rad]."""
    if is_number(y) and is_number(x):
        return np.arctan2(y, x)
    return ca.atan2(y, x)


def exp(x: Scalar) -> Scalar:
    """Return e to the power of `x`."""
    return _elementary('exp', x)


def sqrt(x: Scalar) -> Scalar:
    """Return the square root of `x`."""
    return _elementary('sqrt', x)


def sign(x: Scalar) -> Scalar:
    """Return -1, 0 or 1: the sign of `x`."""
    return _elementary('sign', x)


def is_traced(x: Any) -> bool:
    """Return whether `x` is an expression of CasADi."""
    return hasattr(x, 'is_symbolic')


def where(condition: Any, if_true: Scalar, if_false: Scalar) -> Scalar:
    """Return `if_true` where `condition` holds, else `if_false`; both are evaluated."""
    if isinstance(condition, (bool, np.bool_)):
        return if_true if condition else if_false
    if is_traced(condition):
        return ca.if_else(condition, if_true, if_false)
    return np.where(condition, if_true, if_false)


def absolute(x: Scalar) -> Scalar:
    """Return the absolute value of `x`."""
    return _elementary('fabs', x)


def is_number(x: Scalar) -> bool:
    """Return whether `x` is a plain number, not traced."""
    return isinstance(x, REAL_NUMBER)


def is_zero(x: Scalar) -> bool:
    """Return whether `x` is known to be zero, also as a traced scalar; a batch never is."""
    return bool(x == 0.0) if is_number(x) else hasattr(x, 'is_zero') and bool(x.is_zero())


_NOT_NUMBERS = dict.fromkeys('SUT', 'text') | {
    'b': 'truth values',
    'c': 'complex numbers',
    'm': 'time differences',
    'M': 'dates',
    'V': 'records',
}
_TRUTH = (bool, np.bool_)
_BUFFERS = (array.array, memoryview)
_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType)
_PLACES = 3  # of numbers that are not finite, which a message tells


def as_numbers(name: str, x: Any) -> Floats:
    """Return `x` as an array of float64, of any shape; NaN and infinity pass."""
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


def not_finite(x: Floats) -> str:
    """Return which numbers are not finite, and where the first ones stand, for a message."""
    indices = np.argwhere(~np.isfinite(x)).tolist()
    listed = [f'{x[tuple(index)]:g} at {index}' for index in indices[:_PLACES]]
    more = len(indices) - len(listed)
    return ', '.join(listed) + (f' and {more} more' if more else '')


def as_number(name: str, x: Any) -> float:
    """Return `x` as a finite float."""
    try:
        number = as_numbers(name, x)
    except InvalidInputError:
        number = np.array(np.nan)
    if number.shape != () or not np.isfinite(number):
        raise InvalidInputError(f'{name}: need one finite number, got {describe(x)}')
    return float(number)


def unit_axis(axis: Sequence[float], name: str = 'joint axis') -> tuple[float, float, float]:
    """Return `axis` scaled to length 1."""
    vector = as_numbers(name, axis)
    length = np.linalg.norm(vector) if vector.shape == (3,) else np.nan
    if not (np.isfinite(length) and length > 0.0):
        raise InvalidInputError(f'{name}: need 3 finite numbers, not all 0, got {describe(axis)}')
    x, y, z = vector / length
    return float(x), float(y), float(z)


def as_array(components: Sequence[Scalar]) -> NDArray:
    """Return the components as an array of floats, or of objects when they are traced."""
    if all(isinstance(c, REAL_NUMBER) for c in components):
        return np.array(components, dtype=float)
    array = np.empty(len(components), dtype=object)
    for index, component in enumerate(components):
        array[index] = component
    return array


_OF_NUMPY = frozenset(
    'sin cos tan arcsin arccos arctan sinh cosh tanh exp log sqrt fabs floor ceil'.split()
)

UNTRACEABLE = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""What a user's function raises on traced numbers where it needs their values."""


def expression(x: Any) -> Any:
    """Return the expression behind a traced number, or a number as a float."""
    if isinstance(x, TracedNumber):
        return x.expression
    if isinstance(x, Real):
        return float(x)
    raise TypeError(f'{x!r} is not a number')


def _arithmetic(operation: Callable[[Any, Any], Any], swapped: bool = False) -> Any:
    def method(self: TracedNumber, other: Any) -> Any:
        if not isinstance(other, (TracedNumber, Real)):
            return NotImplemented  # an array then goes entry by entry
        a, b = self.expression, expression(other)
        return TracedNumber(operation(b, a) if swapped else operation(a, b))

    return method


class TracedNumber:
    """A real number that is not known yet."""

    __slots__ = ('expression',)

    def __init__(self, expression: Any) -> None:
        self.expression = expression

    __add__, __radd__ = _arithmetic(operator.add), _arithmetic(operator.add, True)
    __sub__, __rsub__ = _arithmetic(operator.sub), _arithmetic(operator.sub, True)
    __mul__, __rmul__ = _arithmetic(operator.mul), _arithmetic(operator.mul, True)
    __truediv__, __rtruediv__ = _arithmetic(operator.truediv), _arithmetic(operator.truediv, True)
    __pow__, __rpow__ = _arithmetic(operator.pow), _arithmetic(operator.pow, True)

    def __neg__(self) -> TracedNumber:
        return TracedNumber(-self.expression)

    def __pos__(self) -> TracedNumber:
        return self

    def __abs__(self) -> TracedNumber:
        return TracedNumber(self.expression.fabs())

    def __getattr__(self, name: str) -> Callable[[], TracedNumber]:
        """Return the method that numpy's function of that name calls."""
        if name not in _OF_NUMPY:
            raise AttributeError(f'a traced number has no function {name!r}')
        return lambda: TracedNumber(getattr(self.expression, name)())

    def arctan2(self, other: Any) -> TracedNumber:
        """Return the angle of (other, self) [rad]."""
        return TracedNumber(arctan2(self.expression, expression(other)))

    def hypot(self, other: Any) -> TracedNumber:
        """Return the length of (self, other)."""
        b = expression(other)
        return TracedNumber((self.expression * self.expression + b * b).sqrt())

    def _unknown(self, *others: Any) -> NoReturn:
        raise TypeError('a traced number has no value to compare or to branch on')

    __bool__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _unknown
    __hash__ = object.__hash__


def traced_values(
    what: str, function: Callable[..., Any], arguments: Sequence[Any], error: type[Exception]
) -> NDArray[np.object_]:
    """Return what a user's function makes of symbols, as an array of numbers and expressions."""
    try:
        values = np.array(function(*[_wrapped(x) for x in arguments]), dtype=object)
        flat = as_array([expression(value) for value in values.ravel()]).astype(object)
    except UNTRACEABLE as cause:
        raise error(
            f'{what} cannot be traced: write with operators and numpy functions of single '
            f'entries, without branches ({cause})'
        ) from cause
    return flat.reshape(values.shape)


def expression_matrix(values: NDArray[np.object_]) -> Any:
    """Return an array of numbers and expressions, shape (k, n), with its zeros structural."""
    rows = [ca.horzcat(*[ca.SX(value) for value in row]) for row in values]
    return ca.sparsify(ca.vertcat(*rows)) if rows else ca.SX(*values.shape)


def _wrapped(argument: Any) -> Any:
    if isinstance(argument, (list, tuple, np.ndarray)):
        return as_array([TracedNumber(x) for x in argument])
    return TracedNumber(argument)
