# SPDX-License-Identifier: Apache-2.0
"""Independent constraint rows; speeds, accelerations and efforts that they allow, by numpy."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from kane_dynamics.algebra.matrices import solve_squared
from kane_dynamics.algorithms.constrained_inverse import constrained_effort
from kane_dynamics.algorithms.mass_matrix import gauss_mass_matrix
from kane_dynamics.algorithms.newton_euler import ExternalWrenches, external_force
from kane_dynamics.algorithms.projection import complete_entries, speed_indices
from kane_dynamics.algorithms.task_space_law import TaskSpaceLaw, checked_law, following_motion
from kane_dynamics.algorithms.udwadia_kalaba import nearest, selected_rows
from kane_dynamics.algorithms.wrench_law import WrenchLaw, wrench_motion
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.constraints.row_selection import RowSelection
from kane_dynamics.exceptions import UnreachableAccelerationError
from kane_dynamics.robot.checks import as_number
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_coordinates, checked_speeds
from kane_dynamics.typing import ArrayLike, Floats

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
    selection = _selection(d, q, speeds, t)
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
    selection = _selection(d, q, np.array(v), t)
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

    Examples
    --------
    >>> from kane_dynamics import constraints as C
    >>> robot = kd.load_robot('nonholonomic', base='planar')
    >>> rows = [C.lock(robot, 'arm_1_joint')] * 2  # the same row twice
    >>> kd.independent_rows(robot, robot.neutral(), rows).independent_indices.size
    1

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


@dataclass(frozen=True, eq=False)
class _Allowed:
    """What constraints allow at a state; see `algorithms.task_space_law.AllowedMotion`."""

    d: Constrained  # The robot and its rows
    q: Sequence[float]  # State
    v: Floats  # State
    t: float  # Time [s]
    passive: bool  # Whether accelerations are the rate of reference speeds
    held: list[int]  # Speeds whose accelerations are given; instead of the rows
    values: Floats  # shape (nv,): These accelerations

    @cached_property
    def _present(self) -> RowSelection:
        return _selection(self.d, self.q, self.v, self.t)

    def selection(self, x: Sequence[float] | None = None) -> RowSelection:
        """Return the rows, which say how speeds x change while the robot moves at v."""
        if x is None or not self.passive:
            return self._present
        return _selection(self.d, self.q, self.v, self.t, np.asarray(x, dtype=float))

    def spread(self, force: Sequence[float]) -> list[float]:
        """Return the accelerations that a force causes beside those of no force."""
        selection = self._present
        free = solve_squared(selection.root, np.asarray(force, dtype=float))
        return self._nearest(selection, free, 0.0)

    def nearest(self, a: Sequence[float], x: Sequence[float]) -> list[float]:
        """Return the accelerations nearest to `a` that rows allow; speeds x change at them."""
        return self._nearest(self.selection(x), np.asarray(a, dtype=float), 1.0)

    def _nearest(self, selection: RowSelection, free: Floats, scale: float) -> list[float]:
        A, right_side = selection.independent.matrix, selection.independent.acceleration
        if self.held:
            A, right_side = np.eye(self.d.robot.nv)[self.held], self.values[self.held]
        result: list[float] = nearest(selection.root, A, free, scale * right_side)[0].tolist()
        return result


def _selection(
    d: Constrained, q: Sequence[float], v: Floats, t: float, x: Floats | None = None
) -> RowSelection:
    return independent_rows(d.robot, q, d.constraints, v, time=t, reference=x)


def efforts(
    d: Constrained,
    q: Sequence[float],
    v: Sequence[float],
    x: Sequence[float] | None,
    a: Sequence[float],
    weights: Floats,
    switches: Floats,
    t: float,
    actuated: Sequence[str],
    known: Names,
) -> Floats:
    """Return numbers of a `ConstrainedEffort`; `a` is the rate of reference speeds x, if any."""
    robot, speeds, rates = d.robot, np.array(v), np.array(a)
    v_ref = None if x is None else np.array(x)
    columns = speed_indices(robot, actuated, 'actuated')
    selection = _selection(d, q, speeds, t, v_ref)
    if known is not None:
        values, rows = speed_indices(robot, known), selection.independent
        speeds = complete_entries(robot, rows.matrix, rows.velocity, speeds, values)
        if v_ref is not None:
            v_ref = complete_entries(robot, rows.matrix, rows.velocity, v_ref, values)
        selection = _selection(d, q, speeds, t, v_ref)
        rows = selection.independent
        rates = complete_entries(robot, rows.matrix, rows.acceleration, rates, values)
    external = external_force(robot, q, d.wrenches)
    reference, moving = (speeds, None) if v_ref is None else (v_ref, speeds)
    return constrained_effort(
        robot,
        selection,
        q,
        reference,
        rates,
        columns,
        weights,
        switches.tolist(),
        external,
        moving,
    ).numbers


def following_efforts(
    d: Constrained,
    q: Sequence[float],
    v: Sequence[float],
    a: Floats,
    target: Floats,
    gains: Floats,
    posture: Floats,
    weights: Floats,
    switches: Floats,
    t: float,
    law: TaskSpaceLaw,
) -> Floats:
    """Return the numbers of a `ConstrainedEffort`, then those of `FrameMotionFound.report`."""
    robot, speeds = d.robot, np.array(v)
    checked_law(robot, law)
    known = None if law.known is None else speed_indices(robot, law.known)
    if known is not None:
        rows = _selection(d, q, speeds, t).independent
        speeds = complete_entries(robot, rows.matrix, rows.velocity, speeds, known)
    held = speed_indices(robot, law.held, 'held')
    allowed = _Allowed(d, q, speeds, t, law.passive, held, np.array(a))
    values = target.tolist(), gains.tolist(), posture.tolist()
    result = following_motion(robot, law, q, speeds.tolist(), *values, allowed)
    x, rates = np.array(result.reference), np.array(result.acceleration)
    selection = allowed.selection(result.reference)
    if known is not None:
        rows = selection.independent
        rates = complete_entries(robot, rows.matrix, rows.acceleration, rates, known)
    effort = constrained_effort(
        robot,
        selection,
        q,
        x,
        rates,
        speed_indices(robot, law.actuated, 'actuated'),
        weights,
        switches.tolist(),
        -np.array(result.feedback),
        speeds if law.passive else None,
    )
    return np.concatenate([effort.numbers, result.report])


def wrench_efforts(
    d: Constrained,
    q: Sequence[float],
    v: Sequence[float],
    a: Sequence[float],
    task: Floats,
    gains: Floats,
    weights: Floats,
    switches: Floats,
    t: float,
    law: WrenchLaw,
) -> Floats:
    """Return the numbers of a `ConstrainedEffort`, NaN where none is, then of `WrenchMotion`."""
    robot, speeds = d.robot, np.array(v)
    checked_law(robot, law)
    allowed = _Allowed(d, q, speeds, t, False, [], speeds)
    motion = wrench_motion(robot, law, q, v, a, task.tolist(), gains.tolist(), allowed)
    columns, force = speed_indices(robot, law.actuated, 'actuated'), -np.array(motion.force)
    parts = allowed.selection(), q, speeds, np.array(motion.acceleration), columns, weights
    try:
        numbers = constrained_effort(robot, *parts, switches.tolist(), force).numbers
    except UnreachableAccelerationError:
        numbers = np.full(3 * robot.nv + len(d.constraints.labels) + 3, np.nan)
    return np.concatenate([numbers, motion.report])
