# SPDX-License-Identifier: Apache-2.0
r"""
Speeds after constraints were imposed, and after contacts have closed.

.. math:: M (v^+ - v) = A^T \Lambda + C_n^T P_n + C_t^T P_t, \quad A v^+ = b_0

Impulses of constraints make the speeds consistent (Gillespie, figure 2); those of contacts push,
and obey Coulomb's law. How much they rebound is for one of three laws:

- 'newton': :math:`0 \le P_n \perp u_n^+ - e \max(-u_n, 0) \ge 0`, all contacts at once, with
  :math:`u_n = C_n v - c_0`.
- 'poisson': first no contact approaches; then each has e times the impulse of that on top.
- 'energetic': the same, with what gives back e^2 of the work that the first part took (Stronge).

The last two follow the slip of a single contact during the impact (`impact_path`), which takes
energy; of several they know the ends of both parts only. Then each of the laws may ask for more
energy than there is (Kane and Levinson 1985), and Newton's for speeds that contradict each other.
With e = 0 none does: :math:`u^- = u^+ - W P` with :math:`P^T u^+ \le 0`, so that
:math:`\tfrac12 P^T (u^+ + u^-) \le -\tfrac12 P^T W P`. So restitution is scaled down there,
that of all contacts alike, until no energy is created.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from math import sqrt

import numpy as np
import scipy

from kane_dynamics.algorithms.frictional_contact import (
    ContactProblem,
    ContactSolution,
    contact_space,
    given_impulses,
    local_problem,
    solve_contacts,
)
from kane_dynamics.algorithms.impact_path import ENERGETIC, POISSON, impact_path
from kane_dynamics.constraints.closed_contacts import ClosedContacts
from kane_dynamics.constraints.row_selection import RowSelection
from kane_dynamics.exceptions import ContactError, InconsistentConstraintsError
from kane_dynamics.typing import Floats

NEWTON = 'newton'
LAWS = (NEWTON, POISSON, ENERGETIC)
# Energy that an impact may seem to create, of all that moves: `proximal_forces` may miss the law.
_CREATED = 1e-8
_HALVINGS = 30  # of the range in which the scale of restitution is
_SHARE = 1e-12  # accuracy of the work that is given back
_MOST_EXPANDED = 64.0  # times e of the first impulses

# Of a factor of all e, from 0 to 1, the impact with it.
_OfScale = Callable[[float], ContactSolution]


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
        P_n >= 0, one for each contact [N s]. Where contacts share an impulse in many ways, only
        their common effect is unique.
    tractions : ndarray, shape (m_t,)
        P_t, one for each direction of slip [N s].
    energy_loss : float
        Kinetic energy that the impact took [J].
    labels : tuple of str
        Names of the constraint rows.
    contacts : tuple of str
        Names of the contacts.
    active : tuple of str
        Names of those that push.
    states : tuple of str
        'open', 'sticks' or 'slips' for each contact after the impact; those without friction slip.
    restitution_scale : float
        Factor of all e; below 1 where the law would create energy otherwise, or contradict itself.

    """

    velocity: Floats
    impulses: Floats
    pushes: Floats
    tractions: Floats
    energy_loss: float
    labels: tuple[str, ...]
    contacts: tuple[str, ...]
    active: tuple[str, ...]
    states: tuple[str, ...]
    restitution_scale: float


def resolve_impact(
    mass_matrix: Floats,
    v: Floats,
    selection: RowSelection,
    contacts: ClosedContacts,
    law: str = NEWTON,
) -> Impact:
    """Return the impact that rows and closed contacts make of speeds."""
    selection.check_speeds(v)
    none = np.zeros(len(contacts)), np.zeros(len(contacts.owner))
    least, still = contacts.normal.velocity, contacts.tangent.velocity
    space, b0 = contact_space(selection, contacts), selection.independent.velocity
    problem = ContactProblem('speed', v, space, b0, contacts, least, still, *none)
    result, scale = _dissipative(_LAWS[law](problem), problem, mass_matrix)
    selection.check_speeds(result.x)
    change = result.x - v
    return Impact(
        result.x,
        selection.shared(result.multipliers),
        result.pushes,
        result.tractions,
        -float(change @ mass_matrix @ (v + 0.5 * change)),
        selection.rows.labels,
        contacts.labels,
        result.pushing(contacts),
        result.states,
        scale,
    )


def _newton(problem: ContactProblem) -> _OfScale:
    approach = problem.contacts.normal.matrix @ problem.free - problem.least
    rebound = problem.contacts.restitution * np.maximum(-approach, 0.0)
    rebound[problem.space.held[: len(rebound)]] = 0.0  # constraints hold these

    def scaled(scale: float) -> ContactSolution:
        result = solve_contacts(replace(problem, least=problem.least + scale * rebound))[0]
        opens = problem.opens(result.x)
        states = ['open' if up else state for up, state in zip(opens, result.states, strict=True)]
        return result._replace(states=tuple(states))

    return scaled


