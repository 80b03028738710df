# SPDX-License-Identifier: Apache-2.0
r"""
Midpoint steps that jump to another branch of a mechanism.

Near a configuration where branches cross (a parallelogram that lies flat) the equation of an
implicit step has solutions on each of them. Inertia knows one: speeds are continuous. So the
middle speeds must be near :math:`v + \tfrac h2 a(q, v)`, measured in the metric of M.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kane_dynamics.algebra.scalars import Scalar

MOST_TURNED = 0.1  # of |v|^2: the speeds turn by 0.3 rad in half a step beyond the forecast
_ROUNDOFF = 1e-18  # [J], of mechanisms that stand still


def forecast(v: Iterable[Scalar], acceleration: Iterable[Scalar], h: Scalar) -> list[Scalar]:
    """Return speeds half a step of h [s] after v."""
    return [x + 0.5 * h * a for x, a in zip(v, acceleration, strict=True)]


def excess_jump(product: Any, v: Any, expected: Any, v_middle: Any) -> Scalar:
    """
    Return how far middle speeds are beyond what is allowed (at most 0: sound) [J].

    Parameters
    ----------
    product : callable
        M x of a list of scalars x.
    v, expected, v_middle : sequence of scalar
        Speeds at the start, the forecast, and what was found.

    """

    def energy(a: Any, b: Any) -> Scalar:
        change = [x - y for x, y in zip(a, b, strict=True)]
        return sum((x * p for x, p in zip(change, product(change), strict=True)), 0.0)

    at_rest = [0.0] * len(list(v))
    allowed = MOST_TURNED * (energy(v, at_rest) + energy(expected, v)) + _ROUNDOFF
    return energy(v_middle, expected) - allowed
