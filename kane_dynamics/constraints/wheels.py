# SPDX-License-Identifier: Apache-2.0
r"""
Exact wheel constraints: no side slip (Silva et al., (64)) and rolling without slipping.

A wheel is a thin disc of radius r with axis n through its centre C, on the plane z = 0 of the
world. Its lowest point is at :math:`r e` from C, with :math:`e = (n\langle n,k\rangle - k)/s`,
:math:`s = \sqrt{1 - \langle n,k\rangle^2}`. Rolling says that the *material* point there is at
rest: :math:`v_C + \omega \times r e = 0`. Differentiated with the moving e it gives

.. math:: \dot v_C + \alpha\times r e + \omega\times r\dot e = 0,

written in the wheel's heading directions: longitudinal :math:`t = n \times k/s`, lateral
:math:`k\times t`, and vertical k. Multipliers are then contact forces on the robot [N].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kane_dynamics.algebra.dual_quaternion import DualQuaternion
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import (
    Quaternion,
    cross,
    dot,
    make_quaternion,
    pure,
    rotate,
    scale,
)
from kane_dynamics.algebra.scalars import Scalar, cos, sin, sqrt
from kane_dynamics.constraints.base import Row, projected_columns
from kane_dynamics.exceptions import ConstraintError
from kane_dynamics.model.chain_motion import frame_motion
from kane_dynamics.model.integration import integrate_coordinates
from kane_dynamics.model.joint_kinds import Planar, Revolute
from kane_dynamics.model.robot import Frame, Robot

_UP = make_quaternion(0.0, 0.0, 0.0, 1.0)
_LIFT_ROUNDOFF = 1e-9  # [m/s] per unit speed
_LEAN_LIMIT = 1e-6  # sine between wheel axis and vertical below which no contact point exists


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


@dataclass(frozen=True, eq=False)
class RollingWheel:
    """
    Rolling without slipping of one wheel. Built by `rolling_wheel`.

    Parameters
    ----------
    robot : Robot
        The robot.
    labels : tuple of str
        Names of the rows.
    wheel : Frame
        Frame at the wheel's centre, in the wheel's body.
    axis : tuple of float
        Unit axis of the wheel in that frame.
    radius : float
        [m].
    directions : tuple of str
        Which of 'longitudinal', 'lateral', 'vertical' are constrained.

    """

    robot: Robot = field(compare=False, repr=False)
    labels: tuple[str, ...]
    wheel: Frame
    axis: tuple[float, float, float]
    radius: float
    directions: tuple[str, ...]

    def rows(self, robot: Robot, q: Any, v: Any, t: Scalar) -> Sequence[Row]:
        """Return one row for each direction: <d, v_C + omega x r e> = 0 and its derivative."""
        motion = frame_motion(robot, self.wheel, q, v)
        to_world = motion.pose.rotation
        heading = _heading(rotate(to_world, pure(self.axis)))
        arm = scale(heading.down, self.radius)
        omega = rotate(to_world, motion.twist.primary)
        arm_rate = scale(heading.down_rate(omega), self.radius)
        contact = _material_velocity(to_world, arm)
        centre_velocity = rotate(to_world, motion.twist.dual)
        bias = contact(motion.twist_rate) + cross(omega, centre_velocity + arm_rate)
        slip = contact(motion.twist)
        rows = []
        for name in self.directions:
            direction, direction_rate = heading.direction(name, omega)
            coefficients = projected_columns(
                motion.columns, lambda axis, d=direction: dot(d, contact(axis))
            )
            acceleration = -dot(direction, bias) - dot(direction_rate, slip)
            # the height of the lowest point is a position; the other rows are nonholonomic
            height = (motion.pose.translation + arm).z if name == 'vertical' else None
            rows.append(
                Row(coefficients, acceleration=acceleration, position=height, kind=self.labels[0])
            )
        return rows


@dataclass(frozen=True, eq=False, slots=True)
class _Heading:
    """Directions of a wheel with axis n: down its disc, along its track, to its left, and up."""

    axis: Quaternion
    lean: Scalar
    sine: Scalar

    @property
    def down(self) -> Quaternion:
        """Return e = (n <n,k> - k)/s."""
        return scale(scale(self.axis, self.lean) - _UP, 1.0 / self.sine)

    def _rates(self, omega: Quaternion) -> tuple[Quaternion, Scalar, Scalar]:
        """Return the rates of n, <n,k> and s."""
        axis_rate = cross(omega, self.axis)
        lean_rate = axis_rate.z
        return axis_rate, lean_rate, -self.lean * lean_rate / self.sine

    def down_rate(self, omega: Quaternion) -> Quaternion:
        """Return de/dt."""
        axis_rate, lean_rate, sine_rate = self._rates(omega)
        moved = scale(axis_rate, self.lean) + scale(self.axis, lean_rate)
        return scale(moved - scale(self.down, sine_rate), 1.0 / self.sine)

    def direction(self, name: str, omega: Quaternion) -> tuple[Quaternion, Quaternion]:
        """Return a contact direction in world axes and its rate."""
        if name == 'vertical':
            return _UP, scale(_UP, 0.0)
        axis_rate, _, sine_rate = self._rates(omega)
        along = scale(cross(self.axis, _UP), 1.0 / self.sine)
        along_rate = scale(cross(axis_rate, _UP) - scale(along, sine_rate), 1.0 / self.sine)
        if name == 'longitudinal':
            return along, along_rate
        return cross(_UP, along), cross(_UP, along_rate)


def _heading(axis: Quaternion) -> _Heading:
    lean = axis.z
    return _Heading(axis, lean, sqrt(1.0 - lean * lean))


def _material_velocity(to_world: Quaternion, arm: Quaternion) -> Any:
    """Return the map from a twist of the wheel frame to R v + R omega x arm, in the world."""

    def velocity(h: DualQuaternion) -> Quaternion:
        return rotate(to_world, h.dual) + cross(rotate(to_world, h.primary), arm)

    return velocity


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
        If the base is not planar or the offset is not finite.

    """
    if robot.base != 'planar' or robot.bodies[0].joint.kind != Planar():
        raise ConstraintError(f'no_side_slip needs a planar base, this base is {robot.base}')
    if not np.isfinite(axle_offset):
        raise ConstraintError(f'axle_offset must be finite [m], got {axle_offset}')
    return NoSideSlip(robot, float(axle_offset))


