# SPDX-License-Identifier: Apache-2.0
r"""
How fast a path is passed: the square of the speed along it, x = s'^2, and s'' = u.

On a grid u is linear in s in each cell and x quadratic; u may jump at the grid. A smoothed profile
is the mean of another one over a window of time.
"""

from __future__ import annotations

from typing import Literal, Protocol

import numpy as np
from scipy.interpolate import BPoly

from kane_dynamics.typing import Floats

_HALVINGS = 45  # of a window
_POINTS = 6  # of Gauss, for what the bow of x in a cell does to its time: little


class Timing(Protocol):
    """A motion along a path, from rest to rest."""

    @property
    def duration(self) -> float:
        """Return how long it takes [s]."""

    @property
    def times(self) -> Floats:
        """Return the times between which it is smooth, from 0 to the duration."""

    def at(self, times: Floats) -> tuple[Floats, Floats, Floats]:
        """Return places, u and x at times from 0 to the duration."""

    def slowed(self, scaling: float) -> Timing:
        """Return the timing that is passed at a part of the speed."""


class SpeedProfile:
    """
    The speed along a path on a grid, from rest to rest.

    Parameters
    ----------
    grid : ndarray, shape (n + 1,)
        Places along the path, increasing.
    squares : ndarray, shape (n + 1,)
        x there, 0 at both ends.
    changes : ndarray, shape (n,), optional
        Half of what u changes by in each cell; where it would turn the motion round it is less.

    Attributes
    ----------
    times : ndarray, shape (n + 1,)
        When the grid is passed [s].
    u : ndarray, shape (n,)
        Means in the cells.

    """

    def __init__(self, grid: Floats, squares: Floats, changes: Floats | None = None) -> None:
        self.grid, self.squares = grid, squares
        self._lengths = np.diff(grid)
        self.u = 0.5 * np.diff(squares) / self._lengths
        none = np.zeros_like(self.u) if changes is None else changes
        self.changes = np.clip(none, -np.abs(self.u), np.abs(self.u))
        self.times = np.concatenate([[0.0], np.cumsum(self._cell_times())])
        self._places = BPoly(self._of_time(), self.times)
        self._sums = self._places.antiderivative()

    @property
    def duration(self) -> float:
        """Return how long it takes [s]."""
        return float(self.times[-1])

    @property
    def slopes(self) -> Floats:
        """Return du/ds in each cell as its neighbours have it, the lesser of both sides."""
        middles = 0.5 * (self.grid[1:] + self.grid[:-1])
        each = np.pad(np.diff(self.u) / np.diff(middles), 1)
        alike = each[1:] * each[:-1] > 0.0
        return np.where(alike, np.sign(each[1:]) * np.fmin(*np.abs([each[1:], each[:-1]])), 0.0)

    def cells(self, indices: Floats, before: bool = False) -> Floats:
        """Return the cells of places, those behind the grid's or those `before`."""
        side: Literal['left', 'right'] = 'left' if before else 'right'
        return np.clip(np.searchsorted(self.grid, indices, side=side) - 1, 0, len(self.u) - 1)

    def of(self, indices: Floats, before: bool = False) -> tuple[Floats, Floats]:
        """
        Return u and x at places along the path, each of their shape.

        Where u jumps it is what it is behind the place, or `before` it.
        """
        k = self.cells(indices, before)
        t, h, change = (
            (indices - self.grid[k]) / self._lengths[k],
            self._lengths[k],
            self.changes[k],
        )
        # u = mean + change (2 t - 1), x = x0 + 2 h (mean t - change t (1 - t))
        u = self.u[k] + change * (2.0 * t - 1.0)
        x = self.squares[k] + 2.0 * h * t * (self.u[k] - change * (1.0 - t))
        return u, np.maximum(x, 0.0)

    def at(self, times: Floats) -> tuple[Floats, Floats, Floats]:
        """Return places, u and x at times from 0 to the duration."""
        indices = self.indices(times)
        return indices, *self.of(indices)

    def indices(self, times: Floats) -> Floats:
        """Return where on the path it is at times; at rest before 0 and after the duration."""
        result = self._places(np.clip(times, 0.0, self.duration))
        return np.clip(result, self.grid[0], self.grid[-1])

    def sums(self, times: Floats) -> Floats:
        """Return the integral of the places over time, from 0 on."""
        ends = np.minimum(times, 0.0), np.maximum(times - self.duration, 0.0)
        inside = self._sums(np.clip(times, 0.0, self.duration))
        return np.asarray(inside + self.grid[0] * ends[0] + self.grid[-1] * ends[1])

    def slowed(self, scaling: float) -> SpeedProfile:
        """Return the profile that is passed at a part of the speed."""
        return SpeedProfile(self.grid, scaling**2 * self.squares, scaling**2 * self.changes)

    def _cell_times(self) -> Floats:
        """Return how long each cell takes: that at constant u, times a mean of its speeds."""
        nodes, weights = np.polynomial.legendre.leggauss(_POINTS)
        share = 0.5 * (1.0 + nodes)  # of the time at constant u
        first, last = np.sqrt(self.squares[:-1, None]), np.sqrt(self.squares[1:, None])
        speeds = first + (last - first) * share
        parts = share * (first + speeds) / (first + last)  # of the cell
        bow = 2.0 * (self._lengths * self.changes)[:, None] * parts * (1.0 - parts)
        slower = speeds / np.sqrt(speeds**2 - bow)
        return np.asarray(self._lengths / (first + last)[:, 0] * (slower @ weights))

    def _of_time(self) -> Floats:
        """Return coefficients of places over time, of fifth degree in each cell, (6, n)."""
        times, (first, last) = np.diff(self.times), (self.grid[:-1], self.grid[1:])
        u0, u1 = (times**2 * (self.u + sign * self.changes) / 20.0 for sign in (-1.0, 1.0))
        v0, v1 = (0.2 * times * np.sqrt(x) for x in (self.squares[:-1], self.squares[1:]))
        inner = first + 2.0 * v0 + u0, last - 2.0 * v1 + u1
        return np.stack([first, first + v0, *inner, last - v1, last])


class SmoothedProfile:
    """
    The profile whose speed at each time is the mean of another's over a window before.

    It lasts longer by the window, and u changes by at most its range in the window.

    Parameters
    ----------
    profile : SpeedProfile
        The other.
    window : float
        Its length [s].

    """

    def __init__(self, profile: SpeedProfile, window: float) -> None:
        self._profile, self._window = profile, window
        self.duration = profile.duration + window
        low, high = profile.times, profile.times + window
        self.times = np.union1d(low, high)
        for _ in range(_HALVINGS):  # of when it passes the grid, too
            middle = 0.5 * (low + high)
            ahead = self.at(middle)[0] > profile.grid
            low, high = np.where(ahead, low, middle), np.where(ahead, middle, high)
        self.times = np.union1d(self.times, low)

    def at(self, times: Floats) -> tuple[Floats, Floats, Floats]:
        """Return places, u and x at times from 0 to the duration."""
        one, window = self._profile, self._window
        ends = times, times - window
        sums, indices = ((f(ends[0]) - f(ends[1])) / window for f in (one.sums, one.indices))
        after, before = (np.sqrt(one.of(one.indices(t))[1]) for t in ends)
        return sums, (after - before) / window, np.maximum(indices, 0.0) ** 2

    def slowed(self, scaling: float) -> SmoothedProfile:
        """Return the profile that is passed at a part of the speed."""
        return SmoothedProfile(self._profile.slowed(scaling), self._window / scaling)
