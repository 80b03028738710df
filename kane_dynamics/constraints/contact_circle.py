# SPDX-License-Identifier: Apache-2.0
r"""
Circles of wheels, and the directions along which a disc or a ball rolls on a plane.

A disc with axis n touches the plane below its centre in the direction
:math:`e = (n\langle n,k\rangle - k)/s`, :math:`s = \sqrt{1 - \langle n,k\rangle^2}`, and rolls
along :math:`t = n \times k/s`; left of t is :math:`k\times t`. A ball has e = -k, and its t does
not turn.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

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
from kane_dynamics.algebra.scalars import Scalar, sqrt, unit_axis
from kane_dynamics.algebra.tracing import is_traced
from kane_dynamics.constraints.contacts import GROUND, Plane, checked_plane
from kane_dynamics.exceptions import ConstraintError, ModelWarning
from kane_dynamics.robot.body import Vector, WheelShape
from kane_dynamics.robot.checks import as_number, as_vector
from kane_dynamics.robot.joint_kinds import JointKind, Revolute
from kane_dynamics.robot.motion import FrameMotion, frame_motion, integrate_coordinates
from kane_dynamics.robot.robot import Frame, Robot
from kane_dynamics.robot.state import checked_robot
from kane_dynamics.typing import ArrayLike, Floats

LEAN_LIMIT = 1e-6  # sine between axis and normal below which no contact point exists
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


STILL = make_quaternion(0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False, slots=True)
class DiscDirections:
    """Directions of a disc with axis n, with <n, k> and s. Built by `disc_directions`."""

    axis: Quaternion
    normal: Quaternion
    lean: Scalar
    sine: Scalar

    @property
    def down(self) -> Quaternion:
        """Return e = (n <n,k> - k)/s."""
        return scale(scale(self.axis, self.lean) - self.normal, 1.0 / self.sine)

    def down_rate(self, omega: Quaternion) -> Quaternion:
        """Return de/dt."""
        axis_rate, lean_rate, sine_rate = self._rates(omega)
        moved = scale(axis_rate, self.lean) + scale(self.axis, lean_rate)
        return scale(moved - scale(self.down, sine_rate), 1.0 / self.sine)

    def along(self, omega: Quaternion) -> tuple[Quaternion, Quaternion]:
        """Return t = n x k/s and its rate."""
        axis_rate, _, sine_rate = self._rates(omega)
        t = scale(cross(self.axis, self.normal), 1.0 / self.sine)
        turned = cross(axis_rate, self.normal) - scale(t, sine_rate)
        return t, scale(turned, 1.0 / self.sine)

    def _rates(self, omega: Quaternion) -> tuple[Quaternion, Scalar, Scalar]:
        """Return the rates of n, <n,k> and s."""
        axis_rate = cross(omega, self.axis)
        lean_rate = dot(axis_rate, self.normal)
        return axis_rate, lean_rate, -self.lean * lean_rate / self.sine


def disc_directions(axis: Quaternion, plane: Plane, complaint: str) -> DiscDirections:
    """Return the directions of a disc with an axis, in world axes."""
    normal = pure(plane.normal)
    lean = dot(axis, normal)
    sine = sqrt(1.0 - lean * lean)
    if not is_traced(sine) and not np.all(sine > LEAN_LIMIT):
        raise ConstraintError(complaint)
    return DiscDirections(axis, normal, lean, sine)


@dataclass(frozen=True, eq=False, slots=True)
class BallDirections:
    """Directions of a ball: against the normal, and x and y of the plane."""

    plane: Plane

    @property
    def down(self) -> Quaternion:
        """Return -k."""
        return -pure(self.plane.normal)

    def down_rate(self, omega: Quaternion) -> Quaternion:
        """Return de/dt = 0."""
        return STILL

    def along(self, omega: Quaternion) -> tuple[Quaternion, Quaternion]:
        """Return x of the plane, which does not turn."""
        return pure(self.plane.directions()[0]), STILL


PlaneDirections = DiscDirections | BallDirections
