# SPDX-License-Identifier: Apache-2.0
"""Efforts that produce a motion under constraints, or let a frame follow one, by numpy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kane_dynamics.algebra.matrices import solve_squared
from kane_dynamics.algorithms.constrained_inverse import constrained_effort
from kane_dynamics.algorithms.newton_euler import external_force
from kane_dynamics.algorithms.projection import complete_entries, speed_indices
from kane_dynamics.algorithms.task_space_law import TaskSpaceLaw, checked_law, following_motion
from kane_dynamics.algorithms.udwadia_kalaba import nearest
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.row_selection import RowSelection
from kane_dynamics.dynamics.rows import Constrained, Names, independent_rows
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats


@dataclass(frozen=True, eq=False)
class _Allowed:
    """What constraints allow at a state; see `algorithms.task_space_law.AllowedMotion`."""

    robot: Robot  # The robot
    constraints: Sequence[Constraint]  # Its rows
    q: Sequence[float]  # State
    v: Floats  # State
    t: float  # Time [s]
    passive: bool  # Whether accelerations are the rate of reference speeds
    held: list[int]  # Speeds whose accelerations are given; instead of the rows
    values: Floats  # shape (nv,): These accelerations

    def selection(self, x: Sequence[float] | None = None) -> RowSelection:
        """Return the rows, which say how speeds x change while the robot moves at v."""
        reference = None if x is None or not self.passive else np.asarray(x, dtype=float)
        state = self.robot, self.q, self.constraints, self.v
        return independent_rows(*state, time=self.t, reference=reference)

    def spread(self, force: Sequence[float]) -> list[float]:
        """Return the accelerations that a force causes beside those of no force."""
        selection = self.selection()
        A, right_side = self._rows(selection)
        free = solve_squared(selection.root, np.asarray(force, dtype=float))
        result: list[float] = nearest(selection.root, A, free, 0.0 * right_side)[0].tolist()
        return result

    def nearest(self, a: Sequence[float], x: Sequence[float]) -> list[float]:
        """Return the accelerations nearest to `a` that rows allow; speeds x change at them."""
        selection = self.selection(x)
        A, right_side = self._rows(selection)
        free = np.asarray(a, dtype=float)
        result: list[float] = nearest(selection.root, A, free, right_side)[0].tolist()
        return result

    def _rows(self, selection: RowSelection) -> tuple[Floats, Floats]:
        if self.held:
            return np.eye(self.robot.nv)[self.held], self.values[self.held]
        return selection.independent.matrix, selection.independent.acceleration


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
    selection = independent_rows(robot, q, d.constraints, speeds, time=t, reference=v_ref)
    if known is not None:
        values, rows = speed_indices(robot, known), selection.independent
        speeds = complete_entries(robot, rows.matrix, rows.velocity, speeds, values)
        if v_ref is not None:
            v_ref = complete_entries(robot, rows.matrix, rows.velocity, v_ref, values)
        selection = independent_rows(robot, q, d.constraints, speeds, time=t, reference=v_ref)
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
    robot, constraints, speeds = d.robot, d.constraints, np.array(v)
    checked_law(robot, law)
    known = None if law.known is None else speed_indices(robot, law.known)
    if known is not None:
        rows = independent_rows(robot, q, constraints, speeds, time=t).independent
        speeds = complete_entries(robot, rows.matrix, rows.velocity, speeds, known)
    held = speed_indices(robot, law.held, 'held')
    allowed = _Allowed(robot, constraints, q, speeds, t, law.passive, held, np.array(a))
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
