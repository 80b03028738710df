# SPDX-License-Identifier: Apache-2.0
r"""
Elimination of sparse constraint rows, with the rank rule in a form that can be traced.

:math:`A M^{-1} A^T \lambda = b - A M^{-1} Q` is solved by :math:`L D L^T` in the order of the
rows. A pivot over the largest diagonal of its kind is the squared strength of a row in the metric
of M^-1 (`row_selection`), a pivot of :math:`A A^T` that in SI units; a row that both call weak
gets the inverse pivot 0, which is all that leaving it out takes.

Wherever the rule might decide otherwise the reciprocal condition is 0, and the caller asks the
reference: at pivots between `_CLEAR` and `_DROPPED`, and where rows are weak that others drop
beside or that another order might drop (the reference takes strong rows first).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import NamedTuple

from kane_dynamics.algebra.scalars import Scalar, is_number, is_zero, where
from kane_dynamics.algorithms.sparse_ldl import larger, smaller
from kane_dynamics.constraints.row_selection import GRADES, ROUNDOFF_ROW, TAKEN, VANISHED
from kane_dynamics.typing import NDArray

SparseRow = Mapping[int, Scalar]


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Nonzeros of constraint rows at a state, with kinds and owners of `ConstraintRows`."""

    rows: Sequence[SparseRow]
    kinds: Sequence[int]
    owners: Sequence[int]
    order: Sequence[int]
    repeated: Sequence[int] = ()
    certain: bool = True
    second: Sequence[int] = ()

    @property
    def choices(self) -> list[SparseRows]:
        """Return these rows with one choice each of which of them are solved for."""
        if not self.second:
            return [self]
        remainder = [k for k in self.eliminated if k not in self.second]
        other = replace(self, order=self.second, repeated=remainder, second=())
        return [replace(self, second=()), other]

    @property
    def eliminated(self) -> list[int]:
        """Return the pivot rows, then the repeated ones."""
        return [*self.order, *self.repeated]

    @classmethod
    def of(cls, rows: Sequence[SparseRow]) -> SparseRows:
        """Return independent rows, each measured against itself."""
        local = range(len(rows))
        return cls(rows, local, local, local)


def sparse_rows(matrix: NDArray) -> list[SparseRow]:
    """Return the nonzeros of each row of a matrix."""
    return [{k: x for k, x in enumerate(row) if not is_zero(x)} for row in matrix]


def product(row: SparseRow, x: Sequence[Scalar]) -> Scalar:
    """Return a row times a vector."""
    return sum((entry * x[k] for k, entry in row.items()), 0.0)


def inner_product(a: SparseRow, b: SparseRow) -> Scalar:
    """Return a row times a row."""
    return sum((x * b[k] for k, x in a.items() if k in b), 0.0)


def gram_matrix(rows: Sequence[SparseRow]) -> list[list[Scalar]]:
    """Return the lower triangle of A A'."""
    return [[inner_product(a, b) for b in rows[: i + 1]] for i, a in enumerate(rows)]


def transpose_product(
    rows: Sequence[SparseRow], multipliers: Sequence[Scalar], size: int
) -> list[Scalar]:
    """Return A' lambda."""
    total: list[Scalar] = [0.0] * size
    for row, multiplier in zip(rows, multipliers, strict=True):
        for k, entry in row.items():
            total[k] = total[k] + entry * multiplier
    return total


def residuals(
    rows: Sequence[SparseRow], x: Sequence[Scalar], right_side: Iterable[Scalar]
) -> list[Scalar]:
    """Return A x - c."""
    return [product(row, x) - c for row, c in zip(rows, right_side, strict=True)]


# The Gram matrix of rows squares the angle between them: vdot is off by up to 3e-15/s^2, as
# measured. Rows of s = 1e-2 must still be good to 1e-10: at that strength the rcond is 1e-6.
ROW_WEIGHT = 1e-2
_CLEAR = 1e-4
_DROPPED = 0.9 * TAKEN**2
_FIRST = (1.1 * GRADES[0]) ** 2  # taken by the reference in its first round, whatever the order
# Rows that are this far (squared) from all others, in units of their kind, are so in any order;
# so are rows of unit size that span this volume (squared).
_SOLID = 1.2 * TAKEN**2


