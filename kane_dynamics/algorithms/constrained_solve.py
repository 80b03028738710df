# SPDX-License-Identifier: Apache-2.0
r"""
Constrained accelerations by elimination: :math:`M x = Q + A^T \lambda`, :math:`A x = c`.

Rows are eliminated by `row_elimination`. The reciprocal condition of a solution is also 0 where
right sides may contradict, and where rows that were left out, because they repeat others wherever
they were sampled, ask for something else: the caller then asks the reference. Where pivot rows may
become dependent, a second choice of them is solved for too, and the better conditioned one counts.

A row :math:`\pm x_k = c` that may be off (a lock, an end of a range) asks for no elimination:
where it is on, x_k is known, and row and column k leave M. Rows of the same speed share its force.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from kane_dynamics.algebra.scalars import Scalar, absolute, is_zero, sqrt, where
from kane_dynamics.algorithms.row_elimination import (
    Solvable,
    SparseRow,
    SparseRows,
    dot,
    eliminate,
    product,
    ratio,
    residuals,
    transpose_product,
)
from kane_dynamics.algorithms.sparse_ldl import TreeFactor, factor_tree, smaller, symmetric_product
from kane_dynamics.constraints.row_selection import (
    ACCELERATION_CONTRADICTION,
    SPEED_CONTRADICTION,
    TAKEN,
)

# What a row that was left out may miss: of its own terms, of those of the free motion, and of
# the terms of the other rows of its constraint.
_MISSED, _MISSED_FREE, _MISSED_BESIDE = 1e-6, 1e-9, 1e-9
_NOTHING = 1e-13  # right side of a row that vanishes

Speeds = tuple[Sequence[Scalar], Sequence[Scalar]]
Result = TypeVar('Result', bound=tuple[Any, ...])


class Solved(NamedTuple):
    """The solution of M x = Q + A' lambda, A x = c."""

    x: list[Scalar]
    multipliers: list[Scalar]
    rcond: Scalar
    dropped: list[Scalar]
    rows: EliminatedRows | None

    def rcond_of_speeds(self, v: Sequence[Scalar], b0: Sequence[Scalar]) -> Scalar:
        """Return the rcond, 0 where a row without a pivot may ask for other speeds than v."""
        if self.rows is None:
            return self.rcond
        missed = self.rows.missed(b0, v)
        if all(is_zero(c) for c in b0):
            return self.rows.unless(missed, self.rcond)
        return self.rows.agreed(self.rcond, missed, b0, 0.0, 0.5 * SPEED_CONTRADICTION)

    @property
    def rank(self) -> Scalar:
        """Return the number of pivot rows."""
        return len(self.dropped) - sum(self.dropped, 0.0)


def better_conditioned(results: Iterable[Result]) -> Result:
    """Return at each state the result of larger rcond, of one or two of the same equations."""
    first, *others = results
    if not others:
        return first
    pair: Any = first, others[0]
    larger = pair[1].rcond > pair[0].rcond

    def selection(a: Any, b: Any) -> Any:
        if isinstance(a, list):
            return [where(larger, y, x) for x, y in zip(a, b, strict=True)]
        return None if a is None or isinstance(a, EliminatedRows) else where(larger, b, a)

    return type(first)(*(selection(a, b) for a, b in zip(*pair, strict=True)))


class ConstrainedSystem:
    """M and rows, which are eliminated once for any number of right sides."""

    def __init__(self, factor: TreeFactor, system: SparseRows) -> None:
        self._factor, rows = factor, bool(system.rows)
        self._choices = [EliminatedRows(one, factor) for one in system.choices if rows]

    def solve(
        self,
        force: Sequence[Scalar],
        right_side: Sequence[Scalar],
        speeds: Speeds | None = None,
        *,
        watch: bool = True,
    ) -> Solved:
        """
        Return x and lambda of M x = Q + A' lambda, A x = c, and the rcond of the solves.

        With `speeds` v, b0 also A v = b0 must not contradict itself. To `watch` is to ask that x
        satisfies rows without a pivot too; a Newton step need not.
        """
        free = self._factor.solve(force)
        if not self._choices:
            return Solved(free, [], self._factor.rcond, [], None)
        return better_conditioned(
            choice.solve(free, force, right_side, speeds, watch) for choice in self._choices
        )


