# SPDX-License-Identifier: Apache-2.0
r"""
Steps that pass a singular configuration of the holonomic rows.

Where two branches of motion cross (a parallelogram that lies flat) a combination of rows vanishes
and comes back with the other sign: rows before and after turn to each other like a left and a
right hand, :math:`\det(A(q) A(q^+)^T) < 0`. In a step that passes no such place the rows turn by
less than a right angle, and the determinant is positive.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kane_dynamics.algebra.scalars import Scalar, is_zero


def crossing_determinant(before: Sequence[Any], after: Sequence[Any]) -> Scalar:
    """
    Return a number of the sign of det(A B'), numbers or traced.

    Parameters
    ----------
    before, after : sequence of mapping of int to scalar
        Nonzeros of the rows of A and B, the same independent rows at two states.

    """
    left = [[sum((x * b[k] for k, x in a.items() if k in b), 0.0) for b in after] for a in before]
    determinant: Scalar = 1.0
    for k in range(len(left)):
        pivot = left[k][k]
        if is_zero(pivot):
            return 0.0
        determinant = determinant * pivot
        for i in range(k + 1, len(left)):
            factor = left[i][k] / pivot
            left[i] = [x - factor * y for x, y in zip(left[i], left[k], strict=True)]
    return determinant
