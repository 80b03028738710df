# SPDX-License-Identifier: Apache-2.0
"""
Graphs as short SymPy expressions: sums of `laurent`, written in the shortest of a few ways.

Angles may stand in sines and cosines of their sums, ``cos(q1 + q2)``, or in products of sines and
cosines of single angles, ``cos(q1) cos(q2)``, each angle for itself; equal factors are written
once. All these forms are the same function. The one with the fewest operations is taken.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any

import sympy

from kane_dynamics.algebra import casadi as ca
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.symbolic.graph import PlainAlgebra, check_size, operation_name, sympy_operation
from kane_dynamics.symbolic.laurent import CANCELLED, TOO_LARGE, Laurent, Sum, largest

Exponents = tuple[int, ...]
Waves = Mapping[Exponents, complex]  # by the exponents of all generators
# by the exponents in sums, and by powers of (cos, sin) of angles in products
Products = dict[tuple[Exponents, Exponents], complex]
Angles = Sequence[tuple[Any, float]]  # [rad], and its factor, for generators that are exponentials

DIGITS = 14  # of a coefficient that are kept: what is left out is below 5e-14 of it
_HIGHEST_POWER = 4  # of a sine or cosine worth writing as a product
_ALL_CHOICES = 4  # number of angles up to which every choice of sums and products is tried
_MOST_COMPARED = 40  # exponentials, and terms, up to which all forms are tried


def number(value: float) -> Any:
    """Return a coefficient with DIGITS significant digits; whole numbers as integers."""
    rounded = float(f'{value:.{DIGITS - 1}e}')
    return sympy.Integer(int(rounded)) if rounded.is_integer() else sympy.Float(rounded)


def shortest_waves(waves: Waves, angles: Angles) -> list[tuple[float, Any]]:
    """Return coefficients and waves, each angle in sums or in products, in few operations."""
    turning = [g for g, powers in enumerate(zip(*waves, strict=True)) if any(powers)]
    sizes = range(len(turning) + 1) if len(turning) <= _ALL_CHOICES else (0, len(turning))
    forms: list[tuple[dict[int, int], Products]] = [({}, _in_products(waves, {}))]
    for selection in (c for n in sizes if n for c in combinations(turning, n)):
        steps = {g: _step([wave[g] for wave in waves], angles[g][1]) for g in selection}
        highest = max(abs(wave[g]) // steps[g] for wave in waves for g in selection)
        if highest <= _HIGHEST_POWER and len(waves) <= _MOST_COMPARED:
            forms.append((steps, _in_products(waves, steps)))
    steps, products = min(forms, key=lambda form: _operations(form[1], angles))
    return _terms(products, steps, angles)


def _step(exponents: Sequence[int], unit: float) -> int:
    """Return an exponent whose multiples all are: that of the whole angle, if it can be."""
    largest, whole = math.gcd(*exponents), round(1.0 / unit)
    return whole if whole and largest % whole == 0 else largest


def _in_products(waves: Waves, steps: Mapping[int, int]) -> Products:
    """Return waves with some angles in powers of their cosines and sines."""
    products: Products = {(wave, ()): x for wave, x in waves.items()}
    for g, step in steps.items():
        expanded: Products = {}
        for (wave, powers), x in products.items():
            remainder, times = (*wave[:g], 0, *wave[g + 1 :]), wave[g] // step
            for n in range(abs(times) + 1):  # (cos +- i sin)^|times|
                key = remainder, (*powers, abs(times) - n, n)
                turn = x * math.comb(abs(times), n) * (1j if times > 0 else -1j) ** n
                expanded[key] = expanded.get(key, 0.0) + turn
        products = min((_without_squares(expanded, of) for of in (-1, -2)), key=len)
    return products


def _without_squares(products: Products, square: int) -> Products:
    """Return products with sin^2 = 1 - cos^2 (square -1) or cos^2 = 1 - sin^2 (square -2)."""
    result: Products = {}
    size: dict[Any, float] = {}
    for (wave, powers), x in products.items():
        degree, left = divmod(powers[square], 2)
        for n in range(degree + 1):
            pair = (powers[-2] + 2 * n, left) if square == -1 else (left, powers[-1] + 2 * n)
            key, term = (wave, (*powers[:-2], *pair)), x * math.comb(degree, n) * (-1) ** n
            result[key] = result.get(key, 0.0) + term
            size[key] = size.get(key, 0.0) + abs(term)
    return {key: x for key, x in result.items() if abs(x) > CANCELLED * size[key]}


def _operations(products: Products, angles: Angles) -> int:
    """Return about how many operations a form has."""
    count = 0
    for (wave, powers), x in products.items():
        turning = [e * angles[g][1] for g, e in enumerate(wave) if e]
        if turning and wave < tuple(-e for e in wave):
            continue
        functions = bool(turning) + sum(power > 0 for power in powers)
        inside = len(turning) + sum(abs(e) != 1.0 for e in turning)
        inside += sum(power > 1 for power in powers)
        count += (1 + bool(turning and x.real and x.imag)) * (1 + 2 * functions + inside)
    return count


def _terms(
    products: Products, steps: Mapping[int, int], angles: Angles
) -> list[tuple[float, Any]]:
    """Return pairs of conjugate exponentials as sines and cosines."""
    terms: list[tuple[float, Any]] = []
    for (wave, powers), x in products.items():
        if wave < tuple(-e for e in wave):
            continue  # the conjugate of one that is taken
        factors = []
        for (g, step), of_cos, of_sin in zip(
            steps.items(), powers[::2], powers[1::2], strict=True
        ):
            angle = _angle(((step, *angles[g]),))
            factors += [sympy.cos(angle) ** of_cos, sympy.sin(angle) ** of_sin]
        pairs = [(x.real, sympy.Integer(1))]
        if any(wave):
            angle = _angle(tuple((e, *angles[g]) for g, e in enumerate(wave) if e))
            pairs = [(2.0 * x.real, sympy.cos(angle)), (-2.0 * x.imag, sympy.sin(angle))]
        external = sympy.Mul(*factors)
        terms += [(c, external * f) for c, f in pairs if abs(c) > CANCELLED * abs(x)]
    return terms


@lru_cache(maxsize=4096)
def _angle(parts: tuple[tuple[int, Any, float], ...]) -> Any:
    """Return the sum of exponent x angle x unit."""
    return sympy.Add(*[number(e * unit) * angle for e, angle, unit in parts])


ROUNDOFF = 1e-13  # coefficients below this part of the largest of a quantity are left out
MOST_TERMS = 10_000  # their shortest form takes about 10 s and 30 pages
_MOST_FACTORS = 16  # of a power that is multiplied out
_LARGEST_MULTIPLE = 12  # of a common coefficient

Term = tuple[float, Any, Any]  # a coefficient, the powers of symbols and the waves it multiplies


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
        code, of, square = (
            (ca.OP_SQRT, a, a) if root is None else (ca.OP_SIGN, root, self.constant(1.0))
        )
        result = self._function(code, [of])
        if _real_constant(result) is None:
            self.squares[max(g for g, e in enumerate(next(iter(result))) if e)] = square
        return result if root is None else self.multiply(result, root)

    def _wave(self, angle: Sum, factor: complex, sign: float) -> Sum | None:
        phase, conjugate = self.phase(angle), self.phase(-angle)
        if phase is None or conjugate is None:
            return None
        return self.add(phase, conjugate, sign) * (0.5 * factor)

    def expressions(self, quantities: Sequence[Sequence[Sum]]) -> list[list[Any]]:
        """Return the entries of each quantity as SymPy expressions."""
        count = sum(len(entry) for entries in quantities for entry in entries)
        check_size(TOO_LARGE, count, MOST_TERMS, 'terms')
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
            clean = complex(*(part if abs(part) > roundoff else 0.0 for part in (x.real, x.imag)))
            if clean:
                wave = tuple(e * of for e, of in zip(key, angular, strict=True))
                external = tuple(e - w for e, w in zip(key, wave, strict=True))
                groups.setdefault(external, {})[wave] = clean
        return groups

    def _generator(self, g: int) -> Any:
        inverse = self.inverses.get(g)
        return self.generators[g][0] if inverse is None else 1 / self._entries([inverse])[0]


def _shortest_grouping(terms: Sequence[Term]) -> Any:
    """Return the sum of coefficient x outside x wave, equal outside or wave factors once."""
    groupings = (1, 0) if len(terms) <= _MOST_COMPARED else (0,)
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
    return a.const().real if a.is_ground else None
