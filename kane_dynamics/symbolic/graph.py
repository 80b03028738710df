# SPDX-License-Identifier: Apache-2.0
"""
CasADi graphs as SymPy expressions.

The instructions of a traced function are carried out once more, on SymPy expressions or on the
sums of `ring`: the expressions are what the numbers are computed with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import casadi as ca
import sympy

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.symbolic.form import ShortForms
from kane_dynamics.symbolic.operations import operation_name, sympy_operation
from kane_dynamics.symbolic.ring import Ring, Sum

MOST_TERMS = 10_000  # their shortest form takes about 10 s and 30 pages
_MOST_FACTORS = 16  # of a power that is multiplied out


class Algebra(Protocol):
    """Values that the instructions of a graph work on."""

    def constant(self, value: float) -> Any:
        """Return a number."""

    def symbol(self, symbol: Any) -> Any:
        """Return a SymPy symbol."""

    def operation(self, code: int, values: Sequence[Any]) -> Any:
        """Return what an instruction makes of its values."""

    def expressions(self, quantities: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """Return the entries of each quantity as SymPy expressions."""


def converted(
    function: ca.Function, inputs: Sequence[Sequence[Any]], algebra: Algebra
) -> list[Any]:
    """
    Return the outputs of an ``SX`` function as SymPy matrices.

    Parameters
    ----------
    function : casadi.Function
        Any shapes; structural zeros are zeros.
    inputs : sequence of sequence of sympy.Symbol
        The entries of each input.
    algebra : Algebra
        `PlainAlgebra` or `ShortAlgebra`.

    Raises
    ------
    InvalidInputError
        If an operation has no SymPy form, a number is not finite, or there are too many terms.

    """
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
        """
        Return what an instruction makes of its values.

        Raises
        ------
        InvalidInputError
            If there is no SymPy form of it.

        """
        return sympy_operation(code)(*values)

    def expressions(self, quantities: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """Return the entries of each quantity as SymPy expressions."""
        return [list(entries) for entries in quantities]


@dataclass(eq=False)
class ShortAlgebra:
    """
    Sums of a ring; what is no polynomial of its values becomes a new generator.

    Parameters
    ----------
    quaternions : sequence of sequence of sympy.Symbol
        Components (w, x, y, z) of quaternions that are unit.

    """

    quaternions: Sequence[Sequence[Any]] = ()
    ring: Ring = field(default_factory=Ring, init=False)

    def __post_init__(self) -> None:
        ring = self.ring
        for w, *vector in self.quaternions:
            square = self.constant(1.0)
            for x in vector:
                square = ring.add(square, ring.power(ring.variable(x), 2), -1.0)
            ring.squares[ring.generator(w)] = square
        self._forms = ShortForms(ring)
        self._plain = PlainAlgebra()
        self._polynomial: Mapping[int, Callable[..., Sum | None]] = {
            ca.OP_ASSIGN: lambda a: a,
            ca.OP_ADD: ring.add,
            ca.OP_SUB: lambda a, b: ring.add(a, b, -1.0),
            ca.OP_NEG: lambda a: ring.scale(a, -1.0),
            ca.OP_TWICE: lambda a: ring.scale(a, 2.0),
            ca.OP_MUL: ring.multiply,
            ca.OP_SQ: lambda a: ring.multiply(a, a),
            ca.OP_DIV: lambda a, b: ring.multiply(a, ring.reciprocal(b)),
            ca.OP_INV: ring.reciprocal,
            ca.OP_POW: self._to_power,
            ca.OP_CONSTPOW: self._to_power,
            ca.OP_SQRT: self._root,
            ca.OP_COS: lambda a: self._wave(a, 1.0, 1.0),
            ca.OP_SIN: lambda a: self._wave(a, -1j, -1.0),
        }

    def constant(self, value: float) -> Sum:
        """Return a number."""
        return {0: complex(value)} if value else {}

    def symbol(self, symbol: Any) -> Sum:
        """Return a SymPy symbol."""
        return self.ring.variable(symbol)

    def operation(self, code: int, values: Sequence[Sum]) -> Sum:
        """
        Return what an instruction makes of its values.

        Raises
        ------
        InvalidInputError
            If there is no SymPy form of it.

        """
        result = self._polynomial[code](*values) if code in self._polynomial else None
        return self._function(code, values) if result is None else result

    def expressions(self, quantities: Sequence[Sequence[Sum]]) -> list[list[Any]]:
        """
        Return the entries of each quantity as SymPy expressions.

        Raises
        ------
        InvalidInputError
            If there are more than MOST_TERMS terms.

        """
        count = sum(len(entry) for entries in quantities for entry in entries)
        if count > MOST_TERMS:
            raise InvalidInputError(
                f'the equations are too large to simplify: {count} terms, at most {MOST_TERMS}; '
                'lock joints, or use kd.casadi_function for numbers'
            )
        return [self._forms.entries(entries) for entries in quantities]

    def _function(self, code: int, values: Sequence[Sum]) -> Sum:
        """Return a function that is no polynomial, as a number or as a generator."""
        result = self._plain.operation(code, [self._forms.entry(x) for x in values])
        if not result.is_number:
            return self.ring.variable(result)
        if not (result.is_real and result.is_finite):
            raise InvalidInputError(f'{operation_name(code)} gives {result}, no real number')
        return self.constant(float(result))

    def _to_power(self, a: Sum, b: Sum) -> Sum | None:
        exponent = _real_constant(b)
        if exponent is None or abs(exponent) > _MOST_FACTORS:
            return None
        if exponent.is_integer():
            return self.ring.power(a, int(exponent))
        root = self._root(a) if abs(exponent) == 0.5 else None
        return root if root is None or exponent > 0.0 else self.ring.reciprocal(root)

    def _root(self, a: Sum) -> Sum | None:
        """Return the square root; that of a square b^2 is sign(b) b."""
        ring, value = self.ring, _real_constant(a)
        if value is not None:
            return self.constant(math.sqrt(value)) if value >= 0.0 else None
        root = ring.root(a)
        if root is not None:
            sign = self._function(ca.OP_SIGN, [root])
            if list(sign) != [0]:
                ring.squares[ring.place(sign)] = self.constant(1.0)
            return ring.multiply(sign, root)
        result = self._function(ca.OP_SQRT, [a])
        ring.squares[ring.place(result)] = a
        return result

    def _wave(self, angle: Sum, factor: complex, sign: float) -> Sum | None:
        ring = self.ring
        phase, conjugate = ring.phase(angle), ring.phase(ring.scale(angle, -1.0))
        if phase is None or conjugate is None:
            return None
        return ring.scale(ring.add(phase, conjugate, sign), 0.5 * factor)


def _real_constant(a: Sum) -> float | None:
    """Return the number that a sum is, or None."""
    return sum(a.values()).real if not a or list(a) == [0] else None
