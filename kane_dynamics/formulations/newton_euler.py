# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics by nv + 2 runs of dqNE (Silva et al., section 6) and (62)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kane_dynamics.algorithms.forward_dynamics import Details, Motion
from kane_dynamics.algorithms.udwadia_kalaba import constrained_motion
from kane_dynamics.formulations.problem import Problem
from kane_dynamics.typing import Floats


@dataclass(frozen=True, eq=False, slots=True)
class NewtonEulerSolution(Details):
    """What dqNE gives in runs of the recursion (Silva et al., section 6)."""

    mass_matrix: Floats  # shape (nv, nv): M, one run for each column
    velocity_force: Floats  # shape (nv,): C v and g, one run each
    gravity_force: Floats  # shape (nv,): C v and g, one run each
    runs: int  # nv + 2


def by_newton_euler(problem: Problem) -> Motion:
    """Solve by nv + 2 runs of dqNE (Silva et al., section 6) and (62)."""
    run, q = problem.terms.newton_euler, problem.q
    at_rest = np.zeros(len(problem.v))
    gravity = run(q, at_rest, at_rest)
    bias = run(q, problem.v, at_rest)
    mass = np.array([run(q, at_rest, unit) - gravity for unit in np.eye(len(at_rest))])
    result = constrained_motion(mass, problem.applied - bias, problem.rows)
    details = NewtonEulerSolution(mass, bias - gravity, gravity, len(at_rest) + 2)
    return problem.motion(result.selection, result.acceleration, result.multipliers, details)
