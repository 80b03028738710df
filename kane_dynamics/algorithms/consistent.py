# SPDX-License-Identifier: Apache-2.0
r"""
Speeds and accelerations that constraints allow: :math:`A v = b_0`, :math:`A \dot v = b`.

What is known stays, the other entries follow from the rows; where nothing is said to be known, the
nearest ones in the metric M. The rows are those that `row_selection` takes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from kane_dynamics.algorithms.row_balance import REACHED
from kane_dynamics.algorithms.udwadia_kalaba import unit_scaling
from kane_dynamics.exceptions import InconsistentConstraintsError, UnreachableAccelerationError
from kane_dynamics.robot.checks import as_names
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats, Indices

_RANK_TOLERANCE = 1e-10  # relative singular value, on columns scaled to unit length


def completed(robot: Robot, A: Floats, b: Floats, x: Floats, known: Sequence[int]) -> Floats:
    """
    Return x with its unknown entries solved from A x = b: speeds or accelerations.

    Parameters
    ----------
    robot : Robot
        The robot.
    A : ndarray, shape (m, nv)
        Independent constraint rows.
    b : ndarray, shape (m,) or (m, n)
        Right side, or several.
    x : ndarray, shape (nv,) or (nv, n)
        Only the known entries count.
    known : sequence of int
        Their indices.

    Raises
    ------
    UnreachableAccelerationError
        If the constraints leave an entry undetermined.
    InconsistentConstraintsError
        If the known entries contradict the constraints.

    """
    unknown = [k for k in range(robot.nv) if k not in set(known)]
    whole = x.copy()
    whole[unknown] = 0.0
    right_side = b - A @ whole
    solution, rank = least_norm(A[:, unknown], right_side)
    if rank < len(unknown):
        raise UnreachableAccelerationError(
            f'the constraints determine {rank} of these, give the others',
            [robot.velocity_names[k] for k in unknown],
            0.0,
        )
    remaining = right_side - A[:, unknown] @ solution
    if np.abs(remaining).max(initial=0.0) > REACHED * (1.0 + np.abs(right_side).max(initial=0.0)):
        raise InconsistentConstraintsError(
            'what is given contradicts the constraints', rank, float(np.linalg.norm(remaining))
        )
    whole[unknown] = solution
    return whole


def fitted(A: Floats, b: Floats, x: Floats, free: Sequence[int] | Indices) -> Floats:
    """
    Return x with some entries such that A x = b holds as well as it can, the others as given.

    Parameters
    ----------
    A, b, x
        As for `completed`; rows that the free entries cannot change may be missed.
    free : sequence or ndarray of int
        Indices of the entries that are found: least squares of least norm.

    """
    selection = list(free)
    whole = x.copy()
    whole[selection] = 0.0
    whole[selection] = least_norm(A[:, selection], b - A @ whole)[0]
    return whole


def speed_indices(robot: Robot, names: Sequence[str], what: str = 'known') -> list[int]:
    """Return the indices in v of named speeds, each once."""
    return list(dict.fromkeys(robot.velocity_index(name) for name in as_names(what, names)))


def least_norm(matrix: Floats, right_side: Floats) -> tuple[Floats, int]:
    """Return the least-squares solution of least norm (columns of unit length), and the rank."""
    if not matrix.size:
        return np.zeros((matrix.shape[1], *right_side.shape[1:])), 0
    scaling = unit_scaling(np.linalg.norm(matrix, axis=0))
    scaled, _, rank, _ = scipy.linalg.lstsq(matrix * scaling, right_side, cond=_RANK_TOLERANCE)
    return (scaling * scaled.T).T, int(rank)
