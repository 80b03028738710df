# SPDX-License-Identifier: Apache-2.0
r"""
The point nearest to a free one under bounds and second-order cones.

.. math:: \min \tfrac12 (x - x_f)^T M (x - x_f), \quad C x \ge d, \quad
   |T_k x + t_k| \le n_k^T x + s_k

Without cones it is the exact active set method of `least_distance`. With cones the interior point
method of `cone_program` finds which bounds and cones hold x back, and Newton's
method solves the conditions of these to roundoff:

.. math:: M (x - x_f) = C_a^T \mu - \textstyle\sum_k \nu_k \nabla g_k, \quad
   g_k = |T_k x + t_k| - n_k^T x - s_k = 0
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy

from kane_dynamics.algorithms.cone_program import ConeSolution, cone_program
from kane_dynamics.algorithms.least_distance import nearest_above
from kane_dynamics.exceptions import NotSolvedError
from kane_dynamics.typing import Floats, Indices

_PASSES = 8  # of Newton's method, which doubles eight digits to sixteen in one or two
# What Newton's method may leave of its equations, and a bound or cone be missed by, relative to
# the largest number of the problem.
_SOLVED = 1e-11
# Of the solver that finds the active set: as far as double precision lets it come.
_INTERIOR = 1e-10
_ACCEPTED = 1e-7  # residual of what is no solution but for roundoff
# A bound or cone this close to its edge, beside the push on it, counts as touched.
_TOUCHED = 1e-6


@dataclass(frozen=True, eq=False, slots=True)
class ConeRows:
    """
    |T x + t| <= n x + s.

    Parameters
    ----------
    tangent : ndarray, shape (k, n)
        T.
    offset : ndarray, shape (k,)
        t.
    normal : ndarray, shape (n,)
        n.
    size : float
        s.

    """

    tangent: Floats
    offset: Floats
    normal: Floats
    size: float

    def moved(self, start: Floats, directions: Floats) -> ConeRows:
        """Return the condition on z of x = start + directions z."""
        return ConeRows(
            self.tangent @ directions,
            self.tangent @ start + self.offset,
            self.normal @ directions,
            float(self.normal @ start + self.size),
        )

    def excess(self, x: Floats) -> float:
        """Return |T x + t| - n x - s, positive outside of the cone."""
        return float(np.linalg.norm(self.tangent @ x + self.offset) - self.normal @ x - self.size)


@dataclass(frozen=True, eq=False, slots=True)
class NearestInCones:
    """
    The nearest x, or what contradicts each other.

    Parameters
    ----------
    x : ndarray, shape (n,)
        The solution; NaN where there is none.
    residual : float
        What is left of the conditions of the nearest point, relative to its largest term.
    conflict : ndarray of int
        Bounds, and after them cones, that cannot hold together; empty where there is a solution.

    """

    x: Floats
    residual: float
    conflict: Indices


def nearest_in_cones(
    factor: Floats, free: Floats, C: Floats, d: Floats, cones: Sequence[ConeRows]
) -> NearestInCones:
    """
    Return the x nearest to `free` in the metric M = L L' with C x >= d and in all cones.

    Parameters
    ----------
    factor : ndarray, shape (n, n)
        L, lower triangular.
    free : ndarray, shape (n,)
        The point to be near.
    C, d : ndarray, shapes (k, n), (k,)
        Bounds.
    cones : sequence of ConeRows
        Cones; those with one tangential row are two bounds each, and better given so.

    Raises
    ------
    MissingPackageError
        If there are cones and Clarabel is not installed.
    NotSolvedError
        If numbers are not finite, or too far apart for double precision.

    """
    external = [*(d - C @ free), *(cone.excess(free) for cone in cones)]
    missed = float(np.max(external, initial=0.0))
    if missed <= 0.0:
        return NearestInCones(free, 0.0, np.zeros(0, dtype=np.intp))
    if not cones:
        none = np.zeros((0, len(free)))
        result = nearest_above(factor, none, free, none[:, 0], C, d)
        return NearestInCones(result.x, 0.0, result.conflict)
    # y = L' (x - x_f)/scale: unit metric, numbers of the order of one
    back = scipy.linalg.solve_triangular(factor, np.eye(len(free)), lower=True, trans='T')
    bounds, gaps = C @ back, d - C @ free
    near = [cone.moved(free, back) for cone in cones]
    sizes = [np.abs([*cone.offset, cone.size]).max() for cone in near]
    scale = max(missed, float(np.abs(gaps).max(initial=0.0)), *sizes)
    lengths = np.linalg.norm(bounds, axis=1)
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    problem = _Problem(
        bounds / lengths[:, None],
        gaps / (lengths * scale),
        tuple(_unit(cone, scale) for cone in near),
    )
    y, residual, conflict = problem.solved()
    if not (conflict.size or residual <= _ACCEPTED):
        raise NotSolvedError(
            f'the nearest point within {len(cones)} cones was not found (residual {residual:.1e})'
        )
    return NearestInCones(free + scale * (back @ y), residual, conflict)


def _unit(cone: ConeRows, scale: float) -> ConeRows:
    """Return a cone of lengths by `scale`, its rows of the order of one."""
    length = float(np.linalg.norm(np.vstack([cone.tangent, cone.normal]))) or 1.0
    return ConeRows(
        cone.tangent / length,
        cone.offset / (length * scale),
        cone.normal / length,
        cone.size / (length * scale),
    )


@dataclass(frozen=True, eq=False, slots=True)
class _Problem:
    """min |y| under G y >= e and cones, all of the order of one."""

    bounds: Floats
    gaps: Floats
    cones: tuple[ConeRows, ...]

    def solved(self) -> tuple[Floats, float, Indices]:
        """Return y, the residual of its conditions, and what contradicts each other."""
        result, none = self._interior(), np.zeros(0, dtype=np.intp)
        if result.infeasible:
            return np.full(len(result.x), np.nan), np.inf, self._conflict()
        if not result.solved:
            return result.x, np.inf, none
        return *self._polished(result.x, self._by_condition(result.dual)), none

    def _conflict(self) -> Indices:
        """Return conditions that contradict each other, and no more than needed for that."""
        against = list(range(len(self.gaps) + len(self.cones)))
        for k in tuple(against):
            fewer = [j for j in against if j != k]
            if fewer and self._only(fewer)._interior().infeasible:
                against = fewer
        return np.array(against, dtype=np.intp)

    def _only(self, selection: Sequence[int]) -> _Problem:
        bounds = [k for k in selection if k < len(self.gaps)]
        cones = tuple(self.cones[k - len(self.gaps)] for k in selection if k >= len(self.gaps))
        return _Problem(self.bounds[bounds], self.gaps[bounds], cones)

    def _interior(self) -> ConeSolution:
        """Return the solution of the interior point method."""
        count = self.bounds.shape[1]
        rows = [-self.bounds, *(-np.vstack([cone.normal, cone.tangent]) for cone in self.cones)]
        sides = [-self.gaps, *(np.r_[cone.size, cone.offset] for cone in self.cones)]
        return cone_program(
            'a friction cone with two tangential rows',
            (np.eye(count), np.zeros(count)),
            (np.vstack(rows), np.concatenate(sides)),
            (len(self.gaps), [1 + len(cone.offset) for cone in self.cones], 0),
            _INTERIOR,
        )

    def _by_condition(self, dual: Floats) -> list[Floats]:
        """Return the multipliers of each bound, then of each cone."""
        ends = len(self.gaps) + np.cumsum([0, *(1 + len(cone.offset) for cone in self.cones)])
        cones = [dual[i:j] for i, j in pairwise(ends.tolist())]
        return [*(dual[k : k + 1] for k in range(len(self.gaps))), *cones]

    def _polished(self, y: Floats, parts: Sequence[Floats]) -> tuple[Floats, float]:
        """Return y after Newton's method on what holds it back, if that is better."""
        slack = self.bounds @ y - self.gaps
        pushed = [k for k in range(len(slack)) if parts[k][0] > max(slack[k], _SOLVED)]
        cones, tips, pushes = [], [], [parts[k][0] for k in pushed]
        for cone, part in zip(self.cones, parts[len(slack) :], strict=True):
            if part[0] <= max(-cone.excess(y), _SOLVED):
                continue
            if np.linalg.norm(cone.tangent @ y + cone.offset) < _TOUCHED * part[0]:
                tips.append(cone)  # a contact without force: all its rows are zero
            else:
                cones.append(cone)
                pushes.append(part[0])
        edge = _Edge(self.bounds[pushed], self.gaps[pushed], cones, tips)
        exact, multipliers = y, np.array(pushes)
        for _ in range(_PASSES):
            step, multipliers = edge.newton_step(exact, multipliers)
            exact = exact + step
            if np.abs(step).max(initial=0.0) <= _SOLVED:
                break
        left = float(np.abs(edge.newton_step(exact, multipliers)[0]).max(initial=0.0))
        better = np.isfinite(exact).all() and multipliers.min(initial=0.0) >= 0.0
        if better and max(left, self._missed(exact)) <= _SOLVED:
            return exact, left
        return y, max(_INTERIOR, self._missed(y))

    def _missed(self, y: Floats) -> float:
        """Return what bounds and cones are missed by."""
        external = [cone.excess(y) for cone in self.cones]
        return max([float((self.gaps - self.bounds @ y).max(initial=0.0)), *external])


