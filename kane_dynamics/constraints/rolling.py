# SPDX-License-Identifier: Apache-2.0
r"""
Rolling without slipping of wheels and balls on planes: discs, round tyres, rollers on the rim.

A wheel is a circle of radius R with axis n through its centre C, a tyre of radius :math:`\rho`
around it, and touches the plane with normal k in

.. math:: P = C + R e - \rho k,

e down the disc (`contacts`). Without a tyre it is a thin disc; a ball is a tyre around its
centre. Rolling says that the *material* point in P is at rest; a wheel with free rollers on its
rim (mecanum, omni) binds it only along the axis of the roller that touches. Directions are those
of the track: longitudinal t, lateral :math:`k\times t`, roller at an angle between them, and
vertical along k, with the distance from the plane. A ball has x and y of the plane. Multipliers
are then contact forces on the robot [N]. C need not lie on the axis of a joint.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import cos, sin
from typing import Any, NamedTuple

import numpy as np

from kane_dynamics.algebra.matrices import product
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import Quaternion, cross, dot, pure, rotate, scale, vec3
from kane_dynamics.algebra.scalars import Scalar, unit_axis
from kane_dynamics.constraints.base import RobotRows, Row
from kane_dynamics.constraints.contacts import (
    GROUND,
    LEAN_LIMIT,
    STILL,
    BallDirections,
    Direction,
    Plane,
    PlaneDirections,
    checked_plane,
    contact_rows,
    disc_directions,
)
from kane_dynamics.exceptions import ConstraintError, ModelWarning
from kane_dynamics.robot.body import Vector, WheelShape
from kane_dynamics.robot.checks import as_number, as_vector, index_of
from kane_dynamics.robot.joint_kinds import JointKind, Revolute
from kane_dynamics.robot.motion import FrameMotion, frame_motion, integrate_coordinates
from kane_dynamics.robot.robot import Frame, Robot
from kane_dynamics.robot.state import checked_robot
from kane_dynamics.typing import ArrayLike, Floats

# parts along t and left of it
_IN_PLANE = {'longitudinal': (1.0, 0.0), 'lateral': (0.0, 1.0), 'x': (1.0, 0.0), 'y': (0.0, 1.0)}


@dataclass(frozen=True, eq=False, slots=True)
class Touch:
    """Where a wheel or a ball touches its plane, in world axes."""

    point: Floats
    axes: Floats
    directions: Floats


@dataclass(frozen=True, eq=False)
class RollingWheel(RobotRows):
    """Rolling without slipping of a wheel or a ball."""

    wheel: Frame
    axis: Vector | None
    radius: float
    directions: tuple[str, ...]
    plane: Plane = GROUND
    tyre_radius: float = 0.0
    roller_angle: float = 0.0

    def rows(self, robot: Robot, q: Any, v: Any, t: Scalar) -> Sequence[Row]:
        """Return rows <d, v_C + omega x (R e - rho k)> = 0, one for each direction d."""
        motion = frame_motion(robot, self.wheel, q, v, is_round=True)
        turning, omega = self._turning(motion.from_world), motion.twist.primary
        arm = self._arm(turning)
        arm_rate = scale(turning.down_rate(omega), self.radius - self.tyre_radius)
        height = dot(pure(self.plane.normal), motion.pose.translation) + dot(turning.normal, arm)
        directions = self._directions(turning, omega, height - self.plane.offset)
        return contact_rows(motion, arm, arm_rate, directions, self.labels[0])

    @property
    def frames(self) -> tuple[Frame]:
        """Return where its forces act."""
        return (self.wheel,)

    def contact_point(self, robot: Robot, q: Any) -> Floats:
        """Return the point nearest to the plane, in the world, (3,) [m]."""
        return self.touch(robot, q).point

    def touch(self, robot: Robot, q: Any) -> Touch:
        """Return the contact point and the directions of the rows at coordinates q."""
        return self.touch_at(frame_motion(robot, self.wheel, q, [0.0] * robot.nv).pose)

    def touch_at(self, pose: Pose) -> Touch:
        """Return the same at a pose of the wheel's frame."""
        to_frame = pose.rotation.conjugate()
        turning = self._turning(lambda vector: rotate(to_frame, vector))
        point = pose.translation + rotate(pose.rotation, self._arm(turning))
        normal, along = pure(self.plane.normal), rotate(pose.rotation, turning.along(STILL)[0])
        axes = np.array([vec3(x) for x in (along, cross(normal, along), normal)])
        parts = [
            (0, 0, 1) if x == 'vertical' else (*self._in_plane(x), 0) for x in self.directions
        ]
        return Touch(vec3(point), axes, product(np.array(parts, float).reshape(-1, 3), axes))

    def _in_plane(self, name: str) -> tuple[float, float]:
        """Return the parts of a direction along and across the track."""
        return _IN_PLANE.get(name) or (cos(self.roller_angle), sin(self.roller_angle))

    def only(self, *directions: str) -> RollingWheel:
        """Return some of the rows, e.g. those along which the wheel does not slide."""
        indices = [index_of('direction', name, self.directions) for name in directions]
        labels = tuple(self.labels[k] for k in indices)
        return replace(self, labels=labels, directions=directions)

    def _turning(self, from_world: Callable[[Quaternion], Quaternion]) -> PlaneDirections:
        normal = from_world(pure(self.plane.normal))
        if self.axis is None:
            return BallDirections(normal, from_world(pure(self.plane.directions()[0])))
        complaint = f"'{self.labels[0]}': the wheel lies flat, it has no lowest point"
        return disc_directions(pure(self.axis), normal, complaint)

    def _arm(self, turning: PlaneDirections) -> Quaternion:
        """Return R e - rho k."""
        rim = scale(turning.down, self.radius - self.tyre_radius)
        return rim - scale(turning.normal, self.tyre_radius)

    def _directions(
        self, turning: PlaneDirections, omega: Quaternion, height: Scalar
    ) -> Iterator[Direction]:
        normal = turning.normal
        along, along_rate = turning.along(omega)
        left, left_rate = cross(normal, along), cross(normal, along_rate)
        for name in self.directions:
            if name == 'vertical':
                # the distance is a position; the other rows are nonholonomic
                yield Direction(normal, STILL, height)
            else:
                c, s = self._in_plane(name)
                vector = scale(along, c) + scale(left, s)
                yield Direction(vector, scale(along_rate, c) + scale(left_rate, s))


