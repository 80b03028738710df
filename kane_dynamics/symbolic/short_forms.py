# SPDX-License-Identifier: Apache-2.0
"""
Graphs as short SymPy expressions: sums of `laurent`, written in the shortest of a few ways.

Angles may stand in sines and cosines of their sums, ``cos(q1 + q2)``, or in products of sines and
cosines of single angles, ``cos(q1) cos(q2)``, each angle for itself; equal factors are written
once. All these forms are the same function. The one with the fewest operations is taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import casadi as ca
import sympy

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.symbolic.graph import PlainAlgebra, operation_name, sympy_operation
from kane_dynamics.symbolic.laurent import Laurent, Sum, largest, scalar
from kane_dynamics.symbolic.waves import number, shortest_waves

ROUNDOFF = 1e-13  # coefficients below this part of the largest of a quantity are left out
MOST_TERMS = 10_000  # their shortest form takes about 10 s and 30 pages
_MOST_FACTORS = 16  # of a power that is multiplied out
_LARGEST_MULTIPLE = 12  # of a common coefficient
_MOST_GROUPED = 40  # terms up to which both ways to group them are tried

Term = tuple[float, Any, Any]
"""A coefficient, the powers of symbols and the waves that it multiplies."""


class ShortAlgebra(Laurent, PlainAlgebra):
    """Sums of a ring, quaternions (w, x, y, z) unit; what is no polynomial is a new generator."""

    def __init__(self, quaternions: Sequence[Sequence[Any]] = ()) -> None:
        super().__init__()
        for w, *vector in quaternions:
            square = self.constant(1.0)
            for x in vector:
                square = self.add(square, self.power(self.symbol(x), 2), -1.0)
            self.squares[self.generator(w)] = square
        self._known: dict[Any, Any] = {}
        self._polynomial: Mapping[int, Callable[..., Sum | None]] = {
            ca.OP_ASSIGN: lambda a: a,
            ca.OP_ADD: self.add,
            ca.OP_SUB: lambda a, b: self.add(a, b, -1.0),
            ca.OP_NEG: lambda a: -a,
            ca.OP_TWICE: lambda a: 2 * a,
            ca.OP_MUL: self.multiply,
            ca.OP_SQ: lambda a: self.multiply(a, a),
            ca.OP_DIV: lambda a, b: self.multiply(a, self.reciprocal(b)),
            ca.OP_INV: self.reciprocal,
            ca.OP_POW: self._to_power,
            ca.OP_CONSTPOW: self._to_power,
            ca.OP_SQRT: self._root,
            ca.OP_COS: lambda a: self._wave(a, 1.0, 1.0),
            ca.OP_SIN: lambda a: self._wave(a, -1j, -1.0),
        }

    def operation(self, code: int, values: Sequence[Sum]) -> Sum:
        """Return what an instruction makes of its values."""
        result = self._polynomial[code](*values) if code in self._polynomial else None
        return self._function(code, values) if result is None else result

    def _function(self, code: int, values: Sequence[Sum]) -> Sum:
        """Return a function that is no polynomial, as a number or as a generator."""
        result = sympy_operation(code)(*[self._entries([x])[0] for x in values])
        if not result.is_number:
            return self.symbol(result)
        if not (result.is_real and result.is_finite):
            raise InvalidInputError(f'{operation_name(code)} gives {result}, no real number')
        return self.constant(float(result))

    def _to_power(self, a: Sum, b: Sum) -> Sum | None:
        exponent = _real_constant(b)
        if exponent is None or abs(exponent) > _MOST_FACTORS:
            return None
        if exponent.is_integer():
            return self.power(a, int(exponent))
        root = self._root(a) if abs(exponent) == 0.5 else None
        return root if root is None or exponent > 0.0 else self.reciprocal(root)

    def _root(self, a: Sum) -> Sum | None:
        """Return the square root; that of a square b^2 is sign(b) b."""
        value = _real_constant(a)
        if value is not None:
            return self.constant(math.sqrt(value)) if value >= 0.0 else None
        root = self.root(self.lifted(a))
        result = self._function(
            ca.OP_SQRT if root is None else ca.OP_SIGN, [a if root is None else root]
        )
        if _real_constant(result) is None:
            g = max(g for g, e in enumerate(next(iter(result))) if e)
            self.squares[g] = a if root is None else self.constant(1.0)
        return result if root is None else self.multiply(result, root)

    def _wave(self, angle: Sum, factor: complex, sign: float) -> Sum | None:
        phase, conjugate = self.phase(angle), self.phase(-angle)
        if phase is None or conjugate is None:
            return None
        return self.add(phase, conjugate, sign) * scalar(0.5 * factor)

    def expressions(self, quantities: Sequence[Sequence[Sum]]) -> list[list[Any]]:
        """Return the entries of each quantity as SymPy expressions."""
        count = sum(len(entry) for entries in quantities for entry in entries)
        if count > MOST_TERMS:
            raise InvalidInputError(
                f'the equations are too large to simplify: {count} terms, at most {MOST_TERMS}; '
                'lock joints, or use kd.casadi_function for numbers'
            )
        return [self._entries(entries) for entries in quantities]

    def _entries(self, quantity: Sequence[Sum]) -> list[Any]:
        """Return the entries of one quantity, without what is roundoff of the largest of all."""
        entries = [self._divided_out(self.lifted(entry)) for entry in quantity]
        roundoff = ROUNDOFF * max(map(largest, entries), default=0.0)
        return [self._shortest(self.lifted(entry), roundoff) for entry in entries]

    def _divided_out(self, entry: Sum) -> Sum:
        """Return a sum without the denominators that divide it."""
        for g, denominator in self.inverses.items():
            for power in range(max((key[g] for key in entry), default=0), 0, -1):
                part = self.ring.from_dict({k: x for k, x in entry.items() if k[g] == power})
                quotient = self.quotient(part, denominator)
                if quotient is not None:
                    entry = self.add(entry - part, quotient * self.monomial({g: -1}))
        return entry

    def _shortest(self, entry: Sum, roundoff: float) -> Any:
        """Return the expression of a sum."""
        known = frozenset(entry.items()), roundoff
        if known not in self._known:
            terms = []
            for external, waves in self._by_outside(entry, roundoff).items():
                factor = sympy.Mul(*[self._generator(g) ** e for g, e in enumerate(external) if e])
                terms += [(c, factor, wave) for c, wave in shortest_waves(waves, self.generators)]
            self._known[known] = _shortest_grouping(terms)
        return self._known[known]

    def _by_outside(self, entry: Sum, roundoff: float) -> dict[Any, dict[Any, complex]]:
        """Return exponentials by the powers of other generators that they multiply."""
        angular = [self.angular(g) for g in range(self.ring.ngens)]
        groups: dict[Any, dict[Any, complex]] = {}
        for key, x in entry.items():
            parts = float(x.real), float(x.imag)
            clean = complex(*(part if abs(part) > roundoff else 0.0 for part in parts))
            if clean:
                wave = tuple(e * of for e, of in zip(key, angular, strict=True))
                external = tuple(e - w for e, w in zip(key, wave, strict=True))
                groups.setdefault(external, {})[wave] = clean
        return groups

    def _generator(self, g: int) -> Any:
        if g in self.inverses:
            return 1 / self._entries([self.inverses[g]])[0]
        return self.generators[g][0]


def _shortest_grouping(terms: Sequence[Term]) -> Any:
    """Return the sum of coefficient x outside x wave, equal outside or wave factors once."""
    groupings = (1, 0) if len(terms) <= _MOST_GROUPED else (0,)
    return min((_grouped(terms, inner) for inner in groupings), key=sympy.count_ops)


def _grouped(terms: Sequence[Term], inner: int) -> Any:
    groups: dict[Any, list[tuple[float, Any]]] = {}
    for c, *factors in terms:
        groups.setdefault(factors[1 - inner], []).append((c, factors[inner]))
    return sympy.Add(*[factor * _factored(remainder) for factor, remainder in groups.items()])


def _factored(terms: Sequence[tuple[float, Any]]) -> Any:
    """Return a sum, or a coefficient of which all others are whole multiples times a product."""
    plain = sympy.Add(*[number(c) * factor for c, factor in terms])
    unit = min(abs(c) for c, _ in terms) * (-1.0 if all(c < 0.0 for c, _ in terms) else 1.0)
    multiples = [c / unit for c, _ in terms]
    whole = all(
        abs(x) <= _LARGEST_MULTIPLE and abs(x - round(x)) <= ROUNDOFF * abs(x) for x in multiples
    )
    if len(terms) == 1 or not whole:
        return plain
    parts = zip(multiples, terms, strict=True)
    remainder = sympy.factor(sympy.Add(*[round(x) * factor for x, (_, factor) in parts]))
    product = sympy.Mul(number(unit), remainder, evaluate=unit == 1.0)
    return min(plain, product, key=sympy.count_ops)


def _real_constant(a: Sum) -> float | None:
    """Return the number that a sum is, or None."""
    return float(a.const().real) if a.is_ground else None
