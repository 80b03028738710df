# SPDX-License-Identifier: Apache-2.0
r"""
Speeds after constraints were imposed, and after contacts have closed.

.. math:: M (v^+ - v) = A^T \Lambda + C^T P, \quad A v^+ = b_0, \quad
   0 \le P \perp C v^+ - c_0 + e\,(C v - c_0) \ge 0

Impulses of constraints make the speeds consistent (Gillespie, figure 2); those of contacts push,
with Newton's restitution e between a contact's speeds of approach and of separation, for all
contacts at once (Moreau). Where rows and contacts are at rest (b_0 = c_0 = 0) the impact takes
energy, or none where e = 1 and the speeds satisfied A before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kane_dynamics.algorithms.contact_motion import nearest_with_contacts
from kane_dynamics.algorithms.udwadia_kalaba import cholesky_factor
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.constraints.row_selection import select_rows
from kane_dynamics.typing import Floats


@dataclass(frozen=True, eq=False, slots=True)
class Impact:
    """
    A jump of the speeds.

    Parameters
    ----------
    velocity : ndarray, shape (nv,)
        Speeds after the impact.
    impulses : ndarray, shape (m,)
        Lambda, one for each constraint row [N s or N m s].
    pushes : ndarray, shape (k,)
        P >= 0, one for each contact row [N s]. Where contacts share an impulse in many ways, only
        C' P is unique.
    energy_loss : float
        Kinetic energy that the impact took [J].
    labels : tuple of str
        Names of the constraint rows.
    contacts : tuple of str
        Names of the contact rows.
    active : tuple of str
        Names of those that push.

    """

    velocity: Floats
    impulses: Floats
    pushes: Floats
    energy_loss: float
    labels: tuple[str, ...]
    contacts: tuple[str, ...]
    active: tuple[str, ...]


def resolve_impact(
    mass_matrix: Floats,
    v: Floats,
    rows: ConstraintRows,
    bounds: ConstraintRows,
    restitution: float,
) -> Impact:
    """
    Return the impact that rows and closed contacts make of speeds.

    Parameters
    ----------
    mass_matrix : ndarray, shape (nv, nv)
        M, positive definite.
    v : ndarray, shape (nv,)
        Speeds before.
    rows, bounds : ConstraintRows
        Constraints, and closed contacts.
    restitution : float
        e, from 0 to 1.

    Raises
    ------
    SingularMassMatrixError
        If M is not positive definite.
    InconsistentConstraintsError
        If rows or contacts contradict each other.

    """
    selection = select_rows(rows, cholesky_factor(mass_matrix))
    selection.check_speeds(v)
    approach = np.asarray(bounds.matrix @ v - bounds.velocity, dtype=float)
    least = bounds.velocity - restitution * approach
    b0 = selection.independent.velocity
    found = nearest_with_contacts('speed', v, selection, b0, bounds, least)
    change = found.x - v
    return Impact(
        found.x,
        selection.shared(found.multipliers),
        found.pushes,
        -float(change @ mass_matrix @ (v + 0.5 * change)),
        rows.labels,
        bounds.labels,
        tuple(bounds.labels[k] for k in found.active),
    )