_LIFT_ROUNDOFF = 1e-9  # [m/s] per unit speed
_CENTRED = 1e-4  # [radii] of a wheel's centre from the joint's frame that are worth no remark


class Circle(NamedTuple):
    """A frame at the centre, the unit axis in it (None for a ball), the radius [m]."""

    frame: Frame
    axis: Vector | None
    radius: float
    lifts: bool
    """Whether some speed lifts the centre off the plane."""


def wheel_circle(
    robot: Robot,
    joint: str,
    radius: float | None = None,
    axis: Sequence[float] | None = None,
    centre: ArrayLike | None = None,
    plane: Plane = GROUND,
) -> Circle:
    """Return the circle of a wheel; arguments, errors and warnings as for `rolling_wheel`."""
    normal = checked_plane(checked_robot(robot), plane).normal
    body = robot.body_of_joint(joint)
    kind, shape = robot.bodies[body].joint.kind, robot.wheels.get(joint)
    n = _wheel_axis(joint, kind, axis, shape)
    hinged = isinstance(kind, Revolute)
    where = _centre(shape, centre)
    if centre is None and hinged:
        if radius is not None:
            where = np.array(n) * (n @ where)
        if shape is not None:
            _warn_off_centre(joint, shape.radius, np.array(n), where)
    size = _radius(robot, joint, radius)
    on_axis = np.array(n) * (n @ where) if hinged else where
    motions = _sampled_motions(robot, Frame(body, Pose.shift(on_axis)))
    if all(_is_upright(motion, n, normal) for motion in motions):
        raise ConstraintError(
            f"wheel '{joint}': its axis is perpendicular to its plane, it has no lowest point"
        )
    lifts = any(_is_lifted(motion, normal) for motion in motions)
    offset = float(np.linalg.norm(where - on_axis))
    if offset > _CENTRED * size and not lifts:
        raise ConstraintError(
            f"wheel '{joint}' is eccentric: its centre is {offset:.6g} m off the axis of its "
            'joint, which nothing lifts; give a radius for a circle about the axis'
        )
    return Circle(Frame(body, Pose.shift(where)), n, size, lifts)


