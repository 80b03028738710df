# SPDX-License-Identifier: Apache-2.0
r"""
Constraint rows at a state in a form that can be traced: what they ask, and what they give.

With the rows K that span all others (`row_selection`):

- speeds, or accelerations, whose unknown entries u follow from the known ones k,
  :math:`A_u x_u = c - A_k x_k`;
- efforts of the actuated speeds s and multipliers that give a force h,
  :math:`\tau_s + A_s^T \lambda = h_s,\; A_u^T \lambda = h_u`, with the least
  :math:`\sum w_k \tau_k^2` where many do.

Systems are solved by :math:`L D L^T` of Gram matrices of rows, and once more for what remains.
The reciprocal condition is 0 where rows are weak or what is asked cannot be given: the caller then
asks `constrained_inverse`, which decides and says why.

One set of pivot rows need not do for all states: the lateral rows of two wheels are one where
their base moves along the line between them. Of two sets the better conditioned one counts.
"""

from collections.abc import Callable, Sequence
from functools import cached_property, reduce
from typing import NamedTuple

from kane_dynamics.algebra.scalars import Scalar, absolute, where
from kane_dynamics.algorithms.constrained_solve import better_conditioned
from kane_dynamics.algorithms.row_elimination import (
    ROW_WEIGHT,
    Solvable,
    SparseRow,
    SparseRows,
    dot,
    eliminate,
    factored,
    gram_matrix,
    inner_product,
    product,
    residuals,
    transpose_product,
)
from kane_dynamics.algorithms.sparse_ldl import larger, smaller

# What may remain of an equation, relative to the largest number in it; of one that repeats others.
REACHED, _REPEATED = 1e-8, 1e-6
# In single precision, a hundred roundings.
REACHED_IN_SINGLE = 1e-5
# Squared strength in SI units of a row that repeats others in every metric.
_REPEATS = 1e-12
# Solved twice: a Gram matrix has the square of the condition.
_PASSES = range(2)

Solver = Callable[[Sequence[Scalar]], list[Scalar]]


class Completed(NamedTuple):
    """Known entries as given, the others from the rows; rcond 0: contradictory, undetermined."""

    x: list[Scalar]
    rcond: Scalar


class Balanced(NamedTuple):
    """Efforts and multipliers that give a force; rcond 0 where they cannot."""

    effort: list[Scalar]
    multipliers: list[Scalar]
    remaining: list[Scalar]
    rcond: Scalar


