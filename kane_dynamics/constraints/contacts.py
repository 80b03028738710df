# SPDX-License-Identifier: Apache-2.0
r"""
Distances that may grow but not fall below zero: ranges of joints, points over planes.

Their rows are those of :math:`\Phi(q) = 0`, :math:`A \dot v = b`. Where a contact is closed
(:math:`\Phi = 0, A v = 0`) `kane_dynamics.contact_forward_dynamics` asks for
:math:`A \dot v \ge b`; as constraints they hold the distance at zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import Quaternion, cross, dot, make_quaternion, pure, rotate
from kane_dynamics.algebra.scalars import Scalar
from kane_dynamics.constraints.base import Row, projected_columns
from kane_dynamics.constraints.plane import Plane
from kane_dynamics.exceptions import ConstraintError
from kane_dynamics.robot.checks import as_choice, as_vector
from kane_dynamics.robot.frame_motion import frame_motion
from kane_dynamics.robot.robot import WORLD, Frame, Robot
from kane_dynamics.robot.state import checked_robot

SIDES = {'lower': 1.0, 'upper': -1.0}


@dataclass(frozen=True)
class JointLimit:
    """The distance of a coordinate from an end of its range. Built by `joint_limit`."""

    robot: Robot = field(compare=False, repr=False)
    labels: tuple[str, ...]
    place: tuple[int, int]
    sign: float
    limit: float

    def rows(self, robot: Robot, q: Any, v: Any, t: Scalar) -> Sequence[Row]:
        """Return the row of +-(q_k - limit)."""
        coordinate, speed = self.place
        distance = self.sign * (q[coordinate] - self.limit)
        return [Row({speed: self.sign}, position=distance)]


@dataclass(frozen=True, eq=False)
class PointContact:
    """The distance of a point of a link from a plane. Built by `point_contact`."""

    robot: Robot = field(compare=False, repr=False)
    labels: tuple[str, ...]
    point: Frame
    plane: Plane

    def rows(self, robot: Robot, q: Any, v: Any, t: Scalar) -> Sequence[Row]:
        """Return the row of <n, p> - offset; its multiplier is the normal force [N]."""
        motion, n = frame_motion(robot, self.point, q, v), pure(self.plane.normal)

        def along(vector: Quaternion) -> Scalar:
            return dot(n, rotate(motion.pose.rotation, vector))

        turning = cross(motion.twist.primary, motion.twist.dual)
        bias = along(motion.twist_rate.dual + turning)
        distance = dot(n, motion.pose.translation) - self.plane.offset
        coefficients = projected_columns(motion.columns, lambda axis: along(axis.dual))
        return [Row(coefficients, acceleration=-bias, position=distance)]


def joint_limit(robot: Robot, joint: str, side: str) -> JointLimit:
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

    """
    as_choice('side', side, SIDES)
    place = checked_robot(robot).coordinate_index(joint), robot.velocity_index(joint)
    limit = float((robot.lower if side == 'lower' else robot.upper)[place[0]])
    if not np.isfinite(limit):
        raise ConstraintError(f"joint '{joint}' has no {side} limit")
    return JointLimit(robot, (f'{joint}/{side}',), place, SIDES[side], limit)


def point_contact(
    robot: Robot,
    link: str,
    point: ArrayLike = (0.0, 0.0, 0.0),
    normal: ArrayLike = (0.0, 0.0, 1.0),
    offset: float = 0.0,
) -> PointContact:
    """
    Return the distance of a point of a link from a plane of the world: Phi = <n, p> - offset.

    Parameters
    ----------
    robot : Robot
        The robot.
    link : str
        Name of a frame that moves.
    point : array_like, shape (3,)
        The point, in the frame's axes [m].
    normal : array_like, shape (3,)
        n, in world axes, towards the free side; brought to unit length.
    offset : float
        Distance of the plane from the origin of the world, along n [m].

    Raises
    ------
    NameNotFoundError
        If there is no such frame.
    InvalidInputError
        If a number is not finite, or n is zero.
    ConstraintError
        If the frame is part of the world.

    """
    frame = checked_robot(robot).frame(link)
    if frame.body == WORLD:
        raise ConstraintError(f"frame '{link}' is part of the world, its points do not move")
    placed = Pose(make_quaternion(1.0, 0.0, 0.0, 0.0), pure(as_vector('point [m]', point, 3)))
    where = Frame(frame.body, frame.pose * placed)
    return PointContact(robot, (f'{link}/contact',), where, Plane(normal, offset))
