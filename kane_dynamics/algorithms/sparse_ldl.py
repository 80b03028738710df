# SPDX-License-Identifier: Apache-2.0
r"""
Forward dynamics by elimination that keeps the tree's zeros, for tracing.

:math:`M = L^T D L` from the tips to the root fills in nothing (Featherstone, Rigid Body Dynamics
Algorithms, section 6.5): a speed couples only with those of its ancestors and descendants. The
factor reports its health, the smallest pivot relative to the diagonal it came from. Rows of
constraints are eliminated by `row_elimination`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kane_dynamics.algebra.scalars import Scalar, is_number, is_zero, where

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
    rcond : scalar
        Smallest pivot relative to the diagonal of M.

    """

    rows: list[SparseRow]
    pivots: list[Scalar]
    rcond: Scalar

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
    rcond: Scalar = 1.0
    for k in reversed(range(len(rows))):
        pivots[k], local = checked_pivot(rows[k].pop(k), lower[k][k])
        rcond = smaller(rcond, local)
        eliminated = {j: entry / pivots[k] for j, entry in rows[k].items()}
        for i, factor in eliminated.items():
            for j, entry in rows[k].items():
                if j <= i:
                    rows[i][j] = rows[i].get(j, 0.0) - factor * entry
        rows[k] = eliminated
    return TreeFactor(rows, pivots, rcond)


def symmetric_product(lower: Sequence[Mapping[int, Scalar]], x: Sequence[Scalar]) -> list[Scalar]:
    """Return M x of a symmetric matrix given by the nonzeros of its lower triangle."""
    product: list[Scalar] = [0.0] * len(x)
    for k, row in enumerate(lower):
        for j, entry in row.items():
            product[k] = product[k] + entry * x[j]
            if j != k:
                product[j] = product[j] + entry * x[k]
    return product


def checked_pivot(pivot: Scalar, diagonal: Scalar) -> tuple[Scalar, Scalar]:
    """
    Return a pivot and its health: pivot / diagonal, or 0 where the diagonal is not positive.

    NaN stays NaN. A pivot that is known to be zero comes back as 1, so that it may divide.
    """
    if is_zero(pivot):
        return 1.0, 0.0
    if is_number(pivot):
        return pivot, 0.0 if diagonal <= 0.0 else pivot / diagonal
    return pivot, where(diagonal <= 0.0, 0.0, pivot / diagonal)


def smaller(a: Scalar, b: Scalar) -> Scalar:
    """Return the smaller of two scalars; NaN in b is not smaller."""
    return where(b < a, b, a)
