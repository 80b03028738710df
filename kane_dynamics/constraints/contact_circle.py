# SPDX-License-Identifier: Apache-2.0
"""Where a wheel or a ball is: centre, axis and radius of the circle that rolls."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import dot, pure, rotate
from kane_dynamics.constraints.plane import GROUND, Plane, checked_plane
from kane_dynamics.exceptions import ConstraintError, ModelWarning
from kane_dynamics.robot.body import Vector, WheelShape
from kane_dynamics.robot.checks import as_number, as_vector
from kane_dynamics.robot.frame_motion import FrameMotion, frame_motion
from kane_dynamics.robot.integration import integrate_coordinates
from kane_dynamics.robot.joint_kinds import Free, Revolute, Spherical, unit_axis
from kane_dynamics.robot.robot import Frame, Robot
from kane_dynamics.robot.state import checked_robot
from kane_dynamics.typing import Floats

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
            _remark(joint, shape.radius, np.array(n), where)
    size = _radius(robot, joint, radius)
    on_axis = np.array(n) * (n @ where) if hinged else where
    motions = _sampled_motions(robot, _frame(body, on_axis))
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
    return Circle(_frame(body, where), n, size, lifts)


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
    frame = _frame(body, _centre(robot.wheels.get(joint), centre))
    lifts = any(_is_lifted(motion, normal) for motion in _sampled_motions(robot, frame))
    return Circle(frame, None, _radius(robot, joint, radius), lifts)


def _wheel_axis(
    joint: str, kind: Any, axis: Sequence[float] | None, shape: WheelShape | None
) -> Vector:
    if isinstance(kind, Revolute):
        if axis is not None:
            raise ConstraintError(f"wheel '{joint}' turns about the axis of its revolute joint")
        return kind.axis
    if not isinstance(kind, (Free, Spherical)):
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
        values = f'give one for {sorted(robot.wheels)}' if robot.wheels else 'give none'
        raise ConstraintError(
            f"wheel '{joint}': need a radius > 0 m, got {radius}; collision cylinders or spheres "
            f'{values}'
        )
    return radius


def _remark(joint: str, radius: float, n: Floats, centre: Floats) -> None:
    """Warn where the collision shape of a wheel is not centred in the frame of its joint."""
    along = float(n @ centre)
    across = float(np.linalg.norm(centre - along * n))
    if across > _CENTRED * radius:
        said = f'is {across:.6g} m off the axis of its joint: an eccentric wheel'
    elif abs(along) > _CENTRED * radius:
        said = f'stands {abs(along):.6g} m along the axis from its joint'
    else:
        return
    warnings.warn(
        f"wheel '{joint}': its collision shape {said}; the ground is touched below the shape",
        ModelWarning,
        stacklevel=4,
    )


def _frame(body: int, centre: Floats) -> Frame:
    return Frame(body, Pose.from_rotation_and_position((1.0, 0.0, 0.0, 0.0), centre))


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
