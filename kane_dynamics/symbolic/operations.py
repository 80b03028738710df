# SPDX-License-Identifier: Apache-2.0
"""What CasADi's scalar operations are in SymPy. A truth value is 1 or 0, as in CasADi."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import casadi as ca
import sympy

from kane_dynamics.exceptions import InvalidInputError


def operation_name(code: int) -> str:
    """Return what CasADi calls an operation."""
    names = (name for name in dir(ca) if name.startswith('OP_') and getattr(ca, name) == code)
    return next(names, str(code))


def sympy_operation(code: int) -> Callable[..., Any]:
    """
    Return an operation as a function of SymPy expressions.

    Raises
    ------
    InvalidInputError
        If it has no SymPy form.

    """
    if code not in _OPERATIONS:
        raise InvalidInputError(f'{operation_name(code)} of CasADi has no SymPy form')
    return _OPERATIONS[code]


def _holds(x: Any) -> Any:
    """Return the condition behind a truth value that is 1 or 0."""
    if isinstance(x, sympy.Piecewise) and len(x.args) == 2 and x.args[0][0] == 1:
        return x.args[0][1]
    return sympy.Ne(x, 0)


def _truth(condition: Any) -> Any:
    return sympy.Piecewise((1, condition), (0, True))


def _remainder(a: Any, b: Any) -> Any:
    """Return a - b times the quotient rounded towards zero, as fmod of C."""
    return sympy.sign(a) * sympy.Mod(sympy.Abs(a), sympy.Abs(b))


def _with_sign_of(a: Any, b: Any) -> Any:
    return sympy.Piecewise((sympy.Abs(a), b >= 0), (-sympy.Abs(a), True))


_OPERATIONS: Mapping[int, Callable[..., Any]] = {
    ca.OP_ASSIGN: lambda a: a,
    ca.OP_ADD: lambda a, b: a + b,
    ca.OP_SUB: lambda a, b: a - b,
    ca.OP_MUL: lambda a, b: a * b,
    ca.OP_DIV: lambda a, b: a / b,
    ca.OP_NEG: lambda a: -a,
    ca.OP_INV: lambda a: 1 / a,
    ca.OP_SQ: lambda a: a**2,
    ca.OP_TWICE: lambda a: 2 * a,
    ca.OP_POW: lambda a, b: a**b,
    ca.OP_CONSTPOW: lambda a, b: a**b,
    ca.OP_SQRT: sympy.sqrt,
    ca.OP_HYPOT: lambda a, b: sympy.sqrt(a**2 + b**2),
    ca.OP_EXP: sympy.exp,
    ca.OP_EXPM1: lambda a: sympy.exp(a) - 1,
    ca.OP_LOG: sympy.log,
    ca.OP_LOG1P: lambda a: sympy.log(1 + a),
    ca.OP_SIN: sympy.sin,
    ca.OP_COS: sympy.cos,
    ca.OP_TAN: sympy.tan,
    ca.OP_ASIN: sympy.asin,
    ca.OP_ACOS: sympy.acos,
    ca.OP_ATAN: sympy.atan,
    ca.OP_ATAN2: sympy.atan2,
    ca.OP_SINH: sympy.sinh,
    ca.OP_COSH: sympy.cosh,
    ca.OP_TANH: sympy.tanh,
    ca.OP_ASINH: sympy.asinh,
    ca.OP_ACOSH: sympy.acosh,
    ca.OP_ATANH: sympy.atanh,
    ca.OP_ERF: sympy.erf,
    ca.OP_FLOOR: sympy.floor,
    ca.OP_CEIL: sympy.ceiling,
    ca.OP_FABS: sympy.Abs,
    ca.OP_SIGN: sympy.sign,
    ca.OP_COPYSIGN: _with_sign_of,
    ca.OP_FMOD: _remainder,
    ca.OP_FMIN: sympy.Min,
    ca.OP_FMAX: sympy.Max,
    ca.OP_LT: lambda a, b: _truth(a < b),
    ca.OP_LE: lambda a, b: _truth(a <= b),
    ca.OP_EQ: lambda a, b: _truth(sympy.Eq(a, b)),
    ca.OP_NE: lambda a, b: _truth(sympy.Ne(a, b)),
    ca.OP_NOT: lambda a: _truth(sympy.Not(_holds(a))),
    ca.OP_AND: lambda a, b: _truth(sympy.And(_holds(a), _holds(b))),
    ca.OP_OR: lambda a, b: _truth(sympy.Or(_holds(a), _holds(b))),
    ca.OP_IF_ELSE_ZERO: lambda a, b: sympy.Piecewise((b, _holds(a)), (0, True)),
}
