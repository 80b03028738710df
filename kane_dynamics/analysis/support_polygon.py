# SPDX-License-Identifier: Apache-2.0
"""The support polygon: the convex hull, in the ground, of the points that a robot stands on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import atan2, hypot, sqrt
from typing import NamedTuple

import numpy as np

from kane_dynamics.algebra.matrices import cross_rows, row_lengths
from kane_dynamics.constraints.contacts import Plane
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_names, as_shaped
from kane_dynamics.typing import ArrayLike, Floats

__all__ = ['SupportPolygon', 'support_polygon']

# Width over length of what is no polygon but a line: what is read from drawings is better.
_LINE = 1e-6
# Heights over length: wheels, casters and the plane of a URDF differ by millimetres.
_FLAT = 0.02
_LEAST = 3  # points
# Twice the area of a triangle, over the square of the length, of points that are on one edge.
_ON_EDGE = 1e-12


@dataclass(frozen=True, eq=False)
class SupportPolygon:
    """
    Points that a robot stands on, moved along the normal into one plane. See `support_polygon`.

    Of many places of the same points it holds one row each; then so do its properties.

    Parameters
    ----------
    names : tuple of str
        Of the points.
    points : ndarray, shape (k, 3) or (n, k, 3)
        In world axes [m].
    normal : ndarray, shape (3,)
        Unit normal of the plane, to the side of the robot.
    in_plane : ndarray, shape (2, 3)
        Unit vectors x and y of the plane.
    corners : tuple of int
        Points at the corners, clockwise seen from the robot; those inside, or on an edge, carry
        but make no edges.
    flat : ndarray, shape (k, 2) or (n, k, 2)
        The points in the axes of the plane about their mean [m].

    """

    names: tuple[str, ...]
    points: Floats
    normal: Floats
    in_plane: Floats
    corners: tuple[int, ...]
    flat: Floats

    @cached_property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """Return the names of the ends of each edge."""
        following = (*self.corners[1:], self.corners[0])
        return tuple(
            (self.names[i], self.names[j]) for i, j in zip(self.corners, following, strict=True)
        )

    @cached_property
    def ends(self) -> Floats:
        """Return the end of each edge, p_{i+1}, shape (e, 3) [m]."""
        return self.points.take((*self.corners[1:], self.corners[0]), axis=-2)

    @cached_property
    def axes(self) -> Floats:
        """Return the unit direction of each edge, a_i, shape (e, 3)."""
        along = self.ends - self.points.take(self.corners, axis=-2)
        return along / row_lengths(along)[..., None]

    @cached_property
    def inward(self) -> Floats:
        """Return the unit vectors in the plane from each edge to the inside, shape (e, 3)."""
        return cross_rows(self.axes, self.normal)

    @cached_property
    def middle(self) -> Floats:
        """Return the mean of the points, shape (3,) [m]."""
        return self.points.sum(axis=-2) / len(self.names)

    @cached_property
    def edge_rows(self) -> Floats:
        """Return the rows over the wrench of the ground of the moments about edges, (e, 6)."""
        sides = -self.axes  # inward x normal
        return np.concatenate([sides, cross_rows(self.ends, sides)], axis=-1)

    def moved(self, points: Floats) -> SupportPolygon:
        """
        Return the polygons of other places of these points, all with these corners.

        Parameters
        ----------
        points : ndarray, shape (n, k, 3)
            In world axes [m].

        Raises
        ------
        InvalidInputError
            If they are not in one plane, or on one line, or other points are corners.

        """
        plane = self.normal, self.in_plane, self.names
        laid = [_laid(rows, *plane) for rows in points.tolist()]
        there = (np.array([one.points for one in laid]), np.array([one.flat for one in laid]))
        polygon = replace(self, points=there[0], flat=there[1])
        from_edges = polygon.points[..., None, :, :] - polygon.ends[..., None, :]
        inside = np.einsum('neki,nei->nek', from_edges, polygon.inward)
        lengths = np.array([one.length for one in laid])
        for k in np.flatnonzero(inside.min(axis=(1, 2)) < -_LINE * lengths):
            other = support_polygon(points[k], self.normal, self.names)
            raise InvalidInputError(
                f'the support polygon has other edges on the way, {other.edges}, than at first, '
                f'{self.edges}'
            )
        return polygon


def support_polygon(
    points: ArrayLike, normal: ArrayLike = (0.0, 0.0, 1.0), names: Sequence[str] | None = None
) -> SupportPolygon:
    """
    Return the support polygon of points on the ground.

    Parameters
    ----------
    points : array_like, shape (k, 3)
        In world axes [m].
    normal : array_like, shape (3,)
        Of the ground, to the side of the robot; brought to unit length.
    names : sequence of str, optional
        Of the points; 'point 0', ... where left out.

    Raises
    ------
    InvalidInputError
        If there are less than three points, or they lie on one line, or not in a plane with this
        normal; or a shape is wrong or a number is not finite.

    Examples
    --------
    >>> from kane_dynamics.analysis.support_polygon import support_polygon
    >>> square = support_polygon([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0], [0, 0, 0]])
    >>> len(square.corners)
    4

    """
    rows = as_shaped('points [m]', points, ('k', 3))
    numbered = [f'point {i}' for i in range(len(rows))]
    called = tuple(as_names('names', numbered if names is None else names))
    if len(called) != len(rows):
        raise InvalidInputError(f'names: need {len(rows)} of them, got {list(called)}')
    plane = Plane(normal)
    return polygon_of(rows, np.array(plane.normal), plane.directions(), called)


def polygon_of(
    rows: Floats, normal: Floats, in_plane: Floats, names: tuple[str, ...]
) -> SupportPolygon:
    """Return the support polygon of points, shape (k, 3), that are known to be finite."""
    laid = _laid(rows.tolist(), normal, in_plane, names)
    corners = _corners(laid.flat, _ON_EDGE * laid.length**2)
    first = corners.index(min(corners))  # begin at the point that is named first
    order = (*corners[first:], *corners[:first])
    points, flat = np.array(laid.points), np.array(laid.flat)
    return SupportPolygon(names, points, normal, in_plane, order, flat)


def _corners(flat: list[tuple[float, float]], least: float) -> list[int]:
    """Return the corners of the hull of points about their mean, clockwise (Graham 1972)."""
    order = sorted(range(len(flat)), key=lambda k: atan2(*flat[k]))
    # the farthest one is a corner; the first along an axis may be on an edge, but for roundoff
    first = order.index(max(order, key=lambda k: hypot(*flat[k])))
    chain: list[int] = []
    for k in (*order[first:], *order[: first + 1]):
        x, y = flat[k]
        while len(chain) > 1:
            (a, b), (c, d) = flat[chain[-2]], flat[chain[-1]]
            if (c - a) * (y - b) - (d - b) * (x - a) < -least:
                break
            chain.pop()
        chain.append(k)
    return chain[:-1]


class _Laid(NamedTuple):
    """Points in a plane, (k, 3), in its axes about their mean, (k, 2), and how far they reach."""

    points: list[list[float]]
    flat: list[tuple[float, float]]
    length: float


def _laid(rows: list[list[float]], n: Floats, in_plane: Floats, names: tuple[str, ...]) -> _Laid:
    """Return points that a robot stands on, in the plane through their mean."""
    points, flat, heights = list[list[float]](), list[tuple[float, float]](), list[float]()
    length = width = xx = xy = yy = 0.0
    if len(rows) >= _LEAST:
        a, b, c = (sum(column) / len(rows) for column in zip(*rows, strict=True))
        (u0, u1, u2), (v0, v1, v2) = in_plane.tolist()
        n0, n1, n2 = n.tolist()
        for x, y, z in rows:
            dx, dy, dz = x - a, y - b, z - c
            u, v = u0 * dx + u1 * dy + u2 * dz, v0 * dx + v1 * dy + v2 * dz
            h = n0 * dx + n1 * dy + n2 * dz
            xx, xy, yy = xx + u * u, xy + u * v, yy + v * v
            points.append([x - h * n0, y - h * n1, z - h * n2])
            flat.append((u, v))  # x, y, n right-handed: counterclockwise
            heights.append(h)
        # singular values of two columns
        mean, apart = 0.5 * (xx + yy), hypot(0.5 * (xx - yy), xy)
        length, width = sqrt(mean + apart), sqrt(max(mean - apart, 0.0))
    if not width > _LINE * length:
        raise InvalidInputError(
            f'a robot stands on three points that are not on one line, got {_shown(names, rows)}'
        )
    differ = max(heights) - min(heights)
    if differ > _FLAT * length:
        raise InvalidInputError(
            f'points that a robot stands on: need one plane with normal {np.round(n, 4).tolist()},'
            f' their heights differ by {differ:.6g} m: {_shown(names, rows)}'
        )
    return _Laid(points, flat, length)


def _shown(names: Sequence[str], points: list[list[float]]) -> dict[str, list[float]]:
    rounded = np.round(points, 6).tolist()
    return dict(zip(names, rounded, strict=True))
