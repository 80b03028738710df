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
The health is 0 where rows are weak or what is asked cannot be given: the caller then asks
`constrained_inverse`, which decides and says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from kane_dynamics.algebra.scalars import Scalar, absolute, where
from kane_dynamics.algorithms.row_elimination import (
    ROW_WEIGHT,
    Elimination,
    Solvable,
    dot,
    eliminate,
    ratio,
)
from kane_dynamics.algorithms.sparse_ldl import smaller
from kane_dynamics.algorithms.sparse_rows import (
    SparseRow,
    SparseRows,
    gram_matrix,
    product,
    pull,
    residuals,
    times,
)

# What may remain of an equation, relative to the largest number in it; of one that repeats others.
REACHED, _REPEATED = 1e-8, 1e-6
# In single precision, a hundred roundings.
REACHED_IN_SINGLE = 1e-5
# Squared strength in SI units of a row that repeats others in every metric.
_REPEATS = 1e-12
# Solved twice: a Gram matrix has the square of the condition.
_PASSES = range(2)


@dataclass(frozen=True, eq=False)
class Completed:
    """
    Speeds or accelerations on the rows.

    Parameters
    ----------
    x : list of scalar
        Known entries as given, the others from the rows.
    rcond : scalar
        0 where the known entries contradict the rows, or leave others undetermined.

    """

    x: list[Scalar]
    rcond: Scalar


@dataclass(frozen=True, eq=False)
class Balanced:
    """
    Efforts and multipliers that give a force.

    Parameters
    ----------
    effort : list of scalar
        tau, 0 where nothing is actuated.
    multipliers : list of scalar
        Of all rows; among rows that repeat each other of least norm.
    remaining : list of scalar
        h - tau - A' lambda.
    rcond : scalar
        0 where actuators and rows cannot give the force.

    """

    effort: list[Scalar]
    multipliers: list[Scalar]
    remaining: list[Scalar]
    rcond: Scalar


class RowBalance:
    """
    The rows of a state.

    Parameters
    ----------
    system : SparseRows
        Rows, those that are solved for and those that repeat them.
    size : int
        nv.
    reached : float
        What may remain of an equation, relative to the largest number in it.

    """

    def __init__(self, system: SparseRows, size: int, reached: float = REACHED) -> None:
        self._system, self._size, self._reached = system, size, reached
        self._solved = [system.rows[i] for i in system.order]

    @property
    def rows(self) -> Sequence[SparseRow]:
        """Return all rows."""
        return self._system.rows

    @cached_property
    def _found(self) -> Solvable:
        rows = [self._system.rows[i] for i in self._system.eliminated]
        return eliminate(self._system, gram_matrix(rows), one_by_one=True)

    @cached_property
    def rcond(self) -> Scalar:
        """Return the health of the rows, 0 where the rule of rank may drop one, or take more."""
        result, rcond = self._found, self._found.rcond
        for dropped in result.dropped[: len(self._solved)]:
            rcond = where(dropped > 0.0, 0.0, rcond)
        for strength in result.beyond:
            rcond = where(strength > _REPEATS, 0.0, rcond)
        return rcond

    def completed(
        self, x: Sequence[Scalar], right_side: Sequence[Scalar], known: Sequence[int]
    ) -> Completed:
        """Return x with its unknown entries from A x = c; c of all rows."""
        unknown = [k for k in range(self._size) if k not in known]
        columns = [{i: row[k] for i, row in enumerate(self._solved) if k in row} for k in unknown]
        factors = _Factors(gram_matrix(columns))
        whole = [x[k] if k in known else 0.0 for k in range(self._size)]
        for _ in _PASSES:
            gap = [right_side[i] - times(self._system.rows[i], whole) for i in self._system.order]
            step = factors.solve([times(column, gap) for column in columns])
            for k, part in zip(unknown, step, strict=True):
                whole[k] = whole[k] + part
        rcond = smaller(smaller(factors.rcond, self.rcond), self._kept(whole, right_side))
        return Completed(whole, rcond)

    def _kept(self, x: Sequence[Scalar], right_side: Sequence[Scalar]) -> Scalar:
        """Return 1 where x keeps all rows, else 0."""
        solved = self._missed_by_less(self._reached, self._system.order, x, right_side)
        return smaller(solved, self.agreed(x, right_side))

    def agreed(self, x: Sequence[Scalar], right_side: Sequence[Scalar]) -> Scalar:
        """Return 1 where x keeps the rows that repeat others, else 0."""
        return self._missed_by_less(_REPEATED, self._system.repeated, x, right_side)

    def _missed_by_less(
        self,
        tolerance: float,
        selection: Sequence[int],
        x: Sequence[Scalar],
        right_side: Sequence[Scalar],
    ) -> Scalar:
        """Return 1 where A x = c to a part of the largest number in it, for some rows, else 0."""
        if not selection:
            return 1.0
        kept = 1.0
        limit = tolerance * (1.0 + _largest([*x, *right_side]))
        rows, sides = [self._system.rows[i] for i in selection], [right_side[i] for i in selection]
        for missed in residuals(rows, x, sides):
            kept = where(absolute(missed) <= limit, kept, 0.0)
        return kept

    def allowed(self, a: Sequence[Scalar], right_side: Sequence[Scalar]) -> Scalar:
        """Return the health, 0 where accelerations do not keep the rows."""
        return smaller(self.rcond, self._kept(a, right_side))

    def balanced(
        self, force: Sequence[Scalar], actuated: Sequence[int], weights: Sequence[Scalar]
    ) -> Balanced:
        """Return efforts and multipliers that give a force, with the least weighted efforts."""
        free = [k for k in range(self._size) if k not in actuated]
        solve = _Determined if len(free) >= len(self._solved) else _Shared
        solver = solve(self._solved, free, actuated, weights)
        multipliers: list[Scalar] = [0.0] * len(self._solved)
        remainder = list(force)
        for _ in _PASSES:
            step = solver.multipliers(remainder)
            multipliers = [x + part for x, part in zip(multipliers, step, strict=True)]
            remainder = [
                h - p
                for h, p in zip(force, pull(self._solved, multipliers, self._size), strict=True)
            ]
        effort = [remainder[k] if k in actuated else 0.0 for k in range(self._size)]
        remaining = [0.0 if k in actuated else remainder[k] for k in range(self._size)]
        limit = self._reached * (1.0 + _largest(force))
        rcond = smaller(solver.rcond, self.rcond)
        for x in remaining:
            rcond = where(absolute(x) <= limit, rcond, 0.0)
        return Balanced(effort, self._shared(multipliers), remaining, rcond)

    def _shared(self, multipliers: list[Scalar]) -> list[Scalar]:
        """Return multipliers of all rows, as `RowSelection.shared` does."""
        system, result = self._system, self._found
        count = len(self._solved)
        if system.repeated:
            remainder = [system.rows[i] for i in system.repeated]
            made_of = [  # C of A_rest = C A
                result.factors.solve(
                    [*[product(row, other) for other in self._solved], *[0.0] * len(remainder)]
                )[:count]
                for row in remainder
            ]
            weights = [ratio(1.0, s) for s in result.factors.scale]
            gram = [
                [
                    sum(
                        (w * c[i] * c[j] for w, c in zip(weights[count:], made_of, strict=True)),
                        weights[i] if i == j else 0.0,
                    )
                    for j in range(i + 1)
                ]
                for i in range(count)
            ]
            local = _Factors(gram).solve(multipliers)
            multipliers = [
                *[w * x for w, x in zip(weights, local, strict=False)],
                *[w * dot(c, local) for w, c in zip(weights[count:], made_of, strict=True)],
            ]
        in_order: list[Scalar] = [0.0] * len(system.rows)
        for i, multiplier in zip(system.eliminated, multipliers, strict=True):
            in_order[i] = multiplier
        return in_order


