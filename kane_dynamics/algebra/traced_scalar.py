# SPDX-License-Identifier: Apache-2.0
"""
Scalar symbols of CasADi whose arithmetic is quick, and columns of scalars.

An operator of CasADi tries one overload after the other, 18 to 36 us a call; ``SX.binary`` has one
and takes 3 us. What operators make of such a symbol is one, too.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.typing import NDArray


@cache
def _scalar_type() -> Any:
    """Return the class of scalar expressions, made with the first symbol."""
    scalars = ca.SX, float, int

    def quick(result: Any) -> Any:
        result.__class__ = TracedScalar
        return result

    def arithmetic(code: int, usual: Callable[[Any, Any], Any], swapped: bool = False) -> Any:
        def method(self: Any, other: Any) -> Any:
            if not isinstance(other, scalars):
                return usual(self, other)
            operands = (other, self) if swapped else (self, other)
            return quick(ca.SX.binary(code, *operands))

        return method

    def function(code: int) -> Any:
        return lambda self: quick(ca.SX.unary(code, self))

    class TracedScalar(ca.SX):  # type: ignore[misc]
        __add__ = arithmetic(ca.OP_ADD, ca.SX.__add__)
        __radd__ = arithmetic(ca.OP_ADD, ca.SX.__radd__, True)
        __sub__ = arithmetic(ca.OP_SUB, ca.SX.__sub__)
        __rsub__ = arithmetic(ca.OP_SUB, ca.SX.__rsub__, True)
        __mul__ = arithmetic(ca.OP_MUL, ca.SX.__mul__)
        __rmul__ = arithmetic(ca.OP_MUL, ca.SX.__rmul__, True)
        __truediv__ = arithmetic(ca.OP_DIV, ca.SX.__truediv__)
        __rtruediv__ = arithmetic(ca.OP_DIV, ca.SX.__rtruediv__, True)
        __neg__ = function(ca.OP_NEG)
        sin, cos, sqrt = function(ca.OP_SIN), function(ca.OP_COS), function(ca.OP_SQRT)

    return TracedScalar


def symbol(name: str) -> Any:
    """Return a symbol."""
    scalar = ca.SX.sym(name)
    scalar.__class__ = _scalar_type()
    return scalar


def symbols(name: str, size: int) -> list[Any]:
    """Return symbols name0, name1, ..."""
    return [symbol(f'{name}{k}') for k in range(size)]


def column(values: Sequence[Any] | NDArray) -> Any:
    """Return scalars, numbers or traced, as a dense column."""
    return (
        ca.densify(ca.vertcat(*[ca.SX(value) for value in values])) if len(values) else ca.SX(0, 1)
    )