def _poisson(problem: ContactProblem) -> _OfScale:
    if len(problem.contacts) == 1:
        return partial(_along_path, problem, POISSON)
    return partial(_expanded, problem, solve_contacts(problem)[0])


def _energetic(problem: ContactProblem) -> _OfScale:
    """Return impacts that give back e^2 of the work of their compression, at most."""
    if len(problem.contacts) == 1:
        return partial(_along_path, problem, ENERGETIC)
    first = solve_contacts(problem)[0]
    e, k = problem.contacts.restitution, len(problem.contacts)
    start = problem.relative(problem.beside[0])
    work = 0.5 * first.forces * (start + problem.relative(first.x))
    target = max(min(-float(e**2 @ np.minimum(work[:k], 0.0)), -float(work.sum())), 0.0)

    expanded = cache(partial(_expanded, problem, first))

    def excess(share: float) -> float:
        """Return the root of the work that is given back, which is nearly linear, less that."""
        whole = expanded(share)
        speeds = problem.relative(first.x) + problem.relative(whole.x)
        values = 0.5 * (whole.forces - first.forces) * speeds
        return sqrt(max(float(values[:k].sum()), float(values.sum()), 0.0)) - sqrt(target)

    most = 1.0
    while excess(most) < 0.0 and most < _MOST_EXPANDED:
        most *= 2.0
    if most >= _MOST_EXPANDED or target == 0.0:
        return lambda _: first  # contacts that no impulse moves
    share = scipy.optimize.brentq(excess, 0.0, most, xtol=_SHARE, rtol=_SHARE)
    return lambda scale: expanded(scale * share)


_LAWS = {NEWTON: _newton, POISSON: _poisson, ENERGETIC: _energetic}


def _dissipative(
    impact: _OfScale, problem: ContactProblem, mass_matrix: Floats
) -> tuple[ContactSolution, float]:
    """Return the impact with all restitution that creates no energy, and its scale."""

    def attempt(scale: float) -> ContactSolution | None:
        try:
            result = impact(scale)
        except (ContactError, InconsistentConstraintsError):
            return None
        return result if _takes_energy(problem, result, mass_matrix) else None

    if (whole := attempt(1.0)) is not None:
        return whole, 1.0
    result, least, most = impact(0.0), 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (least + most)
        if (better := attempt(middle)) is None:
            most = middle
        else:
            result, least = better, middle
    return result, least


def _expanded(problem: ContactProblem, first: ContactSolution, share: float) -> ContactSolution:
    """Return speeds and impulses after a share of e times the first impulses came on top."""
    load = share * problem.contacts.restitution * first.pushes
    if not load.any():
        return first
    second = solve_contacts(replace(problem, free=first.x, load=load))[0]
    return second._replace(
        multipliers=first.multipliers + second.multipliers,
        pushes=first.pushes + second.pushes,
        tractions=first.tractions + second.tractions,
    )


def _along_path(problem: ContactProblem, law: str, scale: float) -> ContactSolution:
    if not problem.contacts.friction[0]:
        return _without_friction(problem, scale)
    local = local_problem(problem)
    contact = local.problem
    e = scale * float(problem.contacts.restitution[0])
    mu = float(contact.friction[0])
    impulse = impact_path(contact.response, contact.free, mu, e, law)
    return given_impulses(problem, local, impulse)


def _without_friction(problem: ContactProblem, scale: float) -> ContactSolution:
    """Return the impact of one contact that leaves at e times the speed at which it comes."""
    space, (x, multipliers) = problem.space, problem.beside
    forces, u = np.zeros(len(space.C)), float(space.C[0] @ x - problem.least[0])
    if u < 0.0 and not space.held[0]:
        e = scale * float(problem.contacts.restitution[0])
        forces[0] = -(1.0 + e) * u / space.lengths[0] ** 2
        x, multipliers = space.nearest(problem.free, problem.right_side, forces)
    state = 'open' if problem.opens(x)[0] else 'slips'
    return ContactSolution(x, multipliers, forces[:1], forces[1:], (state,), 0.0)


def _takes_energy(problem: ContactProblem, result: ContactSolution, mass_matrix: Floats) -> bool:
    """Return whether no energy is created, as seen from rows and contacts that move."""
    space, middle = problem.space, 0.5 * (problem.free + result.x)
    still = np.concatenate([problem.right_side, problem.sides])
    impulses = np.concatenate([result.multipliers, result.forces])
    created = float(impulses @ (np.concatenate([space.A @ middle, space.C @ middle]) - still))
    v = problem.free
    return created <= _CREATED * float(v @ mass_matrix @ v + np.abs(impulses) @ np.abs(still))
