# SPDX-License-Identifier: Apache-2.0
r"""
Reference speeds of motors that may contradict each other, brought onto the rows, and their rate.

More motors than freedoms can be wanted to move as no base can roll. The speeds x nearest to wanted
ones y, with :math:`A x = b_0`, are those of

.. math:: W (x - y) + A^T \lambda = 0, \qquad A x = b_0,

where W counts the speeds that have motors. The robot moves meanwhile, at speeds v, and the rows
turn: the rate of x is that of the same equations, :math:`W (\dot x - \dot y) + A^T \dot\lambda =
-\dot A^T \lambda` and :math:`A \dot x = b - \dot A (x - v)`. It is exact, and control by passivity
needs it so: else :math:`s^T M s / 2` of :math:`s = v - x` would not fall with the power of the
gains. Rows that repeat others change nothing.
"""

from __future__ import annotations

import numpy as np

from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.typing import Floats, Indices

_REPEATED = 1e-6  # relative singular value of rows that repeat others, at angles that agree


def agreeing_speeds(
    rows: ConstraintRows, turning: Floats, v: Floats, y: Floats, rate: Floats, counted: Indices
) -> tuple[Floats, Floats]:
    """
    Return the speeds nearest to wanted ones that keep the rows, and their rate, shapes (nv,).

    What neither `counted` speeds nor rows determine changes the least.

    Parameters
    ----------
    rows : ConstraintRows
        At the state.
    turning : ndarray, shape (k, nv)
        dA/dt, while the robot moves at v.
    v : ndarray, shape (nv,)
        Speeds of the robot, on the rows.
    y, rate : ndarray, shape (nv,)
        Wanted speeds, and their rate.
    counted : ndarray of int
        The speeds that are wanted.

    """
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
