# SPDX-License-Identifier: Apache-2.0
r"""
Multipliers of rows that repeat each other, of least norm: `RowSelection.shared`, traced.

.. math:: A = C A_K, \qquad \lambda = W^2 C\,(C^T W^2 C)^{-1} \lambda_K

C follows from the elimination of the rows, W brings them to unit size by kind.
"""

from kane_dynamics.algebra.scalars import Scalar, where
from kane_dynamics.algorithms.constrained_solve import EliminatedRows, Solved
from kane_dynamics.algorithms.row_elimination import Elimination, dot, ratio

_REPEATS = 1e-14  # squared strength of a row that repeats others but for roundoff


def shared_multipliers(solved: Solved, rows: EliminatedRows) -> tuple[list[Scalar], Scalar]:
    """Return lambda of all rows, and the rcond: 0 where rows only nearly repeat others."""
    numbers, solvable = rows.system.eliminated, rows.solvable
    factors, dropped = solvable.factors, solvable.dropped
    C = [
        [where(gone > 0.0, c, 0.0) for c in factors.backward([*row])] + [1.0]
        for row, gone in zip(factors.lower, dropped, strict=True)
    ]
    weighted = [[ratio(c, size) for c in row] for row, size in zip(C, solvable.sizes, strict=True)]
    both = [*zip(C, weighted, strict=True)]
    gram = [
        [sum((c[i] * w[j] for c, w in both[i:]), 0.0) for j in range(i + 1)] for i in range(len(C))
    ]
    common = Elimination(gram, range(len(C)))
    for gone in dropped:
        common.strength()
        common.take(1.0 - gone)
    multipliers, rcond = [*solved.multipliers], solved.rcond
    share = common.solve([multipliers[i] for i in numbers])
    for i, row, gone, strength in zip(numbers, weighted, dropped, factors.strengths, strict=True):
        multipliers[i] = dot(row, share[: len(row)])
        rcond = where(gone * strength > _REPEATS, 0.0, rcond)
    return multipliers, rcond
