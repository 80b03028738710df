# SPDX-License-Identifier: Apache-2.0
"""Which constraint rows are independent, and the speeds and accelerations that they allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.algorithms.mass_matrix import gauss_mass_matrix
from kane_dynamics.algorithms.newton_euler import ExternalWrenches
from kane_dynamics.algorithms.projection import complete_entries, speed_indices
from kane_dynamics.algorithms.udwadia_kalaba import nearest, selected_rows
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.constraints.row_selection import RowSelection
from kane_dynamics.robot.checks import as_number
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_coordinates, checked_speeds
from kane_dynamics.typing import Floats

Names = Sequence[str] | None


class Constrained(Protocol):
    """What has a robot, its constraints, and wrenches that act on it: an engine of dynamics."""

    constraints: ConstraintSet
    wrenches: ExternalWrenches

    @property
    def robot(self) -> Robot:
        """Return the robot."""


def nearest_velocity(
    d: Constrained, q: Sequence[float], v: Sequence[float], t: float, known: Names = None
) -> Floats:
    """Return speeds with A v = b0: the known ones as given, or the nearest ones to all."""
    speeds = np.array(v)
    selection = independent_rows(d.robot, q, d.constraints, speeds, time=t)
    return _on_rows(selection, selection.independent.velocity, speeds, d.robot, known)


def nearest_acceleration(
    d: Constrained,
    q: Sequence[float],
    v: Sequence[float],
    a: Sequence[float],
    t: float,
    known: Names = None,
) -> Floats:
    """Return accelerations with A a = b: the known ones as given, or the nearest ones to all."""
    rates = np.array(a)
    selection = independent_rows(d.robot, q, d.constraints, v, time=t)
    if known is None:
        selection.check_accelerations(rates)
    return _on_rows(selection, selection.independent.acceleration, rates, d.robot, known)


def _on_rows(
    selection: RowSelection, right_side: Floats, x: Floats, robot: Robot, known: Names
) -> Floats:
    A = selection.independent.matrix
    if known is None:
        return nearest(selection.root, A, x, right_side)[0]
    return complete_entries(robot, A, right_side, x, speed_indices(robot, known))


def independent_rows(
    robot: Robot,
    q: ArrayLike,
    constraints: Sequence[Constraint],
    v: ArrayLike | None = None,
    *,
    time: float = 0.0,
    reference: ArrayLike | None = None,
) -> RowSelection:
    """
    Return the rank of constraint rows at a state: which rows are taken, and how strong each is.

    `RowSelection.notes` says which rows only nearly repeat others.

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
    reference : array_like, shape (nv,), optional
        Speeds besides v; the rows then say which rates these have while the robot moves at v.

    Raises
    ------
    InvalidInputError
        If a shape is wrong or a number is not finite.
    InconsistentConstraintsError
        If the rows ask for different speeds.
    ConstraintError
        If there is a reference, and rows bind accelerations only.

    """
    several, t = ConstraintSet.of(robot, constraints), as_number('time [s]', time)
    place = checked_coordinates(robot, q)
    speeds = checked_speeds(robot, np.zeros(robot.nv) if v is None else v)
    rows = several.rows(place, speeds, t)
    if reference is not None:
        gap = np.subtract(checked_speeds(robot, reference, 'reference'), speeds)
        turned = several.turning_rate(place, speeds, gap, t)
        rows = replace(rows, acceleration=rows.acceleration - np.asarray(turned.full())[:, 0])
    selection = selected_rows(gauss_mass_matrix(robot, place), rows)
    selection.check_speeds(np.array(speeds))
    return selection
