# SPDX-License-Identifier: Apache-2.0
"""No side slip: knife edges, axles, and differential drives."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kane_dynamics.algebra.quaternions import pure
from kane_dynamics.algebra.scalars import Scalar, cos, sin, unit_axis
from kane_dynamics.constraints.base import RobotRows, Row
from kane_dynamics.constraints.contacts import (
    GROUND,
    STILL,
    Direction,
    Plane,
    checked_plane,
    contact_rows,
    disc_directions,
    moving_point,
)
from kane_dynamics.constraints.rolling import Circle, RollingWheel, wheel_circle
from kane_dynamics.exceptions import ConstraintError
from kane_dynamics.robot.body import Vector
from kane_dynamics.robot.checks import as_number
from kane_dynamics.robot.joint_kinds import Planar
from kane_dynamics.robot.motion import frame_motion, place_on_base
from kane_dynamics.robot.robot import Frame, Robot
from kane_dynamics.robot.state import checked_robot
from kane_dynamics.typing import ArrayLike


@dataclass(frozen=True, eq=False)
class KnifeEdge(RobotRows):
    """No velocity across an edge, in a plane. Built by `knife_edge`."""

    frames: tuple[Frame]
    heading: Vector
    plane: Plane

    def rows(self, robot: Robot, q: Any, v: Any, t: Scalar) -> Sequence[Row]:
        """Return the row <left, v_P> = 0; its multiplier is the force to the left [N]."""
        motion = frame_motion(robot, self.frames[0], q, v)
        normal = motion.from_world(pure(self.plane.normal))
        complaint = f"'{self.labels[0]}': the edge stands upright, it has no left"
        # left of an edge is where a disc would roll that had the edge, reversed, as its axis
        across = disc_directions(-pure(self.heading), normal, complaint)
        left = Direction(*across.along(motion.twist.primary))
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

    Examples
    --------
    >>> from kane_dynamics import constraints as C
    >>> robot = kd.load_robot('nonholonomic', base='planar')
    >>> C.knife_edge(robot, 'base_footprint').labels
    ('base_footprint/lateral',)

    """
    checked_plane(checked_robot(robot), plane)
    frames, edge = (moving_point(robot, link, point),), unit_axis(heading, 'heading')
    return KnifeEdge(robot, (f'{link}/lateral',), frames, edge, plane)


_PARALLEL = 1e-2  # sine between a wheel's axis and the axle: above angles of two digits, 1.57
_SAME_AXLE = 1e-6  # [m] between the two wheels along the base, above printed roundoff


@dataclass(frozen=True)
class NoSideSlip:
    """No lateral velocity at the axle of a planar base. Built by `no_side_slip`."""

    robot: Robot = field(compare=False, repr=False)
    axle_offset: float
    labels: tuple[str, ...] = ('base/no_side_slip',)

    def rows(self, robot: Robot, q: Any, v: Any, t: Scalar) -> Sequence[Row]:
        """Return [-sin yaw, cos yaw, offset] v = 0 and b = yawdot (xdot cos + ydot sin) (64)."""
        c, s = cos(q[2]), sin(q[2])
        forward = c * v[0] + s * v[1]
        return [Row({0: -s, 1: c, 2: self.axle_offset}, acceleration=v[2] * forward)]


def no_side_slip(robot: Robot, axle_offset: float = 0.0) -> NoSideSlip:
    """
    Return the no-side-slip row of a planar base, [-sin yaw, cos yaw, axle_offset] v = 0 (64).

    Parameters
    ----------
    robot : Robot
        A robot with a planar base.
    axle_offset : float
        x coordinate of the wheel axle in the base frame [m].

    Raises
    ------
    ConstraintError
        If the base is not planar.
    InvalidInputError
        If the offset is not finite.

    Examples
    --------
    >>> from kane_dynamics import constraints as C
    >>> robot = kd.load_robot('nonholonomic', base='planar')
    >>> dynamics = kd.dynamics(robot, [C.no_side_slip(robot)])
    >>> v = dynamics.consistent_velocity(robot.neutral(), np.ones(robot.nv))
    >>> bool(np.isclose(v[1], 0.0))  # yaw is 0: y does not move
    True

    """
    if checked_robot(robot).base != 'planar' or robot.bodies[0].joint.kind != Planar():
        raise ConstraintError(f'no_side_slip needs a planar base, this base is {robot.base}')
    return NoSideSlip(robot, as_number('axle_offset [m]', axle_offset))


