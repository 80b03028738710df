# SPDX-License-Identifier: Apache-2.0
"""
`RowBalance` with two choices of the rows that are solved for: at each state the healthier counts.

Which rows repeat others is a choice, and one choice need not do for all states: the lateral rows
of two wheels are one where their base moves along the line between them.
"""

from __future__ import annotations

from collections.abc import Sequence

from kane_dynamics.algebra.scalars import Scalar, where
from kane_dynamics.algorithms.row_balance import REACHED, Balanced, Completed, RowBalance
from kane_dynamics.algorithms.sparse_ldl import smaller
from kane_dynamics.algorithms.sparse_rows import SparseRow, SparseRows


class StrongerBalance:
    """
    The rows of a state; methods as those of `RowBalance`.

    Parameters
    ----------
    system : SparseRows
        Rows, with one or two choices of those that are solved for.
    size : int
        nv.
    reached : float
        What may remain of an equation, see `RowBalance`.

    """

    def __init__(self, system: SparseRows, size: int, reached: float = REACHED) -> None:
        self.rows: Sequence[SparseRow] = system.rows
        self._choices = [RowBalance(choice, size, reached) for choice in system.choices]

    def completed(
        self, x: Sequence[Scalar], right_side: Sequence[Scalar], known: Sequence[int]
    ) -> Completed:
        """Return x with its unknown entries from A x = c."""
        result, *others = (one.completed(x, right_side, known) for one in self._choices)
        for other in others:
            better = other.rcond > result.rcond
            rcond = where(better, other.rcond, result.rcond)
            result = Completed(_chosen(better, other.x, result.x), rcond)
        return result

    def allowed(self, a: Sequence[Scalar], right_side: Sequence[Scalar]) -> Scalar:
        """Return the health, 0 where accelerations do not keep the rows."""
        rcond, *others = (one.allowed(a, right_side) for one in self._choices)
        for other in others:
            rcond = where(other > rcond, other, rcond)
        return rcond

    def agreed(self, x: Sequence[Scalar], right_side: Sequence[Scalar]) -> Scalar:
        """Return 1 where x keeps the rows that repeat others in any choice, else 0."""
        kept, *others = (one.agreed(x, right_side) for one in self._choices)
        for other in others:
            kept = smaller(kept, other)
        return kept

    def balanced(
        self, force: Sequence[Scalar], actuated: Sequence[int], weights: Sequence[Scalar]
    ) -> Balanced:
        """Return efforts and multipliers that give a force, with the least weighted efforts."""
        result, *others = (one.balanced(force, actuated, weights) for one in self._choices)
        for other in others:
            better = other.rcond > result.rcond
            result = Balanced(
                _chosen(better, other.effort, result.effort),
                _chosen(better, other.multipliers, result.multipliers),
                _chosen(better, other.remaining, result.remaining),
                where(better, other.rcond, result.rcond),
            )
        return result


def _chosen(better: Scalar, other: Sequence[Scalar], local: Sequence[Scalar]) -> list[Scalar]:
    return [where(better, b, a) for a, b in zip(local, other, strict=True)]
