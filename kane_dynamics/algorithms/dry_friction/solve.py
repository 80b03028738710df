# SPDX-License-Identifier: Apache-2.0
"""Forces of contacts with dry friction: by trying every state, and by iteration."""

from __future__ import annotations

import numpy as np

from kane_dynamics.algorithms.dry_friction.planar import planar_solutions, planar_states
from kane_dynamics.algorithms.dry_friction.problem import FrictionProblem
from kane_dynamics.algorithms.dry_friction.proximal import proximal_forces
from kane_dynamics.typing import Floats


def friction_forces(problem: FrictionProblem) -> list[Floats]:
    """
    Return forces that obey Coulomb's law, those of the least change of motion first.

    Where contacts slip along one line each and are few, these are all there are, but for rows that
    nearly repeat each other; else one solution, if one is found.
    """
    states = planar_states(problem)
    if states and (result := planar_solutions(problem, states)):
        return sorted(result, key=lambda p: float(np.linalg.norm(problem.pushes.T @ p)))
    one = proximal_forces(problem)
    return [] if one is None else [one]
