# SPDX-License-Identifier: Apache-2.0
r"""
Constrained accelerations by elimination: :math:`M x = Q + A^T \lambda`, :math:`A x = c`.

Rows are eliminated by `row_elimination`. The health of a solution is also 0 where right sides may
contradict, and where rows that were left out, because they repeat others wherever they were
sampled, ask for something else: the caller then asks the reference, which decides.

Which rows repeat others is a choice, and one choice need not do for all states: as a linkage
moves, the rows chosen may become dependent where all rows together lose no rank. There a second
choice is solved for too, and the stronger one counts (`by_stronger_rows`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kane_dynamics.algebra.scalars import Scalar, absolute, is_zero, sqrt, where
from kane_dynamics.algorithms.row_elimination import Solvable, dot, eliminate, ratio
from kane_dynamics.algorithms.sparse_ldl import TreeFactor, smaller
from kane_dynamics.algorithms.sparse_rows import SparseRow, SparseRows, pull, times
from kane_dynamics.constraints.row_selection import (
    ACCELERATION_CONTRADICTION,
    SPEED_CONTRADICTION,
    TAKEN,
)

# What a row that was left out may miss: of its own terms, of those of the free motion, and of
# the terms of the other rows of its constraint (some rows are nothing but their roundoff).
_MISSED, _MISSED_FREE, _MISSED_BESIDE = 1e-6, 1e-9, 1e-9
_NOTHING = 1e-13  # right side of a row that vanishes


@dataclass(frozen=True, eq=False)
class Solved:
    """
    The solution of M x = Q + A' lambda, A x = c.

    Parameters
    ----------
    x, multipliers : list of scalar
        x and lambda.
    rcond : scalar
        Of the solves.
    dropped : list of scalar
        1 for rows that were not taken, 0 for the others.
    system : SparseRows
        A.
    result : Solvable or None
        The rows after elimination, where there are any, of one choice.

    """

    x: list[Scalar]
    multipliers: list[Scalar]
    rcond: Scalar
    dropped: list[Scalar]
    system: SparseRows
    result: Solvable | None

    def health_of_speeds(self, v: Sequence[Scalar], b0: Sequence[Scalar]) -> Scalar:
        """Return the health, 0 where a row that was not taken may ask for other speeds than v."""
        if self.result is None:
            return self.rcond
        missed = _missed(self.system, b0, v)
        if all(is_zero(c) for c in b0):
            return _unless(missed, self.result.weak, self.rcond)
        return _agreed(
            self.rcond, self.system, self.result, missed, b0, 0.0, 0.5 * SPEED_CONTRADICTION
        )

    def or_better_conditioned(self, other: Solved) -> Solved:
        """Return at each state the healthier one of two solutions of the same equations."""
        healthier = other.rcond > self.rcond

        def selection(local: Sequence[Scalar], others: Sequence[Scalar]) -> list[Scalar]:
            return [where(healthier, b, a) for a, b in zip(local, others, strict=True)]

        return Solved(
            selection(self.x, other.x),
            selection(self.multipliers, other.multipliers),
            where(healthier, other.rcond, self.rcond),
            selection(self.dropped, other.dropped),
            self.system,
            None,
        )

    @property
    def rank(self) -> Scalar:
        """Return the number of rows that were taken."""
        return len(self.dropped) - sum(self.dropped, 0.0)


def solve_constrained(
    factor: TreeFactor,
    force: Sequence[Scalar],
    system: SparseRows,
    right_side: Sequence[Scalar],
    speeds: tuple[Sequence[Scalar], Sequence[Scalar]] | None = None,
    *,
    watch: bool = True,
) -> Solved:
    """
    Return x and lambda of M x = Q + A' lambda, A x = c, the health of the solves, and the rank.

    Parameters
    ----------
    factor : TreeFactor
        Of M.
    force : sequence of scalar, length nv
        Q.
    system : SparseRows
        A.
    right_side : sequence of scalar, length k
        c.
    speeds : tuple of two sequences of scalar, optional
        v and b0, where A v = b0 must not be contradictory either; v is to satisfy the rows that
        repeat others.
    watch : bool
        Whether rows that are not taken must be satisfied too; not so in a Newton step.

    """
    return ConstrainedSystem(factor, system).solve(force, right_side, speeds, watch=watch)


class ConstrainedSystem:
    """
    M and rows, which are eliminated once for any number of right sides.

    Parameters
    ----------
    factor : TreeFactor
        Of M.
    system : SparseRows
        A.

    """

    def __init__(self, factor: TreeFactor, system: SparseRows) -> None:
        self._factor, self._system = factor, system
        self._eliminated: dict[tuple[int, ...], _Eliminated] = {}

    def solve(
        self,
        force: Sequence[Scalar],
        right_side: Sequence[Scalar],
        speeds: tuple[Sequence[Scalar], Sequence[Scalar]] | None = None,
        *,
        watch: bool = True,
    ) -> Solved:
        """Return what `solve_constrained` does."""
        factor, system = self._factor, self._system
        free = factor.solve(force)
        if not system.rows:
            return Solved(free, [], factor.rcond, [], system, None)

        def solved(rows: SparseRows) -> Solved:
            order = tuple(rows.order)
            if order not in self._eliminated:
                self._eliminated[order] = _Eliminated.of(rows, factor)
            eliminated = self._eliminated[order]
            return _solved_for(eliminated, factor, free, force, right_side, speeds, watch)

        return by_stronger_rows(system, solved)


def by_stronger_rows(system: SparseRows, solve: Callable[[SparseRows], Solved]) -> Solved:
    """
    Return what `solve` finds, at each state with the healthier choice of rows.

    Parameters
    ----------
    system : SparseRows
        A, with one or two choices of rows.
    solve : callable
        Returns the solution for the rows with one choice.

    """
    first, *others = (solve(rows) for rows in system.choices)
    return first.or_better_conditioned(others[0]) if others else first


@dataclass(frozen=True, eq=False)
class _Eliminated:
    """
    One choice of rows after elimination.

    Parameters
    ----------
    system : SparseRows
        The rows.
    weighted : list of list of scalar
        D^-1 L'^-1 A', by columns.
    result : Solvable
        Factors of A M^-1 A'.

    """

    system: SparseRows
    weighted: list[list[Scalar]]
    result: Solvable

    @classmethod
    def of(cls, system: SparseRows, factor: TreeFactor) -> _Eliminated:
        """Return rows after elimination."""
        rows = [system.rows[i] for i in system.eliminated]
        # Y = L'^-1 A', so that A M^-1 A' = Y' D^-1 Y
        indices = range(len(factor.pivots))
        half = [factor.solve_upper([row.get(k, 0.0) for k in indices]) for row in rows]
        weighted = [[y / d for y, d in zip(one, factor.pivots, strict=True)] for one in half]
        gram = [[dot(weighted[i], half[j]) for j in range(i + 1)] for i in range(len(rows))]
        return cls(system, weighted, eliminate(system, gram))


def _solved_for(
    eliminated: _Eliminated,
    factor: TreeFactor,
    free: Sequence[Scalar],
    force: Sequence[Scalar],
    right_side: Sequence[Scalar],
    speeds: tuple[Sequence[Scalar], Sequence[Scalar]] | None,
    watch: bool,
) -> Solved:
    """Return the solution for one choice of rows; see `solve_constrained`."""
    system, weighted, result = eliminated.system, eliminated.weighted, eliminated.result
    gap = [right_side[i] - times(system.rows[i], free) for i in system.eliminated]
    solved = result.factors.solve(gap)
    pushed = [
        sum((y[k] * m for y, m in zip(weighted, solved, strict=True)), 0.0)
        for k in range(len(free))
    ]
    x = [a + s for a, s in zip(free, factor.solve_lower(pushed), strict=True)]
    multipliers: list[Scalar] = [0.0] * len(system.rows)
    dropped: list[Scalar] = [1.0] * len(system.rows)
    for i, multiplier, gone in zip(system.eliminated, solved, result.dropped, strict=True):
        multipliers[i], dropped[i] = multiplier, gone
    # false for NaN: a row has no value here, and comparisons of pivots did not notice
    known = sum((part * part for part in x), 0.0) >= 0.0
    rcond = where(known, smaller(factor.rcond, result.rcond), 0.0)
    if watch:
        rcond = _watched(rcond, system, result, right_side, x, free, force, multipliers)
    solution = Solved(x, multipliers, rcond, dropped, system, result)
    if speeds is None or all(is_zero(c) for c in speeds[1]):
        return solution
    return replace(solution, rcond=solution.health_of_speeds(*speeds))


def _watched(
    rcond: Scalar,
    system: SparseRows,
    result: Solvable,
    right_side: Sequence[Scalar],
    x: Sequence[Scalar],
    free: Sequence[Scalar],
    force: Sequence[Scalar],
    multipliers: Sequence[Scalar],
) -> Scalar:
    """Return the health, 0 where a row that was not taken may ask for another x."""
    missed = _missed(system, right_side, x, free)
    if system.certain and not system.repeated:
        return rcond
    pulled = pull(system.rows, multipliers, len(x))
    total = [f + p for f, p in zip(force, pulled, strict=True)]
    size = sqrt(absolute(dot(total, x)))  # |x| in the metric of M
    relative = 0.5 * ACCELERATION_CONTRADICTION
    return _agreed(rcond, system, result, missed, right_side, 5.0 * TAKEN * size, relative)


def _missed(
    system: SparseRows,
    right_side: Sequence[Scalar],
    x: Sequence[Scalar],
    free: Sequence[Scalar] | None = None,
) -> list[Scalar]:
    """Return 1 for repeated rows that are not satisfied."""
    if not system.repeated:
        return []
    sizes = [_sizes(row, x) + absolute(c) for row, c in zip(system.rows, right_side, strict=True)]
    missed: list[Scalar] = []
    for i in system.repeated:
        row, owner = system.rows[i], system.owners[i]
        beside = sum((sizes[k] for k in system.order if system.owners[k] == owner), 0.0)
        allowed = _MISSED * sizes[i] + _MISSED_BESIDE * beside
        if free is not None:
            allowed = allowed + _MISSED_FREE * _sizes(row, free)
        missed.append(where(absolute(times(row, x) - right_side[i]) > allowed, 1.0, 0.0))
    return missed


def _unless(missed: Sequence[Scalar], weak: Sequence[Scalar], rcond: Scalar) -> Scalar:
    """Return the health, 0 where a row is not satisfied that the rule may take."""
    for gone, excused in zip(missed, weak, strict=True):
        rcond = where(gone > excused, 0.0, rcond)
    return rcond


def _agreed(
    rcond: Scalar,
    system: SparseRows,
    result: Solvable,
    missed: Sequence[Scalar],
    right_side: Sequence[Scalar],
    motion: Scalar,
    relative: float,
) -> Scalar:
    """Return the health, 0 where a right side may contradict; the limits are half the rule's."""
    rcond = _unless(missed, result.weak, rcond)
    sides = [right_side[i] for i in system.eliminated]
    scale = result.factors.scale
    norm = sqrt(sum((ratio(c * c, s) for c, s in zip(sides, scale, strict=True)), 0.0))
    limit = motion + relative * norm
    # a repeated row that is satisfied, off its span by drift, contradicts nothing
    asks: list[Scalar] = [*result.dropped[: len(system.order)], *missed]
    for i, asked in enumerate(result.factors.forward(sides)):
        much = where(asked * asked > limit * limit * scale[i], asks[i], 0.0)
        alone = where(absolute(sides[i]) > _NOTHING, result.vanished[i] * asks[i], 0.0)
        rcond = where(much + alone > 0.0, 0.0, rcond)
    return rcond


def _sizes(row: SparseRow, x: Sequence[Scalar]) -> Scalar:
    return sum((absolute(entry * x[k]) for k, entry in row.items()), 0.0)
