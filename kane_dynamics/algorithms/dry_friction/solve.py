# SPDX-License-Identifier: Apache-2.0
"""Forces of contacts with dry friction: by trying every state, by iteration, by cone problems."""

from __future__ import annotations

import numpy as np

from kane_dynamics.algorithms.dry_friction.cones import guesses
from kane_dynamics.algorithms.dry_friction.iteration import iterated
from kane_dynamics.algorithms.dry_friction.planar import planar_solutions, planar_states
from kane_dynamics.algorithms.dry_friction.problem import FrictionProblem
from kane_dynamics.typing import Floats


def friction_forces(problem: FrictionProblem) -> list[Floats]:
    """
    Return forces that obey Coulomb's law, those of the least change of motion first.

    Where contacts slip along one line each and are few, these are all there are, so that an empty
    list proves that there are none; else one solution, if one is found.

    Raises
    ------
    MissingPackageError
        If it takes cone problems, and clarabel is not installed.

    """
    states = planar_states(problem)
    if states:
        found = planar_solutions(problem, states)
        return sorted(found, key=lambda p: float(np.linalg.norm(problem.pushes.T @ p)))
    start = np.concatenate([problem.load, np.zeros(len(problem.owner))])
    by_hand = iterated(problem, start)
    if by_hand is not None:
        return [by_hand]
    for guess in guesses(problem):
        polished = iterated(problem, guess)
        if polished is not None:
            return [polished]
    return []
