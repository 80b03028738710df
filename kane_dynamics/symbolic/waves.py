# SPDX-License-Identifier: Apache-2.0
"""
Sums of exponentials as sines and cosines, in few operations.

Angles may stand in sines and cosines of their sums, ``cos(q1 + q2)``, or in products of sines and
cosines of single angles, ``cos(q1) cos(q2)``, each angle for itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb, gcd
from typing import Any

import sympy

from kane_dynamics.symbolic.ring import CANCELLED

Exponents = tuple[int, ...]
Waves = dict[Exponents, complex]
"""Coefficients of exponentials, by the exponents of the angles."""
Products = dict[tuple[Exponents, Exponents], complex]
"""Coefficients by the exponents of the angles, and by pairs of powers of their (cos, sin)."""
Term = tuple[float, Any]
"""A coefficient and the functions that it multiplies."""
Angle = tuple[float, Any]
"""A factor and the angle [rad] that it multiplies."""

DIGITS = 14  # of a coefficient that are kept: what is left out is below 5e-14 of it
_HIGHEST_POWER = 4  # of a sine or cosine worth writing as a product
_ALL_CHOICES = 4  # number of angles up to which every choice of sums and products is tried
_MOST_COMPARED = 40  # exponentials up to which products are tried


def number(value: float) -> Any:
    """Return a coefficient with DIGITS significant digits; whole numbers as integers."""
    rounded = float(f'{value:.{DIGITS - 1}e}')
    return sympy.Integer(int(rounded)) if rounded.is_integer() else sympy.Float(rounded)


def shortest_waves(waves: Waves, angles: tuple[Angle, ...]) -> list[Term]:
    """Return real sums of exponentials in sines and cosines of sums, products, or both."""
    turning = [k for k in range(len(angles)) if any(wave[k] for wave in waves)]
    counts = range(len(turning) + 1) if len(turning) <= _ALL_CHOICES else (0, len(turning))
    best, form = _Split((), (), angles), _Split((), (), angles).products(waves)
    for selection in (c for n in counts if n for c in combinations(turning, n)):
        steps = tuple(_step([wave[k] for wave in waves], angles[k]) for k in selection)
        highest = max(
            abs(wave[k]) // step
            for wave in waves
            for k, step in zip(selection, steps, strict=True)
        )
        if highest > _HIGHEST_POWER or len(waves) > _MOST_COMPARED:
            continue
        split = _Split(selection, steps, angles)
        products = split.products(waves)
        if split.operations(products) < best.operations(form):
            best, form = split, products
    return best.terms(form)


@dataclass(frozen=True)
class _Split:
    """
    Which angles stand in products; the others stand in sums.

    Parameters
    ----------
    selection : tuple of int
        Places of the angles in products.
    steps : tuple of int
        Exponent of each of them whose multiples all exponents are: that of the whole angle, if
        it can be.
    angles : tuple of Angle
        All angles.

    """

    selection: Exponents
    steps: Exponents
    angles: tuple[Angle, ...]

    def products(self, waves: Waves) -> Products:
        """Return waves with the chosen angles in powers of their cosines and sines."""
        products: Products = {(wave, ()): x for wave, x in waves.items()}
        for k, step in zip(self.selection, self.steps, strict=True):
            expanded: Products = {}
            for (wave, powers), x in products.items():
                remainder, times = (*wave[:k], 0, *wave[k + 1 :]), wave[k] // step
                turn, degree = (1j if times > 0 else -1j), abs(times)
                for n in range(degree + 1):  # (cos + i sin)^degree
                    key = remainder, (*powers, degree - n, n)
                    expanded[key] = expanded.get(key, 0.0) + x * comb(degree, n) * turn**n
            products = min((_without_squares(expanded, of) for of in (-1, -2)), key=len)
        return products

    def operations(self, products: Products) -> int:
        """Return about how many operations a form has."""
        count = 0
        for (wave, powers), x in products.items():
            if wave < _opposite(wave):
                continue
            turning = [e * unit for e, (unit, _) in zip(wave, self.angles, strict=True) if e]
            functions = bool(turning) + sum(power > 0 for power in powers)
            squares = sum(power > 1 for power in powers)
            inside = len(turning) + sum(abs(e) != 1.0 for e in turning)
            repeated = 1 + bool(turning and x.real and x.imag)
            count += repeated * (1 + 2 * functions + squares + inside)
        return count

    def terms(self, products: Products) -> list[Term]:
        """Return pairs of conjugate exponentials as sines and cosines."""
        terms: list[Term] = []
        for (wave, powers), x in products.items():
            if wave < _opposite(wave):
                continue  # the conjugate of one that is taken
            external = self._powers(powers)
            if any(wave):
                angle = _sum_of_angles(wave, self.angles)
                pairs = [(2.0 * x.real, sympy.cos(angle)), (-2.0 * x.imag, sympy.sin(angle))]
            else:
                pairs = [(x.real, sympy.Integer(1))]
            terms += [(c, external * f) for c, f in pairs if abs(c) > CANCELLED * abs(x)]
        return terms

    def _powers(self, powers: Exponents) -> Any:
        """Return the product of the powers of (cos, sin) of each chosen angle."""
        factors = []
        for k, step, of_cos, of_sin in zip(
            self.selection, self.steps, powers[::2], powers[1::2], strict=True
        ):
            angle = _sum_of_angles((step,), self.angles[k : k + 1])
            factors += [sympy.cos(angle) ** of_cos, sympy.sin(angle) ** of_sin]
        return sympy.Mul(*factors)


def _step(exponents: list[int], angle: Angle) -> int:
    largest, whole = gcd(*exponents), round(1.0 / angle[0])
    return whole if whole and largest % whole == 0 else largest


def _opposite(wave: Exponents) -> Exponents:
    return tuple(-e for e in wave)


@lru_cache(maxsize=4096)
def _sum_of_angles(exponents: Exponents, angles: tuple[Angle, ...]) -> Any:
    parts = zip(exponents, angles, strict=True)
    return sympy.Add(*[number(e * unit) * angle for e, (unit, angle) in parts if e])


def _without_squares(products: Products, square: int) -> Products:
    """Return products with sin^2 = 1 - cos^2 (square -1) or cos^2 = 1 - sin^2 (square -2)."""
    result: Products = {}
    size: dict[Any, float] = {}
    other = -3 - square
    for (wave, powers), x in products.items():
        degree = powers[square] // 2
        for n in range(degree + 1):
            new = list(powers)
            new[square] -= 2 * degree
            new[other] += 2 * n
            key, term = (wave, tuple(new)), x * comb(degree, n) * (-1) ** n
            result[key] = result.get(key, 0.0) + term
            size[key] = size.get(key, 0.0) + abs(term)
    return {key: x for key, x in result.items() if abs(x) > CANCELLED * size[key]}
