# SPDX-License-Identifier: Apache-2.0
r"""
Coulomb's law for several contacts at once, in the coordinates that constraints leave.

.. math:: z = B^T p, \quad u = R z + w, \qquad l \le p_n \perp u_n \ge 0, \quad
   |p_t| \le \mu p_n, \quad p_t = -\mu p_n u_t / |u_t| \text{ where } u_t \ne 0

Rows R are of unit length, so that p and u have one unit and Coulomb's law can be asked as a
projection: p is what the law makes of p - u. Where contacts slide already, B is not R. The load l
is a normal force that acts in any case; mostly zero.

Few contacts that slip along one line each: every state is tried. A contact is open, sticks, or
slips one way or the other; each choice is a linear system. In contrast to an iteration this finds
every solution, and proves that there is none. Where contacts share forces in many ways, the
extreme ways are those in which some of them are about to slip or to open.

Others: proximal point method, with Newton's method on each of its problems,

.. math:: u = R B^T p + w + \rho\,(p - p_k), \qquad p_{k+1} = p

The law says that p is a projection of p - u: onto p_n >= l of the normal part, onto
the disk of radius mu p_n of the tangential one. It is linear but for the direction of slip, and
where each contact is on one side of its switches, Newton's method ends at roundoff (Alart and
Curnier 1991). Rows that repeat each other, exactly or nearly, leave the response singular; with
rho it is not, and what rho adds is gone where p settles (Rockafellar 1976). rho falls while
Newton's method settles, and grows where it does not.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np

from kane_dynamics.typing import Floats, Indices

_NOTHING = 1e-200  # length of a wish that has no direction
_ROUNDOFF = 1e-14  # of a product with some ten rows of unit length


@dataclass(frozen=True, eq=False)
class FrictionProblem:
    """Contacts of which forces p and speeds (or accelerations) u are wanted."""

    rows: Floats  # shape (k + m, r): R: rows of k normals, then of m tangents
    pushes: Floats  # shape (k + m, r): B: the directions in which forces act
    free: Floats  # shape (k + m,): w: u without forces
    owner: Indices  # shape (m,): The contact each tangent belongs to
    friction: Floats  # shape (k,): mu and l of the contacts
    load: Floats  # shape (k,): mu and l of the contacts

    @cached_property
    def count(self) -> int:
        """Return the number of contacts."""
        return len(self.friction)

    @cached_property
    def response(self) -> Floats:
        """Return R B', of u to p."""
        return self.rows @ self.pushes.T

    def speeds(self, p: Floats) -> Floats:
        """Return u of forces p."""
        return self.rows @ (self.pushes.T @ p) + self.free

    @cached_property
    def size(self) -> float:
        """Return the size of speeds and forces that are given; errors are measured against it."""
        return float(np.abs(self.free).max(initial=0.0) + self.load.max(initial=0.0))

    def roundoff(self, p: Floats) -> float:
        """Return what roundoff of forces leaves of speeds."""
        return _ROUNDOFF * float(np.abs(p).max(initial=0.0))

    def lengths(self, tangents: Floats) -> Floats:
        """Return the length of each contact's part of a vector of all tangents, shape (k,)."""
        return np.sqrt(np.bincount(self.owner, np.square(tangents), self.count))

    def lawful(self, p: Floats, u: Floats | None = None) -> Floats:
        """Return what Coulomb's law makes of p - u: p itself, but for roundoff, where p obeys."""
        wish, k = p - (self.speeds(p) if u is None else u), self.count
        pushes = np.maximum(self.load, wish[:k])
        length = np.maximum(self.lengths(wish[k:]), _NOTHING)
        within = np.minimum(self.friction * pushes / length, 1.0)
        return np.concatenate([pushes, wish[k:] * within[self.owner]])

    def missed(self, p: Floats, u: Floats | None = None) -> float:
        """Return how far p is from what Coulomb's law makes of p - u."""
        return float(np.abs(p - self.lawful(p, u)).max(initial=0.0))

    def violation(self, p: Floats) -> float:
        """Return that, relative to the size of what is given."""
        return self.missed(p) / (self.size or 1.0)


