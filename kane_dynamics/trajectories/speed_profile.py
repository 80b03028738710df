# SPDX-License-Identifier: Apache-2.0
r"""
How fast a path is passed: the square of the speed along it, x = s'^2, and s'' = u.

Between the middle of a cell of a grid and its ends u is linear in s, before the first middle and
after the last one constant. At an end it is the mean of both cells, weighed by their lengths: with
dx/ds = 2 u, x is then a quadratic spline without corners through what it is in the middles, and
bounds that are linear in u and x, and hold in the middles, hold between them but for the square of
a cell.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import BPoly

from kane_dynamics.typing import Floats

_SAMPLES = 20  # of a smoothed profile, a piece
_GROWTH = 1.25  # of cells from the ends of a smoothed profile on
_LEAST = 1e-6  # of the largest cell, the first and the last
_POINTS = 12  # of Gauss: x changes by less than ten times over a piece


class SpeedProfile:
    """
    The speed along a path, from rest to rest.

    Parameters
    ----------
    grid : ndarray, shape (n + 1,)
        Places along the path, increasing.
    accelerations : ndarray, shape (n,)
        u in the middles of the cells; they sum up to rest at the end.

    Attributes
    ----------
    grid : ndarray, shape (n + 1,)
        Places along the path.
    middles : ndarray, shape (n,)
        Of the cells.
    squares : ndarray, shape (n,)
        x in the middles.
    duration : float
        From rest to rest [s].

    """

    def __init__(self, grid: Floats, accelerations: Floats) -> None:
        cells, u, self.grid = np.diff(grid), accelerations, grid
        self._accelerations = accelerations
        nodes = np.concatenate([[0.0], np.cumsum(2.0 * cells * u)])
        self.middles = 0.5 * (grid[1:] + grid[:-1])
        self.squares = np.maximum(nodes[:-1] + cells * u, 0.0)
        met = (cells[:-1] * u[:-1] + cells[1:] * u[1:]) / (cells[:-1] + cells[1:])
        passed = np.maximum(self.squares[:-1] + 0.5 * cells[:-1] * (u[:-1] + met), 0.0)
        self._at = _with_ends(grid, _woven(self.middles, grid[1:-1]))
        self._u = _with_ends(u, _woven(u, met))
        self._x = _with_ends(np.zeros(2), _woven(self.squares, passed))
        times = np.concatenate([[0.0], np.cumsum(self._times())])
        self.duration = float(times[-1])
        motion = np.column_stack([self._at, np.sqrt(self._x), self._u])
        self._places = BPoly.from_derivatives(times, motion)

    def of(self, places: Floats) -> tuple[Floats, Floats]:
        """Return u and x at places along the path, each of their shape."""
        k = np.clip(np.searchsorted(self._at, places, side='right') - 1, 0, len(self._at) - 2)
        ahead, length = places - self._at[k], self._at[k + 1] - self._at[k]
        change = (self._u[k + 1] - self._u[k]) / length
        x = self._x[k] + (2.0 * self._u[k] + change * ahead) * ahead
        return self._u[k] + change * ahead, np.maximum(x, 0.0)

    def slowed(self, pace: float) -> SpeedProfile:
        """Return the profile that is passed at a part of the speed."""
        return SpeedProfile(self.grid, pace**2 * self._accelerations)

    def smoothed(self, window: float) -> SpeedProfile:
        """
        Return the profile whose speed at each time is the mean of this over a window before [s].

        It lasts longer by the window, and s'' changes by at most its range in the window.
        """
        whole = self.duration + window
        # closer where it starts and ends: the third power of time
        even = np.linspace(-1.0, 1.0, _SAMPLES * len(self.grid))
        times = 0.5 * whole * (1.0 + np.sin(0.5 * np.pi * even))
        sums = self._places.antiderivative()

        def summed(t: Floats) -> Floats:
            inside = np.clip(t, 0.0, self.duration)
            after = np.maximum(t - self.duration, 0.0)
            return np.asarray(sums(inside) + after * self._at[-1])

        moved = (summed(times) - summed(times - window)) / window
        moved += np.maximum(window - times, 0.0) / window * self._at[0]
        speeds = (self.places(times) - self.places(times - window)) / window
        grid = _graded(self.grid[0], self.grid[-1], 2 * len(self.grid))
        nodes = np.interp(grid, moved, speeds) ** 2
        nodes[[0, -1]] = 0.0
        return SpeedProfile(grid, 0.5 * np.diff(nodes) / np.diff(grid))

    def places(self, times: Floats) -> Floats:
        """Return where on the path it is at times from 0 to the duration."""
        found = self._places(np.clip(times, 0.0, self.duration))
        return np.clip(found, self._at[0], self._at[-1])

    def _times(self) -> Floats:
        """Return how long each piece takes, ds / sqrt(x)."""
        nodes, weights = np.polynomial.legendre.leggauss(_POINTS)
        length = np.diff(self._at)
        inside = self._at[:-1, None] + 0.5 * length[:, None] * (1.0 + nodes)
        with np.errstate(divide='ignore', invalid='ignore'):
            times = 0.5 * length * (weights / np.sqrt(self.of(inside)[1])).sum(axis=1)
            roots = np.sqrt(self._x)
            ends = 2.0 * length / (roots[:-1] + roots[1:])  # exact where u is constant
        times[[0, -1]] = ends[[0, -1]]
        return np.asarray(times)


def _graded(first: float, last: float, count: int) -> Floats:
    """
    Return places with small cells at both ends, and about `count` between.

    s grows with the third power of time at rest; cells that grow slowly keep u smooth.
    """
    half, largest = 0.5 * (last - first), (last - first) / count
    steps = int(np.log(1.0 / _LEAST) / np.log(_GROWTH))
    growing = largest * _LEAST * _GROWTH ** np.arange(steps)
    growing = growing[np.cumsum(growing) < half]
    rest = half - growing.sum()
    even = max(int(np.ceil(rest / largest)), 1)
    cells = np.concatenate([growing, np.full(even, rest / even)])
    inside = first + np.cumsum(np.concatenate([cells, cells[::-1]]))[:-1]
    return np.concatenate([[first], inside, [last]])


def _woven(middles: Floats, between: Floats) -> Floats:
    """Return values in the middles of cells and where cells meet, in their order."""
    whole = np.empty(len(middles) + len(between))
    whole[::2], whole[1::2] = middles, between
    return whole


def _with_ends(ends: Floats, inside: Floats) -> Floats:
    """Return values between the first and the last of others."""
    return np.concatenate([ends[:1], inside, ends[-1:]])
