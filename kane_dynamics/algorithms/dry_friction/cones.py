# SPDX-License-Identifier: Apache-2.0
r"""
Coulomb's law as a sequence of second-order cone problems, for a first guess (clarabel).

.. math:: \min \tfrac12 |z|^2 + p^T (w + s), \quad z = B^T p, \quad |p_t| \le \mu p_n, \quad
   p_n \ge l, \qquad s = \mu |u_t| \text{ on normals}

With s of the solution, its conditions are Coulomb's law (De Saxce and Feng 1998; Acary, Cadoux,
Lemarechal and Malick 2011); with s = 0 they are its convex relaxation, in which contacts that
slip lift.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from kane_dynamics.algorithms.cone_program import cone_program
from kane_dynamics.algorithms.dry_friction.problem import FrictionProblem
from kane_dynamics.typing import Floats

MOST_PROBLEMS = 25
_ACCURATE = 1e-12  # so that it is clear which contacts push


def cone_guesses(problem: FrictionProblem) -> Iterator[Floats]:
    """
    Return forces p of one cone problem after the other; they come nearer to Coulomb's law.

    Raises
    ------
    MissingPackageError
        If clarabel is not installed.

    """
    k = problem.count
    sliding = (problem.rows - problem.pushes)[:k]  # friction whose direction is given
    # without friction first: with the shift of its slip, the next problem has a solution
    asked, p = replace(problem, friction=np.zeros(k)), np.zeros(len(problem.free))
    for _ in range(MOST_PROBLEMS):
        slope = problem.free - problem.rows @ (sliding.T @ p[:k])
        slope[:k] += asked.friction * problem.lengths(problem.speeds(p)[k:])
        solution = _solve_cones(asked, slope)
        if solution is None:
            return
        p, asked = solution, problem
        yield p


def _solve_cones(problem: FrictionProblem, slope: Floats) -> Floats | None:
    """Return the forces of least 1/2 |R' p|^2 + slope' p in the cones; None without a solution."""
    k, n, r = problem.count, len(problem.free), problem.rows.shape[1]
    blocks = [np.hstack([-np.eye(n)[:k], np.zeros((k, r))])]
    sizes = []
    for i in range(k):
        mine = k + np.flatnonzero(problem.owner == i)
        cone = np.zeros((1 + len(mine), n + r))
        cone[0, i] = -problem.friction[i]
        cone[1 + np.arange(len(mine)), mine] = -1.0
        blocks.append(cone)
        sizes.append(1 + len(mine))
    blocks.append(np.hstack([problem.rows.T, -np.eye(r)]))
    matrix = np.vstack(blocks)
    right = np.zeros(len(matrix))
    right[:k] = -problem.load
    weights = np.diag(np.concatenate([np.zeros(n), np.ones(r)]))
    found = cone_program(
        'dry friction of these contacts',
        (weights, np.concatenate([slope, np.zeros(r)])),
        (matrix, right),
        (k, sizes, r),
        _ACCURATE,
    )
    return found.x[:n] if found.solved else None
