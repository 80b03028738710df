# SPDX-License-Identifier: Apache-2.0
"""Which constraint rows of a robot are taken at a state (the public door of `row_selection`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.algorithms.gauss import gauss_mass_matrix
from kane_dynamics.algorithms.udwadia_kalaba import selected_rows
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.constraints.row_selection import RowSelection
from kane_dynamics.model.checks import as_number
from kane_dynamics.model.robot import Robot
from kane_dynamics.model.state import checked_coordinates, checked_speeds


def taken_rows(
    robot: Robot,
    q: ArrayLike,
    constraints: Sequence[Constraint],
    v: ArrayLike | None = None,
    *,
    time: float = 0.0,
) -> RowSelection:
    """
    Return the rank of constraint rows at a state: which rows are taken, and how strong each is.

    `RowSelection.remarks` says which rows only nearly repeat others.

    Parameters
    ----------
    robot : Robot
        The robot.
    q : array_like, shape (nq,)
        Coordinates.
    constraints : sequence of Constraint
        From `kane_dynamics.constraints`.
    v : array_like, shape (nv,), optional
        Speeds, for rows that depend on them; rest where left out.
    time : float
        t of constraints that depend on time [s].

    Raises
    ------
    InvalidInputError
        If a shape is wrong or a number is not finite.
    InconsistentConstraintsError
        If the rows ask for different speeds.

    """
    several, t = ConstraintSet.of(robot, constraints), as_number('time [s]', time)
    place = checked_coordinates(robot, q)
    speeds = checked_speeds(robot, np.zeros(robot.nv) if v is None else v)
    rows = several.rows(place, speeds, t)
    selection = selected_rows(gauss_mass_matrix(robot, place), rows)
    selection.check_speeds(np.array(speeds))
    return selection
