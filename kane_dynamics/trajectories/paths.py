# SPDX-License-Identifier: Apache-2.0
"""Geometric paths of a robot's coordinates: what a retiming passes along."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_numbers, check_increasing, describe, not_finite
from kane_dynamics.typing import Floats

__all__ = ['Path', 'PathPoints', 'SplinePath']


class PathPoints(NamedTuple):
    """
    Points of a path.

    Parameters
    ----------
    q, tangent, bend : ndarray, shape (n, nv)
        Coordinates, and their first and second derivative along the path.

    """

    q: Floats
    tangent: Floats
    bend: Floats


class Path(Protocol):
    """A path from 0 to `length`, with continuous second derivatives."""

    @property
    def length(self) -> float:
        """Return the parameter of its end; it begins at 0."""

    def at(self, indices: Floats) -> PathPoints:
        """Return its points at places from 0 to `length`, shape (n,)."""


class SplinePath:
    """
    The cubic spline through points, 'not-a-knot' at the ends.

    Parameters
    ----------
    points : array_like, shape (n, k)
        Coordinates [rad or m], two points or more.
    indices : array_like, shape (n,), optional
        Where on the path they are, from 0 on, increasing; 0, 1, ... where left out.

    Attributes
    ----------
    length : float
        The parameter of the end.
    knots : ndarray, shape (n,)
        Where third derivatives jump.

    Raises
    ------
    InvalidInputError
        If a shape is wrong, a number is not finite, or places do not increase from 0.

    """

    def __init__(self, points: ArrayLike, indices: ArrayLike | None = None) -> None:
        through = as_numbers('points of a path', points)
        if through.ndim != 2 or len(through) < 2:
            raise InvalidInputError(
                f'points of a path: need two rows or more, got shape {through.shape}'
            )
        if not np.isfinite(through).all():
            raise InvalidInputError(
                f'points of a path: need finite numbers, got {not_finite(through)}'
            )
        at = np.arange(1.0 * len(through)) if indices is None else as_numbers('places', indices)
        if at.shape != (len(through),) or at[0] != 0.0:
            raise InvalidInputError(
                f'places: need {len(through)} numbers that increase from 0, got '
                f'{describe(indices)}'
            )
        check_increasing('places', at)
        self._spline = CubicSpline(at, through)
        self.length, self.knots = float(at[-1]), at

    def at(self, indices: Floats) -> PathPoints:
        """Return its points at places, shape (n,)."""
        return PathPoints(*(self._spline(indices, order) for order in range(3)))
