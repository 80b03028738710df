# SPDX-License-Identifier: Apache-2.0
"""
The fastest speed along a path by reachability, and its profile over time.

By reachability (Pham and Pham 2018): backwards over the cells of a grid the interval of x from
which the end can be reached, forwards the largest u that stays among them. In a cell u is a mean
and a given change, and each row holds at both ends. What rows leave for u at one x is the sum of
two minima of lines in x, concave: Newton's method ends at its first root after a few lines, exact.

On a grid u is linear in s in each cell and x quadratic; u may jump at the grid. A smoothed profile
is the mean of another one over a window of time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.interpolate import BPoly

from kane_dynamics.typing import Floats

_NONE = 1e-12  # of the largest coefficient of a row: what does not depend on u, or on x
_ROUNDOFF = 1e-12
# part of x that is left behind a cell at least; a fall of more is one that the cell is too large
# for, of a limit that asks for ever more braking where the path turns round
_KEPT = 0.5
FAST = 1e30  # a square of a speed that nothing limits
_BOTH = np.arange(2)


class Speeds(NamedTuple):
    """The fastest speeds on a grid, or the place where there are none."""

    u: Floats
    x: Floats
    lost: int = -1
    rows: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class CellInequalities:
    """a u + b x <= room in each cell, of its mean u and the x at its start."""

    lengths: Floats
    a: Floats
    b: Floats
    room: Floats

    @cached_property
    def _lines(self) -> tuple[Floats, Floats]:
        """Return p + q x that bound u and -u, (n, 2, m + 2); the last are the next cell's."""
        size = np.abs(self.a)
        steep = size > _NONE * size.max(axis=1, keepdims=True, initial=0.0)
        p, q = np.full((2, len(size), 2, size.shape[1] + 2), np.inf)
        q[:] = 0.0
        for side, sign in enumerate((1.0, -1.0)):
            of = steep & (sign * self.a > 0.0)
            np.divide(self.room, size, out=p[:, side, :-2], where=of)
            np.divide(-self.b, size, out=q[:, side, :-2], where=of)
        q[:, :, -1] = np.array([-0.5, 0.5]) / self.lengths[:, None]
        left = np.cumsum(self.lengths[::-1])[::-1]  # to the end of the path, where x may be 0
        share = _KEPT * np.append(left[1:], 0.0) / left
        p[:, 1, -2], q[:, 1, -2] = 0.0, 0.5 * (1.0 - share) / self.lengths
        return p, q

    @cached_property
    def _still(self) -> tuple[Floats, Floats]:
        """Return bounds of x by rows that do not depend on u, shape (n,)."""
        size, of_x = np.abs(self.a), np.abs(self.b)
        flat = size <= _NONE * size.max(axis=1, keepdims=True, initial=0.0)
        sloped = of_x > _NONE * of_x.max(axis=1, keepdims=True, initial=0.0)
        s = np.divide(self.room, self.b, out=np.zeros_like(size), where=flat & sloped)
        never = flat & ~sloped & (self.room < 0.0)
        upper = np.where(flat & sloped & (self.b > 0.0), s, FAST)
        lower = np.where(flat & sloped & (self.b < 0.0), s, np.where(never, 2 * FAST, 0.0))
        return lower.max(axis=1, initial=0.0), upper.min(axis=1, initial=FAST)

    def fastest(self) -> Speeds:
        """Return the fastest speeds from rest to rest."""
        p, q = self._lines
        lowest, highest = self._still
        count, twice = len(self.lengths), 2.0 * self.lengths
        lower, upper = np.zeros((2, count + 1))
        for k in reversed(range(count)):
            p[k, :, -1] = upper[k + 1] / twice[k], -lower[k + 1] / twice[k]
            low, _ = _root(p[k], q[k], lowest[k], 1.0)
            high, _ = _root(p[k], q[k], highest[k], -1.0)
            if not low <= high * (1.0 + _ROUNDOFF):
                return Speeds(np.zeros(0), np.zeros(0), k, self._contradicting(k))
            lower[k], upper[k] = min(low, high), high
        if lower[0] > 0.0:
            return Speeds(np.zeros(0), np.zeros(0), 0)
        u, x = np.zeros(count), np.zeros(count + 1)
        for k in range(count):
            most = (p[k, 0] + q[k, 0] * x[k]).min()
            x[k + 1] = min(max(x[k] + twice[k] * most, lower[k + 1]), upper[k + 1])
            u[k] = (x[k + 1] - x[k]) / twice[k]
        return Speeds(u, x)

    def _contradicting(self, k: int) -> tuple[int, ...]:
        """Return the rows of one cell that leave no u and x, whatever comes behind it."""
        p, q = self._lines
        x, rows = _root(p[k, :, :-2], q[k, :, :-2], self._still[0][k], 1.0)
        return () if x <= self._still[1][k] else rows


