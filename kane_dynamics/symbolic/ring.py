# SPDX-License-Identifier: Apache-2.0
r"""
Sums of products of powers and of exponentials of angles, with one way to write each of them.

The entries of the equations of motion are polynomials in coordinates, speeds and
:math:`\sin(q/2), \cos(q/2)`. With :math:`\cos x = (z^2 + z^{-2})/2`,
:math:`\sin x = (z^2 - z^{-2})/2i`, :math:`z = e^{ix/2}`, they are sums of products of powers of
generators, powers of z may be negative, and no two different sums are the same function: all
identities between sines and cosines of sums and of half angles hold by themselves.

A sum is a dict from exponents to complex coefficients. The exponents of all generators are packed
as signed digits of one integer, so that a product of powers is a sum of integers.
"""

from __future__ import annotations

import cmath
from dataclasses import dataclass, field
from typing import Any

from kane_dynamics.exceptions import InvalidInputError

Sum = dict[int, complex]
"""Coefficients by packed exponents; zero is the empty dict."""

MOST_PRODUCTS = 1_000_000  # 2 to 5 s; a general arm of six joints takes as many
CANCELLED = 1e-14  # a coefficient below this part of what it is a sum of is roundoff
_BITS, _MOST_GENERATORS = 10, 96
_HALF, _MASK = 1 << (_BITS - 1), (1 << _BITS) - 1
_DIGITS = sum(1 << (_BITS * k) for k in range(_MOST_GENERATORS))  # a one in each place
_OFFSET = _HALF * _DIGITS
_WITHIN = (_HALF >> 1) * _DIGITS  # the bit in which a digit + offset differs from the next one
_ONE = 0  # all exponents zero


@dataclass(frozen=True)
class Generator:
    r"""
    What powers are taken of.

    Parameters
    ----------
    expression : sympy.Expr
        The generator itself, or the angle x [rad] of :math:`e^{i\,unit\,x}`.
    unit : float
        Factor of the angle; zero for a generator that is no exponential.

    """

    expression: Any
    unit: float = 0.0


