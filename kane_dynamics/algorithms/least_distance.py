# SPDX-License-Identifier: Apache-2.0
r"""
Gauss's principle with inequalities: the x nearest to a free one that rows allow and bound.

.. math:: \min \tfrac12 (x - x_f)^T M (x - x_f), \quad A x = c, \quad C x \ge d

In :math:`y = L^T (x - x_0)`, with M = L L' and x_0 the nearest x with A x = c, this is a least
distance problem on what the rows A leave, :math:`\min |y|, G y \ge e`. Its dual is a nonnegative
least squares problem (Lawson and Hanson, Solving Least Squares Problems, chapter 23), which an
active set method solves exactly in finitely many steps; where it has a zero residual, its solution
proves that the bounds contradict each other (Farkas). Contacts that only push are such problems.

Under bounds and second-order cones:

.. math:: \min \tfrac12 (x - x_f)^T M (x - x_f), \quad C x \ge d, \quad
   |T_k x + t_k| \le n_k^T x + s_k

Without cones it is the method above; a bound is a cone without tangential rows. With cones the
interior point method of Clarabel (Goulart and Chen, 2024) finds which bounds and cones hold x
back, and Newton's method solves the conditions of these to roundoff:

.. math:: M (x - x_f) = C_a^T \mu - \textstyle\sum_k \nu_k \nabla g_k, \quad
   g_k = |T_k x + t_k| - n_k^T x - s_k = 0
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import scipy

from kane_dynamics.algebra.matrices import solve_squared, triangle
from kane_dynamics.algebra.row_space import RowSpace
from kane_dynamics.algorithms.udwadia_kalaba import unit_scaling
from kane_dynamics.exceptions import ContactError, MissingPackageError, NotSolvedError
from kane_dynamics.typing import Floats, Indices

# Each step makes the residual smaller but for roundoff; some three per unknown are usual.
_STEPS = 100


def nonnegative_least_squares(matrix: Floats, target: Floats) -> tuple[Floats, float]:
    """Return the x >= 0 of least |G x - h|, and that residual."""
    if not matrix.shape[1]:  # SciPy 1.17 frees memory twice there
        return np.zeros(0), float(np.linalg.norm(target))
    steps = _STEPS * (1 + matrix.shape[1])
    try:
        x, residual = scipy.optimize.nnls(matrix, target, maxiter=steps)
    except RuntimeError as error:
        raise ContactError(
            f'which of {matrix.shape[1]} contacts push does not settle in {steps} steps'
        ) from error
    return x, float(residual)


# Residual of the dual problem where no x is: |y| would be 1e8 times what the free x misses most.
_CONTRADICTION = 1e-8
# What a bound may be missed by, relative to what the free point misses most: two that meet from
# both sides are no contradiction but for roundoff.
MET = 1e-9
_EXACT = 1e-12  # of what is missed: more is due to pushes that nearly cancel
_PRESENT = 1e-3  # of the free point: what is missed beside it is at least this large
_APART = 1e-6  # distance of a bound, of unit length, from others that it does not repeat


class LeastDistance(NamedTuple):
    """The nearest x, or the bounds that contradict each other."""

    x: Floats  # shape (nv,): The solution; NaN where there is none
    multipliers: Floats  # shape (m,): lambda of A x = c
    pushes: Floats
    active: Indices  # Bounds that push; independent, also where more hold with equality
    conflict: Indices  # Bounds that cannot hold together with the rows A


def nearest_above(
    factor: Floats, A: Floats, free: Floats, c: Floats, C: Floats, d: Floats
) -> LeastDistance:
    """Return the x nearest to `free` in the metric M = L L' with A x = c and C x >= d."""
    return nearest_beside(RowSpace(factor, A, C), free, c, d)


def nearest_beside(space: RowSpace, free: Floats, c: Floats, d: Floats) -> LeastDistance:
    """Return the same of rows that are factored already, of which the first are bounded."""
    count, pushes = len(d), np.zeros(len(space.C))
    start, multipliers = space.nearest(free, c, pushes)
    C, lengths, held = space.C[:count], space.lengths[:count], space.held[:count]
    gap, scale = d - C @ start, unit_scaling(lengths)
    G, e = space.beside[:count] * scale[:, None], gap * scale
    G[held] = 0.0
    active = conflict = np.zeros(0, dtype=np.intp)
    if (e[held] > 0.0).any():
        conflict = np.flatnonzero(held & (gap > MET * (1.0 + np.abs(C) @ np.abs(start))))
    e[held] = -1.0
    if not conflict.size and (e > 0.0).any():
        largest = max(e.max(), _PRESENT * float(np.linalg.norm(start @ space.factor)))
        active, conflict, forces = _pushing(G, e / largest)
        pushes[active] = largest * scale[active] * forces
    if conflict.size:
        return LeastDistance(np.nan * free, 0.0 * multipliers, pushes, active, conflict)
    if not active.size:
        return LeastDistance(start, multipliers, pushes[:count], active, conflict)
    x, multipliers = space.nearest(free, c, pushes)
    missed = (scale * (d - C @ x))[active]
    if np.abs(missed).max() > _EXACT * np.abs(e[active]).max():
        more = 0.0 * pushes
        more[active] = scale[active] * solve_squared(triangle(G[active].T).T, missed)
        x, _ = space.nearest(x, c, more)
    return LeastDistance(x, multipliers, pushes[:count], active, conflict)


