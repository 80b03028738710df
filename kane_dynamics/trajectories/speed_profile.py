# SPDX-License-Identifier: Apache-2.0
r"""
How fast a path is passed: the square of the speed along it, x = s'^2, and s'' = u.

In a cell of a grid in which one bound is active u is a parabola between what the bound has at both
ends: with dx/ds = 2 u, x is cubic, of fourth order.

In the others u is linear in s between the middle of a cell and the next one's, constant towards an
end of the path or a cell with a parabola. Where two of them meet it is the mean of both cells,
weighed by their lengths: x is then a quadratic spline without corners through what it is in the
middles, and bounds that are linear in u and x, and hold in the middles, hold between them but for
the square of a cell.
"""

from __future__ import annotations

from typing import Literal

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
        Means of u in the cells; they sum up to rest at the end.
    ends : ndarray, shape (n, 2), optional
        u at both ends of the cells in which it is a parabola, NaN for others.

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

    def __init__(self, grid: Floats, accelerations: Floats, ends: Floats | None = None) -> None:
        self.grid, self._mean = grid, accelerations
        self._ends = np.full((len(accelerations), 2), np.nan) if ends is None else ends
        self.middles = 0.5 * (grid[1:] + grid[:-1])
        self._at = np.insert(grid, np.arange(1, len(grid)), self.middles)
        self._lengths = np.diff(self._at)
        self._u, self._x = self._pieces()
        self.squares = self._x[1::2]
        times = np.concatenate([[0.0], np.cumsum(self._times())])
        self.duration = float(times[-1])
        self._places = BPoly(self._of_time(np.diff(times)), times)

    def _pieces(self) -> tuple[Floats, Floats]:
        """Return u at both ends and in the middle of each half of a cell, and x at their ends."""
        u, cells, (first, last) = self._mean, np.diff(self.grid), self._ends.T
        bent = np.isfinite(first)
        nodes = np.concatenate([[0.0], np.cumsum(2.0 * cells * u)])
        middle = np.where(bent, 1.5 * u - 0.25 * (first + last), u)
        squares = nodes[:-1] + cells * np.where(bent, u + 0.25 * (first - last), u)
        met = (cells[:-1] * u[:-1] + cells[1:] * u[1:]) / (cells[:-1] + cells[1:])
        soft = ~(bent[:-1] | bent[1:])
        passed = squares[:-1] + 0.5 * cells[:-1] * (u[:-1] + met)
        nodes[1:-1] = np.where(soft, passed, nodes[1:-1])
        start, end = u.copy(), u.copy()
        start[1:], end[:-1] = np.where(soft, met, u[1:]), np.where(soft, met, u[:-1])
        start, end = np.where(bent, first, start), np.where(bent, last, end)
        bow = np.where(bent, 0.125 * (2.0 * middle - start - end), 0.0)
        halves = [
            np.stack([start, 0.5 * (start + middle) + bow, middle], axis=1),
            np.stack([middle, 0.5 * (middle + end) + bow, end], axis=1),
        ]
        every = np.stack(halves, axis=1).reshape(-1, 3)
        x = np.insert(nodes, np.arange(1, len(nodes)), squares)
        return every, np.maximum(x, 0.0)

    def of(self, places: Floats, before: bool = False) -> tuple[Floats, Floats]:
        """
        Return u and x at places along the path, each of their shape.

        Where u jumps it is what it is behind the place, or `before` it.
        """
        side: Literal['left', 'right'] = 'left' if before else 'right'
        k = np.clip(np.searchsorted(self._at, places, side=side) - 1, 0, len(self._u) - 1)
        length = self._lengths[k]
        t, (one, two, three) = (places - self._at[k]) / length, np.moveaxis(self._u[k], -1, 0)
        slope, bend = 4.0 * two - 3.0 * one - three, 2.0 * (one - 2.0 * two + three)
        rise = (one + (0.5 * slope + bend / 3.0 * t) * t) * t
        return one + (slope + bend * t) * t, np.maximum(self._x[k] + 2.0 * length * rise, 0.0)

    def slowed(self, pace: float) -> SpeedProfile:
        """Return the profile that is passed at a part of the speed."""
        return SpeedProfile(self.grid, pace**2 * self._mean, pace**2 * self._ends)

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
        parts, weighted = (np.tile(0.5 * x, (len(self._u), 1)) for x in (1.0 + nodes, weights))
        # at rest the speed goes with the root of the distance
        root = parts[0].copy()
        weighted[[0, -1]] *= 2.0 * root
        parts[0], parts[-1] = root**2, 1.0 - root**2
        inside = self._at[:-1, None] + self._lengths[:, None] * parts
        speeds = np.sqrt(self.of(inside)[1])
        with np.errstate(divide='ignore'):
            return np.asarray(self._lengths * (weighted / speeds).sum(axis=1))

    def _of_time(self, times: Floats) -> Floats:
        """Return coefficients of places over time, of fifth degree in each piece, (6, 2 n)."""
        (first, last), (u0, u1) = (self._at[:-1], self._at[1:]), times**2 * self._u.T[[0, 2]] / 20
        v0, v1 = 0.2 * times * np.sqrt(self._x[:-1]), 0.2 * times * np.sqrt(self._x[1:])
        inner = first + 2.0 * v0 + u0, last - 2.0 * v1 + u1
        return np.stack([first, first + v0, *inner, last - v1, last])


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