@dataclass(eq=False)
class Ring:
    """
    Generators, and the arithmetic of their sums.

    Attributes
    ----------
    generators : list of Generator
        By the place of their exponent.
    squares : dict of int to Sum
        What the square of a generator is, where it is known.
    inverses : dict of int to Sum
        What a generator is one over.

    """

    generators: list[Generator] = field(default_factory=list)
    squares: dict[int, Sum] = field(default_factory=dict)
    inverses: dict[int, Sum] = field(default_factory=dict)
    _products: int = 0

    def generator(self, expression: Any, unit: float = 0.0) -> int:
        """
        Return the place of a generator, a new one where it is not known.

        Raises
        ------
        InvalidInputError
            If there are too many.

        """
        target = Generator(expression, unit)
        if target not in self.generators:
            if len(self.generators) == _MOST_GENERATORS:
                raise InvalidInputError(
                    f'the equations are too large to simplify: more than {_MOST_GENERATORS} '
                    'different symbols and functions; try simplify=False'
                )
            self.generators.append(target)
        return self.generators.index(target)

    def variable(self, expression: Any) -> Sum:
        """Return a symbol, or a function that is no polynomial, as a sum."""
        return {packed(self.generator(expression), 1): 1.0 + 0.0j}

    def place(self, variable: Sum) -> int:
        """Return the place of the generator that a sum is."""
        (key,) = variable
        (g,) = self.exponents(key)
        return g

    def exponents(self, key: int) -> dict[int, int]:
        """Return the exponents that are not zero, by the place of their generator."""
        results = ((g, _exponent(key, g)) for g in range(len(self.generators)))
        return {g: exponent for g, exponent in results if exponent}

    def add(self, a: Sum, b: Sum, factor: complex = 1.0) -> Sum:
        """Return a + factor b."""
        total = dict(a)
        for key, coefficient in b.items():
            term, known = factor * coefficient, total.pop(key, 0.0)
            if abs(known + term) > CANCELLED * (abs(known) + abs(term)):
                total[key] = known + term
        return total

    def scale(self, a: Sum, factor: complex) -> Sum:
        """Return factor a."""
        return {key: factor * coefficient for key, coefficient in a.items()} if factor else {}

    def multiply(self, a: Sum, b: Sum) -> Sum:
        """
        Return a b, squares replaced by what they are known to be.

        Raises
        ------
        InvalidInputError
            If all products together took more than MOST_PRODUCTS.

        """
        product = self._expanded(a, b)
        for g, square in self.squares.items():
            product = self._without_squares(product, g, square)
        return product

    def power(self, a: Sum, exponent: int) -> Sum:
        """Return a to an integer power."""
        result: Sum = {_ONE: 1.0 + 0.0j}
        factor = a if exponent >= 0 else self.reciprocal(a)
        for _ in range(abs(exponent)):
            result = self.multiply(result, factor)
        return result

    def reciprocal(self, a: Sum) -> Sum:
        """
        Return 1/a: an inverse of powers, or a new generator.

        Raises
        ------
        InvalidInputError
            If a is zero.

        """
        if not a:
            raise InvalidInputError('the equations divide by an expression that is zero')
        common = self._common_powers(a)
        remainder = {key - common: coefficient for key, coefficient in a.items()}
        external = self.multiply({-common: 1.0 + 0.0j}, {_ONE: 1.0 + 0.0j})
        for g, exponent in self.exponents(common).items():
            if g in self.inverses:
                external = self.multiply(
                    {key + packed(g, exponent): x for key, x in external.items()},
                    self.power(self.inverses[g], exponent),
                )
        if len(a) == 1:
            ((key, coefficient),) = remainder.items()
            return self.multiply(external, {-key: 1.0 / coefficient})
        for g, known in self.inverses.items():
            ratio = _ratio(remainder, known)
            if ratio is not None:
                return self.multiply(external, {packed(g, 1): 1.0 / ratio})
        g = self.generator(f'inverse {len(self.inverses)}')
        self.inverses[g] = remainder
        return self.multiply(external, {packed(g, 1): 1.0 + 0.0j})

    def phase(self, angle: Sum) -> Sum | None:
        """Return exp(i angle) where the angle [rad] is linear in the generators, else None."""
        result: Sum = {_ONE: 1.0 + 0.0j}
        for key, coefficient in angle.items():
            powers = self.exponents(key)
            if not powers:
                result = self.scale(result, cmath.exp(1j * coefficient))
                continue
            ((g, exponent), *others) = powers.items()
            if others or exponent != 1 or self.generators[g].unit:
                return None
            result = self.multiply(result, self._exponential(g, coefficient.real))
        return result

    def quotient(self, a: Sum, b: Sum) -> Sum | None:
        """Return a/b where it is a sum of powers, else None."""
        remainder, result = dict(a), Sum()
        first, last = max(b), min(a) - min(b) if a else 0
        for _ in range(len(a) + len(b)):
            if not remainder:
                return result
            key = max(remainder) - first
            if key < last:
                return None
            coefficient = remainder[max(remainder)] / b[first]
            result[key] = coefficient
            remainder = self.add(remainder, self._expanded({key: coefficient}, b), -1.0)
            remainder.pop(key + first, None)
        return None if remainder else result

    def root(self, a: Sum) -> Sum | None:
        """Return a sum of powers whose square is a, else None."""
        if not a:
            return {}
        first = max(a)
        if any(exponent % 2 for exponent in self.exponents(first).values()):
            return None
        lead = cmath.sqrt(a[first])
        result: Sum = {first // 2: lead}
        for _ in range(len(a)):
            remainder = self.add(a, self._expanded(result, result), -1.0)
            if not remainder:
                return result
            result[max(remainder) - first // 2] = remainder[max(remainder)] / (2.0 * lead)
        return None

    def _exponential(self, g: int, frequency: float) -> Sum:
        """Return exp(i frequency x) of the angle x at place g."""
        angle = self.generators[g].expression
        for known, generator in enumerate(self.generators):
            if generator.unit and generator.expression == angle:
                times = frequency / generator.unit
                if abs(times) < _HALF / 4 and abs(times - round(times)) < CANCELLED:
                    return {packed(known, round(times)): 1.0 + 0.0j}
        unit = 0.5 if (2.0 * frequency).is_integer() else abs(frequency)
        place = self.generator(angle, unit)
        return {packed(place, round(frequency / unit)): 1.0 + 0.0j}

    def _expanded(self, a: Sum, b: Sum) -> Sum:
        self._products += len(a) * len(b)
        if self._products > MOST_PRODUCTS:
            raise InvalidInputError(
                f'the equations are too large to simplify: more than {MOST_PRODUCTS} products of '
                'terms; lock joints, or use kd.casadi_function for numbers'
            )
        total: Sum = {}
        size: dict[int, float] = {}
        for key_a, x in a.items():
            for key_b, y in b.items():
                key, term = key_a + key_b, x * y
                total[key] = total.get(key, 0.0) + term
                size[key] = size.get(key, 0.0) + abs(term)
        for key in total:
            biased = key + _OFFSET
            if (biased ^ biased >> 1) & _WITHIN != _WITHIN:
                raise InvalidInputError(
                    f'the equations are too large to simplify: a power above {_HALF // 2}'
                )
        return {key: x for key, x in total.items() if abs(x) > CANCELLED * size[key]}

    def _without_squares(self, a: Sum, g: int, square: Sum) -> Sum:
        """Return a with the exponents of a generator brought to 0 and 1."""
        result: Sum = {}
        for key, coefficient in a.items():
            times = _exponent(key, g) // 2
            term = {key - packed(g, 2 * times): coefficient}
            if times:
                term = self.multiply(term, self.power(square, times))
            result = self.add(result, term)
        return result

    def _common_powers(self, a: Sum) -> int:
        """Return the lowest exponents of all generators that are no exponentials, packed."""
        lowest = 0
        for g, generator in enumerate(self.generators):
            if not generator.unit:
                lowest += packed(g, min(_exponent(key, g) for key in a))
        return lowest


def packed(g: int, exponent: int) -> int:
    """Return the power of one generator as packed exponents."""
    return exponent << (_BITS * g) if exponent >= 0 else -(-exponent << (_BITS * g))


def _exponent(key: int, g: int) -> int:
    return ((key + _OFFSET) >> (_BITS * g) & _MASK) - _HALF


def _ratio(a: Sum, b: Sum) -> float | None:
    """Return the number a/b where it is one, else None."""
    if a.keys() != b.keys():
        return None
    first = next(iter(a))
    ratio = a[first] / b[first]
    same = all(abs(x - ratio * b[key]) <= CANCELLED * abs(x) for key, x in a.items())
    return ratio.real if same and abs(ratio.imag) <= CANCELLED * abs(ratio) else None
