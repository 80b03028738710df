# SPDX-License-Identifier: Apache-2.0
"""
CasADi graphs as SymPy expressions.

The instructions of a traced function are carried out once more, on SymPy expressions or on the
sums of `laurent`: the expressions are what the numbers are computed with.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sympy

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.exceptions import InvalidInputError


def converted(
    function: ca.Function, inputs: Sequence[Sequence[Any]], algebra: PlainAlgebra
) -> list[Any]:
    """Return the outputs of an ``SX`` function as SymPy matrices; structural zeros are zeros."""
    work: dict[int, Any] = {}
    outputs = [[algebra.constant(0.0)] * function.nnz_out(k) for k in range(function.n_out())]
    for k in range(function.n_instructions()):
        code = function.instruction_id(k)
        target, source = function.instruction_output(k), function.instruction_input(k)
        if code == ca.OP_CONST:
            work[target[0]] = algebra.constant(_finite(function.instruction_constant(k)))
        elif code == ca.OP_INPUT:
            work[target[0]] = algebra.symbol(inputs[source[0]][source[1]])
        elif code == ca.OP_OUTPUT:
            outputs[target[0]][target[1]] = work[source[0]]
        else:
            work[target[0]] = algebra.operation(code, [work[x] for x in source])
    quantities = algebra.expressions(outputs)
    return [_matrix(function, k, entries) for k, entries in enumerate(quantities)]


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise InvalidInputError(f'the equations hold a constant that is {value}')
    return value


def _matrix(function: ca.Function, output: int, nonzeros: Sequence[Any]) -> Any:
    sparsity = function.sparsity_out(output)
    indices = zip(*sparsity.get_triplet(), strict=True)
    entries = dict(zip(indices, nonzeros, strict=True))
    return sympy.ImmutableMatrix(
        *sparsity.shape, lambda i, j: entries.get((int(i), int(j)), sympy.Integer(0))
    )


def check_size(too_large: str, count: int, most: int, of: str) -> None:
    """Raise InvalidInputError where there are more than `most` parts."""
    if count > most:
        remedy = 'lock joints, or use kd.casadi_function for numbers'
        raise InvalidInputError(f'{too_large}: {count} {of}, at most {most}; {remedy}')


def written_operations(function: ca.Function) -> int:
    """Return how many operations the outputs have when no subexpression is shared."""
    size: dict[int, int] = {}
    total = 0
    for k in range(function.n_instructions()):
        target, source = function.instruction_output(k), function.instruction_input(k)
        code = function.instruction_id(k)
        if code in (ca.OP_CONST, ca.OP_INPUT):
            size[target[0]] = 0
        elif code == ca.OP_OUTPUT:
            total += size[source[0]]
        else:
            size[target[0]] = 1 + sum(size[x] for x in source)
    return total


class PlainAlgebra:
    """SymPy expressions as the graph has them: nothing is simplified."""

    def constant(self, value: float) -> Any:
        """Return a number."""
        return sympy.Integer(int(value)) if value.is_integer() else sympy.Float(value)

    def symbol(self, symbol: Any) -> Any:
        """Return a SymPy symbol."""
        return symbol

    def operation(self, code: int, values: Sequence[Any]) -> Any:
        """Return what an instruction makes of its values."""
        return sympy_operation(code)(*values)

    def expressions(self, quantities: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """Return the entries of each quantity as SymPy expressions."""
        return [list(entries) for entries in quantities]


def operation_name(code: int) -> str:
    """Return what CasADi calls an operation."""
    names = (name for name in dir(ca) if name.startswith('OP_') and getattr(ca, name) == code)
    return next(names, str(code))


def sympy_operation(code: int) -> Callable[..., Any]:
    """Return an operation as a function of SymPy expressions."""
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


_NAMED = (
    'exp log sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh erf floor sqrt sign'
)
_OPERATIONS: Mapping[int, Callable[..., Any]] = {
    **{getattr(ca, f'OP_{name.upper()}'): getattr(sympy, name) for name in _NAMED.split()},
    ca.OP_ASSIGN: lambda a: a,
    ca.OP_ADD: operator.add,
    ca.OP_SUB: operator.sub,
    ca.OP_MUL: operator.mul,
    ca.OP_DIV: operator.truediv,
    ca.OP_NEG: operator.neg,
    ca.OP_INV: lambda a: 1 / a,
    ca.OP_SQ: lambda a: a**2,
    ca.OP_TWICE: lambda a: 2 * a,
    ca.OP_POW: operator.pow,
    ca.OP_CONSTPOW: operator.pow,
    ca.OP_HYPOT: lambda a, b: sympy.sqrt(a**2 + b**2),
    ca.OP_EXPM1: lambda a: sympy.exp(a) - 1,
    ca.OP_LOG1P: lambda a: sympy.log(1 + a),
    ca.OP_CEIL: sympy.ceiling,
    ca.OP_FABS: sympy.Abs,
    ca.OP_COPYSIGN: lambda a, b: sympy.Piecewise((sympy.Abs(a), b >= 0), (-sympy.Abs(a), True)),
    # a - b times the quotient rounded towards zero, as fmod of C
    ca.OP_FMOD: lambda a, b: sympy.sign(a) * sympy.Mod(sympy.Abs(a), sympy.Abs(b)),
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