class EliminatedRows:
    """One choice of rows after elimination."""

    def __init__(self, system: SparseRows, factor: TreeFactor) -> None:
        self.system, self._factor = system, factor
        self._sparse: list[SparseRow] = [system.rows[i] for i in system.eliminated]
        # Y = L'^-1 A', so that A M^-1 A' = Y' D^-1 Y
        indices, pivots = range(len(factor.pivots)), factor.pivots
        half = [factor.solve_upper([row.get(k, 0.0) for k in indices]) for row in self._sparse]
        self._weighted = [[y / d for y, d in zip(one, pivots, strict=True)] for one in half]
        gram = [[dot(y, half[j]) for j in range(i + 1)] for i, y in enumerate(self._weighted)]
        self.solvable: Solvable = eliminate(system, gram)

    def solve(
        self,
        free: Sequence[Scalar],
        force: Sequence[Scalar],
        right_side: Sequence[Scalar],
        speeds: Speeds | None,
        watch: bool,
    ) -> Solved:
        """Return the solution; see `ConstrainedSystem.solve`."""
        system, solvable = self.system, self.solvable
        sides = [right_side[i] for i in system.eliminated]
        gap = [c - product(row, free) for c, row in zip(sides, self._sparse, strict=True)]
        forces = solvable.factors.solve(gap)
        pushed = [
            sum((y[k] * m for y, m in zip(self._weighted, forces, strict=True)), 0.0)
            for k in range(len(free))
        ]
        x = [a + s for a, s in zip(free, self._factor.solve_lower(pushed), strict=True)]
        multipliers: list[Scalar] = [0.0] * len(system.rows)
        dropped: list[Scalar] = [1.0] * len(system.rows)
        for i, multiplier, gone in zip(system.eliminated, forces, solvable.dropped, strict=True):
            multipliers[i], dropped[i] = multiplier, gone
        # false for NaN: a row has no value here, and comparisons of pivots did not notice
        known = sum((part * part for part in x), 0.0) >= 0.0
        rcond = where(known, smaller(self._factor.rcond, solvable.rcond), 0.0)
        if watch and (system.repeated or not system.certain):
            # a row without a pivot may ask for another x
            missed = self.missed(right_side, x, free)
            pulled = transpose_product(system.rows, multipliers, len(x))
            total = [f + p for f, p in zip(force, pulled, strict=True)]
            motion = 5.0 * TAKEN * sqrt(absolute(dot(total, x)))  # |x| in the metric of M
            limit = 0.5 * ACCELERATION_CONTRADICTION
            rcond = self.agreed(rcond, missed, right_side, motion, limit)
        solution = Solved(x, multipliers, rcond, dropped, self)
        if speeds is None or all(is_zero(c) for c in speeds[1]):
            return solution
        return solution._replace(rcond=solution.rcond_of_speeds(*speeds))

    def missed(
        self,
        right_side: Sequence[Scalar],
        x: Sequence[Scalar],
        free: Sequence[Scalar] | None = None,
    ) -> list[Scalar]:
        """Return 1 for repeated rows that are not satisfied."""
        system, missed = self.system, list[Scalar]()
        if not system.repeated:
            return missed
        both = zip(system.rows, right_side, strict=True)
        sizes = [_sizes(row, x) + absolute(c) for row, c in both]
        for i in system.repeated:
            row, owner = system.rows[i], system.owners[i]
            beside = sum((sizes[k] for k in system.order if system.owners[k] == owner), 0.0)
            allowed = _MISSED * sizes[i] + _MISSED_BESIDE * beside
            if free is not None:
                allowed = allowed + _MISSED_FREE * _sizes(row, free)
            gap = absolute(product(row, x) - right_side[i])
            missed.append(where(gap > allowed, 1.0, 0.0))
        return missed

    def unless(self, missed: Sequence[Scalar], rcond: Scalar) -> Scalar:
        """Return the rcond, 0 where a row is not satisfied that the rule may take."""
        for gone, excused in zip(missed, self.solvable.weak, strict=True):
            rcond = where(gone > excused, 0.0, rcond)
        return rcond

    def agreed(
        self,
        rcond: Scalar,
        missed: Sequence[Scalar],
        right_side: Sequence[Scalar],
        motion: Scalar,
        relative: float,
    ) -> Scalar:
        """Return the rcond, 0 where a right side may contradict; limits are half the rule's."""
        system, solvable, rcond = self.system, self.solvable, self.unless(missed, rcond)
        sides, scale = [right_side[i] for i in system.eliminated], solvable.factors.scale
        norm = sqrt(sum((ratio(c * c, s) for c, s in zip(sides, scale, strict=True)), 0.0))
        limit = motion + relative * norm
        # a repeated row that is satisfied, off its span by drift, contradicts nothing
        asks: list[Scalar] = [*solvable.dropped[: len(system.order)], *missed]
        for i, asked in enumerate(solvable.factors.forward(sides)):
            much = where(asked * asked > limit * limit * scale[i], asks[i], 0.0)
            alone = where(absolute(sides[i]) > _NOTHING, solvable.vanished[i] * asks[i], 0.0)
            rcond = where(much + alone > 0.0, 0.0, rcond)
        return rcond


