# SPDX-License-Identifier: Apache-2.0
r"""
Accelerations under rows and closed contacts: Gauss's principle with inequalities, dry friction.

.. math:: M \dot v = Q + A^T \lambda + C_n^T p_n + C_t^T p_t, \quad A \dot v = b, \quad
   0 \le p_n \perp C_n \dot v - d_n \ge 0

Without friction these are the conditions of the least constraint
:math:`\tfrac12 (\dot v - a)^T M (\dot v - a)`, :math:`M a = Q`, under rows and bounds (Silva et
al., section 6, as future work); friction follows Coulomb's law (`frictional_contact`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kane_dynamics.algebra.matrices import solve_squared
from kane_dynamics.algorithms.frictional_contact import (
    ContactProblem,
    ContactSolution,
    solve_contacts,
)
from kane_dynamics.constraints.closed_contacts import ClosedContacts
from kane_dynamics.constraints.row_selection import RowSelection
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
        p_n >= 0, one for each contact: the normal force [N] of a point. Where contacts share a
        force in many ways, only A' lambda + C' p is unique.
    tractions : ndarray, shape (m_t,)
        p_t, one for each direction of slip: the friction [N] of a point.
    constraint_force : ndarray, shape (nv,)
        A' lambda + C_n' p_n + C_t' p_t on v [N m or N].
    separation : ndarray, shape (k,)
        C_n vdot - d_n >= 0: the acceleration at which contacts open; 0 where they push.
    labels : tuple of str
        Names of the constraint rows.
    contacts : tuple of str
        Names of the contacts.
    active : tuple of str
        Names of those that push.
    states : tuple of str
        'open', 'sticks' or 'slips' for each contact: what follows if this motion goes on. Those
        without friction slip.
    residual : float
        Largest violation of Coulomb's law, relative to forces and speeds.
    alternatives : tuple of ContactMotion
        Other motions that obey the same laws, where friction leaves a choice (Painleve). This one
        is that of least constraint.

    """

    acceleration: Floats
    multipliers: Floats
    pushes: Floats
    tractions: Floats
    constraint_force: Floats
    separation: Floats
    labels: tuple[str, ...]
    contacts: tuple[str, ...]
    active: tuple[str, ...]
    states: tuple[str, ...]
    residual: float
    alternatives: tuple[ContactMotion, ...] = ()


def frictional_motion(
    force: Floats, selection: RowSelection, contacts: ClosedContacts, slip: Floats
) -> ContactMotion:
    """Return the acceleration under rows A vdot = b and closed contacts with dry friction."""
    problem = ContactProblem(
        'acceleration',
        solve_squared(selection.root, force),
        selection,
        selection.independent.acceleration,
        contacts,
        contacts.normal.acceleration,
        contacts.tangent.acceleration,
        contacts.load,
        slip,
    )
    result = [_motion(problem, one) for one in _held_by_static_friction(problem)]
    selection.check_accelerations(result[0].acceleration)
    return replace(result[0], alternatives=tuple(result[1:]))


def _held_by_static_friction(problem: ContactProblem) -> list[ContactSolution]:
    """Return motions in which static friction holds what it can; what slips has the other."""
    contacts = problem.contacts
    slides = problem.slip_speeds > 0.0
    while True:
        friction = np.where(slides, contacts.friction, contacts.static_friction)
        result = solve_contacts(problem._replace(contacts=replace(contacts, friction=friction)))
        slips = np.array([state == 'slips' for state in result[0].states], dtype=bool)
        slips &= friction > contacts.friction
        if not slips.any():
            return result
        slides = slides | slips


def _motion(problem: ContactProblem, result: ContactSolution) -> ContactMotion:
    selection, contacts, k = problem.selection, problem.contacts, len(problem.contacts)
    return ContactMotion(
        result.x,
        selection.shared(result.multipliers),
        result.pushes,
        result.tractions,
        problem.rows.T @ result.multipliers + problem.directions.T @ result.forces,
        problem.relative(result.x)[:k],
        selection.rows.labels,
        contacts.labels,
        tuple(
            label for label, push in zip(contacts.labels, result.pushes, strict=True) if push > 0.0
        ),
        result.states,
        result.residual,
    )
