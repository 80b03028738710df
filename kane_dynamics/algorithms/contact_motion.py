# SPDX-License-Identifier: Apache-2.0
r"""
Accelerations under rows and closed contacts: Gauss's principle with inequalities.

.. math:: M \dot v = Q + A^T \lambda + C^T \mu, \quad A \dot v = b, \quad
   0 \le \mu \perp C \dot v - d \ge 0

These are the conditions of the least constraint :math:`\tfrac12 (\dot v - a)^T M (\dot v - a)`,
:math:`M a = Q`, under rows and bounds (Silva et al., section 6, as future work).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from kane_dynamics.algorithms.least_distance import nearest_above
from kane_dynamics.algorithms.udwadia_kalaba import cholesky_factor
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.constraints.row_selection import select_rows
from kane_dynamics.exceptions import InconsistentConstraintsError
from kane_dynamics.typing import Floats


@dataclass(frozen=True, eq=False, slots=True)
class ContactMotion:
    """
    Accelerations of a robot whose contacts push and do not pull.

    Parameters
    ----------
    acceleration : ndarray, shape (nv,)
        vdot [rad/s^2 or m/s^2].
    multipliers : ndarray, shape (m,)
        lambda, one for each constraint row.
    pushes : ndarray, shape (k,)
        mu >= 0, one for each contact row: the normal force [N] of a point. Where contacts share a
        force in many ways, only C' mu is unique.
    constraint_force : ndarray, shape (nv,)
        A' lambda + C' mu on v [N m or N].
    separation : ndarray, shape (k,)
        C vdot - d >= 0: the acceleration at which contacts open; 0 where they push.
    labels : tuple of str
        Names of the constraint rows.
    contacts : tuple of str
        Names of the contact rows.
    active : tuple of str
        Names of those that push.

    """

    acceleration: Floats
    multipliers: Floats
    pushes: Floats
    constraint_force: Floats
    separation: Floats
    labels: tuple[str, ...]
    contacts: tuple[str, ...]
    active: tuple[str, ...]


def contact_motion(
    mass_matrix: Floats, force: Floats, rows: ConstraintRows, bounds: ConstraintRows
) -> ContactMotion:
    """
    Return the acceleration of least constraint under rows A vdot = b and bounds C vdot >= d.

    Parameters
    ----------
    mass_matrix : ndarray, shape (nv, nv)
        M, positive definite.
    force : ndarray, shape (nv,)
        Q = tau - C v - g and all other given forces.
    rows, bounds : ConstraintRows
        Constraints, and closed contacts.

    Raises
    ------
    SingularMassMatrixError
        If M is not positive definite.
    InconsistentConstraintsError
        If rows or bounds contradict each other; the message names them.

    """
    factor = cholesky_factor(mass_matrix)
    free = scipy.linalg.cho_solve((factor, True), force)
    selection = select_rows(rows, factor)
    taken, C, d = selection.independent, bounds.matrix, bounds.acceleration
    found = nearest_above(factor, taken.matrix, free, taken.acceleration, C, d)
    if found.conflict.size:
        names = [bounds.labels[k] for k in found.conflict]
        missed = float((d - C @ free)[found.conflict].max())
        raise InconsistentConstraintsError(
            f'no acceleration keeps these contacts closed or opens them, with the constraints: '
            f'{names}',
            len(taken),
            missed,
        )
    selection.check_accelerations(found.x)
    return ContactMotion(
        found.x,
        selection.shared(found.multipliers),
        found.pushes,
        taken.matrix.T @ found.multipliers + C.T @ found.pushes,
        np.asarray(C @ found.x - d, dtype=float),
        rows.labels,
        bounds.labels,
        tuple(bounds.labels[k] for k in found.active),
    )
