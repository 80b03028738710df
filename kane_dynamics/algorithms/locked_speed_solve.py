# SPDX-License-Identifier: Apache-2.0
r"""
Constrained accelerations where some rows lock one speed each, and may be off.

:math:`M x = Q + A^T \lambda`, :math:`A x = c` as in `constrained_solve`. A row
:math:`\pm x_k = c` (a lock, an end of a range) asks for no elimination: where it is on, x_k is
known, and row and column k leave M. The others are judged by the rank rule as those of a robot
without these speeds. Rows that lock the same speed share its force evenly, which is the share of
least norm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from kane_dynamics.algebra.scalars import Scalar, absolute, where
from kane_dynamics.algorithms.constrained_solve import ConstrainedSystem, Solved, Speeds
from kane_dynamics.algorithms.row_elimination import (
    SparseRow,
    SparseRows,
    residuals,
    transpose_product,
)
from kane_dynamics.algorithms.sparse_ldl import factor_tree, symmetric_product

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
    agreed: float = AGREED,
    watch: bool = True,
) -> Solved:
    """Return what `ConstrainedSystem.solve` does, with rows that lock one speed each."""
    locked, rcond, count = dict[int, Scalar](), 1.0, len(force)
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
