# SPDX-License-Identifier: Apache-2.0
r"""
The fastest speeds along a path under rows that are linear in u = s'' and x = s'^2.

By reachability (Pham and Pham 2018): backwards over the cells of a grid the interval of x from
which the end can be reached, forwards the largest u that stays among them. In a cell u is a mean
and a given change, and each row holds at both ends. What rows leave for u at one x is the sum of
two minima of lines in x, concave: Newton's method ends at its first root after a few lines, exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kane_dynamics.typing import Floats

_NONE = 1e-12  # of the largest coefficient of a row: what does not depend on u, or on x
_ROUNDOFF = 1e-12
_KEPT = 0.5
"""Part of x that is left behind a cell at least; a fall of more is one that the cell is too large
for, of a limit that asks for ever more braking where the path turns round."""
FAST = 1e30
"""A square of a speed that nothing limits."""
_BOTH = np.arange(2)


class Speeds(NamedTuple):
    """
    The fastest speeds on a grid, or the place where there are none.

    Attributes
    ----------
    u : ndarray, shape (n,)
        Means in the cells; empty where there are none.
    x : ndarray, shape (n + 1,)
        On the grid.
    lost : int
        The node from which on the end cannot be reached; -1 where it can.
    rows : tuple of int
        Rows that contradict each other in the cell behind it, if any do.

    """

    u: Floats
    x: Floats
    lost: int = -1
    rows: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class CellInequalities:
    """
    a u + b x <= room in each cell, of its mean u and the x at its start.

    Parameters
    ----------
    lengths : ndarray, shape (n,)
        Of the cells.
    a, b, room : ndarray, shape (n, m)
        Coefficients.

    """

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
        indices = np.divide(self.room, self.b, out=np.zeros_like(size), where=flat & sloped)
        never = flat & ~sloped & (self.room < 0.0)
        upper = np.where(flat & sloped & (self.b > 0.0), indices, FAST)
        lower = np.where(flat & sloped & (self.b < 0.0), indices, np.where(never, 2 * FAST, 0.0))
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
    """
    Return the first x on a way at which the minima of two families of lines add up to 0 or more.

    Returns
    -------
    x : float
        NaN where there is none.
    lines : tuple of int
        The line of each family that counted last.

    """
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
