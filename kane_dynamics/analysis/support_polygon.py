# SPDX-License-Identifier: Apache-2.0
"""The support polygon: the convex hull, in the ground, of the points that a robot stands on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import atan2, hypot
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

    """

    names: tuple[str, ...]
    points: Floats
    normal: Floats
    in_plane: Floats
    corners: tuple[int, ...]

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
        laid = _laid(points, self.normal, self.in_plane, self.names)
        polygon = replace(self, points=laid.points)
        from_edges = laid.points[..., None, :, :] - polygon.ends[..., None, :]
        inside = np.einsum('neki,nei->nek', from_edges, polygon.inward)
        for k in np.flatnonzero(inside.min(axis=(1, 2)) < -_LINE * laid.lengths):
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
    return polygon_of(rows, Plane(normal), called)


def polygon_of(rows: Floats, plane: Plane, names: tuple[str, ...]) -> SupportPolygon:
    """Return the support polygon of points, shape (k, 3), that are known to be finite."""
    in_plane = plane.directions()
    laid = _laid(rows[None], np.array(plane.normal), in_plane, names)
    corners = _corners(laid.flat[0].tolist(), _ON_EDGE * float(laid.lengths[0]) ** 2)
    first = corners.index(min(corners))  # begin at the point that is named first
    order = (*corners[first:], *corners[:first])
    return SupportPolygon(names, laid.points[0], np.array(plane.normal), in_plane, order)


def _corners(flat: list[list[float]], least: float) -> list[int]:
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
    """Points in a plane, (n, k, 3), in its axes, (n, k, 2), and how far they reach, (n,)."""

    points: Floats
    flat: Floats
    lengths: Floats


def _laid(rows: Floats, n: Floats, in_plane: Floats, names: tuple[str, ...]) -> _Laid:
    """Return points that a robot stands on, (n, k, 3), in the plane through their mean."""
    from_middle = rows - rows.sum(axis=1, keepdims=True) / max(1, len(names))
    heights = from_middle @ n
    flat = from_middle @ in_plane.T  # x, y, n right-handed: counterclockwise
    # singular values of two columns
    (xx, xy), (_, yy) = np.einsum('nki,nkj->ijn', flat, flat)
    mean, apart = 0.5 * (xx + yy), np.hypot(0.5 * (xx - yy), xy)
    lengths, widths = np.sqrt(mean + apart), np.sqrt(np.maximum(mean - apart, 0.0))
    widths *= len(names) >= _LEAST
    for k in np.flatnonzero(~(widths > _LINE * lengths)):
        raise InvalidInputError(
            'a robot stands on three points that are not on one line, got '
            f'{_shown(names, rows[k])}'
        )
    differ = heights.max(axis=1) - heights.min(axis=1)
    for k in np.flatnonzero(differ > _FLAT * lengths):
        raise InvalidInputError(
            f'points that a robot stands on: need one plane with normal {np.round(n, 4).tolist()},'
            f' their heights differ by {differ[k]:.6g} m: {_shown(names, rows[k])}'
        )
    return _Laid(rows - heights[..., None] * n, flat, lengths)


def _shown(names: Sequence[str], points: Floats) -> dict[str, list[float]]:
    rounded = np.round(points, 6).tolist()
    return dict(zip(names, rounded, strict=True))
