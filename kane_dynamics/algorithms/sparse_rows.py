# SPDX-License-Identifier: Apache-2.0
"""Constraint rows by their nonzeros, numbers or traced: products, sums, residuals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from kane_dynamics.algebra.scalars import Scalar, is_zero

SparseRow = Mapping[int, Scalar]


@dataclass(frozen=True, eq=False)
class SparseRows:
    """
    Constraint rows at a state, and how a compiled solve treats them.

    Parameters
    ----------
    rows : sequence of mapping of int to scalar
        Nonzeros of A.
    kinds, owners : sequence of int
        As in `ConstraintRows`.
    order : sequence of int
        Rows that are solved for, holonomic ones first.
    repeated : sequence of int
        Rows that repeat these in general and get no force; whether they do is watched.
    certain : bool
        Whether none of `order` is expected to drop; where one does, the health is 0.
    second : sequence of int
        Rows that are solved for instead where those of `order` are weak, if any.

    """

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
        """Return the rows of an elimination: those that are solved for, then the repeated ones."""
        return [*self.order, *self.repeated]

    @classmethod
    def of(cls, rows: Sequence[SparseRow]) -> SparseRows:
        """Return independent rows, each measured against itself."""
        local = range(len(rows))
        return cls(rows, local, local, local)


def sparse_rows(matrix: NDArray[Any]) -> list[SparseRow]:
    """Return the nonzeros of each row of a matrix."""
    return [{k: x for k, x in enumerate(row) if not is_zero(x)} for row in matrix]


def times(row: SparseRow, x: Sequence[Scalar]) -> Scalar:
    """Return a row times a vector."""
    return sum((entry * x[k] for k, entry in row.items()), 0.0)


def product(a: SparseRow, b: SparseRow) -> Scalar:
    """Return a row times a row."""
    return sum((x * b[k] for k, x in a.items() if k in b), 0.0)


def gram_matrix(rows: Sequence[SparseRow]) -> list[list[Scalar]]:
    """Return the lower triangle of A A'."""
    return [[product(a, b) for b in rows[: i + 1]] for i, a in enumerate(rows)]


def pull(rows: Sequence[SparseRow], multipliers: Sequence[Scalar], size: int) -> list[Scalar]:
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
    return [times(row, x) - c for row, c in zip(rows, right_side, strict=True)]
