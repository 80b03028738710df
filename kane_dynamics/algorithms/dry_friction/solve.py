# SPDX-License-Identifier: Apache-2.0
"""Forces of contacts with dry friction: by trying every state, by iteration, by cone problems."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kane_dynamics.algorithms.dry_friction.cones import cone_guesses
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
    for guess in _guesses(problem):
        found_one = iterated(problem, guess)
        if found_one is not None:
            return [found_one]
    return []


def _guesses(problem: FrictionProblem) -> Iterator[Floats]:
    """Return first guesses of forces: all contacts stick, none pushes, those of cone problems."""
    yield np.asarray(np.linalg.lstsq(problem.response, -problem.free, rcond=None)[0], float)
    yield np.concatenate([problem.load, np.zeros(len(problem.owner))])
    yield from cone_guesses(problem)
