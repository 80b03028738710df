# SPDX-License-Identifier: Apache-2.0
r"""
Closed contacts with dry friction at one instant: Gauss's principle, and Coulomb's law.

.. math:: M (x - x_f) = A^T \lambda + C_n^T p_n + C_t^T p_t, \quad A x = c, \quad
   l \le p_n \perp C_n x - d_n \ge 0

with :math:`|p_t| \le \mu p_n` opposite to the slip :math:`C_t x - d_t` where that is not zero. x
are speeds after an impact, or accelerations. Where contacts slide already, accelerations do not
turn the friction :math:`-\mu p_n s/|s|`. The law is not associated: there may be no such x, or
several (Painleve 1895). Without friction it is Gauss's (Silva et al., section 6, future work).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kane_dynamics.algebra.matrices import solve_squared
from kane_dynamics.algebra.row_space import RowSpace
from kane_dynamics.algorithms.dry_friction import FrictionProblem, friction_forces
from kane_dynamics.algorithms.least_distance import nearest_beside
from kane_dynamics.algorithms.udwadia_kalaba import unit_scaling
from kane_dynamics.constraints.closed_contacts import ClosedContacts
from kane_dynamics.constraints.row_selection import RowSelection
from kane_dynamics.exceptions import ContactError, InconsistentConstraintsError
from kane_dynamics.typing import Bools, Floats

# Speeds that count as zero in the word for a contact's state, relative to those that are given.
_AT_REST = 1e-9


class ContactSolution(NamedTuple):
    """Speeds or accelerations x, and the forces that make them."""

    x: Floats
    multipliers: Floats
    pushes: Floats
    tractions: Floats
    states: tuple[str, ...]
    residual: float

    @property
    def forces(self) -> Floats:
        """Return p_n and p_t."""
        return np.concatenate([self.pushes, self.tractions])

    def pushing(self, contacts: ClosedContacts) -> tuple[str, ...]:
        """Return the names of the contacts that push."""
        return tuple(contacts.labels[k] for k in np.flatnonzero(self.pushes > 0.0))


@dataclass(frozen=True, eq=False)
class ContactProblem:
    """What is asked for: x_f, rows A and c, C_n and C_t with their friction, d_n, d_t and l."""

    what: str
    free: Floats
    space: RowSpace
    right_side: Floats
    contacts: ClosedContacts
    least: Floats
    still: Floats
    load: Floats
    slip: Floats

    @cached_property
    def sides(self) -> Floats:
        """Return d_n and d_t."""
        return np.concatenate([self.least, self.still])

    @cached_property
    def slip_speeds(self) -> Floats:
        """Return |s| of each contact."""
        return self.contacts.slip_speeds(self.slip)

    @cached_property
    def given_friction(self) -> Floats:
        """Return the p_t that a unit of p_n brings where contacts slide, shape (m_t, k)."""
        owner, speed = self.contacts.owner, self.slip_speeds
        friction = np.zeros((len(owner), len(self.contacts)))
        if not speed.any():
            return friction
        along = self.slip / np.where(speed > 0.0, speed, 1.0)[owner]
        friction[np.arange(len(owner)), owner] = -self.contacts.friction[owner] * along
        return friction

    def relative(self, x: Floats) -> Floats:
        """Return C x - d, normal directions first."""
        return np.asarray(self.space.C @ x - self.sides, dtype=float)

    @cached_property
    def beside(self) -> tuple[Floats, Floats]:
        """Return x and lambda without forces of contacts."""
        return self.space.nearest(self.free, self.right_side, np.zeros(len(self.space.C)))

    def opens(self, x: Floats) -> Bools:
        """Return which contacts open at x."""
        C = self.contacts.normal.matrix
        size = np.abs(C) @ (np.abs(x) + np.abs(self.free)) + np.abs(self.least)
        return np.asarray(C @ x - self.least > _AT_REST * size)


def contact_space(selection: RowSelection, contacts: ClosedContacts) -> RowSpace:
    """Return the rows that hold with those of contacts, factored once for a state."""
    C = np.concatenate([contacts.normal.matrix, contacts.tangent.matrix])
    return RowSpace(selection.root, selection.independent.matrix, C)


def solve_contacts(problem: ContactProblem) -> list[ContactSolution]:
    """Return the x that obey Coulomb's law, that of the least change first."""
    if not problem.contacts.friction.any():
        return [_without_friction(problem)]
    local = local_problem(problem)
    solutions = friction_forces(local.problem)
    if not solutions:
        _without_friction(problem)  # says which contacts contradict each other
        raise ContactError(
            f'no {problem.what} was found that obeys the law of dry friction at these contacts: '
            f'{list(problem.contacts.labels)}; so much friction may jam (Painleve), and an '
            "impact without collision follows: kane_dynamics.impact(..., law='poisson')"
        )
    return [given_impulses(problem, local, p) for p in solutions]


