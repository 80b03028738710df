# SPDX-License-Identifier: Apache-2.0
r"""
Accelerations and Lagrange multipliers from one linear system.

.. math:: \begin{bmatrix} M & -G^T \\ G & 0 \end{bmatrix}
   \begin{bmatrix} \dot v \\ \mu \end{bmatrix} = \begin{bmatrix} Q \\ g \end{bmatrix}

with orthonormal rows G that say the same as the independent rows A. These are the conditions for
the least value of a function with gradient :math:`M\dot v - Q`, Gibbs's or Gauss's, under the
constraints. M may be singular as long as the constraints bind what has no mass.
"""

from __future__ import annotations

import numpy as np
import scipy

from kane_dynamics.algorithms.independent_speeds import reduce_rows
from kane_dynamics.algorithms.udwadia_kalaba import SINGULAR, unit_scaling
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.exceptions import SingularMassMatrixError
from kane_dynamics.typing import Floats


def multiplier_motion(
    mass_matrix: Floats, force: Floats, rows: ConstraintRows
) -> tuple[Floats, Floats]:
    """
    Return accelerations and multipliers of the rows.

    Parameters
    ----------
    mass_matrix : ndarray, shape (nv, nv)
        M, positive semidefinite.
    force : ndarray, shape (nv,)
        Q = tau - C v - g and all other given forces.
    rows : ConstraintRows
        Independent rows A vdot = b.

    Raises
    ------
    SingularMassMatrixError
        If some speed that no row binds moves no mass.

    """
    reduced = reduce_rows(rows.matrix)
    G, nv = reduced.rows, len(force)
    rank = len(G)
    size = float(np.linalg.norm(mass_matrix)) or 1.0  # brings mu to the size of vdot
    system = np.block([[mass_matrix, -size * G.T], [G, np.zeros((rank, rank))]])
    right_side = np.concatenate([force, reduced.to_reduced @ rows.acceleration])
    scaling = unit_scaling(np.linalg.norm(system, axis=1))
    solution, _, result, _ = scipy.linalg.lstsq(
        scaling[:, None] * system, scaling * right_side, cond=SINGULAR
    )
    if result < nv + rank:
        raise SingularMassMatrixError(
            f'[M -A^T; A 0] has rank {result} of {nv + rank}: a speed that no row binds moves '
            'no mass'
        )
    return solution[:nv], reduced.to_reduced.T @ (size * solution[nv:])
