# SPDX-License-Identifier: Apache-2.0
r"""
Proximal point method on Coulomb's law; Newton's method on each of its problems.

.. math:: u = R B^T p + w + \rho\,(p - p_k), \qquad p_{k+1} = p

The law says that p is a projection of p - u (`problem`): onto p_n >= l of the normal part, onto
the disk of radius mu p_n of the tangential one. It is linear but for the direction of slip, and
where each contact is on one side of its switches, Newton's method ends at roundoff (Alart and
Curnier 1991). Rows that repeat each other, exactly or nearly, leave the response singular; with
rho it is not, and what rho adds is gone where p settles (Rockafellar 1976). rho falls while
Newton's method settles, and grows where it does not.
"""

from __future__ import annotations

import numpy as np

from kane_dynamics.algorithms.dry_friction.problem import FrictionProblem
from kane_dynamics.typing import Floats

MOST_STEPS = 400  # of Newton's method: some 10 ms; one contact in 10^3 takes more than 30
_STEPS = 8  # for one problem
_FIRST, _LEAST, _LARGEST, _FACTOR = 1e-2, 1e-13, 10.0, 3.0  # rho, for rows of unit length
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
    for start in (stuck, nothing):
        p = _nearest_to_law(problem, start)
        if problem.missed(p) <= SOLVED * problem.size:
            return problem.lawful(p)
    return None


def _nearest_to_law(problem: FrictionProblem, p: Floats) -> Floats:
    """Return the forces of the least violation that proximal points from a first guess have."""
    best, least, rho, steps = p, problem.missed(p), _FIRST, 0
    while least > _EXACT * problem.size + problem.roundoff(best) and steps < MOST_STEPS:
        solved, independent_indices = _regularised(problem, p, rho, _ENDED * least)
        steps += 1 + independent_indices
        if solved is None:
            rho = min(_FACTOR * rho, _LARGEST)
            continue
        p, rho = solved, max(rho / _FACTOR, _LEAST)
        missed = problem.missed(p)
        if missed < least:
            best, least = p, missed
    return best


def _regularised(
    problem: FrictionProblem, centre: Floats, rho: float, ended: float
) -> tuple[Floats | None, int]:
    """Return the next p, None where Newton's method does not settle, and its steps."""
    response, p = problem.response + rho * np.eye(len(centre)), centre
    for step in range(_STEPS):
        u = problem.speeds(p) + rho * (p - centre)
        if problem.missed(p, u) <= ended + problem.roundoff(p):
            return p, step
        try:
            p = p + np.linalg.solve(*_linearised(problem, response, p, u))
        except np.linalg.LinAlgError:
            return None, step
    return None, _STEPS


def _linearised(
    problem: FrictionProblem, response: Floats, p: Floats, u: Floats
) -> tuple[Floats, Floats]:
    """Return the matrix and right side of a step of p, where the speeds are u."""
    k, mu, owner = problem.count, problem.friction, problem.owner
    wish = p - u
    matrix, missing = np.eye(len(p)), np.zeros(len(p))
    closed = wish[:k] > problem.load
    matrix[:k][closed] = response[:k][closed]
    missing[:k] = np.where(closed, -u[:k], problem.load - p[:k])
    length = problem.lengths(wish[k:])
    sticks = length <= mu * np.maximum(wish[:k], problem.load)
    for i in range(k):
        mine = k + np.flatnonzero(owner == i)
        if sticks[i] and mu[i] > 0.0 and (closed[i] or problem.load[i] > 0.0):
            matrix[mine], missing[mine] = response[mine], -u[mine]
            continue
        if length[i] == 0.0 or mu[i] == 0.0:
            missing[mine] = -p[mine]
            continue
        # p_t = mu p_n t, t = wish / |wish|
        t, limit = wish[mine] / length[i], mu[i] * max(p[i], problem.load[i])
        turning = limit / length[i] * (np.eye(len(t)) - np.outer(t, t))
        matrix[mine] -= turning @ (np.eye(len(p))[mine] - response[mine])
        matrix[mine, i] -= mu[i] * t
        missing[mine] = mu[i] * p[i] * t - p[mine]
    return matrix, missing
