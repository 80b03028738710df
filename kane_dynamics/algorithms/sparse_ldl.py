# SPDX-License-Identifier: Apache-2.0
r"""
Forward dynamics by elimination that keeps the tree's zeros, for tracing.

:math:`M = L^T D L` from the tips to the root fills in nothing (Featherstone, Rigid Body Dynamics
Algorithms, section 6.5): a speed couples only with those of its ancestors and descendants. The
constraint system :math:`A M^{-1} A^T \lambda = b - A M^{-1} Q` is solved by :math:`L D L^T`. Both
report their health, the smallest pivot relative to the diagonal it came from: the squared sine of
the angle between a row and those before it, and 0 for a row that is nothing but roundoff. Where it
is small the rows are (nearly) dependent and the caller must use `udwadia_kalaba` instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kane_dynamics.algebra.scalars import REAL_NUMBER, Scalar, where
from kane_dynamics.algorithms.udwadia_kalaba import ROUNDOFF_ROW

# The Gram matrix of rows squares the angle between them: vdot is off by up to 3e-15/sin^2, as
# measured. At a health of 1e-6 that must still be below 1e-10.
_ROW_WEIGHT = 1e-2

SparseRow = dict[int, Scalar]


@dataclass(frozen=True, eq=False, slots=True)
class TreeFactor:
    """
    M = L' D L with unit lower triangular L.

    Parameters
    ----------
    rows : list of dict of int to scalar
        Entries of L below its diagonal.
    pivots : list of scalar
        D.
    health : scalar
        Smallest pivot relative to the diagonal of M.

    """

    rows: list[SparseRow]
    pivots: list[Scalar]
    health: Scalar

    def solve_upper(self, x: Sequence[Scalar]) -> list[Scalar]:
        """Return L'^-1 x."""
        y = list(x)
        for k in reversed(range(len(y))):
            for j, entry in self.rows[k].items():
                y[j] = y[j] - entry * y[k]
        return y

    def solve_lower(self, x: Sequence[Scalar]) -> list[Scalar]:
        """Return L^-1 x."""
        y = list(x)
        for k in range(len(y)):
            for j, entry in self.rows[k].items():
                y[k] = y[k] - entry * y[j]
        return y

    def solve(self, x: Sequence[Scalar]) -> list[Scalar]:
        """Return M^-1 x."""
        return self.solve_lower(
            [y / pivot for y, pivot in zip(self.solve_upper(x), self.pivots, strict=True)]
        )


def factor_tree(lower: Sequence[Mapping[int, Scalar]]) -> TreeFactor:
    """
    Return the factor of a symmetric matrix given by the nonzeros of its lower triangle.

    Parameters
    ----------
    lower : sequence of mapping of int to scalar
        Row k maps column j <= k to M[k, j].

    """
    rows = [dict(row) for row in lower]
    pivots: list[Scalar] = [None] * len(rows)
    health: Scalar = 1.0
    for k in reversed(range(len(rows))):
        pivots[k], own = checked_pivot(rows[k].pop(k), lower[k][k], 0.0)
        health = smaller(health, own)
        eliminated = {j: entry / pivots[k] for j, entry in rows[k].items()}
        for i, factor in eliminated.items():
            for j, entry in rows[k].items():
                if j <= i:
                    rows[i][j] = rows[i].get(j, 0.0) - factor * entry
        rows[k] = eliminated
    return TreeFactor(rows, pivots, health)


def symmetric_product(lower: Sequence[Mapping[int, Scalar]], x: Sequence[Scalar]) -> list[Scalar]:
    """Return M x of a symmetric matrix given by the nonzeros of its lower triangle."""
    product: list[Scalar] = [0.0] * len(x)
    for k, row in enumerate(lower):
        for j, entry in row.items():
            product[k] = product[k] + entry * x[j]
            if j != k:
                product[j] = product[j] + entry * x[k]
    return product


