# SPDX-License-Identifier: Apache-2.0
r"""
Mobility and steerability of a base, from the ranks of its rows.

Campion, Bastin, d'Andrea-Novel (1996): :math:`\delta_m = 3 - \mathrm{rank}\, C_1`, with the
lateral rows :math:`C_1 \nu = 0` of fixed and steered wheels; :math:`\delta_s` is what steered
ones add to that rank. Here :math:`C_1 = N^T B` is what remains of all rows when everything that
may turn does, :math:`N^T (D\, P\, S) = 0`: it holds for wheels of any kind.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kane_dynamics.bases.motion_rows import MotionRows, left_null_space
from kane_dynamics.bases.wheel import Wheel
from kane_dynamics.constraints.row_selection import TAKEN
from kane_dynamics.typing import Floats


def bound_motions(rows: MotionRows) -> Floats:
    """Return C_1 of C_1 nu = 0, shape (m, 3)."""
    turning = np.hstack([rows.rolling, rows.steering])
    return left_null_space(turning, rows.small).T @ rows.twist


def mobility(rows: MotionRows) -> int:
    """Return delta_m: how many independent motions the base has at this instant."""
    return 3 - _rank(bound_motions(rows))


def steerability(rows: MotionRows, wheels: Sequence[Wheel]) -> int:
    """
    Return delta_s: how many steered wheels without trail turn the motion independently.

    It is the rank of their rows beside those of fixed wheels; more than two rows have no motion in
    common, so that further wheels follow.
    """
    every, fixed = (_rank(bound_motions(part)) for part in (rows, not_steered(rows, wheels)))
    return max(0, min(every, 2) - fixed)


def not_steered(rows: MotionRows, wheels: Sequence[Wheel]) -> MotionRows:
    """Return the rows that hold at all steering angles."""
    steered = {wheel.joint for wheel in wheels if wheel.kind == 'steered'}
    return rows.take([k for k, owner in enumerate(rows.owners) if owner not in steered])


def undriven(rows: MotionRows) -> int:
    """Return how many motions the base can do while its motors stand still."""
    held = left_null_space(rows.free, rows.small).T @ rows.twist
    return 3 - _rank(held)


def _rank(matrix: Floats) -> int:
    """Return a rank; rows that nearly repeat others count as in `row_selection`."""
    sizes = np.linalg.svd(matrix, compute_uv=False) if matrix.size else np.zeros(0)
    return int((sizes > TAKEN).sum())
