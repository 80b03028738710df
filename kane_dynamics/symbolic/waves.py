# SPDX-License-Identifier: Apache-2.0
"""Sums of exponentials as sines and cosines of sums of angles, or products of them: few terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from math import comb, gcd
from typing import Any

import sympy

from kane_dynamics.symbolic.laurent import CANCELLED

Exponents = tuple[int, ...]
Waves = Mapping[Exponents, complex]
"""Coefficients of exponentials, by the exponents of all generators."""
Products = dict[tuple[Exponents, Exponents], complex]
"""Coefficients by the exponents in sums, and by powers of (cos, sin) of angles in products."""
Angles = Sequence[tuple[Any, float]]
"""An angle [rad] and its factor for each generator that is an exponential."""

DIGITS = 14  # of a coefficient that are kept: what is left out is below 5e-14 of it
_HIGHEST_POWER = 4  # of a sine or cosine worth writing as a product
_ALL_CHOICES = 4  # number of angles up to which every choice of sums and products is tried
_MOST_COMPARED = 40  # exponentials up to which products are tried


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
    largest, whole = gcd(*exponents), round(1.0 / unit)
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
                turn = x * comb(abs(times), n) * (1j if times > 0 else -1j) ** n
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
            key, term = (wave, (*powers[:-2], *pair)), x * comb(degree, n) * (-1) ** n
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
