# SPDX-License-Identifier: Apache-2.0
r"""
Sums of products of powers and of exponentials of angles, on SymPy's sparse polynomial rings.

The entries of the equations of motion are polynomials in coordinates, speeds and
:math:`\sin(q/2), \cos(q/2)`. With :math:`\cos x = (z^2 + z^{-2})/2`,
:math:`\sin x = (z^2 - z^{-2})/2i`, :math:`z = e^{ix/2}`, they are sums of products of powers of
generators, and no two different sums are the same function: all identities between sines and
cosines of sums and of half angles hold by themselves. Powers of z may be negative, which SymPy's
products and sums allow; before a division all are shifted to be positive.
"""

import cmath
from collections.abc import Mapping, Sequence
from typing import Any

from sympy import ComplexField, symbols
from sympy.polys.orderings import lex
from sympy.polys.rings import PolyRing

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.symbolic.graph import check_size

Sum = Any  # an element of the ring: complex coefficients by tuples of exponents

MOST_PRODUCTS = 1_000_000  # about 4 s; a general arm of six joints takes as many
TOO_LARGE = 'the equations are too large to simplify'
CANCELLED = 1e-14  # a coefficient below this part of what it is a sum of is roundoff
_GROWTH = 8  # generators that a ring gets at once


class _MachineNumbers(ComplexField):
    """Complex numbers of the processor: a refusal took five times as long on those of mpmath."""

    def __init__(self) -> None:
        super().__init__()
        self._dtype, self.zero, self.one = complex, 0j, 1.0 + 0j


_NUMBERS = _MachineNumbers()


