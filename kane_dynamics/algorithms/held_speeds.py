# SPDX-License-Identifier: Apache-2.0
r"""
Constrained accelerations where some rows hold one speed each, and may be off.

:math:`M x = Q + A^T \lambda`, :math:`A x = c` as in `constrained_solve`. A row
:math:`\pm x_k = c` (a lock, an end of a range) asks for no elimination: where it is on, x_k is
known, and row and column k leave M. The others are judged by the rank rule as those of a robot
without these speeds. Rows that hold the same speed share its force evenly, which is the share of
least norm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kane_dynamics.algebra.scalars import Scalar, absolute, where
from kane_dynamics.algorithms.constrained_solve import Solved, solve_constrained
from kane_dynamics.algorithms.sparse_ldl import factor_tree, symmetric_product
from kane_dynamics.algorithms.sparse_rows import SparseRow, SparseRows, pull, times

AGREED = 1e-9  # by which right sides of rows that hold the same speed may differ


@dataclass(frozen=True, eq=False, slots=True)
class Hold:
    """
    A row that holds one speed where it is on.

    Parameters
    ----------
    row : int
        Its number.
    sign : float
        1 or -1: its only entry.
    on : scalar
        1 or 0.

    """

    row: int
    sign: float
    on: Scalar


def solve_held(
    lower: Sequence[Mapping[int, Scalar]],
    force: Sequence[Scalar],
    system: SparseRows,
    right_side: Sequence[Scalar],
    holds: Mapping[int, Sequence[Hold]],
    speeds: tuple[Sequence[Scalar], Sequence[Scalar]] | None = None,
    *,
    agreed: float = AGREED,
    watch: bool = True,
) -> Solved:
    """
    Return what `solve_constrained` does, with rows that hold one speed each.

    Parameters
    ----------
    lower : sequence of mapping of int to scalar
        Nonzeros of the lower triangle of M.
    force, system, right_side, speeds, watch
        As for `solve_constrained`; the rows that hold a speed are not in the order of the system.
    holds : mapping of int to sequence of Hold
        The rows that may hold a speed, by its number.
    agreed : float
        By which right sides of rows that hold the same speed may differ; beyond it the health
        is 0.

    """
    held, rcond = dict[int, Scalar](), 1.0
    values: list[Scalar] = [0.0] * len(force)
    for k, rows in holds.items():
        asked = [one.sign * right_side[one.row] for one in rows]
        held[k] = 0.0
        for one, value in reversed([*zip(rows, asked, strict=True)]):  # the first that is on
            held[k] = where(one.on > 0.0, 1.0, held[k])
            values[k] = where(one.on > 0.0, value, values[k])
        for one, value in zip(rows, asked, strict=True):
            rcond = where(one.on * absolute(value - values[k]) > agreed, 0.0, rcond)
    independent_indices = symmetric_product(lower, values)
    remainder = [
        where(held[k] > 0.0, values[k], f - p) if k in held else f - p
        for k, (f, p) in enumerate(zip(force, independent_indices, strict=True))
    ]
    left = replace(system, rows=[_without(held, row) for row in system.rows])
    sides = [c - times(row, values) for row, c in zip(system.rows, right_side, strict=True)]
    factor = factor_tree([_cut(held, k, row) for k, row in enumerate(lower)])
    solved = solve_constrained(factor, remainder, left, sides, speeds, watch=watch)
    pulled = pull(system.rows, solved.multipliers, len(force))
    moved = symmetric_product(lower, solved.x)
    multipliers, dropped = [*solved.multipliers], [*solved.dropped]
    for k, rows in holds.items():
        count = sum((one.on for one in rows), 0.0)
        share = (moved[k] - force[k] - pulled[k]) / where(count > 0.0, count, 1.0)
        before: Scalar = 0.0
        for one in rows:
            multipliers[one.row] = where(one.on > 0.0, one.sign * share, 0.0)
            dropped[one.row] = where(one.on > 0.0, before, 1.0)
            before = where(one.on > 0.0, 1.0, before)
    rcond = where(rcond > 0.0, solved.rcond, 0.0)
    return replace(solved, multipliers=multipliers, dropped=dropped, rcond=rcond)


def _without(held: Mapping[int, Scalar], row: SparseRow) -> SparseRow:
    """Return a row without the entries of speeds that are held."""
    return {k: where(held[k] > 0.0, 0.0, x) if k in held else x for k, x in row.items()}


def _cut(held: Mapping[int, Scalar], k: int, row: SparseRow) -> SparseRow:
    """Return row k of M where speeds that are held move by themselves, with mass 1."""
    local = row if k not in held else {j: where(held[k] > 0.0, 0.0, x) for j, x in row.items()}
    cut = dict(_without(held, {j: x for j, x in local.items() if j != k}))
    cut[k] = where(held[k] > 0.0, 1.0, row[k]) if k in held else row[k]
    return cut
