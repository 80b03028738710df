# SPDX-License-Identifier: Apache-2.0
"""Wheels of a base, and where they are on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kane_dynamics.algebra.pose import Pose
from kane_dynamics.constraints.rolling import RollingWheel
from kane_dynamics.exceptions import ConstraintError
from kane_dynamics.robot.body import WORLD, Frame
from kane_dynamics.robot.joint_kinds import Revolute
from kane_dynamics.robot.motion import Place, place_on_base
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats


@dataclass(frozen=True)
class Wheel:
    """
    A wheel of a mobile base.

    Parameters
    ----------
    joint : str
        Name of the joint that it turns on.
    kind : str
        'fixed' (its axle turns with the base), 'steered' (a motor turns its heading), 'twin'
        (beside a steered wheel, on the same steering axis), 'caster' (it
        swivels freely), 'roller' (omni or mecanum: rollers on its rim) or 'ball'.
    radius : float
        [m].
    steering : str, optional
        Joint that turns its heading, of a steered wheel or a caster.
    driven : bool
        Whether a motor turns it.

    """

    joint: str
    kind: str
    radius: float
    steering: str | None = None
    driven: bool = True


ALIGNED = 1e-2  # sine of what counts as an angle of zero: angles of two digits, 1.57


def joint_place(robot: Robot, joint: str) -> Place:
    """Return the origin and the axis of a revolute joint; other kinds have the axis zero."""
    body = robot.body_of_joint(joint)
    kind = robot.bodies[body].joint.kind
    axis = kind.axis if isinstance(kind, Revolute) else (0.0, 0.0, 0.0)
    return place_on_base(robot, Frame(body, Pose.identity()), axis)


def wheel_place(robot: Robot, rows: RollingWheel) -> Place:
    """Return the centre and the axis of a wheel that rolls; balls have the axis zero."""
    return place_on_base(robot, rows.wheel, rows.axis or (0.0, 0.0, 0.0))


def shape_place(robot: Robot, joint: str) -> Place:
    """Return the centre of the collision shape on a joint (else its origin), and its axis."""
    origin = joint_place(robot, joint)
    shape = robot.wheels.get(joint)
    if shape is None:
        return origin
    frame = Frame(robot.body_of_joint(joint), Pose.shift(shape.centre))
    return Place(place_on_base(robot, frame, (0.0, 0.0, 0.0)).point, origin.axis)


def is_vertical(axis: Floats) -> bool:
    """Return whether a unit axis stands upright, or hangs."""
    return bool(np.hypot(axis[0], axis[1]) <= ALIGNED and axis.any())


def is_horizontal(axis: Floats) -> bool:
    """Return whether a unit axis lies flat."""
    return bool(abs(axis[2]) <= ALIGNED and axis.any())


def trail(steering: Place, wheel: Place) -> float:
    """Return the distance along the heading from a vertical steering axis to the wheel [m]."""
    along = np.array([wheel.axis[1], -wheel.axis[0]])
    length = np.linalg.norm(along)
    return float(abs((wheel.point - steering.point)[:2] @ along) / length) if length else 0.0


def joint_above(robot: Robot, joint: str) -> str | None:
    """Return the joint that carries the body which a joint stands on; None on base or world."""
    parent = robot.parents[robot.body_of_joint(joint)]
    if parent == WORLD or (parent == 0 and robot.base != 'fixed'):
        return None
    return robot.bodies[parent].joint.name


def check_steers(robot: Robot, steering: str, wheel: str) -> None:
    """Refuse a steering joint that does not turn its wheel about a vertical axis."""
    ancestors = robot.ancestors(robot.body_of_joint(wheel))[:-1]
    if robot.body_of_joint(steering) not in ancestors:
        raise ConstraintError(
            f"steering joint '{steering}' does not carry wheel '{wheel}'; steered wheels need "
            'a mapping from steering joint to a wheel below it'
        )
    axis = joint_place(robot, steering).axis
    if not is_vertical(axis):
        raise ConstraintError(
            f"steering joint '{steering}' of wheel '{wheel}': its axis "
            f'{np.round(axis, 4).tolist()} in the base frame is not vertical'
        )