MOST_STATES = 300  # some 10 ms
# Relative to the size of what is given: errors of well scaled systems, and what differs.
_ACCURATE = 1e-10
_OTHER = 1e-7
_SINGULAR_STATE = 1e-11  # singular value, of rows of unit length


State = tuple[tuple[bool, int], ...]
"""Whether the normal speed of each contact is zero, and which way it slips; 0 where it sticks."""


def planar_states(problem: FrictionProblem) -> list[State]:
    """Return all states to try; none where contacts are not planar, or too many."""
    tangents = np.bincount(problem.owner, minlength=problem.count)
    if tangents.max(initial=0) > 1:
        return []
    rough = (tangents > 0) & (problem.friction > 0.0)
    ways = [
        [
            (closed, side)
            for closed in (False, True)
            for side in ((0, 1, -1) if rubs and (closed or load > 0.0) else (0,))
        ]
        for rubs, load in zip(rough.tolist(), problem.load.tolist(), strict=True)
    ]
    return list(product(*ways)) if prod(map(len, ways)) <= MOST_STATES else []


def planar_solutions(problem: FrictionProblem, states: list[State]) -> list[Floats]:
    """Return forces p of every motion that Coulomb's law allows."""
    result: list[tuple[Floats, Floats]] = []
    response = problem.response
    for state in states:
        p = _of_state(problem, response, state)
        if p is None:
            continue
        z = problem.pushes.T @ p
        if all(np.abs(z - other).max(initial=0.0) > _OTHER * problem.size for other, _ in result):
            result.append((z, p))
    return [p for _, p in result]


def _of_state(problem: FrictionProblem, response: Floats, state: State) -> Floats | None:
    """Return forces of a state of all contacts, if Coulomb's law allows it."""
    k, owner, load = problem.count, problem.owner, problem.load
    closed = np.array([shut for shut, _ in state])
    side = np.array([way for _, way in state], dtype=float)[owner]
    pressed = (closed | (load > 0.0)) & (problem.friction > 0.0)
    zero = np.concatenate([closed, (side == 0.0) & pressed[owner]])
    # normal forces, with the friction of those that slip, and tangents that stick are unknown
    columns = np.eye(len(zero))
    columns[k + np.arange(len(owner)), owner] = -side * problem.friction[owner]
    values = columns[:, :k] @ np.where(closed, 0.0, load)
    unknown = np.linalg.lstsq(
        response[zero] @ columns[:, zero],
        -(problem.free + response @ values)[zero],
        rcond=_SINGULAR_STATE,
    )[0]
    p: Floats = values + columns[:, zero] @ unknown
    u, allowed = response @ p + problem.free, _ACCURATE * problem.size + problem.roundoff(p)
    against = (
        *(u[:k] < -allowed, np.abs(u[zero]) > allowed, side * u[k:] < -allowed),
        p[:k] < load - allowed,
        np.abs(p[k:]) > (problem.friction * p[:k])[owner] + allowed,
    )
    return None if any(part.any() for part in against) else problem.lawful(p)


MOST_STEPS = 2000  # of Newton's method: some 50 ms; one contact in 10^3 takes more than 30
_STEPS = 8  # for one problem
# rho, for rows of unit length
_FIRST, _SAFER, _LEAST, _LARGEST, _FACTOR = 1e-4, 1e-2, 1e-13, 10.0, 10.0
_SINGULAR = 1e-3  # of the first guess
_ENDED = 1e-3  # of the violation so far, of a problem that is solved
# Violation at which p is exact, and up to which it solves, both relative to the size of speeds: a
# contact that sticks may slip by 1e-8 of the speeds before. It does where rows repeat each other
# but for 1e-8, so that forces of any size between contacts hardly change that slip.
_EXACT = 1e-12
SOLVED = 1e-8


