# SPDX-License-Identifier: Apache-2.0
"""Constraints on joint coordinates alone: locks and couplings (holonomic, linear)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kane_dynamics.algebra.scalars import Scalar
from kane_dynamics.constraints.base import Row, gathered
from kane_dynamics.exceptions import ConstraintError
from kane_dynamics.robot.checks import as_number
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_robot


@dataclass(frozen=True)
class Lock:
    """The speeds of a joint are zero. Built by `lock`."""

    robot: Robot = field(compare=False, repr=False)
    labels: tuple[str, ...]
    columns: tuple[int, ...]

    def rows(self, robot: Robot, q: Any, v: Any, t: Scalar) -> Sequence[Row]:
        """Return v_k = 0 for each speed of the joint."""
        return [Row({column: 1.0}) for column in self.columns]


@dataclass(frozen=True)
class Coupling:
    """q_joint = ratio q_master + offset. Built by `coupling`."""

    robot: Robot = field(compare=False, repr=False)
    labels: tuple[str, ...]
    joint: tuple[int, int]
    master: tuple[int, int]
    ratio: float
    offset: float

    def rows(self, robot: Robot, q: Any, v: Any, t: Scalar) -> Sequence[Row]:
        """Return v_joint - ratio v_master = 0, with its violation in q."""
        (q_joint, v_joint), (q_master, v_master) = self.joint, self.master
        violation = q[q_joint] - self.ratio * q[q_master] - self.offset
        return [Row(gathered([(v_joint, 1.0), (v_master, -self.ratio)]), position=violation)]


def lock(robot: Robot, joint: str) -> Lock:
    """
    Return the constraint that stops every speed of a joint, wherever it is: A = unit rows, b = 0.

    Parameters
    ----------
    robot : Robot
        The robot.
    joint : str
        Name of a joint that owns speeds ('base' for the base).

    Raises
    ------
    NameNotFoundError
        If there is no such joint.
    ConstraintError
        If the joint follows another (a mimic joint): lock its master.

    """
    body = checked_robot(robot).body_of_joint(joint)
    if robot.bodies[body].mimic is not None:
        raise ConstraintError(f"joint '{joint}' follows another joint; lock its master")
    columns = tuple(range(*robot.indices[body].v.indices(robot.nv)))
    labels = tuple(f'{robot.velocity_names[column]}/lock' for column in columns)
    return Lock(robot, labels, columns)


def coupling(robot: Robot, joint: str, master: str, ratio: float, offset: float = 0.0) -> Coupling:
    """
    Return the constraint q_joint = ratio q_master + offset between two 1-DoF joints.

    Parameters
    ----------
    robot : Robot
        The robot.
    joint, master : str
        Names of joints with one speed each.
    ratio : float
        Dimensionless, or m/rad, rad/m.
    offset : float
        [rad or m].

    Raises
    ------
    NameNotFoundError
        If there is no such joint.
    ConstraintError
        If a joint is not 1-DoF, follows another one, or is its own master.
    InvalidInputError
        If a number is not finite.

    """
    followed = _single(checked_robot(robot), master)
    if joint == master:
        raise ConstraintError(f"joint '{joint}' cannot be coupled to itself")
    return Coupling(
        robot,
        (f'{joint}/coupling',),
        _single(robot, joint),
        followed,
        as_number('ratio', ratio),
        as_number('offset', offset),
    )


def _single(robot: Robot, joint: str) -> tuple[int, int]:
    body = robot.body_of_joint(joint)
    index = robot.indices[body]
    if robot.bodies[body].mimic is not None or robot.bodies[body].joint.kind.nv != 1:
        raise ConstraintError(f"joint '{joint}' must own exactly one speed to be coupled")
    return index.q.start, index.v.start
