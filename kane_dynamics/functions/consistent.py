# SPDX-License-Identifier: Apache-2.0
"""Speeds and accelerations that rows allow, and which rows are taken, of checked arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.algorithms.consistent import complete_entries, speed_indices
from kane_dynamics.algorithms.gauss import gauss_mass_matrix
from kane_dynamics.algorithms.udwadia_kalaba import nearest, selected_rows
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.constraints.row_selection import RowSelection
from kane_dynamics.robot.checks import as_number
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_coordinates, checked_speeds
from kane_dynamics.typing import Floats


def consistent_velocity(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    constraints: Sequence[Constraint],
    known: Sequence[str] | None = None,
    *,
    time: float = 0.0,
) -> Floats:
    """
    Return speeds with A v = b0: the known ones as given, or the nearest ones to all.

    Parameters
    ----------
    robot : Robot
        The robot.
    q : array_like, shape (nq,)
        Coordinates.
    v : array_like, shape (nv,)
        Speeds; where `known` is given, other entries are ignored.
    constraints : sequence of Constraint
        From `kane_dynamics.constraints`.
    known : sequence of str, optional
        Names of the speeds that are kept. Where it is left out, the result is what an impulse of
        the constraints makes of v (nearest in the metric M).
    time : float
        t of constraints that depend on time [s].

    Raises
    ------
    InvalidInputError
        If a shape is wrong or a number is not finite.
    NameNotFoundError
        If `known` names a speed that does not exist.
    UnreachableAccelerationError
        If the constraints leave an entry undetermined.
    InconsistentConstraintsError
        If the known entries contradict the constraints, or these each other.

    """
    speeds = np.array(checked_speeds(robot, v))
    selection = independent_rows(robot, q, constraints, speeds, time=time)
    rows = selection.independent
    if known is None:
        return nearest(selection.root, rows.matrix, speeds, rows.velocity)[0]
    return complete_entries(robot, rows.matrix, rows.velocity, speeds, speed_indices(robot, known))


def consistent_acceleration(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    constraints: Sequence[Constraint],
    known: Sequence[str] | None = None,
    *,
    time: float = 0.0,
) -> Floats:
    """
    Return accelerations with A a = b: the known ones as given, or the nearest ones to all.

    Parameters
    ----------
    robot, q, constraints, time
        As for `consistent_velocity`.
    v : array_like, shape (nv,)
        Speeds; b depends on them.
    a : array_like, shape (nv,)
        Accelerations; where `known` is given, other entries are ignored.
    known : sequence of str, optional
        Names of the speeds whose accelerations are kept. Where it is left out, the result is
        nearest in the metric M.

    Raises
    ------
    InvalidInputError, NameNotFoundError
        As for `consistent_velocity`.
    UnreachableAccelerationError, InconsistentConstraintsError
        As for `consistent_velocity`.

    """
    accelerations = np.array(checked_speeds(robot, a, 'a'))
    selection = independent_rows(robot, q, constraints, v, time=time)
    rows = selection.independent
    if known is None:
        selection.check_accelerations(accelerations)
        return nearest(selection.root, rows.matrix, accelerations, rows.acceleration)[0]
    indices = speed_indices(robot, known)
    return complete_entries(robot, rows.matrix, rows.acceleration, accelerations, indices)


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