def constrained_acceleration(
    factor: TreeFactor,
    force: Sequence[Scalar],
    matrix: Sequence[Mapping[int, Scalar]],
    right_side: Sequence[Scalar],
) -> tuple[list[Scalar], list[Scalar], Scalar]:
    """
    Return vdot and lambda of M vdot = Q + A' lambda, A vdot = b, and the health of the solves.

    That of the rows counts `_ROW_WEIGHT` times.

    Parameters
    ----------
    factor : TreeFactor
        Of M.
    force : sequence of scalar, length nv
        Q.
    matrix : sequence of mapping of int to scalar
        Nonzeros of the rows of A.
    right_side : sequence of scalar
        b.

    """
    free = factor.solve(force)
    if not matrix:
        return free, [], factor.health
    # Y = L'^-1 A', so that A M^-1 A' = Y' D^-1 Y
    half = [factor.solve_upper([row.get(k, 0.0) for k in range(len(free))]) for row in matrix]
    weighted = [[y / d for y, d in zip(column, factor.pivots, strict=True)] for column in half]
    gram = [[_dot(weighted[i], half[j]) for j in range(i + 1)] for i in range(len(matrix))]
    gap = [
        b - sum((entry * free[k] for k, entry in row.items()), 0.0)
        for row, b in zip(matrix, right_side, strict=True)
    ]
    multipliers, health = solve_symmetric(gram, gap)
    pull = [
        sum((y[k] * m for y, m in zip(weighted, multipliers, strict=True)), 0.0)
        for k in range(len(free))
    ]
    step = factor.solve_lower(pull)
    acceleration = [a + s for a, s in zip(free, step, strict=True)]
    return acceleration, multipliers, smaller(factor.health, _ROW_WEIGHT * health)


def solve_symmetric(
    lower: Sequence[Sequence[Scalar]], right_side: Sequence[Scalar]
) -> tuple[list[Scalar], Scalar]:
    """Return x of a dense symmetric positive definite system by L D L', and its health."""
    size = len(right_side)
    L: list[list[Scalar]] = [[0.0] * size for _ in range(size)]
    D: list[Scalar] = [0.0] * size
    health: Scalar = 1.0
    largest: Scalar = 0.0
    for i in range(size):
        largest = where(lower[i][i] > largest, lower[i][i], largest)
    for i in range(size):
        scaled: list[Scalar] = []
        for j in range(i):
            entry = lower[i][j] - sum((scaled[k] * L[j][k] for k in range(j)), 0.0)
            scaled.append(entry)
            L[i][j] = entry / D[j]
        pivot = lower[i][i] - sum((scaled[k] * L[i][k] for k in range(i)), 0.0)
        D[i], own = checked_pivot(pivot, lower[i][i], ROUNDOFF_ROW**2 * largest)
        health = smaller(health, own)
    x = list(right_side)
    for i in range(size):
        x[i] = x[i] - sum((L[i][k] * x[k] for k in range(i)), 0.0)
    x = [value / pivot for value, pivot in zip(x, D, strict=True)]
    for i in reversed(range(size)):
        x[i] = x[i] - sum((L[k][i] * x[k] for k in range(i + 1, size)), 0.0)
    return x, health


def checked_pivot(pivot: Scalar, diagonal: Scalar, least: Scalar) -> tuple[Scalar, Scalar]:
    """
    Return a pivot and its health: pivot / diagonal, or 0 where the diagonal is at most `least`.

    NaN stays NaN. A pivot that is known to be zero comes back as 1, so that it may divide.
    """
    if isinstance(pivot, REAL_NUMBER) and pivot == 0.0:
        return 1.0, 0.0
    lost = diagonal <= least
    if isinstance(lost, (bool, np.bool_)):
        return pivot, 0.0 if lost else pivot / diagonal
    return pivot, where(lost, 0.0, pivot / diagonal)


def smaller(a: Scalar, b: Scalar) -> Scalar:
    """Return the smaller of two scalars; NaN in b is not smaller."""
    return where(b < a, b, a)


def _dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    return sum((x * y for x, y in zip(a, b, strict=True)), 0.0)