def _without_friction(problem: ContactProblem) -> ContactSolution:
    contacts, C, least = problem.contacts, problem.contacts.normal.matrix, problem.least
    space, start = problem.space, problem.free
    if problem.load.any():
        start = start + solve_squared(space.factor, C.T @ problem.load)
    result = nearest_beside(space, start, problem.right_side, least)
    if result.conflict.size:
        names = [contacts.labels[k] for k in result.conflict]
        missed = float((least - C @ problem.free)[result.conflict].max())
        message = f'under the constraints no {problem.what} satisfies these contacts: {names}'
        raise InconsistentConstraintsError(message, len(space.A), missed)
    states = tuple('open' if up else 'slips' for up in problem.opens(result.x))
    pushes, none = problem.load + result.pushes, np.zeros(len(contacts.owner))
    return ContactSolution(result.x, result.multipliers, pushes, none, states, 0.0)


class LocalProblem(NamedTuple):
    """A problem in the coordinates that rows A leave, with rows of unit length."""

    problem: FrictionProblem
    scale: Floats
    kept: Bools


def local_problem(whole: ContactProblem) -> LocalProblem:
    """Return the problem without rows A, in units of its own."""
    contacts, owner, k = whole.contacts, whole.contacts.owner, len(whole.contacts)
    G, lengths = whole.space.beside, whole.space.lengths
    largest = np.zeros(k)
    np.maximum.at(largest, owner, lengths[k:])
    normal, tangent = unit_scaling(lengths[:k]), unit_scaling(largest)
    scale = np.concatenate([normal, tangent[owner]])
    B = G.copy()
    B[:k] += whole.given_friction.T @ G[k:]
    kept = np.concatenate([np.ones(k, dtype=bool), whole.slip_speeds[owner] == 0.0])
    problem = FrictionProblem(
        (scale[:, None] * G)[kept],
        (scale[:, None] * B)[kept],
        (scale * whole.relative(whole.beside[0]))[kept],
        owner[kept[k:]],
        contacts.friction * normal / tangent,
        whole.load / normal,
    )
    return LocalProblem(problem, scale, kept)


def given_impulses(whole: ContactProblem, local: LocalProblem, p: Floats) -> ContactSolution:
    """Return speeds and forces in their own units, of forces p of the local problem."""
    k, forces = len(whole.contacts), np.zeros(len(local.scale))
    forces[local.kept] = p
    forces *= local.scale
    forces[k:] += whole.given_friction @ forces[:k]
    x, multipliers = whole.space.nearest(whole.free, whole.right_side, forces)
    states, violation = _states(whole, local, p), local.problem.violation(p)
    return ContactSolution(x, multipliers, forces[:k], forces[k:], states, violation)


def _states(whole: ContactProblem, local: LocalProblem, p: Floats) -> tuple[str, ...]:
    problem, k = local.problem, len(whole.contacts)
    u, still = problem.speeds(p), _AT_REST * problem.size
    slides = (whole.slip_speeds > 0.0) | (problem.lengths(u[k:]) > still)
    slides |= (problem.friction == 0.0) | (np.bincount(whole.contacts.owner, minlength=k) == 0)
    words = np.where(u[:k] > still, 'open', np.where(slides, 'slips', 'sticks'))
    return tuple(str(word) for word in words)


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
        contact_space(selection, contacts),
        selection.independent.acceleration,
        contacts,
        contacts.normal.acceleration,
        contacts.tangent.acceleration,
        contacts.load,
        slip,
    )
    result = [_motion(problem, selection, one) for one in _held_by_static_friction(problem)]
    selection.check_accelerations(result[0].acceleration)
    return replace(result[0], alternatives=tuple(result[1:]))


def _held_by_static_friction(problem: ContactProblem) -> list[ContactSolution]:
    """Return motions in which static friction holds what it can; what slips has the other."""
    contacts = problem.contacts
    slides = problem.slip_speeds > 0.0
    while True:
        friction = np.where(slides, contacts.friction, contacts.static_friction)
        tried = replace(problem, contacts=replace(contacts, friction=friction))
        result = solve_contacts(tried)
        slips = np.array([state == 'slips' for state in result[0].states], dtype=bool)
        slips &= friction > contacts.friction
        if not slips.any():
            return result
        slides = slides | slips


def _motion(
    problem: ContactProblem, selection: RowSelection, result: ContactSolution
) -> ContactMotion:
    space, contacts, k = problem.space, problem.contacts, len(problem.contacts)
    return ContactMotion(
        result.x,
        selection.shared(result.multipliers),
        result.pushes,
        result.tractions,
        space.A.T @ result.multipliers + space.C.T @ result.forces,
        problem.relative(result.x)[:k],
        selection.rows.labels,
        contacts.labels,
        result.pushing(contacts),
        result.states,
        result.residual,
    )
