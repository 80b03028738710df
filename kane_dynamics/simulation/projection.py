# SPDX-License-Identifier: Apache-2.0
"""Projection of a state onto constraints, checked at the door."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kane_dynamics.algorithms import projection
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.robot.checks import as_number
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_coordinates, checked_speeds


def project(
    robot: Robot, constraints: Sequence[Constraint], q: ArrayLike, v: ArrayLike, t: float = 0.0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """
    Return the nearest state with Phi(q, t) = 0 and A v = b0.

    Parameters
    ----------
    robot : Robot
        The robot.
    constraints : sequence of Constraint
        What is to hold.
    q, v : array_like, shapes (nq,), (nv,)
        State.
    t : float
        Time [s].

    Raises
    ------
    InvalidInputError
        If a shape is wrong or a number is not finite.
    ProjectionError
        If Newton's method does not bring the holonomic rows to 1e-12.
    InconsistentConstraintsError
        If the rows contradict each other.

    """
    several = ConstraintSet.of(robot, constraints)
    state = np.array(checked_coordinates(robot, q)), np.array(checked_speeds(robot, v))
    place, speeds, _ = projection.project(robot, several, *state, as_number('time [s]', t))
    return place, speeds
