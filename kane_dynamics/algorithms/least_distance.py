# SPDX-License-Identifier: Apache-2.0
r"""
Gauss's principle with inequalities: the x nearest to a free one that rows allow and bound.

.. math:: \min \tfrac12 (x - x_f)^T M (x - x_f), \quad A x = c, \quad C x \ge d

In :math:`y = L^T (x - x_0)`, with M = L L' and x_0 the nearest x with A x = c, this is a least
distance problem on what the rows A leave, :math:`\min |y|, G y \ge e`. Its dual is a nonnegative
least squares problem (Lawson and Hanson, Solving Least Squares Problems, chapter 23), which an
active set method solves exactly in finitely many steps; where it has a zero residual, its solution
proves that the bounds contradict each other (Farkas). Accelerations and impulses of contacts that
push but do not pull are such problems.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from kane_dynamics.algebra.matrices import orthonormal, solve_lower
from kane_dynamics.algorithms.udwadia_kalaba import nearest, unit_scaling
from kane_dynamics.exceptions import ContactError
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


# Residual of the dual problem below which no x satisfies the bounds: |y| would be 1e8 times the
# distance of the bound that is furthest away.
_CONTRADICTION = 1e-8
# Length of a bound, of unit length before, that the rows A leave nothing of.
HELD = 1e-10
# What a bound may be missed by, relative to the largest: two that meet from both sides are no
# contradiction but for roundoff.
_MET = 1e-9


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
    start, multipliers = nearest(factor, A, free, c)
    bounds, gap = in_metric(factor, C), d - C @ start
    G = bounds @ left_free(in_metric(factor, A))
    lengths = np.linalg.norm(G, axis=1)
    held = lengths <= HELD * np.linalg.norm(bounds, axis=1)
    scale = unit_scaling(np.where(held, 0.0, lengths))
    G, e = np.where(held[:, None], 0.0, G) * scale[:, None], gap * scale
    largest = np.abs(e).max(initial=0.0)
    active = np.zeros(0, dtype=np.intp)
    conflict = np.flatnonzero(held & (gap > _MET * (1.0 + np.abs(C) @ np.abs(start))))
    if not conflict.size and (e[~held] > 0.0).any():
        active, conflict = _pushing(G, np.where(held, -1.0, e / largest - _MET))
    if conflict.size:
        nothing = np.full(len(free), np.nan)
        return LeastDistance(nothing, 0.0 * multipliers, np.zeros(len(d)), active, conflict)
    rows, sides = np.vstack([A, C[active]]), np.concatenate([c, d[active]])
    x, forces = nearest(factor, rows, free, sides)
    pushes = np.zeros(len(d))
    pushes[active] = np.maximum(forces[len(A) :], 0.0)
    return LeastDistance(x, forces[: len(A)], pushes, active, conflict)


def _pushing(G: Floats, e: Floats) -> tuple[Indices, Indices]:
    """Return the bounds that push at min |y|, G y >= e, or those that contradict each other."""
    rows = np.vstack([G.T, e])
    weights, residual = nonnegative_least_squares(rows, np.eye(len(rows))[-1])
    selection = np.flatnonzero(weights > 0.0)
    if residual <= _CONTRADICTION:
        return selection[:0], np.flatnonzero(weights > _MET * weights.max())
    # y is along G' u; of bounds that repeat each other there, independent ones give it
    forces, _ = nonnegative_least_squares(G[selection].T, G.T @ weights)
    return selection[forces > 0.0], selection[:0]


def left_free(rows: Floats) -> Floats:
    """Return an orthonormal basis of what independent rows leave, as columns."""
    return orthonormal(rows.T, complete=True)[0][:, len(rows) :]


def in_metric(factor: Floats, rows: Floats) -> Floats:
    """Return C L^-T of rows C, for M = L L'."""
    return solve_lower(factor, rows.T).T