def _root(p: Floats, q: Floats, x: float, way: float) -> tuple[float, tuple[int, ...]]:
    """Return the first x at which the minima of two families of lines sum to >= 0."""
    while True:
        values = p + q * x
        at = values.argmin(axis=1)
        first, second = values[_BOTH, at]
        rows = tuple(at.tolist())
        if first + second >= -_ROUNDOFF * (abs(first) + abs(second)):
            return x, rows
        slope = q[0, at[0]] + q[1, at[1]]
        if not slope * way > 0.0:
            return np.nan, rows
        before, x = x, -(p[0, at[0]] + p[1, at[1]]) / slope
        if not (x - before) * way > 0.0:
            return before, rows


_HALVINGS = 45  # of a window
_POINTS = 6  # of Gauss, for what the bow of x in a cell does to its time: little


class SpeedProfile:
    """The speed along a path on a grid, from rest to rest."""

    def __init__(self, grid: Floats, squares: Floats, changes: Floats | None = None) -> None:
        self.grid, self.squares = grid, squares
        self._lengths = np.diff(grid)
        self.u = 0.5 * np.diff(squares) / self._lengths
        none = np.zeros_like(self.u) if changes is None else changes
        self.changes = np.clip(none, -np.abs(self.u), np.abs(self.u))
        self.times = np.concatenate([[0.0], np.cumsum(self._cell_times())])
        self._s_of_time = BPoly(self._of_time(), self.times)
        self._sums = self._s_of_time.antiderivative()

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

    def cells(self, s: Floats) -> Floats:
        """Return the cells of places, of one on the grid that behind it."""
        return np.clip(np.searchsorted(self.grid, s, side='right') - 1, 0, len(self.u) - 1)

    def of(self, s: Floats) -> tuple[Floats, Floats]:
        """Return u and x at places along the path, each of their shape."""
        k = self.cells(s)
        h, change = self._lengths[k], self.changes[k]
        t = (s - self.grid[k]) / h
        # u = mean + change (2 t - 1), x = x0 + 2 h (mean t - change t (1 - t))
        u = self.u[k] + change * (2.0 * t - 1.0)
        x = self.squares[k] + 2.0 * h * t * (self.u[k] - change * (1.0 - t))
        return u, np.maximum(x, 0.0)

    def at(self, times: Floats) -> tuple[Floats, Floats, Floats]:
        """Return s, u and x at times from 0 to the duration."""
        s = self.s_at(times)
        return s, *self.of(s)

    def s_at(self, times: Floats) -> Floats:
        """Return where on the path it is at times; at rest before 0 and after the duration."""
        value = self._s_of_time(np.clip(times, 0.0, self.duration))
        return np.clip(value, self.grid[0], self.grid[-1])

    def sums(self, times: Floats) -> Floats:
        """Return the integral of the places over time, from 0 on; at rest at 0 before."""
        inside = self._sums(np.clip(times, 0.0, self.duration))
        return np.asarray(inside + self.grid[-1] * np.maximum(times - self.duration, 0.0))

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
    """The profile whose speed at each time is the mean of another's over a window before."""

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
        """Return s, u and x at times from 0 to the duration."""
        one, window = self._profile, self._window
        ends = times, times - window
        sums, s = ((f(ends[0]) - f(ends[1])) / window for f in (one.sums, one.s_at))
        after, before = (np.sqrt(one.of(one.s_at(t))[1]) for t in ends)
        return sums, (after - before) / window, np.maximum(s, 0.0) ** 2

    def slowed(self, scaling: float) -> SmoothedProfile:
        """Return the profile that is passed at a part of the speed."""
        return SmoothedProfile(self._profile.slowed(scaling), self._window / scaling)


Timing: TypeAlias = SpeedProfile | SmoothedProfile  # a motion along a path, from rest to rest