class Laurent:
    """Generators, and the arithmetic of their sums."""

    def __init__(self) -> None:
        self.generators: list[tuple[Any, float]] = []
        self.squares: dict[int, Sum] = {}
        self.inverses: dict[int, Sum] = {}
        self._products = 0
        self.ring = PolyRing(symbols(f'x:{_GROWTH}'), _NUMBERS, lex)

    def generator(self, expression: Any, unit: float = 0.0) -> int:
        """Return the place of a generator, a new one where it is not known."""
        if (expression, unit) not in self.generators:
            self.generators.append((expression, unit))
            if len(self.generators) > self.ring.ngens:
                self.ring = PolyRing(symbols(f'x:{self.ring.ngens + _GROWTH}'), _NUMBERS, lex)
        return self.generators.index((expression, unit))

    def monomial(self, exponents: Mapping[int, int], coefficient: complex = 1.0) -> Sum:
        """Return a product of powers of generators."""
        powers = tuple(exponents.get(g, 0) for g in range(self.ring.ngens))
        return self.ring.from_dict({powers: complex(coefficient)})

    def symbol(self, symbol: Any) -> Sum:
        """Return a symbol, or a function that is no polynomial, as a sum."""
        return self.monomial({self.generator(symbol): 1})

    def constant(self, value: float) -> Sum:
        """Return a number."""
        return self.monomial({}, value)

    def lifted(self, a: Sum) -> Sum:
        """Return a sum in the present ring, which has generators that it may not know."""
        more = (0,) * (self.ring.ngens - a.ring.ngens)
        return self.ring.from_dict({key + more: x for key, x in a.items()}) if more else a

    def add(self, a: Sum, b: Sum, factor: complex = 1.0) -> Sum:
        """Return a + factor b."""
        a, b = self.lifted(a), self.lifted(b)
        b = b if factor == 1.0 else b * complex(factor)
        total = a + b
        for key in a.keys() & b.keys() & total.keys():
            if abs(total[key]) <= CANCELLED * abs(a[key]):
                del total[key]
        return total

    def multiply(self, a: Sum, b: Sum) -> Sum:
        """Return a b, squares replaced by what they are known to be."""
        a, b = self.lifted(a), self.lifted(b)
        self._products += len(a) * len(b)
        check_size(TOO_LARGE, self._products, MOST_PRODUCTS, 'products of terms')
        product = a * b
        least = CANCELLED * largest(a) * largest(b)
        for key in [key for key, x in product.items() if abs(x) <= least]:
            del product[key]
        for g, square in self.squares.items():
            product = self.without_squares(product, g, square)
        return product

    def without_squares(self, a: Sum, g: int, square: Sum) -> Sum:
        """Return a sum with the exponents of a generator brought to 0 and 1."""
        parts: dict[int, dict[Any, Any]] = {}
        for key, x in a.items():
            times, left = divmod(key[g], 2)
            parts.setdefault(times, {})[(*key[:g], left, *key[g + 1 :])] = x
        total = self.ring.from_dict(parts.pop(0, {}))
        for times, part in parts.items():
            power = self.power(square, times)
            total = self.add(total, self.multiply(self.ring.from_dict(part), power))
        return total

    def power(self, a: Sum, exponent: int) -> Sum:
        """Return a to an integer power."""
        result, factor = self.constant(1.0), a if exponent >= 0 else self.reciprocal(a)
        for _ in range(abs(exponent)):
            result = self.multiply(result, factor)
        return result

    def reciprocal(self, a: Sum) -> Sum:
        """Return 1/a: an inverse of powers, or a new generator."""
        if not a:
            raise InvalidInputError('the equations divide by an expression that is zero')
        common = {g: e for g, e in enumerate(lowest(a)) if e and not self.angular(g)}
        remainder = shifted(a, [-common.get(g, 0) for g in range(a.ring.ngens)])
        external = self.monomial({g: -e for g, e in common.items() if g not in self.inverses})
        external = self.multiply(external, self.constant(1.0))
        for g in common.keys() & self.inverses.keys():
            external = self.multiply(external, self.power(self.inverses[g], common[g]))
        if len(remainder) == 1:
            ((key, x),) = remainder.items()
            inverse = self.monomial({g: -e for g, e in enumerate(key)}, 1.0 / x)
            return self.multiply(external, inverse)
        for g, known in self.inverses.items():
            ratio = remainder.LC / known.LC
            if remainder.keys() == self.lifted(known).keys() and not self.add(
                remainder, known, -ratio
            ):
                return self.multiply(external, self.monomial({g: 1}, 1.0 / ratio))
        g = self.generator(f'inverse {len(self.inverses)}')
        self.inverses[g] = remainder
        return self.multiply(external, self.monomial({g: 1}))

    def phase(self, angle: Sum) -> Sum | None:
        """Return exp(i angle) where the angle [rad] is linear in the generators, else None."""
        result = self.constant(1.0)
        for key, x in angle.items():
            powers = [(g, e) for g, e in enumerate(key) if e]
            if not powers:
                result = result * cmath.exp(1j * x)
            elif [e for _, e in powers] == [1] and not self.angular(powers[0][0]):
                result = self.multiply(result, self._exponential(powers[0][0], float(x.real)))
            else:
                return None
        return result

    def quotient(self, a: Sum, b: Sum) -> Sum | None:
        """Return a/b where it is a sum of powers, else None."""
        if not a:
            return a
        a, b = self.lifted(a), self.lifted(b)
        low_a, low_b = lowest(a), lowest(b)
        result, remainder = divmod(
            shifted(a, [-e for e in low_a]), shifted(b, [-e for e in low_b])
        )
        if largest(remainder) > CANCELLED * len(a) * largest(a):
            return None
        return shifted(result, [x - y for x, y in zip(low_a, low_b, strict=True)])

    def root(self, a: Sum) -> Sum | None:
        """Return a sum of powers whose square is a, else None."""
        if not a:
            return a
        first = max(a)
        if any(e % 2 for e in first):
            return None
        half, lead = [e // 2 for e in first], cmath.sqrt(a[first])
        result = self.monomial(dict(enumerate(half)), lead)
        for _ in range(len(a)):
            remainder = self.add(a, result * result, -1.0)
            if not remainder:
                return result
            powers = {g: e - h for (g, e), h in zip(enumerate(max(remainder)), half, strict=True)}
            result = result + self.monomial(powers, remainder[max(remainder)] / (2.0 * lead))
        return None

    def angular(self, g: int) -> bool:
        """Return whether a generator is an exponential of an angle."""
        return g < len(self.generators) and self.generators[g][1] != 0.0

    def _exponential(self, g: int, frequency: float) -> Sum:
        """Return exp(i frequency x) of the angle x at place g."""
        angle = self.generators[g][0]
        for place, (expression, unit) in enumerate(self.generators):
            times = frequency / unit if unit and expression == angle else 0.5
            if abs(times - round(times)) < CANCELLED:
                return self.monomial({place: round(times)})
        unit = 0.5 if (2.0 * frequency).is_integer() else abs(frequency)
        return self.monomial({self.generator(angle, unit): round(frequency / unit)})


def largest(a: Sum) -> float:
    """Return the largest coefficient of a sum."""
    return max(map(abs, a.values()), default=0.0)


def lowest(a: Sum) -> tuple[int, ...]:
    """Return the lowest exponent of each generator."""
    return tuple(map(min, zip(*a, strict=True)))


def shifted(a: Sum, exponents: Sequence[int]) -> Sum:
    """Return a sum times powers of the generators."""
    return a.ring.from_dict(
        {tuple(x + y for x, y in zip(key, exponents, strict=True)): c for key, c in a.items()}
    )
