# SPDX-License-Identifier: Apache-2.0
"""Knife edges, skates and massless wheels: a point that moves along a heading, not across it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import ArrayLike

from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import pure, rotate
from kane_dynamics.algebra.scalars import Scalar
from kane_dynamics.constraints.base import Row
from kane_dynamics.constraints.contact_rows import Direction, contact_rows
from kane_dynamics.constraints.plane import GROUND, Plane, checked_plane
from kane_dynamics.constraints.wheel_directions import STILL, disc_directions
from kane_dynamics.exceptions import ConstraintError
from kane_dynamics.robot.body import Vector
from kane_dynamics.robot.checks import as_vector
from kane_dynamics.robot.frame_motion import frame_motion
from kane_dynamics.robot.joint_kinds import unit_axis
from kane_dynamics.robot.robot import WORLD, Frame, Robot
from kane_dynamics.robot.state import checked_robot


@dataclass(frozen=True, eq=False)
class KnifeEdge:
    """No velocity across an edge, in a plane. Built by `knife_edge`."""

    robot: Robot = field(compare=False, repr=False)
    labels: tuple[str, ...]
    point: Frame
    heading: Vector
    plane: Plane

    def rows(self, robot: Robot, q: Any, v: Any, t: Scalar) -> Sequence[Row]:
        """
        Return the row <left, v_P> = 0; its multiplier is the force to the left [N].

        Raises
        ------
        ConstraintError
            If the edge stands upright on the plane.

        """
        motion = frame_motion(robot, self.point, q, v)
        to_world = motion.pose.rotation
        complaint = f"'{self.labels[0]}': the edge stands upright, it has no left"
        # left of an edge is where a disc would roll that had the edge, reversed, as its axis
        across = disc_directions(-rotate(to_world, pure(self.heading)), self.plane, complaint)
        left = Direction(*across.along(rotate(to_world, motion.twist.primary)))
        return contact_rows(motion, STILL, STILL, [left], self.labels[0])


def knife_edge(
    robot: Robot,
    link: str,
    point: ArrayLike = (0.0, 0.0, 0.0),
    heading: Sequence[float] = (1.0, 0.0, 0.0),
    *,
    plane: Plane = GROUND,
) -> KnifeEdge:
    """
    Return the row of a knife edge, a skate or a massless wheel: no velocity across its heading.

    Across is in the plane and at right angles to the heading. Nothing holds the point at the plane
    (`point_contact` does). On the base, and moving in the plane, it is `no_side_slip`.

    Parameters
    ----------
    robot : Robot
        The robot.
    link : str
        Name of a frame that moves.
    point : array_like, shape (3,)
        Where the edge is, in the frame's axes [m].
    heading : array_like, shape (3,)
        Along the edge, in the frame's axes; brought to unit length.
    plane : Plane
        The ground where left out.

    Raises
    ------
    NameNotFoundError
        If there is no such frame.
    InvalidInputError
        If a number is not finite, the heading is zero, or `plane` is none.
    ConstraintError
        If the frame is part of the world, or robot and plane do not go together.

    """
    checked_plane(checked_robot(robot), plane)
    frame = robot.frame(link)
    if frame.body == WORLD:
        raise ConstraintError(f"frame '{link}' is part of the world, its points do not move")
    placed = Pose.from_rotation_and_position(
        (1.0, 0.0, 0.0, 0.0), as_vector('point [m]', point, 3)
    )
    where = Frame(frame.body, frame.pose * placed)
    return KnifeEdge(robot, (f'{link}/lateral',), where, unit_axis(heading, 'heading'), plane)