class PivotedSolve:
    """The rows of a state, of nv = `size` speeds, with one set of pivot rows."""

    def __init__(self, system: SparseRows, size: int, in_single: bool = False) -> None:
        self._system, self._size = system, size
        self._reached = REACHED_IN_SINGLE if in_single else REACHED
        self._pivots = [system.rows[i] for i in system.order]

    @cached_property
    def _eliminated(self) -> Solvable:
        rows = [self._system.rows[i] for i in self._system.eliminated]
        return eliminate(self._system, gram_matrix(rows), one_by_one=True)

    @cached_property
    def rcond(self) -> Scalar:
        """Return the rcond of the rows, 0 where the rule of rank may drop one, or take more."""
        rcond = self._eliminated.rcond
        for dropped in self._eliminated.dropped[: len(self._pivots)]:
            rcond = where(dropped > 0.0, 0.0, rcond)
        for strength in self._eliminated.beyond:
            rcond = where(strength > _REPEATS, 0.0, rcond)
        return rcond

    def completed(
        self, x: Sequence[Scalar], right_side: Sequence[Scalar], known: Sequence[int]
    ) -> Completed:
        """Return x with its unknown entries from A x = c; c of all rows."""
        unknown = [k for k in range(self._size) if k not in known]
        columns = [{i: row[k] for i, row in enumerate(self._pivots) if k in row} for k in unknown]
        solve, rcond = _factored(gram_matrix(columns))
        whole = [x[k] if k in known else 0.0 for k in range(self._size)]
        sides = [right_side[i] for i in self._system.order]
        for _ in _PASSES:
            gap = [c - product(row, whole) for row, c in zip(self._pivots, sides, strict=True)]
            step = solve([product(column, gap) for column in columns])
            for k, part in zip(unknown, step, strict=True):
                whole[k] = whole[k] + part
        rcond = smaller(smaller(rcond, self.rcond), self._kept(whole, right_side))
        return Completed(whole, rcond)

    def allowed(self, a: Sequence[Scalar], right_side: Sequence[Scalar]) -> Scalar:
        """Return the rcond, 0 where accelerations do not keep the rows."""
        return smaller(self.rcond, self._kept(a, right_side))

    def agreed(self, x: Sequence[Scalar], right_side: Sequence[Scalar]) -> Scalar:
        """Return 1 where x keeps the rows that repeat others, else 0."""
        return self._missed_by_less(_REPEATED, self._system.repeated, x, right_side)

    def _kept(self, x: Sequence[Scalar], right_side: Sequence[Scalar]) -> Scalar:
        """Return 1 where x keeps all rows, else 0."""
        pivots = self._missed_by_less(self._reached, self._system.order, x, right_side)
        return smaller(pivots, self.agreed(x, right_side))

    def _missed_by_less(
        self,
        tolerance: float,
        numbers: Sequence[int],
        x: Sequence[Scalar],
        right_side: Sequence[Scalar],
    ) -> Scalar:
        """Return 1 where A x = c to a part of the largest number in it, for some rows, else 0."""
        kept, limit = 1.0, tolerance * (1.0 + _largest([*x, *right_side])) if numbers else 0.0
        rows, sides = ([values[i] for i in numbers] for values in (self._system.rows, right_side))
        for missed in residuals(rows, x, sides):
            kept = where(absolute(missed) <= limit, kept, 0.0)
        return kept

    def balanced(
        self, force: Sequence[Scalar], actuated: Sequence[int], weights: Sequence[Scalar]
    ) -> Balanced:
        """Return efforts and multipliers that give a force, with the least weighted efforts."""
        rows, free = self._pivots, [k for k in range(self._size) if k not in actuated]
        if len(free) >= len(rows):
            solve, rcond = _determined(rows, free)
        else:
            solve, rcond = _shared(rows, free, weights)
        multipliers: list[Scalar] = [0.0] * len(rows)
        remainder = list(force)
        for _ in _PASSES:
            multipliers = [x + part for x, part in zip(multipliers, solve(remainder), strict=True)]
            pulled = transpose_product(rows, multipliers, self._size)
            remainder = [h - p for h, p in zip(force, pulled, strict=True)]
        effort = [remainder[k] if k in actuated else 0.0 for k in range(self._size)]
        remaining = [0.0 if k in actuated else remainder[k] for k in range(self._size)]
        limit = self._reached * (1.0 + _largest(force))
        rcond = smaller(rcond, self.rcond)
        for x in remaining:
            rcond = where(absolute(x) <= limit, rcond, 0.0)
        return Balanced(effort, self._of_all_rows(multipliers), remaining, rcond)

    def _of_all_rows(self, multipliers: list[Scalar]) -> list[Scalar]:
        """Return multipliers of all rows, as `RowSelection.shared` does."""
        system, factors, count = self._system, self._eliminated.factors, len(self._pivots)
        if system.repeated:
            beyond: list[Scalar] = [0.0] * len(system.repeated)
            made_of = []  # C of A_rest = C A
            for k in system.repeated:
                sides = [inner_product(system.rows[k], other) for other in self._pivots]
                made_of.append(factors.solve([*sides, *beyond])[:count])
            # of all that give the same force, those with the least sum of lambda^2 / scale
            scaled = [[s * c for s, c in zip(factors.scale, row, strict=False)] for row in made_of]
            gram = [[dot(a, b) for b in scaled[: i + 1]] for i, a in enumerate(made_of)]
            for row, scale in zip(gram, factors.scale[count:], strict=True):
                row[-1] = row[-1] + scale
            more = factored(gram).solve([dot(row, multipliers) for row in scaled])
            parts = transpose_product([dict(enumerate(row)) for row in made_of], more, count)
            multipliers = [*(x - y for x, y in zip(multipliers, parts, strict=True)), *more]
        by_row = dict(zip(system.eliminated, multipliers, strict=True))
        return [by_row.get(i, 0.0) for i in range(len(system.rows))]


