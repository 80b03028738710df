# SPDX-License-Identifier: Apache-2.0
r"""
The acceleration at which a robot begins to tip, and over which edge.

The wrench of the ground is affine in accelerations, :math:`W(s) = W_0 + s W_1`, and so are the
moments that keep the robot on the ground about each edge: the first of them to vanish tells, in
closed form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kane_dynamics.analysis.support_polygon import SupportPolygon
from kane_dynamics.analysis.tip_over import edge_moments
from kane_dynamics.typing import Floats

# A moment that changes by less than this part of what it is made of does not change.
_ROUNDOFF = 1e-12


@dataclass(frozen=True, slots=True)
class Tipping:
    """
    Where a robot begins to tip.

    Parameters
    ----------
    factor : float
        Of the direction of accelerations that was asked for, >= 0; infinite where the robot tips
        at none, 0 where it tips already.
    edge : tuple of (str, str) or None
        Names of the ends of the edge; None where the robot tips at none.

    """

    factor: float
    edge: tuple[str, str] | None


def first_to_tip(polygon: SupportPolygon, start: Floats, change: Floats) -> Tipping:
    """
    Return the least s >= 0 at which the wrench start + s change of the ground lifts an edge.

    Parameters
    ----------
    polygon : SupportPolygon
        The points that the robot stands on.
    start, change : ndarray, shape (6,)
        (tau, f) about the origin of the world.

    """
    now, rate = edge_moments(polygon, start), edge_moments(polygon, change)
    if (now <= 0.0).any():
        return Tipping(0.0, polygon.edges[int(np.argmin(now))])
    arms = np.abs(polygon.ends).max(axis=1)
    falls = rate < -_ROUNDOFF * (np.abs(change[:3]).max() + arms * np.abs(change[3:]).max())
    factors = np.full(len(now), np.inf)
    factors[falls] = -now[falls] / rate[falls]
    first = int(np.argmin(factors))
    if not np.isfinite(factors[first]):
        return Tipping(np.inf, None)
    return Tipping(float(factors[first]), polygon.edges[first])
