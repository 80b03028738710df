# SPDX-License-Identifier: Apache-2.0
r"""
Speeds and accelerations that constraints allow: :math:`A v = b_0`, :math:`A \dot v = b`.

What is known stays, the other entries follow from the rows; where nothing is said to be known, the
nearest ones in the metric M. The rows are those that `row_selection` takes.

More motors than freedoms can be told to move as no base can roll (`project_reference`). The speeds
x nearest to wanted ones y, with :math:`A x = b_0`, are those of

.. math:: W (x - y) + A^T \lambda = 0, \qquad A x = b_0,

where W counts the speeds that have motors. The robot moves meanwhile, at speeds v, and the rows
turn: the rate of x is that of the same equations, :math:`W (\dot x - \dot y) + A^T \dot\lambda =
-\dot A^T \lambda` and :math:`A \dot x = b - \dot A (x - v)`. It is exact, and control by passivity
needs it so: else :math:`s^T M s / 2` of :math:`s = v - x` would not fall with the power of the
gains. Rows that repeat others change nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from kane_dynamics.algorithms.traced_inverse_solve import REACHED
from kane_dynamics.algorithms.udwadia_kalaba import unit_scaling
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.exceptions import InconsistentConstraintsError, UnreachableAccelerationError
from kane_dynamics.robot.checks import as_names
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats, Indices

_RANK_TOLERANCE = 1e-10  # relative singular value, on columns scaled to unit length


def complete_entries(
    robot: Robot, A: Floats, b: Floats, x: Floats, known: Sequence[int]
) -> Floats:
    """Return x with its unknown entries solved from A x = b: speeds or accelerations."""
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


def fit_entries(A: Floats, b: Floats, x: Floats, free: Sequence[int] | Indices) -> Floats:
    """Return x with free entries such that A x = b holds as well as it can: least squares."""
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


_REPEATED = 1e-6  # relative singular value of rows that repeat others, at angles that agree


def project_reference(
    rows: ConstraintRows, turning: Floats, v: Floats, y: Floats, rate: Floats, counted: Indices
) -> tuple[Floats, Floats]:
    """Return speeds nearest to wanted ones that keep the rows, and their rate, shapes (nv,)."""
    A, nv = rows.matrix, len(v)
    weights = np.zeros(nv)
    weights[counted] = 1.0
    system = np.block([[np.diag(weights), A.T], [A, np.zeros((len(A), len(A)))]])

    def step(force: Floats, gap: Floats) -> tuple[Floats, Floats]:
        result = np.linalg.lstsq(system, np.concatenate([force, gap]), rcond=_REPEATED)[0]
        return result[:nv], result[nv:]

    change, multipliers = step(np.zeros(nv), rows.velocity - A @ y)
    x = y + change
    gap = rows.acceleration - turning @ (x - v) - A @ rate
    return x, rate + step(-turning.T @ multipliers, gap)[0]
