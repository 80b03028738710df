# SPDX-License-Identifier: Apache-2.0
"""
The shortest of a few SymPy forms of a sum of powers and exponentials (`ring`).

Exponentials become sines and cosines in `waves`; here equal factors are written once. All
these forms are the same function. The one with the fewest operations is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy

from kane_dynamics.symbolic.ring import Ring, Sum, packed
from kane_dynamics.symbolic.waves import Angle, Term, Waves, number, shortest_waves

ROUNDOFF = 1e-13  # coefficients below this part of the largest of a quantity are left out
_LARGEST_MULTIPLE = 12  # of a common coefficient
_MOST_GROUPED = 40  # terms up to which both ways to group them are tried


@dataclass(eq=False)
class ShortForms:
    """
    SymPy expressions of the sums of one ring.

    Parameters
    ----------
    ring : Ring
        The ring.

    """

    ring: Ring
    _known: dict[Any, Any] = field(default_factory=dict)

    def entries(self, quantity: Sequence[Sum]) -> list[Any]:
        """
        Return the entries of one quantity.

        Coefficients below ROUNDOFF of the largest one of all entries are taken as zero, the
        others are rounded to DIGITS significant digits.
        """
        reduced = [self._divided_out(entry) for entry in quantity]
        largest = max((abs(x) for entry in reduced for x in entry.values()), default=0.0)
        return [self._shortest(entry, ROUNDOFF * largest) for entry in reduced]

    def entry(self, single: Sum) -> Any:
        """Return the expression of a sum that stands alone."""
        return self.entries([single])[0]

    def _divided_out(self, entry: Sum) -> Sum:
        """Return a sum without the denominators that divide it."""
        for g, denominator in self.ring.inverses.items():
            by_power: dict[int, Sum] = {}
            for key, coefficient in entry.items():
                power = self.ring.exponents(key).get(g, 0)
                by_power.setdefault(power, {})[key - packed(g, power)] = coefficient
            for power in range(max(by_power, default=0), 0, -1):
                quotient = self.ring.quotient(by_power.get(power, {}), denominator)
                if quotient is not None:
                    by_power[power - 1] = self.ring.add(by_power.get(power - 1, {}), quotient)
                    by_power[power] = {}
            entry = {
                key + packed(g, power): coefficient
                for power, part in by_power.items()
                for key, coefficient in part.items()
            }
        return entry

    def _shortest(self, entry: Sum, roundoff: float) -> Any:
        key = frozenset(entry.items()), roundoff
        if key not in self._known:
            angles = self._angles()
            terms = [
                (coefficient, external, wave)
                for external, waves in self._by_outside(entry, roundoff)
                for coefficient, wave in shortest_waves(waves, angles)
            ]
            self._known[key] = _shortest_grouping(terms)
        return self._known[key]

    def _angles(self) -> tuple[Angle, ...]:
        """Return the units and angles of the exponentials."""
        return tuple((g.unit, g.expression) for g in self.ring.generators if g.unit)

    def _by_outside(self, entry: Sum, roundoff: float) -> Iterator[tuple[Any, Waves]]:
        """Return the factors that are no exponentials, each with the exponentials it has."""
        indices = [g for g, generator in enumerate(self.ring.generators) if generator.unit]
        by_outside: dict[int, Waves] = {}
        for key, coefficient in entry.items():
            exponents = self.ring.exponents(key)
            wave = tuple(exponents.get(g, 0) for g in indices)
            external = key - sum(packed(g, e) for g, e in zip(indices, wave, strict=True))
            clean = complex(*(x if abs(x) > roundoff else 0.0 for x in _parts(coefficient)))
            if clean:
                by_outside.setdefault(external, {})[wave] = clean
        for external, waves in by_outside.items():
            yield self._product(external), waves

    def _product(self, key: int) -> Any:
        powers = [
            self._generator(g) ** exponent for g, exponent in self.ring.exponents(key).items()
        ]
        return sympy.Mul(*powers)

    def _generator(self, g: int) -> Any:
        if g in self.ring.inverses:
            return 1 / self.entry(self.ring.inverses[g])
        return self.ring.generators[g].expression


def _parts(x: complex) -> tuple[float, float]:
    return x.real, x.imag


def _shortest_grouping(terms: Sequence[tuple[float, Any, Any]]) -> Any:
    """Return sum of coefficient x outside x wave, equal outside or wave factors written once."""
    if len(terms) > _MOST_GROUPED:
        return _grouped(terms, 1)
    return min((_grouped(terms, common) for common in (1, 0)), key=sympy.count_ops)


def _grouped(terms: Sequence[tuple[float, Any, Any]], common: int) -> Any:
    groups: dict[Any, list[Term]] = {}
    for c, *factors in terms:
        groups.setdefault(factors[common], []).append((c, factors[1 - common]))
    return sympy.Add(*[factor * _factored(remainder) for factor, remainder in groups.items()])


def _factored(terms: Sequence[Term]) -> Any:
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
