# SPDX-License-Identifier: Apache-2.0
"""
A traced scalar that a user's numpy code may treat as a number.

To numpy a CasADi ``SX`` is a matrix in some expressions, and where code asks it for a float
(``math.sin``, assignment into an array of floats) it is silently NaN. `TracedNumber` is a scalar
to numpy, which works on arrays of them entry by entry; whatever needs its value raises TypeError.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from numbers import Real
from typing import Any, NoReturn

_FUNCTIONS = frozenset(
    'sin cos tan arcsin arccos arctan sinh cosh tanh exp log sqrt fabs floor ceil'.split()
)

UNTRACEABLE = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""What a user's function raises on traced numbers where it needs their values."""


def is_traced(x: Any) -> bool:
    """Return whether `x` is an expression of CasADi."""
    return type(x).__module__.startswith('casadi')


def expression(x: Any) -> Any:
    """
    Return the expression behind a traced number, or a number as a float.

    Raises
    ------
    TypeError
        If `x` is neither.

    """
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
    """
    A real number that is not known yet.

    Parameters
    ----------
    expression : casadi.SX
        Scalar expression.

    """

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
