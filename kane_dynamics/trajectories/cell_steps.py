# SPDX-License-Identifier: Apache-2.0
r"""
Steps of x = s'^2 over cells of a path, under rows that are linear in u and x.

Where a row is active, :math:`x' = 2u = 2 (1 - c - b x)/a` is a linear equation. Its step over a
cell by Hermite and Simpson, of fourth order, is linear in x at the start again, so it is a row in
the mean of u and that x. Rows whose a changes much, or its sign, hold in the middle of the cell,
where x is the mean of both ends: that is of second order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from kane_dynamics.trajectories.limit_rows import LimitRows
from kane_dynamics.typing import Floats, Indices

_NONE = 1e-12  # of the largest coefficient of a row: what does not depend on u
_EVEN = 0.5  # least over largest |a| in a cell whose row is one equation
_SOFT = 0.5  # of x, by which it may change over a cell along a row for reasons of x
_ACTIVE = 1e-6  # of u, by which it may miss a bound that is active
_NEAR = 1e-3  # of a cell: switches nearer to its ends are at them


class Arcs(NamedTuple):
    """
    How u runs in each cell.

    Parameters
    ----------
    kinds : ndarray of int, shape (n,)
        1 where u is the largest, -1 where it is the least, 0 where it is neither.
    ends : ndarray, shape (n, 2)
        u at both ends; NaN for kind 0, and where no row is one equation.
    rows : ndarray of int, shape (n,)
        That bound u.

    """

    kinds: Indices
    ends: Floats
    rows: Indices


@dataclass(frozen=True, eq=False)
class CellSteps:
    """
    Rows in the cells of a grid.

    Parameters
    ----------
    lengths : ndarray, shape (n,)
        Of the cells.
    starts, middles, ends : LimitRows
        Rows without d at three places of each cell.

    """

    lengths: Floats
    starts: LimitRows
    middles: LimitRows
    ends: LimitRows

    @cached_property
    def curved(self) -> NDArray[np.bool_]:
        """Return which rows are one equation in a cell, of fourth order, shape (n, m)."""
        a = np.stack([self.starts.a, self.middles.a, self.ends.a])
        b = np.stack([self.starts.b, self.middles.b, self.ends.b])
        size, h = np.abs(a), self.lengths[:, None]
        alike = (np.sign(a) == np.sign(a[1])).all(axis=0) & (size.min(axis=0) > 0.0)
        even = size.min(axis=0) >= _EVEN * size.max(axis=0)
        return np.asarray(alike & even & (2.0 * h * np.abs(b) <= _SOFT * size).all(axis=0))

    @cached_property
    def rows(self) -> LimitRows:
        """Return rows in the mean of u and x at the start of each cell."""
        middle, h = self.middles, self.lengths[:, None]
        parts = (self.starts, middle, self.ends)
        safe = [np.where(self.curved, one.a, 1.0) for one in parts]
        f0, fm, f1 = (2.0 * (1.0 - one.c) / a for one, a in zip(parts, safe, strict=True))
        g0, gm, g1 = (-2.0 * one.b / a for one, a in zip(parts, safe, strict=True))
        # x in the middle: (x0 + x1)/2 + h/8 (x0' - x1'); x1 = x0 + h/6 (x0' + 4 xm' + x1')
        after = 1.0 - h / 6.0 * (gm * (2.0 - 0.5 * h * g1) + g1)
        before = 1.0 + h / 6.0 * (g0 + gm * (2.0 + 0.5 * h * g0))
        rest = h / 6.0 * (f0 + 4.0 * fm + 0.5 * h * gm * (f0 - f1) + f1)
        part = 0.5 * middle.a / h
        a = np.where(self.curved, middle.a * after, middle.a + h * middle.b)
        b = np.where(self.curved, part * (after - before), middle.b)
        c = np.where(self.curved, 1.0 - part * rest, middle.c)
        return LimitRows(a, b, np.zeros_like(a), c)

    def most(self, k: int, x: float) -> float:
        """Return the largest mean of u in a cell that begins with x; infinite without bounds."""
        rows = self.rows
        a = rows.a[k]
        rising = a > _NONE * np.abs(a).max(initial=0.0)
        bounds = (1.0 - rows.c[k] - rows.b[k] * x)[rising] / a[rising]
        return float(np.min(bounds, initial=np.inf))

    def arcs(self, u: Floats, nodes: Floats) -> Arcs:
        """
        Return what bounds u where.

        Parameters
        ----------
        u : ndarray, shape (n,)
            Mean in each cell.
        nodes : ndarray, shape (n + 1,)
            x at the grid.

        """
        size = np.abs(u) + np.abs(u).max(initial=0.0) * _ACTIVE
        kinds, of_rows = np.zeros(len(u), dtype=int), np.zeros(len(u), dtype=int)
        ends = np.full((len(u), 2), np.nan)
        every, steep = np.arange(len(u)), _of_u(self.middles)
        for sign in (1, -1):
            bounds = np.where(steep, _bounds(self.rows, nodes[:-1], sign), np.inf)
            row = bounds.argmin(axis=1)
            active = (kinds == 0) & (np.abs(bounds[every, row] - sign * u) <= _ACTIVE * size)
            kinds[active], of_rows[active] = sign, row[active]
            curved = active & self.curved[every, row]
            at_ends = [
                sign * _bounds(rows, x, sign).min(axis=1)
                for rows, x in ((self.starts, nodes[:-1]), (self.ends, nodes[1:]))
            ]
            ends[curved] = np.stack(at_ends, axis=1)[curved]
        return Arcs(kinds, ends, of_rows)

    def switches(self, grid: Floats, u: Floats, nodes: Floats, arcs: Arcs) -> Floats:
        """Return where in cells u jumps from one bound to another."""
        kinds, found = arcs.kinds, []
        blunt = (kinds[1:-1] == 0) & (kinds[:-2] != kinds[2:])
        for k in (1 + np.flatnonzero(blunt)).tolist():
            gap = self._along(k, k - 1, u, nodes, arcs) - self._along(k, k + 1, u, nodes, arcs)
            roots = gap.roots()
            inside = roots.real[(np.abs(roots.imag) < _NEAR) & (np.abs(roots.real - 0.5) < 0.5)]
            if len(inside) and _NEAR < inside[0] < 1.0 - _NEAR:
                found.append(grid[k] + self.lengths[k] * float(inside[0]))
        return np.array(found)

    def _along(self, k: int, of: int, u: Floats, nodes: Floats, arcs: Arcs) -> Polynomial:
        """Return x in a cell, at places from 0 to 1, as the bound of a cell beside it has it."""
        h, ahead = self.lengths[k], of < k
        if not arcs.kinds[of]:
            slope = 2.0 * h * u[of]
            return Polynomial([nodes[k] if ahead else nodes[k + 1] - slope, slope])
        row = arcs.rows[of]
        a, b, room = self.rows.a[k, row], self.rows.b[k, row], 1.0 - self.rows.c[k, row]
        if ahead:
            first = nodes[k]
            last = first + 2.0 * h * (room - b * first) / a
        else:
            last = nodes[k + 1]
            first = (a * last - 2.0 * h * room) / (a - 2.0 * h * b)
        if not self.curved[k, row]:
            return Polynomial([first, last - first])
        slopes = [
            2.0 * h * (1.0 - one.c[k, row] - one.b[k, row] * x) / one.a[k, row]
            for one, x in ((self.starts, first), (self.ends, last))
        ]
        rise = last - first
        return Polynomial(
            [first, slopes[0], 3 * rise - 2 * slopes[0] - slopes[1], sum(slopes) - 2 * rise]
        )


def _of_u(rows: LimitRows) -> NDArray[np.bool_]:
    """Return which rows depend on u, shape (n, m)."""
    size = np.abs(rows.a)
    return np.asarray(size > _NONE * size.max(axis=1, keepdims=True, initial=0.0))


def _bounds(rows: LimitRows, x: Floats, sign: int) -> Floats:
    """Return bounds of u times a sign by rows that bound it on that side, infinite by others."""
    counts = _of_u(rows) & (sign * rows.a > 0.0)
    room = 1.0 - rows.c - rows.b * x[:, None]
    return np.divide(room, np.abs(rows.a), out=np.full_like(room, np.inf), where=counts)