def _pushing(G: Floats, e: Floats) -> tuple[Indices, Indices, Floats]:
    """Return the bounds that push at min |y|, G y >= e, or that conflict, and the forces."""
    active = np.flatnonzero(e > MET)
    R = triangle(G[active].T)
    if len(active) <= len(R) and (np.abs(R.diagonal()) > _APART).all():
        forces = solve_squared(R.T, e[active])
        if (forces >= 0.0).all() and (G @ (forces @ G[active]) >= e - MET).all():
            return active, active[:0], forces
    rows, last = np.vstack([G.T, e - MET]), np.append(np.zeros(G.shape[1]), 1.0)
    lengths = np.hypot(1.0, rows[-1])  # of G they are one
    weights, residual = nonnegative_least_squares(rows / lengths, last)
    weights = weights / lengths
    active = np.flatnonzero(weights > 0.0)
    if residual <= _CONTRADICTION:
        return active[:0], np.flatnonzero(weights > MET * weights.max()), weights[:0]
    if len(active) > 1:
        # y is along G' u; of bounds that repeat each other there, independent ones give it
        active = active[nonnegative_least_squares(G[active].T, G.T @ weights)[0] > 0.0]
    return active, active[:0], np.maximum(solve_squared(triangle(G[active].T).T, e[active]), 0.0)


_PASSES = 8  # of Newton's method, which doubles eight digits to sixteen in one or two
# What Newton's method may leave, or a condition be missed by, of the largest number.
_SOLVED = 1e-11
_INTERIOR = 1e-10  # of the solver that finds the active set: as far as doubles let it come
_ACCEPTED = 1e-7  # residual of what is no solution but for roundoff
_TOUCHED = 1e-6  # of the push: a bound or cone this close to its edge counts as touched


class ConeRows(NamedTuple):
    """|T x + t| <= n x + s, with T of shape (k, n)."""

    tangent: Floats
    offset: Floats
    normal: Floats
    size: float

    def moved(self, start: Floats, directions: Floats) -> ConeRows:
        """Return the condition on z of x = start + directions z."""
        return ConeRows(
            self.tangent @ directions,
            self.tangential(start),
            self.normal @ directions,
            float(self.normal @ start + self.size),
        )

    def tangential(self, x: Floats) -> Floats:
        """Return T x + t."""
        return self.tangent @ x + self.offset

    def excess(self, x: Floats) -> float:
        """Return |T x + t| - n x - s, positive outside of the cone."""
        return float(np.linalg.norm(self.tangential(x)) - self.normal @ x - self.size)

    def unit(self, scale: float) -> ConeRows:
        """Return the condition on lengths by `scale`, its rows of the order of one."""
        length = float(np.linalg.norm(np.vstack([self.tangent, self.normal]))) or 1.0
        sides = self.offset / (length * scale), self.size / (length * scale)
        return ConeRows(self.tangent / length, sides[0], self.normal / length, sides[1])


class NearestInCones(NamedTuple):
    """The nearest x, or what contradicts each other."""

    x: Floats
    residual: float
    conflict: Indices


def nearest_in_cones(
    factor: Floats, free: Floats, C: Floats, d: Floats, cones: Sequence[ConeRows]
) -> NearestInCones:
    """Return the x nearest to `free` in the metric M = L L' with C x >= d and in all cones."""
    if not cones:
        nearest = nearest_above(factor, np.zeros((0, len(free))), free, np.zeros(0), C, d)
        return NearestInCones(nearest.x, 0.0, nearest.conflict)
    external = [*(d - C @ free), *(cone.excess(free) for cone in cones)]
    missed, none = float(np.max(external, initial=0.0)), np.zeros(0, dtype=np.intp)
    if missed <= 0.0:
        return NearestInCones(free, 0.0, none)
    # y = L' (x - x_f)/scale: unit metric, numbers of the order of one
    back = scipy.linalg.solve_triangular(factor, np.eye(len(free)), lower=True, trans='T')
    no_rows = np.zeros((0, len(free))), np.zeros(0)
    bounds = [ConeRows(*no_rows, row, -least) for row, least in zip(C, d, strict=True)]
    near = [cone.moved(free, back) for cone in (*bounds, *cones)]
    scale = max(missed, *(float(np.abs([*cone.offset, cone.size]).max()) for cone in near))
    near = [cone.unit(scale) for cone in near]
    status = str((interior := _interior(near)).status)
    if 'Infeasible' in status:
        return NearestInCones(np.full(len(free), np.nan), np.inf, _conflict(near))
    y, residual = np.array(interior.x), np.inf
    if 'Solved' in status:
        y, residual = _polished(near, y, np.array(interior.z))
    if not residual <= _ACCEPTED:
        raise NotSolvedError(
            f'the nearest point within {len(cones)} cones was not found (residual {residual:.1e})'
        )
    return NearestInCones(free + scale * (back @ y), residual, none)


