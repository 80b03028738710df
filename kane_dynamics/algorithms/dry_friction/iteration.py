# SPDX-License-Identifier: Apache-2.0
r"""
Newton's method on Coulomb's law: the state of every contact, solved exactly, until none changes.

The law says that p is a projection of p - u (`problem`): onto p_n >= l of the normal part, onto
the disk of radius mu p_n of the tangential one. It is linear but for the direction of slip, and
where each contact is on one side of its switches, Newton's method ends at roundoff (Alart and
Curnier 1991).
"""

from __future__ import annotations

import numpy as np

from kane_dynamics.algorithms.dry_friction.problem import FrictionProblem
from kane_dynamics.typing import Floats

MOST_STEPS = 30
SOLVED = 1e-11  # violation, relative: forces share singular systems to their roundoff
_SINGULAR = 1e-11  # singular value, of rows of unit length


def iterated(problem: FrictionProblem, p: Floats) -> Floats | None:
    """Return forces from a first guess p; None where the states do not settle."""
    response = problem.response
    best, least = p, np.inf
    for _ in range(MOST_STEPS):
        matrix, missing = _linearised(problem, response, p)
        p = p + np.linalg.lstsq(matrix, missing, rcond=_SINGULAR)[0]
        violation = problem.violation(p)
        if violation < least:
            best, least = p, violation
        elif least < SOLVED:
            break
    return problem.lawful(best) if least < SOLVED else None


def _linearised(problem: FrictionProblem, response: Floats, p: Floats) -> tuple[Floats, Floats]:
    """Return the matrix and right side of a step of p."""
    k, mu, owner = problem.count, problem.friction, problem.owner
    u = problem.speeds(p)
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