def _sizes(row: SparseRow, x: Sequence[Scalar]) -> Scalar:
    return sum((absolute(entry * x[k]) for k, entry in row.items()), 0.0)


AGREED = 1e-9  # by which right sides of rows that lock the same speed may differ


class LockRow(NamedTuple):
    """Number of a row that locks a speed, its only entry (1 or -1), and 1 where it is on, or 0."""

    row: int
    sign: float
    on: Scalar


def solve_with_locked_speeds(
    lower: Sequence[Mapping[int, Scalar]],
    force: Sequence[Scalar],
    system: SparseRows,
    right_side: Sequence[Scalar],
    locks: Mapping[int, Sequence[LockRow]],
    speeds: Speeds | None = None,
    *,
    holonomic: bool = False,
    watch: bool = True,
) -> Solved:
    """Return what `ConstrainedSystem.solve` does, with rows that lock one speed each."""
    locked, rcond, count = dict[int, Scalar](), 1.0, len(force)
    agreed = TAKEN if holonomic else AGREED
    values: list[Scalar] = [0.0] * count
    for k, rows in locks.items():
        asked = [one.sign * right_side[one.row] for one in rows]
        locked[k] = 0.0
        for one, value in reversed([*zip(rows, asked, strict=True)]):  # the first that is on
            locked[k] = where(one.on > 0.0, 1.0, locked[k])
            values[k] = where(one.on > 0.0, value, values[k])
        for one, value in zip(rows, asked, strict=True):
            rcond = where(one.on * absolute(value - values[k]) > agreed, 0.0, rcond)
    remainder = [f - p for f, p in zip(force, symmetric_product(lower, values), strict=True)]
    for k, on in locked.items():
        remainder[k] = where(on > 0.0, values[k], remainder[k])
    others = replace(system, rows=[_without(locked, row) for row in system.rows])
    sides = [-x for x in residuals(system.rows, values, right_side)]
    factor = factor_tree([_cut(locked, k, row) for k, row in enumerate(lower)])
    solved = ConstrainedSystem(factor, others).solve(remainder, sides, speeds, watch=watch)
    pulled = transpose_product(system.rows, solved.multipliers, count)
    moved = symmetric_product(lower, solved.x)
    multipliers, dropped = [*solved.multipliers], [*solved.dropped]
    for k, rows in locks.items():
        number = sum((one.on for one in rows), 0.0)
        share = (moved[k] - force[k] - pulled[k]) / where(number > 0.0, number, 1.0)
        before: Scalar = 0.0
        for one in rows:
            multipliers[one.row] = where(one.on > 0.0, one.sign * share, 0.0)
            dropped[one.row] = where(one.on > 0.0, before, 1.0)
            before = where(one.on > 0.0, 1.0, before)
    rcond = where(rcond > 0.0, solved.rcond, 0.0)
    return solved._replace(multipliers=multipliers, dropped=dropped, rcond=rcond)


def _without(locked: Mapping[int, Scalar], row: SparseRow) -> SparseRow:
    """Return a row without the entries of speeds that are locked."""
    return {k: where(locked[k] > 0.0, 0.0, x) if k in locked else x for k, x in row.items()}


def _cut(locked: Mapping[int, Scalar], k: int, row: SparseRow) -> SparseRow:
    """Return row k of M where speeds that are locked move by themselves, with mass 1."""
    if k not in locked:
        return _without(locked, row)
    cut = {j: where(locked[k] > 0.0, 0.0, x) for j, x in row.items() if j != k}
    return {**_without(locked, cut), k: where(locked[k] > 0.0, 1.0, row[k])}