class _Factors:
    """L D L' of a positive definite matrix, given by its lower triangle."""

    def __init__(self, gram: Sequence[Sequence[Scalar]]) -> None:
        self._factors, self.rcond = Elimination(gram, range(len(gram))), 1.0
        for _ in gram:
            self.rcond = smaller(self.rcond, ROW_WEIGHT * self._factors.strength())
            self._factors.take()

    def solve(self, right_side: Sequence[Scalar]) -> list[Scalar]:
        return self._factors.solve(right_side)


class _Determined:
    """Multipliers from the speeds that nothing drives: min |h_u - A_u' lambda|."""

    def __init__(
        self,
        rows: Sequence[SparseRow],
        free: Sequence[int],
        actuated: Sequence[int],
        weights: Sequence[Scalar],
    ) -> None:
        self._parts = [{k: x for k, x in row.items() if k in free} for row in rows]
        self._factors = _Factors(gram_matrix(self._parts))
        self.rcond = self._factors.rcond

    def multipliers(self, force: Sequence[Scalar]) -> list[Scalar]:
        return self._factors.solve([times(part, force) for part in self._parts])


class _Shared:
    r"""
    Multipliers of least efforts: min :math:`\sum_s w \tau^2`, :math:`A_u^T\lambda = h_u`.

    With unit weights on u the weighted Gram matrix N of all rows is positive definite, and adds
    only a constant to what is least.
    """

    def __init__(
        self,
        rows: Sequence[SparseRow],
        free: Sequence[int],
        actuated: Sequence[int],
        weights: Sequence[Scalar],
    ) -> None:
        self._free = list(free)
        self._weighted = [
            {k: x if k in free else weights[k] * x for k, x in row.items()} for row in rows
        ]
        gram = [[product(a, b) for b in rows[: i + 1]] for i, a in enumerate(self._weighted)]
        self._rows = _Factors(gram)
        self._columns = [[row.get(k, 0.0) for row in rows] for k in free]
        self._spread = [self._rows.solve(column) for column in self._columns]
        inner = [
            [dot(column, spread) for spread in self._spread[: i + 1]]
            for i, column in enumerate(self._columns)
        ]
        self._inner = _Factors(inner)
        self.rcond = smaller(self._rows.rcond, self._inner.rcond)

    def multipliers(self, force: Sequence[Scalar]) -> list[Scalar]:
        start = self._rows.solve([times(row, force) for row in self._weighted])
        lacking = [
            force[k] - dot(column, start)
            for k, column in zip(self._free, self._columns, strict=True)
        ]
        pushes = self._inner.solve(lacking)
        return [
            x + sum((s[i] * p for s, p in zip(self._spread, pushes, strict=True)), 0.0)
            for i, x in enumerate(start)
        ]


def _largest(values: Sequence[Scalar]) -> Scalar:
    largest: Scalar = 0.0
    for x in values:
        size = absolute(x)
        largest = where(size > largest, size, largest)
    return largest
