# SPDX-License-Identifier: Apache-2.0
"""
Scalar symbols of CasADi whose arithmetic is quick.

An operator of CasADi tries one overload after the other, 18 to 36 us a call; ``SX.binary`` has one
and takes 3 us. What operators make of a `TracedScalar` is one, too.
"""

from collections.abc import Callable
from typing import Any

import casadi as ca

_SCALARS = ca.SX, float, int


def _quick(result: Any) -> Any:
    result.__class__ = TracedScalar
    return result


def _arithmetic(code: int, usual: Callable[[Any, Any], Any], swapped: bool = False) -> Any:
    def method(self: Any, other: Any) -> Any:
        if not isinstance(other, _SCALARS):
            return usual(self, other)
        operands = (other, self) if swapped else (self, other)
        return _quick(ca.SX.binary(code, *operands))

    return method


def _function(code: int) -> Any:
    return lambda self: _quick(ca.SX.unary(code, self))


class TracedScalar(ca.SX):
    """A scalar expression; made by `symbols`."""

    __add__ = _arithmetic(ca.OP_ADD, ca.SX.__add__)
    __radd__ = _arithmetic(ca.OP_ADD, ca.SX.__radd__, True)
    __sub__ = _arithmetic(ca.OP_SUB, ca.SX.__sub__)
    __rsub__ = _arithmetic(ca.OP_SUB, ca.SX.__rsub__, True)
    __mul__ = _arithmetic(ca.OP_MUL, ca.SX.__mul__)
    __rmul__ = _arithmetic(ca.OP_MUL, ca.SX.__rmul__, True)
    __truediv__ = _arithmetic(ca.OP_DIV, ca.SX.__truediv__)
    __rtruediv__ = _arithmetic(ca.OP_DIV, ca.SX.__rtruediv__, True)
    __neg__ = _function(ca.OP_NEG)
    sin, cos, sqrt = _function(ca.OP_SIN), _function(ca.OP_COS), _function(ca.OP_SQRT)


def symbol(name: str) -> ca.SX:
    """Return a symbol."""
    return _quick(ca.SX.sym(name))


def symbols(name: str, size: int) -> list[ca.SX]:
    """Return symbols name0, name1, ..."""
    return [symbol(f'{name}{k}') for k in range(size)]
