# SPDX-License-Identifier: Apache-2.0
"""
The fastest speed along a path by reachability, and its profile over time.

By reachability (Pham and Pham 2018): backwards over the cells of a grid the interval of x from
which the end can be reached, forwards the largest u that stays among them. In a cell u is a mean
and a given change, and each row holds at both ends. What rows leave for u at one x is the sum of
two minima of lines in x, concave: Newton's method ends at its first root after a few lines, exact,
in all cells at once. What the next cell asks for is a bound of x for each line; the few lines that
are least somewhere go through the cells one after the other.

On a grid u is linear in s in each cell and x quadratic; u may jump at the grid. A smoothed profile
is the mean of another one over a window of time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.interpolate import BPoly

from kane_dynamics.trajectories.joint_trajectory import bernstein
from kane_dynamics.typing import Bools, Floats, Indices

_NONE = 1e-12  # of the largest coefficient of a row: what does not depend on u, or on x
_ROUNDOFF = 1e-12
# part of x that is left behind a cell at least; a fall of more is one that the cell is too large
# for, of a limit that asks for ever more braking where the path turns round
_KEPT = 0.5
FAST = 1e30  # a square of a speed that nothing limits
_TINY = 1e-300


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
        """Return p + q x that bound u and -u, (n, 2, m + 1)."""
        size = np.abs(self.a)
        steep = size > _NONE * size.max(axis=1, keepdims=True, initial=0.0)
        p, q = np.full((2, len(size), 2, size.shape[1] + 1), np.inf)
        q[:] = 0.0
        for side, sign in enumerate((1.0, -1.0)):
            of = steep & (sign * self.a > 0.0)
            np.divide(self.room, size, out=p[:, side, :-1], where=of)
            np.divide(-self.b, size, out=q[:, side, :-1], where=of)
        left = np.cumsum(self.lengths[::-1])[::-1]  # to the end of the path, where x may be 0
        share = _KEPT * np.append(left[1:], 0.0) / left
        p[:-1, 1, -1], q[:-1, 1, -1] = 0.0, (0.5 * (1.0 - share) / self.lengths)[:-1]
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
        (p, q), (lowest, highest) = self._lines, self._still
        ends = _roots(p, q, highest, -1.0)[0]
        lows, highs = _roots(p, q, lowest, 1.0)[0].tolist(), ends.tolist()
        faster, slower = self._next_squares(_least(p, q, ends))
        count, none = len(self.lengths), np.zeros(0)
        lower, upper = [0.0] * (count + 1), [0.0] * (count + 1)
        for k in reversed(range(count)):
            low, high, least, most = lows[k], highs[k], lower[k + 1], upper[k + 1]
            # c + e x at least `least` where it is fastest, at most `most` where it is slowest
            for lines, end, way in ((faster[k], least, -1.0), (slower[k], most, 1.0)):
                for c, e in lines:
                    bound = (end - c) / e
                    if way * e > 0.0:
                        high = bound if bound < high else high
                    elif bound > low:
                        low = bound
            if not low <= high + _ROUNDOFF * (low + most):
                return Speeds(none, none, k, self._contradicting(k))
            lower[k], upper[k] = max(min(low, high), 0.0), max(high, 0.0)
        if lower[0] > 0.0:
            return Speeds(none, none, 0)
        x = [0.0]
        for k in range(count):
            most = upper[k + 1]
            for c, e in faster[k]:
                most = after if (after := c + e * x[k]) < most else most
            x.append(max(most, lower[k + 1]))
        squares = np.array(x)
        return Speeds(0.5 * np.diff(squares) / self.lengths, squares)

    def _next_squares(self, mask: Bools) -> list[list[list[tuple[float, float]]]]:
        """Return (c, e) of c + e x, the next x where lines of the mask bound u, or -u, by cell."""
        sides, cells = [], np.arange(len(self.lengths) + 1)
        for side, sign in enumerate((1.0, -1.0)):
            cell, line = np.nonzero(mask[:, side])
            p, q = (sign * 2.0 * self.lengths[cell] * x[cell, side, line] for x in self._lines)
            e = np.where(q == -1.0, _TINY, 1.0 + q).tolist()
            lines = list(zip(p.tolist(), e, strict=True))
            starts = np.searchsorted(cell, cells).tolist()
            sides.append([lines[i:j] for i, j in pairwise(starts)])
        return sides

    def _contradicting(self, k: int) -> tuple[int, ...]:
        """Return the rows of one cell that leave no u and x, whatever comes behind it."""
        p, q = (x[k : k + 1, :, :-1] for x in self._lines)
        lowest, highest = (x[k : k + 1] for x in self._still)
        x, rows = _roots(p, q, lowest, 1.0)
        return () if x[0] <= highest[0] else tuple(rows[0].tolist())


def _roots(p: Floats, q: Floats, start: Floats, way: float) -> tuple[Floats, Indices]:
    """Return the first x, (n,), at which minima of two families of lines sum to >= 0; and both."""
    x, rows, left = start.copy(), np.zeros((len(p), 2), dtype=np.intp), np.arange(len(p))
    while len(left):
        p_left, q_left = p[left], q[left]
        at = (p_left + q_left * x[left, None, None]).argmin(axis=2)
        rows[left] = at
        here, slope = (np.take_along_axis(y, at[..., None], 2)[..., 0] for y in (p_left, q_left))
        values, slopes, before = here + slope * x[left, None], slope.sum(axis=1), x[left]
        # the tangent's root; where the tangent does not come nearer to 0 there is none
        root = np.full_like(before, np.nan)
        np.divide(-here.sum(axis=1), slopes, out=root, where=slopes * way > 0.0)
        done = values.sum(axis=1) >= -_ROUNDOFF * np.abs(values).sum(axis=1)
        done |= (root - before) * way <= 0.0
        left, root = left[~done], root[~done]
        x[left] = root
        left = left[~np.isnan(root)]
    return x, rows


def _least(p: Floats, q: Floats, ends: Floats) -> Bools:
    """Return which lines may be the least of their family somewhere from 0 to the ends."""
    last, (mask, above) = p + q * ends[:, None, None], np.zeros((2, *p.shape), dtype=bool)
    for values in (p, last):
        at = values.argmin(axis=2)[..., None]
        one, other = (np.take_along_axis(x, at, 2) for x in (p, last))
        above |= (p >= one) & (last >= other)
        np.put_along_axis(mask, at, True, 2)
    return mask | ~above


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
        v = np.sqrt(squares)
        ends = (grid[:-1], v[:-1], self.u - self.changes), (grid[1:], v[1:], self.u + self.changes)
        self._s_of_time = BPoly(bernstein(np.diff(self.times), *ends), self.times)
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
