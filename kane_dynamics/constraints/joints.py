# SPDX-License-Identifier: Apache-2.0
"""Constraints on joint coordinates alone: locks, couplings, limits (linear)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane_dynamics.algebra.scalars import Scalar
from kane_dynamics.constraints.base import RobotRows, Row, gathered
from kane_dynamics.exceptions import ConstraintError
from kane_dynamics.robot.checks import as_choice, as_number
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_robot

SIDES = {'lower': 1.0, 'upper': -1.0}


@dataclass(frozen=True)
class JointRow:
    """sum_k c_k v_k = 0 of joints with (index in q, index in v, c_k)."""

    terms: tuple[tuple[int, int, float], ...]
    offset: float | None = None  # of the holonomic row sum_k c_k q_k = offset

    def row(self, q: Any) -> Row:
        """Return the row at coordinates q."""
        coefficients = gathered([(speed, c) for _, speed, c in self.terms])
        if self.offset is None:
            return Row(coefficients)
        return Row(coefficients, position=sum(c * q[k] for k, _, c in self.terms) - self.offset)


@dataclass(frozen=True)
class JointRows(RobotRows):
    """Linear rows in joint coordinates. Built by `lock`, `coupling` and `joint_limit`."""

    linear: tuple[JointRow, ...]

    def rows(self, robot: Robot, q: Any, v: Any, t: Scalar) -> Sequence[Row]:
        """Return the rows, holonomic ones with their violation in q."""
        return [linear.row(q) for linear in self.linear]


def lock(robot: Robot, joint: str) -> JointRows:
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

    Examples
    --------
    >>> from kane_dynamics import constraints as C
    >>> robot = kd.serial_chain(2)
    >>> rows = [C.lock(robot, robot.joint_names[0])]
    >>> float(kd.forward_dynamics(robot, [0, 0], [0, 0], [1, 1], rows).acceleration[0])
    0.0

    """
    body = checked_robot(robot).body_of_joint(joint)
    if robot.bodies[body].mimic is not None:
        raise ConstraintError(f"joint '{joint}' follows another joint; lock its master")
    columns = tuple(range(*robot.indices[body].v.indices(robot.nv)))
    labels = tuple(f'{robot.velocity_names[column]}/lock' for column in columns)
    return JointRows(robot, labels, tuple(JointRow(((0, k, 1.0),)) for k in columns))


def coupling(
    robot: Robot, joint: str, master: str, ratio: float, offset: float = 0.0
) -> JointRows:
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

    Examples
    --------
    >>> from kane_dynamics import constraints as C
    >>> robot = kd.serial_chain(2)
    >>> rows = [C.coupling(robot, *robot.joint_names, ratio=2.0)]
    >>> a = kd.forward_dynamics(robot, [0, 0], [0, 0], [1, 1], rows).acceleration
    >>> bool(np.isclose(a[0], 2.0 * a[1]))
    True

    """
    followed = _single(checked_robot(robot), master)
    if joint == master:
        raise ConstraintError(f"joint '{joint}' cannot be coupled to itself")
    terms = (*_single(robot, joint), 1.0), (*followed, -as_number('ratio', ratio))
    linear = JointRow(terms, as_number('offset', offset))
    return JointRows(robot, (f'{joint}/coupling',), (linear,))


def joint_limit(robot: Robot, joint: str, side: str) -> JointRows:
    """
    Return the distance of a joint from an end of its range: Phi = q - lower, or upper - q.

    Parameters
    ----------
    robot : Robot
        The robot.
    joint : str
        Name of a joint with one coordinate and a finite limit.
    side : str
        'lower' or 'upper'.

    Raises
    ------
    NameNotFoundError
        If there is no such coordinate with a speed of its own.
    InvalidInputError
        If the side is neither.
    ConstraintError
        If the joint has no limit there.

    Examples
    --------
    >>> from kane_dynamics import constraints as C
    >>> robot = kd.load_robot('nonholonomic', base='planar')
    >>> C.joint_limit(robot, 'arm_2_joint', 'upper').labels
    ('arm_2_joint/upper',)

    """
    as_choice('side', side, SIDES)
    k, speed = checked_robot(robot).coordinate_index(joint), robot.velocity_index(joint)
    limit, sign = float((robot.lower if side == 'lower' else robot.upper)[k]), SIDES[side]
    if not np.isfinite(limit):
        raise ConstraintError(f"joint '{joint}' has no {side} limit")
    linear = JointRow(((k, speed, sign),), sign * limit)
    return JointRows(robot, (f'{joint}/{side}',), (linear,))


def _single(robot: Robot, joint: str) -> tuple[int, int]:
    body = robot.body_of_joint(joint)
    index = robot.indices[body]
    if robot.bodies[body].mimic is not None or robot.bodies[body].joint.kind.nv != 1:
        raise ConstraintError(f"joint '{joint}' must own exactly one speed to be coupled")
    return index.q.start, index.v.start
