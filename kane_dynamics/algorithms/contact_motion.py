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

from kane_dynamics.algorithms.least_distance import LeastDistance, nearest_above
from kane_dynamics.algorithms.udwadia_kalaba import cholesky_factor
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.constraints.row_selection import RowSelection, select_rows
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
    b, d = selection.independent.acceleration, bounds.acceleration
    found = nearest_with_contacts('acceleration', free, selection, b, bounds, d)
    selection.check_accelerations(found.x)
    return ContactMotion(
        found.x,
        selection.shared(found.multipliers),
        found.pushes,
        selection.independent.matrix.T @ found.multipliers + bounds.matrix.T @ found.pushes,
        np.asarray(bounds.matrix @ found.x - d, dtype=float),
        rows.labels,
        bounds.labels,
        tuple(bounds.labels[k] for k in found.active),
    )


def nearest_with_contacts(
    what: str,
    free: Floats,
    selection: RowSelection,
    right_side: Floats,
    bounds: ConstraintRows,
    least: Floats,
) -> LeastDistance:
    """
    Return the speeds or accelerations x nearest to free ones with A x = c and C x >= d.

    Parameters
    ----------
    what : str
        What x is, for the message.
    free : ndarray, shape (nv,)
        What it is to be near, in the metric of M.
    selection : RowSelection
        The rows A that are taken.
    right_side : ndarray, shape (m,)
        c of these.
    bounds : ConstraintRows
        The rows C.
    least : ndarray, shape (k,)
        d.

    Raises
    ------
    InconsistentConstraintsError
        If there is no such x; the message names the contacts that contradict each other.

    """
    A, C = selection.independent.matrix, bounds.matrix
    found = nearest_above(selection.root, A, free, right_side, C, least)
    if found.conflict.size:
        names = [bounds.labels[k] for k in found.conflict]
        missed = float((least - C @ free)[found.conflict].max())
        message = f'under the constraints no {what} satisfies these contacts: {names}'
        raise InconsistentConstraintsError(message, len(A), missed)
    return found
