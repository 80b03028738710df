# SPDX-License-Identifier: Apache-2.0
r"""
Closed contacts with dry friction at one instant: Gauss's principle, and Coulomb's law.

.. math:: M (x - x_f) = A^T \lambda + C_n^T p_n + C_t^T p_t, \quad A x = c, \quad
   l \le p_n \perp C_n x - d_n \ge 0

with :math:`|p_t| \le \mu p_n` opposite to the slip :math:`C_t x - d_t` where that is not zero. x
are speeds after an impact, or accelerations. Where contacts slide already, accelerations do not
turn the friction :math:`-\mu p_n s/|s|`. The law is not associated: there may be no such x, or
several (Painleve 1895).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.algebra.triangular import solve_squared
from kane_dynamics.algorithms.dry_friction.problem import FrictionProblem
from kane_dynamics.algorithms.dry_friction.solve import friction_forces
from kane_dynamics.algorithms.least_distance import HELD, in_metric, left_free, nearest_above
from kane_dynamics.algorithms.udwadia_kalaba import nearest, unit_scaling
from kane_dynamics.constraints.closed_contacts import ClosedContacts
from kane_dynamics.constraints.row_selection import RowSelection
from kane_dynamics.exceptions import ContactError, InconsistentConstraintsError
from kane_dynamics.typing import Floats

# Speeds that count as zero in the word for a contact's state, relative to those that are given.
_AT_REST = 1e-9


@dataclass(frozen=True, eq=False, slots=True)
class ContactSolution:
    """
    Speeds or accelerations x, and the forces that make them.

    Parameters
    ----------
    x : ndarray, shape (nv,)
        The solution.
    multipliers : ndarray, shape (m,)
        lambda of the rows A that were taken.
    pushes : ndarray, shape (k,)
        p_n >= l of the contacts; l where they open.
    tractions : ndarray, shape (m_t,)
        p_t of their slips.
    states : tuple of str
        'open', 'sticks' or 'slips' of each contact; without friction, 'slips'.
    residual : float
        Largest violation of the law, relative to forces and speeds.

    """

    x: Floats
    multipliers: Floats
    pushes: Floats
    tractions: Floats
    states: tuple[str, ...]
    residual: float


@dataclass(frozen=True, eq=False, slots=True)
class ContactProblem:
    """
    What is asked for, see above.

    Parameters
    ----------
    what : str
        What x is, for messages.
    free : ndarray, shape (nv,)
        x_f, without constraints and contacts.
    selection : RowSelection
        The rows A that are taken.
    right_side : ndarray, shape (m,)
        c of these.
    contacts : ClosedContacts
        C_n, C_t and the friction that they have.
    least : ndarray, shape (k,)
        d_n.
    still : ndarray, shape (m_t,)
        d_t.
    load : ndarray, shape (k,)
        l.
    slip : ndarray, shape (m_t,)
        s of contacts that slide already, 0 of the others.

    """

    what: str
    free: Floats
    selection: RowSelection
    right_side: Floats
    contacts: ClosedContacts
    least: Floats
    still: Floats
    load: Floats
    slip: Floats

    @property
    def rows(self) -> Floats:
        """Return the rows A."""
        return self.selection.independent.matrix

    @property
    def directions(self) -> Floats:
        """Return C_n and C_t, shape (k + m_t, nv)."""
        return np.vstack([self.contacts.normal.matrix, self.contacts.tangent.matrix])

    @property
    def slides(self) -> NDArray[np.bool_]:
        """Return which contacts slide already."""
        squares = np.bincount(self.contacts.owner, np.square(self.slip), len(self.contacts))
        return np.asarray(squares > 0.0)

    @property
    def given_friction(self) -> Floats:
        """Return the p_t that a unit of p_n brings where contacts slide, shape (m_t, k)."""
        owner, k = self.contacts.owner, len(self.contacts)
        speed = np.sqrt(np.bincount(owner, np.square(self.slip), k))[owner]
        friction = np.zeros((len(owner), k))
        along = self.slip / np.where(speed > 0.0, speed, 1.0)
        friction[np.arange(len(owner)), owner] = -self.contacts.friction[owner] * along
        return friction


def solve_contacts(problem: ContactProblem) -> list[ContactSolution]:
    """
    Return the x that obey Coulomb's law, that of the least change first.

    Several are all there are, and only contacts that slip along one line each have them: see
    `dry_friction.planar`.

    Raises
    ------
    InconsistentConstraintsError
        If rows and distances contradict each other; the message names the contacts.
    ContactError
        If no x obeys the law, or none was found.

    """
    if not problem.contacts.friction.any():
        return [_without_friction(problem)]
    local = local_problem(problem)
    result = friction_forces(local.problem)
    if not result:
        _without_friction(problem)  # says which contacts contradict each other
        raise ContactError(
            f'no {problem.what} obeys the law of dry friction at these contacts: '
            f'{list(problem.contacts.labels)}; with so much friction they jam (Painleve), and an '
            "impact without collision follows: kane_dynamics.impact(..., law='poisson')"
        )
    return [given_impulses(problem, local, p) for p in result]


def _without_friction(problem: ContactProblem) -> ContactSolution:
    contacts, C = problem.contacts, problem.contacts.normal.matrix
    root = problem.selection.root
    free = problem.free + _response(root, C.T @ problem.load)
    result = nearest_above(root, problem.rows, free, problem.right_side, C, problem.least)
    if result.conflict.size:
        names = [contacts.labels[k] for k in result.conflict]
        missed = float((problem.least - C @ problem.free)[result.conflict].max())
        message = f'under the constraints no {problem.what} satisfies these contacts: {names}'
        raise InconsistentConstraintsError(message, len(problem.rows), missed)
    states = tuple('open' if up else 'slips' for up in separates(problem, result.x))
    pushes, none = problem.load + result.pushes, np.zeros(len(contacts.owner))
    return ContactSolution(result.x, result.multipliers, pushes, none, states, 0.0)


def separates(problem: ContactProblem, x: Floats) -> NDArray[np.bool_]:
    """Return which contacts open at x."""
    C = problem.contacts.normal.matrix
    size = np.abs(C) @ (np.abs(x) + np.abs(problem.free)) + np.abs(problem.least)
    return np.asarray(C @ x - problem.least > _AT_REST * size)


@dataclass(frozen=True, eq=False, slots=True)
class LocalProblem:
    """
    A problem in the coordinates that rows A leave, with rows of unit length.

    Parameters
    ----------
    problem : FrictionProblem
        The problem.
    scale : ndarray, shape (k + m_t,)
        Forces in their own units, per force of the problem.
    kept : ndarray of bool, shape (k + m_t,)
        Which rows are in it: not those of contacts that slide already.

    """

    problem: FrictionProblem
    scale: Floats
    kept: NDArray[np.bool_]


def local_problem(target: ContactProblem) -> LocalProblem:
    """Return the problem without rows A, in units of its own."""
    contacts, C, root = target.contacts, target.directions, target.selection.root
    k, owner = len(contacts), contacts.owner
    start, _ = nearest(root, target.rows, target.free, target.right_side)
    metric = in_metric(root, C)
    G = metric @ left_free(in_metric(root, target.rows))
    lengths = np.linalg.norm(G, axis=1)
    held = lengths <= HELD * np.linalg.norm(metric, axis=1)
    G[held], lengths[held] = 0.0, 0.0
    largest = np.zeros(k)
    np.maximum.at(largest, owner, lengths[k:])
    normal, tangent = unit_scaling(lengths[:k]), unit_scaling(largest)
    scale = np.concatenate([normal, tangent[owner]])
    B = G.copy()
    B[:k] += target.given_friction.T @ G[k:]
    asked = C @ start - np.concatenate([target.least, target.still])
    kept = np.concatenate([np.ones(k, dtype=bool), ~target.slides[owner]])
    problem = FrictionProblem(
        (scale[:, None] * G)[kept],
        (scale[:, None] * B)[kept],
        (scale * asked)[kept],
        owner[kept[k:]],
        contacts.friction * normal / tangent,
        target.load / normal,
    )
    return LocalProblem(problem, scale, kept)


def given_impulses(target: ContactProblem, local: LocalProblem, p: Floats) -> ContactSolution:
    """Return speeds and forces in their own units, of forces p of the local problem."""
    k, root = len(target.contacts), target.selection.root
    forces = np.zeros(len(local.scale))
    forces[local.kept] = p
    forces *= local.scale
    pushes = forces[:k]
    tractions = forces[k:] + target.given_friction @ pushes
    values = target.directions.T @ np.concatenate([pushes, tractions])
    free = target.free + _response(root, values)
    x, multipliers = nearest(root, target.rows, free, target.right_side)
    states = _states(target, local, p)
    violation = local.problem.violation(p)
    return ContactSolution(x, multipliers, pushes, tractions, states, violation)


def _states(target: ContactProblem, local: LocalProblem, p: Floats) -> tuple[str, ...]:
    problem, k = local.problem, len(target.contacts)
    u, still = problem.speeds(p), _AT_REST * problem.size
    slides = target.slides | (problem.lengths(u[k:]) > still) | (problem.friction == 0.0)
    slides |= np.bincount(target.contacts.owner, minlength=k) == 0
    words = np.where(u[:k] > still, 'open', np.where(slides, 'slips', 'sticks'))
    return tuple(str(word) for word in words)


def _response(root: Floats, force: Floats) -> Floats:
    return solve_squared(root, force)