def ball_circle(
    robot: Robot,
    joint: str,
    radius: float | None = None,
    centre: ArrayLike | None = None,
    plane: Plane = GROUND,
) -> Circle:
    """Return the circle of a ball; arguments and errors as for `rolling_ball`."""
    normal = checked_plane(checked_robot(robot), plane).normal
    body = robot.body_of_joint(joint)
    frame = Frame(body, Pose.shift(_centre(robot.wheels.get(joint), centre)))
    lifts = any(_is_lifted(motion, normal) for motion in _sampled_motions(robot, frame))
    return Circle(frame, None, _radius(robot, joint, radius), lifts)


def _wheel_axis(
    joint: str, kind: JointKind, axis: Sequence[float] | None, shape: WheelShape | None
) -> Vector:
    if isinstance(kind, Revolute):
        if axis is not None:
            raise ConstraintError(f"wheel '{joint}' turns about the axis of its revolute joint")
        return kind.axis
    if kind.quaternion is None:
        raise ConstraintError(
            f"wheel joint '{joint}' must be revolute, free or spherical, is {type(kind).__name__}"
        )
    if axis is not None:
        return unit_axis(axis, 'axis')
    if shape is None or shape.axis is None:
        raise ConstraintError(
            f"wheel '{joint}': need an axis, no collision cylinder gives one; see rolling_ball "
            'for balls'
        )
    return shape.axis


def _centre(shape: WheelShape | None, centre: ArrayLike | None) -> Floats:
    if centre is not None:
        return as_vector('centre [m]', centre, 3)
    return np.zeros(3) if shape is None else np.array(shape.centre)


def _radius(robot: Robot, joint: str, radius: float | None) -> float:
    if radius is not None:
        radius = as_number('radius [m]', radius)
    elif joint in robot.wheels:
        radius = robot.wheels[joint].radius
    if radius is None or not radius > 0.0:
        hint = f'give one for {sorted(robot.wheels)}' if robot.wheels else 'give none'
        raise ConstraintError(
            f"wheel '{joint}': need a radius > 0 m, got {radius}; collision cylinders or spheres "
            f'{hint}'
        )
    return radius


def _warn_off_centre(joint: str, radius: float, n: Floats, centre: Floats) -> None:
    """Warn where the collision shape of a wheel is not centred in the frame of its joint."""
    along = float(n @ centre)
    across = float(np.linalg.norm(centre - along * n))
    if across > _CENTRED * radius:
        problem = f'is {across:.6g} m off the axis of its joint: an eccentric wheel'
    elif abs(along) > _CENTRED * radius:
        problem = f'stands {abs(along):.6g} m along the axis from its joint'
    else:
        return
    warnings.warn(
        f"wheel '{joint}': its collision shape {problem}; the ground is touched below the shape",
        ModelWarning,
        stacklevel=4,
    )


def _sampled_motions(robot: Robot, frame: Frame) -> list[FrameMotion]:
    """Return the motion of a frame in general positions."""
    rng = np.random.default_rng(0)
    motions = []
    for _ in range(3):
        step = rng.uniform(-1.0, 1.0, robot.nv).tolist()
        q = integrate_coordinates(robot, robot.neutral(), step, 1.0).tolist()
        motions.append(frame_motion(robot, frame, q, [0.0] * robot.nv))
    return motions


def _is_lifted(motion: FrameMotion, normal: Sequence[float]) -> bool:
    """Return whether any speed moves the centre along the normal."""
    k = pure(normal)
    lifts = [dot(k, rotate(motion.pose.rotation, axis.dual)) for _, axis in motion.columns]
    return bool(np.abs(lifts).max(initial=0.0) > _LIFT_ROUNDOFF)


def _is_upright(motion: FrameMotion, n: Vector, normal: Sequence[float]) -> bool:
    """Return whether an axis is along the normal."""
    lean = float(np.dot(motion.pose.rotation_matrix() @ n, normal))
    return 1.0 - lean * lean < LEAN_LIMIT**2
