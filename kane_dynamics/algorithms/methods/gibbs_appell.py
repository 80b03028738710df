# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics by the gradient of the Gibbs-Appell function (Silva et al., (53)-(55))."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kane_dynamics.algorithms.lagrange_multipliers import multiplier_motion
from kane_dynamics.algorithms.methods.motion import Details, Motion
from kane_dynamics.algorithms.methods.problem import Problem
from kane_dynamics.algorithms.udwadia_kalaba import selected_rows
from kane_dynamics.typing import Floats


@dataclass(frozen=True, eq=False, slots=True)
class GibbsAppellSolution(Details):
    """
    Both sides of the Gibbs-Appell equations (53) at the solution.

    Parameters
    ----------
    gradient : ndarray, shape (nv,)
        dS/dvdot.
    active_force : ndarray, shape (nv,)
        Generalized forces of efforts, gravity, friction and external wrenches; the gradient is
        this and the constraint force.

    """

    gradient: Floats
    active_force: Floats


def by_gibbs_appell(problem: Problem) -> Motion:
    """Solve dS/dvdot = active force (Silva et al., (53)) under the rows, by multipliers."""
    gradient, q, v = problem.terms.gibbs_gradient, problem.q, problem.v
    at_rest = np.zeros(len(v))
    start = gradient(q, v, at_rest)  # dS/da is linear in a: its columns are differences
    columns = np.array([gradient(q, v, unit) - start for unit in np.eye(len(v))])
    mass = 0.5 * (columns + columns.T)
    active = problem.applied - problem.terms.gravity_force(q)
    selection = selected_rows(mass, problem.rows)
    acceleration, multipliers = multiplier_motion(mass, active - start, selection.independent)
    details = GibbsAppellSolution(gradient(q, v, acceleration), active)
    return problem.motion(selection, acceleration, multipliers, details)
