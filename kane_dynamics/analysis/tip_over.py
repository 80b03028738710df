# SPDX-License-Identifier: Apache-2.0
r"""
Tip-over margins, and the acceleration at which a robot begins to tip.

With f, n the force that the robot puts on the ground and its moment about the centre of mass
:math:`p_c`, and for each edge of the support polygon its axis :math:`a_i`:

.. math:: l_i = (1 - a_i a_i^T)(p_{i+1} - p_c), \quad
   f_i = (1 - a_i a_i^T) f + l_i \times (a_i a_i^T) n / |l_i|^2, \quad
   \theta_i = \angle(f_i, l_i)

positive inside. The measure of 1996 (ICRA) is :math:`\min \theta_i |f|`, that of 2000 (Vehicle
System Dynamics 33) :math:`\min \theta_i |d_i| |f_i|`, with :math:`d_i` the distance of the line of
:math:`f_i` from the edge. The zero-moment point is where the ground's force alone would do; its
distance :math:`z_i` from the edge obeys :math:`|l_i| |f_i| \sin\theta_i = z_i\, n \cdot F`: all
margins are zero together.

The wrench of the ground is affine in accelerations, :math:`W(s) = W_0 + s W_1`, and so are the
moments that keep the robot on the ground about each edge: the first of them to vanish tells, in
closed form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.analysis.support_polygon import SupportPolygon
from kane_dynamics.robot.checks import as_vector
from kane_dynamics.typing import Floats


@dataclass(frozen=True, eq=False, slots=True)
class TipOver:
    """How far a robot is from tipping over each edge of its support polygon; negative: it tips."""

    edges: tuple[tuple[str, str], ...]  # Names of the ends of each edge
    angles: Floats  # shape (e,): theta_i [rad]
    edge_forces: Floats  # shape (e,): |f_i| [N]
    levers: Floats  # shape (e,): |d_i| [m]
    force: float  # |f| [N]
    zero_moment_point: Floats  # shape (3,): In the plane of the ground, world axes [m]
    distances: Floats  # shape (e,): z_i of the zero-moment point from each edge [m]

    @property
    def margin(self) -> float:
        """Return the least distance of the zero-moment point from an edge [m]."""
        return float(self.distances.min())

    @property
    def edge(self) -> tuple[str, str]:
        """Return the edge that is nearest to the zero-moment point."""
        return self.edges[int(np.argmin(self.distances))]

    @property
    def force_angle_1996(self) -> float:
        """Return min theta_i |f| [N rad]."""
        return float(self.angles.min() * self.force)

    @property
    def force_angle_2000(self) -> float:
        """Return min theta_i |d_i| |f_i| [N m rad]."""
        return float((self.angles * self.levers * self.edge_forces).min())


def tip_over(polygon: SupportPolygon, wrench: ArrayLike, center_of_mass: ArrayLike) -> TipOver:
    """Return the margins of a robot that stands on a polygon."""
    w = as_vector('wrench [N m, N]', wrench, 6)
    p_c = as_vector('center_of_mass [m]', center_of_mass, 3)
    f, n = -w[3:], -(w[:3] - np.cross(p_c, w[3:]))
    axes = polygon.axes
    l = _across(axes, polygon.ends - p_c)  # noqa: E741
    turning = axes * (axes @ n)[:, None]
    lengths = np.linalg.norm(l, axis=1)
    f_i = _across(axes, np.broadcast_to(f, axes.shape))
    f_i = f_i + np.cross(l, turning) / np.square(lengths)[:, None]
    sines, cosines = np.sum(axes * np.cross(f_i, l), axis=1), np.sum(f_i * l, axis=1)
    angles = np.arctan2(sines, cosines)
    total = float(polygon.normal @ w[3:])
    flies = not total > 0.0
    distances = edge_moments(polygon, w)
    return TipOver(
        polygon.edges,
        angles,
        np.linalg.norm(f_i, axis=1),
        lengths * np.abs(np.sin(angles)),
        float(np.linalg.norm(f)),
        np.full(3, np.nan) if flies else zero_moment_point(polygon, w),
        np.full(len(axes), -np.inf) if flies else distances / total,
    )


def zero_moment_point(polygon: SupportPolygon, wrench: Floats) -> Floats:
    """Return where a force that presses has no moment along the plane, shape (3,) [m]."""
    n, middle = polygon.normal, polygon.middle
    moment = wrench[:3] - np.cross(middle, wrench[3:])
    return np.asarray(middle + np.cross(n, moment) / (n @ wrench[3:]))


def edge_moments(polygon: SupportPolygon, wrench: Floats) -> Floats:
    """Return the moment about each edge that keeps the robot on the ground, (..., e) [N m]."""
    return np.asarray((edge_rows(polygon) @ wrench[..., None])[..., 0])


def edge_rows(polygon: SupportPolygon) -> Floats:
    """Return the rows of `edge_moments` over the wrench of the ground, (..., e, 6)."""
    sides = np.cross(polygon.inward, polygon.normal)
    return np.concatenate([sides, np.cross(polygon.ends, sides)], axis=-1)


def _across(axes: Floats, vectors: Floats) -> Floats:
    """Return (1 - a a') x for each axis a and vector x."""
    return vectors - axes * np.sum(axes * vectors, axis=1)[:, None]


# A moment that changes by less than this part of what it is made of does not change.
_ROUNDOFF = 1e-12


@dataclass(frozen=True, slots=True)
class Tipping:
    """Where a robot begins to tip."""

    factor: float  # Of the direction of accelerations that was asked for, >= 0
    edge: tuple[str, str] | None  # Names of the ends of the edge


def first_to_tip(polygon: SupportPolygon, start: Floats, change: Floats) -> Tipping:
    """Return the least s >= 0 at which the wrench start + s change of the ground lifts an edge."""
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