def clarabel_module(purpose: str) -> Any:
    """Return Clarabel; `MissingPackageError` says what for where it is not installed."""
    try:
        return import_module('clarabel')
    except ImportError as error:
        remedy = "pip install 'kane_dynamics[cones]'"
        raise MissingPackageError(purpose, 'clarabel', remedy) from error


def _interior(cones: Sequence[ConeRows]) -> Any:
    """Return what Clarabel says of min |y| within cones, those without tangential rows first."""
    clarabel = clarabel_module('a friction cone with two tangential rows')
    count = len(cones[0].normal)
    rows = np.vstack([-np.vstack([cone.normal, cone.tangent]) for cone in cones])
    sides = np.concatenate([[cone.size, *cone.offset] for cone in cones])
    bounds = sum(not len(cone.offset) for cone in cones)
    kinds = [clarabel.NonnegativeConeT(bounds)] if bounds else []
    kinds += [clarabel.SecondOrderConeT(1 + len(cone.offset)) for cone in cones[bounds:]]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _INTERIOR
    P, A = scipy.sparse.eye(count, format='csc'), scipy.sparse.csc_matrix(rows)
    return clarabel.DefaultSolver(P, np.zeros(count), A, sides, kinds, settings).solve()


def _conflict(cones: Sequence[ConeRows]) -> Indices:
    """Return conditions that contradict each other, and no more than needed for that."""
    against = list(range(len(cones)))
    for k in tuple(against):
        fewer = [j for j in against if j != k]
        if fewer and 'Infeasible' in str(_interior([cones[j] for j in fewer]).status):
            against = fewer
    return np.array(against, dtype=np.intp)


def _polished(cones: Sequence[ConeRows], y: Floats, dual: Floats) -> tuple[Floats, float]:
    """Return y after Newton's method on what holds it back, if that is better."""
    starts = np.cumsum([0, *(1 + len(cone.offset) for cone in cones)])
    edges, tips, pushes = [], [], []
    for cone, push in zip(cones, dual[starts[:-1]], strict=True):
        if push <= max(-cone.excess(y), _SOLVED):
            continue
        if len(cone.offset) and np.linalg.norm(cone.tangential(y)) < _TOUCHED * push:
            tips.append(cone)  # a contact without force: all its rows are zero
        else:
            edges.append(cone)
            pushes.append(push)
    exact, multipliers = y, np.array(pushes)
    for _ in range(_PASSES):
        step, multipliers = _newton_step(edges, tips, exact, multipliers)
        exact = exact + step
        if np.abs(step).max(initial=0.0) <= _SOLVED:
            break
    step, _ = _newton_step(edges, tips, exact, multipliers)
    if np.isfinite(exact).all() and multipliers.min(initial=0.0) >= 0.0:
        left = float(np.abs(step).max(initial=0.0))
        if max(left, *(cone.excess(exact) for cone in cones)) <= _SOLVED:
            return exact, left
    return y, max(_INTERIOR, *(cone.excess(y) for cone in cones))


def _newton_step(
    edges: Sequence[ConeRows], tips: Sequence[ConeRows], y: Floats, pushes: Floats
) -> tuple[Floats, Floats]:
    """Return a step of y on edges, with all rows of tips zero, and the next multipliers."""
    curved = np.eye(len(y))
    gradients, values = list[Floats](), list[float]()
    for cone, push in zip(edges, pushes, strict=True):
        gradient = cone.normal
        if len(cone.offset):
            tangential = cone.tangential(y)
            size = float(np.linalg.norm(tangential))
            along = tangential @ cone.tangent / size
            curved += push * (cone.tangent.T @ cone.tangent - np.outer(along, along)) / size
            gradient = gradient - along
        gradients.append(gradient)
        values.append(-cone.excess(y))
    for tip in tips:
        gradients += [tip.normal, *tip.tangent]
        values += [float(tip.normal @ y + tip.size), *tip.tangential(y).tolist()]
    G = np.array(gradients).reshape(-1, len(y))
    matrix = np.block([[curved, -G.T], [G, np.zeros((len(G), len(G)))]])
    # of bounds that repeat each other, the multipliers of least norm
    both = np.linalg.lstsq(matrix, -np.r_[y, values], rcond=None)[0][: len(y) + len(pushes)]
    return both[: len(y)], both[len(y) :]