class TracedInverseSolve:
    """The rows of a state; at each the better conditioned of one or two sets of pivot rows."""

    def __init__(self, system: SparseRows, size: int, in_single: bool = False) -> None:
        self.rows: Sequence[SparseRow] = system.rows
        self._solves = [PivotedSolve(choice, size, in_single) for choice in system.choices]

    def completed(
        self, x: Sequence[Scalar], right_side: Sequence[Scalar], known: Sequence[int]
    ) -> Completed:
        """Return x with its unknown entries from A x = c."""
        return better_conditioned(s.completed(x, right_side, known) for s in self._solves)

    def allowed(self, a: Sequence[Scalar], right_side: Sequence[Scalar]) -> Scalar:
        """Return the rcond, 0 where accelerations do not keep the rows."""
        return reduce(larger, [s.allowed(a, right_side) for s in self._solves])

    def agreed(self, x: Sequence[Scalar], right_side: Sequence[Scalar]) -> Scalar:
        """Return 1 where x keeps the rows that repeat others in any choice, else 0."""
        return reduce(smaller, [s.agreed(x, right_side) for s in self._solves])

    def balanced(
        self, force: Sequence[Scalar], actuated: Sequence[int], weights: Sequence[Scalar]
    ) -> Balanced:
        """Return efforts and multipliers that give a force, with the least weighted efforts."""
        return better_conditioned(s.balanced(force, actuated, weights) for s in self._solves)


def _factored(gram: Sequence[Sequence[Scalar]]) -> tuple[Solver, Scalar]:
    """Return what solves by L D L' of a positive definite matrix, and its rcond."""
    factors = factored(gram)
    weighted = (ROW_WEIGHT * strength for strength in factors.strengths)
    return factors.solve, reduce(smaller, weighted, 1.0)


def _determined(rows: Sequence[SparseRow], free: Sequence[int]) -> tuple[Solver, Scalar]:
    """Return what gives multipliers from undriven speeds, min |h_u - A_u' lambda|, and rcond."""
    parts = [{k: x for k, x in row.items() if k in free} for row in rows]
    solve, rcond = _factored(gram_matrix(parts))
    return lambda force: solve([product(part, force) for part in parts]), rcond


def _shared(
    rows: Sequence[SparseRow], free: Sequence[int], weights: Sequence[Scalar]
) -> tuple[Solver, Scalar]:
    r"""Return multipliers of least :math:`\sum_s w \tau^2`, A_u' lambda = h_u; rcond."""
    weighted = [{k: x if k in free else weights[k] * x for k, x in row.items()} for row in rows]
    gram = [[inner_product(a, b) for b in rows[: i + 1]] for i, a in enumerate(weighted)]
    solve, rcond = _factored(gram)
    columns = [[row.get(k, 0.0) for row in rows] for k in free]
    spread = [solve(column) for column in columns]
    inner, inner_rcond = _factored(
        [[dot(column, other) for other in spread[: i + 1]] for i, column in enumerate(columns)]
    )

    def multipliers(force: Sequence[Scalar]) -> list[Scalar]:
        start = solve([product(row, force) for row in weighted])
        lacking = [force[k] - dot(column, start) for k, column in zip(free, columns, strict=True)]
        pushes = list(zip(spread, inner(lacking), strict=True))
        return [x + sum((s[i] * p for s, p in pushes), 0.0) for i, x in enumerate(start)]

    return multipliers, smaller(rcond, inner_rcond)


def _largest(values: Sequence[Scalar]) -> Scalar:
    return reduce(larger, map(absolute, values), 0.0)