def rolling_wheel(robot: Robot, joint: str, radius: float | None = None) -> RollingWheel:
    """
    Return rolling without slipping of the wheel that a revolute joint carries.

    Rows: longitudinal and lateral, and vertical where the wheel could leave the ground.

    Parameters
    ----------
    robot : Robot
        The robot.
    joint : str
        Name of the wheel's revolute joint.
    radius : float, optional
        [m]; from the URDF's collision cylinder or sphere where left out.

    Raises
    ------
    NameNotFoundError
        If there is no such joint.
    ConstraintError
        If the joint is not revolute, its axis is vertical at the neutral configuration, the
        radius is not positive, or none is known.

    """
    directions: tuple[str, ...] = ('longitudinal', 'lateral')
    wheel = _wheel(robot, joint, radius, directions, [f'{joint}/{name}' for name in directions])
    if not _can_lift(robot, wheel.wheel):
        return wheel
    directions = ('longitudinal', 'lateral', 'vertical')
    return _wheel(robot, joint, radius, directions, [f'{joint}/{name}' for name in directions])


@dataclass(frozen=True, eq=False)
class DifferentialDrive:
    """No side slip at the axle and rolling of two wheels. Built by `differential_drive`."""

    robot: Robot = field(compare=False, repr=False)
    side_slip: NoSideSlip
    left: RollingWheel
    right: RollingWheel

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the names of the three rows."""
        return self.side_slip.labels + self.left.labels + self.right.labels

    def rows(self, robot: Robot, q: Any, v: Any, t: Scalar) -> Sequence[Row]:
        """Return the no-side-slip row, then rolling of the left and of the right wheel."""
        parts = (self.side_slip, self.left, self.right)
        return [row for part in parts for row in part.rows(robot, q, v, t)]


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
        If the wheels do not share an axle, or as for `rolling_wheel` and `no_side_slip`.

    """
    rolling = [
        _wheel(robot, joint, radius, ('longitudinal',), [f'{joint}/rolling'])
        for joint in (left, right)
    ]
    offsets = [_axle_offset(robot, joint) for joint in (left, right)]
    if left == right or abs(offsets[0] - offsets[1]) > 1e-6:
        raise ConstraintError(
            f"wheels '{left}' and '{right}' do not share an axle: x = {offsets[0]:.6g} m and "
            f'{offsets[1]:.6g} m in the base frame'
        )
    return DifferentialDrive(
        robot, no_side_slip(robot, 0.5 * sum(offsets)), rolling[0], rolling[1]
    )


def _wheel(
    robot: Robot,
    joint: str,
    radius: float | None,
    directions: Sequence[str],
    labels: Sequence[str],
) -> RollingWheel:
    body = robot.body_of_joint(joint)
    kind = robot.bodies[body].joint.kind
    if not isinstance(kind, Revolute):
        raise ConstraintError(f"wheel joint '{joint}' must be revolute, is {type(kind).__name__}")
    if radius is None:
        radius = robot.wheel_radii.get(joint)
    if radius is None or not (np.isfinite(radius) and radius > 0.0):
        raise ConstraintError(
            f"wheel '{joint}': need a radius > 0 m, got {radius}; collision cylinders or spheres "
            f'give one for {sorted(robot.wheel_radii)}'
        )
    frame = Frame(body, Pose.identity())
    at_rest = frame_motion(robot, frame, robot.neutral().tolist(), [0.0] * robot.nv)
    axis = rotate(at_rest.pose.rotation, pure(kind.axis))
    if np.hypot(axis.x, axis.y) < _LEAN_LIMIT:
        raise ConstraintError(f"wheel '{joint}': its axis is vertical, it has no lowest point")
    return RollingWheel(robot, tuple(labels), frame, kind.axis, float(radius), tuple(directions))


def _can_lift(robot: Robot, wheel: Frame) -> bool:
    """Return whether any speed moves the wheel's centre up, in general position."""
    rng = np.random.default_rng(0)
    for _ in range(3):
        step = rng.uniform(-1.0, 1.0, robot.nv).tolist()
        q = integrate_coordinates(robot, robot.neutral(), step, 1.0).tolist()
        motion = frame_motion(robot, wheel, q, [0.0] * robot.nv)
        lifts = [rotate(motion.pose.rotation, axis.dual).z for _, axis in motion.columns]
        if np.abs(lifts).max(initial=0.0) > _LIFT_ROUNDOFF:
            return True
    return False


def _axle_offset(robot: Robot, joint: str) -> float:
    """Return x of the wheel's centre in the base frame at the neutral configuration [m]."""
    q, v = robot.neutral().tolist(), [0.0] * robot.nv
    base, wheel = (
        frame_motion(robot, Frame(body, Pose.identity()), q, v).pose
        for body in (0, robot.body_of_joint(joint))
    )
    return float((base.conjugate() * wheel).position()[0])