@dataclass(frozen=True, eq=False, slots=True)
class _Edge:
    """The bounds and cones that hold y back; of `tips`, all rows are zero."""

    rows: Floats
    sides: Floats
    cones: list[ConeRows]
    tips: list[ConeRows]

    def newton_step(self, y: Floats, pushes: Floats) -> tuple[Floats, Floats]:
        """Return a step of y, and the next multipliers of bounds and cones."""
        curved = np.eye(len(y))
        gradients, values = [*self.rows], [*(self.rows @ y - self.sides)]
        for cone, push in zip(self.cones, pushes[len(self.rows) :], strict=True):
            tangential = cone.tangent @ y + cone.offset
            size = float(np.linalg.norm(tangential))
            along = tangential @ cone.tangent / size
            curved += push * (cone.tangent.T @ cone.tangent - np.outer(along, along)) / size
            gradients.append(cone.normal - along)
            values.append(-cone.excess(y))
        for tip in self.tips:
            gradients += [tip.normal, *tip.tangent]
            values += [tip.normal @ y + tip.size, *(tip.tangent @ y + tip.offset)]
        G = np.array(gradients).reshape(-1, len(y))
        matrix = np.block([[curved, -G.T], [G, np.zeros((len(G), len(G)))]])
        # of bounds that repeat each other, the multipliers of least norm
        result = np.linalg.lstsq(matrix, -np.r_[y, values], rcond=None)[0][: len(y) + len(pushes)]
        return result[: len(y)], result[len(y) :]