def proximal_forces(problem: FrictionProblem) -> Floats | None:
    """Return forces that obey Coulomb's law; None where none are found."""
    # all stick: of several solutions, that in which contacts jam; else none pushes
    guess = np.linalg.lstsq(problem.response, -problem.free, rcond=_SINGULAR)[0]
    stuck = np.asarray(guess, dtype=float)
    nothing: Floats = np.concatenate([problem.load, np.zeros(len(problem.owner))])
    for start, rho in ((stuck, _FIRST), (nothing, _FIRST), (stuck, _SAFER)):
        p = _nearest_to_law(problem, start, rho)
        if problem.missed(p) <= SOLVED * problem.size:
            return problem.lawful(p)
    return None


def _nearest_to_law(problem: FrictionProblem, p: Floats, rho: float) -> Floats:
    """Return the forces of the least violation that proximal points from a first guess have."""
    best, least, steps = p, problem.missed(p), 0
    while least > _EXACT * problem.size + problem.roundoff(best) and steps < MOST_STEPS:
        solved, count = _regularised(problem, p, rho, _ENDED * least)
        steps += count
        if solved is None:
            rho = min(_FACTOR * rho, _LARGEST)
            continue
        p, rho = solved, max(rho / _FACTOR, _LEAST)
        missed = problem.missed(p)
        if missed < least:
            best, least = p, missed
        elif missed <= problem.roundoff(p):
            break  # forces that large hide what is missed
    return best


def _regularised(
    problem: FrictionProblem, centre: Floats, rho: float, ended: float
) -> tuple[Floats | None, int]:
    """Return the next p, None where Newton's method does not settle, and its steps."""
    response, p, u = problem.response + rho * np.eye(len(centre)), centre, problem.speeds(centre)
    for step in range(1, 1 + _STEPS):
        try:
            p = p + np.linalg.solve(*_linearised(problem, response, p, u))
        except np.linalg.LinAlgError:
            return None, step
        u = problem.speeds(p) + rho * (p - centre)
        if problem.missed(p, u) <= ended + problem.roundoff(p):
            return p, step
    return None, _STEPS


def _linearised(
    problem: FrictionProblem, response: Floats, p: Floats, u: Floats
) -> tuple[Floats, Floats]:
    """Return the matrix and right side of a step of p, where the speeds are u."""
    k, mu, owner, load = problem.count, problem.friction, problem.owner, problem.load
    wish, eye, tangents = p - u, np.eye(len(p)), np.arange(len(owner))
    closed, length = wish[:k] > load, problem.lengths(wish[k:])
    moves = mu * (length > mu * np.maximum(wish[:k], load))  # mu of those that do, else 0
    sticks = (mu > moves) & (closed | (load > 0.0))
    # p_t = mu p_n t, t = wish / |wish|
    length = np.maximum(length, _NOTHING)
    t = wish[k:] / length[owner]
    along = np.zeros((k, len(owner)))
    along[owner, tangents] = t
    turning = eye[k:] - response[k:]
    turning -= along.T @ (along @ turning)
    slides = eye[k:] - (moves * np.maximum(p[:k], load) / length)[owner, None] * turning
    slides[tangents, owner] -= moves[owner] * t
    normal = np.where(closed[:, None], response[:k], eye[:k])
    tangent = np.where(sticks[owner, None], response[k:], slides)
    pushes = np.where(closed, -u[:k], load - p[:k])
    pulls = np.where(sticks[owner], -u[k:], (moves * p[:k])[owner] * t - p[k:])
    return np.concatenate([normal, tangent]), np.concatenate([pushes, pulls])


def friction_forces(problem: FrictionProblem) -> list[Floats]:
    """Return forces that obey Coulomb's law, those of the least change of motion first."""
    states = planar_states(problem)
    if states and (result := planar_solutions(problem, states)):
        return sorted(result, key=lambda p: float(np.linalg.norm(problem.pushes.T @ p)))
    one = proximal_forces(problem)
    return [] if one is None else [one]