class Elimination:
    """L D L' of a Gram matrix, row by row; rows that are not taken get the inverse pivot 0."""

    def __init__(self, gram: Sequence[Sequence[Scalar]], kinds: Sequence[int]) -> None:
        self.scale = _largest(kinds, [row[-1] for row in gram])
        self._gram = gram
        self.lower: list[list[Scalar]] = []
        self._inverse: list[Scalar] = []
        self.strengths: list[Scalar] = []
        self.pivots: list[Scalar] = []

    def strength(self) -> Scalar:
        """Eliminate the next row; return its squared strength beside the rows taken so far."""
        values = self._gram[len(self.lower)]
        scaled: list[Scalar] = []
        row: list[Scalar] = []
        for j, inverse in enumerate(self._inverse):
            entry = values[j] - dot(scaled, self.lower[j])
            scaled.append(entry)
            row.append(entry * inverse)
        self.lower.append(row)
        self.pivots.append(values[-1] - dot(scaled, row))
        self.strengths.append(ratio(self.pivots[-1], self.scale[len(row)]))
        return self.strengths[-1]

    def take(self, use: Scalar = 1.0) -> None:
        """Take the row just eliminated, where `use` is not 0."""
        pivot = self.pivots[-1]
        if is_number(use):
            self._inverse.append(use / (pivot if not is_zero(pivot) else 1.0))
            return
        self._inverse.append(where(use > 0.0, 1.0 / where(use > 0.0, pivot, 1.0), 0.0))

    def nearness(self) -> Scalar:
        """Return the largest inverse of a row's squared distance from all others, in its scale."""
        parts = zip(self.scale, self.inverse_diagonal(), strict=False)
        return reduce(larger, (scale * inverse for scale, inverse in parts), 0.0)

    def inverse_diagonal(self) -> list[Scalar]:
        """Return the diagonal of G^-1 of the rows so far: 1 / squared distance from all others."""
        diagonal: list[Scalar] = []
        for i in range(len(self._inverse)):
            column: list[Scalar] = [1.0]  # of L^-1, below the diagonal
            for row in self.lower[i + 1 : len(self._inverse)]:
                column.append(-dot(row[i:], column))
            parts = zip(column, self._inverse[i:], strict=True)
            diagonal.append(sum((x * x * d for x, d in parts), 0.0))
        return diagonal

    def forward(self, right_side: Sequence[Scalar]) -> list[Scalar]:
        """Return L^-1 c: for a row that is not taken, what c asks beyond the rows taken."""
        x: list[Scalar] = []
        for c, row in zip(right_side, self.lower, strict=True):
            x.append(c - dot(row, x))
        return x

    def solve(self, right_side: Sequence[Scalar]) -> list[Scalar]:
        """Return the multipliers, 0 for rows that are not taken."""
        y = self.forward(right_side)
        return self.backward([a * inverse for a, inverse in zip(y, self._inverse, strict=True)])

    def backward(self, x: list[Scalar]) -> list[Scalar]:
        """Return x' L^-1 of the first rows."""
        for i in reversed(range(len(x))):
            for j in range(i):
                x[j] = x[j] - self.lower[i][j] * x[i]
        return x


def factored(gram: Sequence[Sequence[Scalar]]) -> Elimination:
    """Return the factors of the lower triangle of a positive definite matrix."""
    factors = Elimination(gram, range(len(gram)))
    for _ in gram:
        factors.strength()
        factors.take()
    return factors


class Solvable(NamedTuple):
    """Rows after elimination in the metric of M^-1."""

    factors: Elimination
    dropped: list[Scalar]
    vanished: list[Scalar]
    weak: list[Scalar]
    beyond: list[Scalar]
    rcond: Scalar
    sizes: list[Scalar]  # squared, of the largest row of each kind in SI units


def eliminate(
    system: SparseRows, gram: Sequence[Sequence[Scalar]], *, one_by_one: bool = False
) -> Solvable:
    """Return the factors of the lower triangle of a Gram matrix A M^-1 A', by the rank rule."""
    kinds = [system.kinds[i] for i in system.eliminated]
    plain = gram_matrix([system.rows[i] for i in system.eliminated])
    factors, in_si = Elimination(gram, kinds), Elimination(plain, kinds)
    vanished = _vanished(system, [row[-1] for row in plain])
    count = len(system.order)
    if system.certain:
        dropped, rcond = _all_taken(factors, in_si, vanished[:count], one_by_one)
    else:
        dropped, rcond = _by_the_rule(factors, in_si, vanished[:count])
    beyond: list[Scalar] = []
    for _ in system.repeated:
        local, plain_own = factors.strength(), in_si.strength()
        beyond.append(larger(plain_own, local))
        factors.take(0.0)
        in_si.take(0.0)
    weak = [where(strength <= _DROPPED, 1.0, 0.0) for strength in beyond]
    dropped += [1.0] * len(weak)
    return Solvable(factors, dropped, vanished, weak, beyond, rcond, in_si.scale)


