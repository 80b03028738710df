# SPDX-License-Identifier: Apache-2.0
"""
Symbols of CasADi that act as real numbers, and functions called with them.

To numpy a CasADi ``SX`` is a matrix in some expressions, and where code asks it for a float
(``math.sin``, assignment into an array of floats) it is silently NaN. `TracedNumber` is a scalar
to numpy, which works on arrays of them entry by entry; whatever needs its value raises TypeError.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, NoReturn

import numpy as np

from kane_dynamics.algebra.quaternions import as_array
from kane_dynamics.typing import NDArray

_FUNCTIONS = frozenset(
    'sin cos tan arcsin arccos arctan sinh cosh tanh exp log sqrt fabs floor ceil'.split()
)

UNTRACEABLE = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""What a user's function raises on traced numbers where it needs their values."""


def is_traced(x: Any) -> bool:
    """Return whether `x` is an expression of CasADi."""
    return type(x).__module__.startswith('casadi')


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
        if name not in _FUNCTIONS:
            raise AttributeError(f'a traced number has no function {name!r}')
        return lambda: TracedNumber(getattr(self.expression, name)())

    def arctan2(self, other: Any) -> TracedNumber:
        """Return the angle of (other, self) [rad]."""
        import casadi

        return TracedNumber(casadi.atan2(self.expression, expression(other)))

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
    import casadi as ca

    rows = [ca.horzcat(*[ca.SX(value) for value in row]) for row in values]
    return ca.sparsify(ca.vertcat(*rows)) if rows else ca.SX(*values.shape)


def _wrapped(argument: Any) -> Any:
    if isinstance(argument, (list, tuple, np.ndarray)):
        return as_array([TracedNumber(x) for x in argument])
    return TracedNumber(argument)