@dataclass(frozen=True, eq=False)
class DifferentialDrive:
    """No side slip at the axle and rolling of two wheels. Built by `differential_drive`."""

    robot: Robot = field(compare=False, repr=False)
    side_slip: NoSideSlip
    left: RollingWheel
    right: RollingWheel

    @property
    def constraints(self) -> tuple[NoSideSlip, RollingWheel, RollingWheel]:
        """Return its constraints, in the order of rows."""
        return self.side_slip, self.left, self.right

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the names of the three rows."""
        return self.side_slip.labels + self.left.labels + self.right.labels

    def rows(self, robot: Robot, q: Any, v: Any, t: Scalar) -> Sequence[Row]:
        """Return the no-side-slip row, then rolling of the left and of the right wheel."""
        return [row for part in self.constraints for row in part.rows(robot, q, v, t)]


def differential_drive(
    robot: Robot, left: str, right: str, radius: float | None = None
) -> DifferentialDrive:
    """
    Return the three rows of a two-wheeled planar base whose wheel joints are in v.

    No side slip at the axle, whose offset is read from the wheels' positions, and rolling along
    the track of each wheel.

    Parameters
    ----------
    robot : Robot
        A robot with a planar base.
    left, right : str
        Names of the wheels' revolute joints.
    radius : float, optional
        Of both wheels [m]; from the URDF's collision cylinders or spheres where left out.

    Raises
    ------
    NameNotFoundError
        If there is no such joint.
    ConstraintError
        If the wheels are one, their axes do not lie along the axle (y of the base frame), they do
        not share an axle, or as for `rolling_wheel` and `no_side_slip`.

    Warns
    -----
    ModelWarning
        As `rolling_wheel`.

    Examples
    --------
    >>> from kane_dynamics import constraints as C
    >>> robot = kd.load_robot('nonholonomic', base='planar')
    >>> rows = [C.differential_drive(robot, 'wheel_left_joint', 'wheel_right_joint')]
    >>> kd.independent_rows(robot, robot.neutral(), rows).independent_indices.size
    3

    """
    if left == right:
        raise ConstraintError(f"differential_drive needs two wheels, got '{left}' twice")
    no_side_slip(robot)  # refuses other bases
    circles = (wheel_circle(robot, left, radius), wheel_circle(robot, right, radius))
    offset = _axle_offset(robot, (left, right), circles)
    wheels = [
        RollingWheel(robot, (f'{joint}/rolling',), c.frame, c.axis, c.radius, ('longitudinal',))
        for joint, c in zip((left, right), circles, strict=True)
    ]
    return DifferentialDrive(robot, no_side_slip(robot, offset), wheels[0], wheels[1])


def _axle_offset(robot: Robot, joints: tuple[str, str], circles: Sequence[Circle]) -> float:
    """Return x of the axle of two wheels in the base frame at the neutral configuration [m]."""
    axles = [place_on_base(robot, c.frame, c.axis or (0.0, 0.0, 0.0)) for c in circles]
    axes = [axle.axis for axle in axles]
    rounded = [np.round(axis, 4).tolist() for axis in axes]
    for joint, axis, printed in zip(joints, axes, rounded, strict=True):
        if abs(axis[2]) > _PARALLEL:
            raise ConstraintError(
                f"differential_drive: the axis {printed} of wheel '{joint}' in the base frame is "
                'not horizontal'
            )
    if np.linalg.norm(np.cross(axes[0], axes[1])) > _PARALLEL:
        raise ConstraintError(
            f'differential_drive: the axes {rounded[0]} and {rounded[1]} of wheels '
            f'{list(joints)} in the base frame are not parallel to each other'
        )
    if abs(axes[0][0]) > _PARALLEL:
        raise ConstraintError(
            f'differential_drive: the axes {rounded[0]} of wheels '
            f'{list(joints)} do not lie along the axle, which is y of the base frame: the base '
            'could not move along its x'
        )
    offsets = [float(axle.point[0]) for axle in axles]
    if abs(offsets[0] - offsets[1]) > _SAME_AXLE:
        raise ConstraintError(
            f"wheels '{joints[0]}' and '{joints[1]}' do not share an axle: x = "
            f'{offsets[0]:.6g} m and {offsets[1]:.6g} m in the base frame'
        )
    return 0.5 * sum(offsets)