def _all_taken(
    factors: Elimination, in_si: Elimination, vanished: Sequence[Scalar], one_by_one: bool
) -> tuple[list[Scalar], Scalar]:
    """Take all rows; return that, and the rcond, 0 where the rule drops one."""
    rcond, weakest, volume = 1.0, 1.0, 1.0
    for gone in vanished:
        strength = factors.strength()
        weakest, volume = smaller(weakest, strength), volume * strength
        rcond = where(gone > 0.0, 0.0, rcond)
        factors.take()
        in_si.strength()
        in_si.take()
    unclear = _SOLID * factors.nearness() > 1.0 if one_by_one else volume < _SOLID
    rcond = where(weakest < _FIRST, where(unclear, 0.0, rcond), rcond)
    return [0.0] * len(vanished), smaller(rcond, ROW_WEIGHT * weakest)


def _by_the_rule(
    factors: Elimination, in_si: Elimination, vanished: Sequence[Scalar]
) -> tuple[list[Scalar], Scalar]:
    """Take the rows that the rule takes; return which are dropped, and the rcond."""
    rcond, weakest, volume = 1.0, 1.0, 1.0
    dropped: list[Scalar] = []
    repeating: Scalar = 0.0
    for gone in vanished:
        strength, plain_strength = factors.strength(), in_si.strength()
        use = where(strength >= _CLEAR, 1.0 - gone, 0.0)
        weak = where(strength <= _DROPPED, where(plain_strength <= _DROPPED, 1.0, 0.0), 0.0)
        dropped.append(where(gone > 0.0, 1.0, weak))
        repeating = where(gone > 0.0, repeating, repeating + weak)
        rcond = where(use + dropped[-1] > 0.0, rcond, 0.0)
        counted = where(use > 0.0, strength, 1.0)
        weakest, volume = smaller(weakest, counted), volume * counted
        factors.take(use)
        in_si.take(where(plain_strength > ROUNDOFF_ROW, use, 0.0))
    unclear = repeating + where(volume < _SOLID, 1.0, 0.0)
    unclear = where(weakest < _FIRST, unclear, 0.0)
    return dropped, where(unclear > 0.0, 0.0, smaller(rcond, ROW_WEIGHT * weakest))


def _vanished(system: SparseRows, sizes: Sequence[Scalar]) -> list[Scalar]:
    """Return 1 for rows that are nothing but roundoff beside the others of their constraint."""
    owners = [system.owners[i] for i in system.eliminated]
    pairs = set(zip(system.owners, system.kinds, strict=True))
    gone: list[Scalar] = []
    for owner, size, most in zip(owners, sizes, _largest(owners, sizes), strict=True):
        if system.certain and sum(other == owner for other, _ in pairs) == 1:
            gone.append(0.0)  # measured against its kind, it has no strength
            continue
        zero = where(size <= VANISHED**2, 1.0, 0.0)
        gone.append(where(size <= ROUNDOFF_ROW**2 * most, 1.0, zero))
    return gone


def _largest(groups: Sequence[int], sizes: Sequence[Scalar]) -> list[Scalar]:
    """Return for each row the largest size in its group."""
    largest: dict[int, Scalar] = {}
    for group, size in zip(groups, sizes, strict=True):
        largest[group] = larger(largest[group], size) if group in largest else size
    return [largest[group] for group in groups]


def ratio(x: Scalar, scale: Scalar) -> Scalar:
    """Return x / scale, 0 where the scale is nothing; NaN stays NaN."""
    safe = where(scale <= VANISHED**2, 1.0, scale)
    return where(scale <= VANISHED**2, 0.0, x / safe)


def dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    """Return a' b."""
    return sum((x * y for x, y in zip(a, b, strict=True)), 0.0)
