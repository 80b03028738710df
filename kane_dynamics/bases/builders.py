# SPDX-License-Identifier: Apache-2.0
"""Mobile bases in one call: differential, skid steer, mecanum, omni, Ackermann, swerve."""

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from kane_dynamics.bases.motion_rows import ALIGNED, wheel_place
from kane_dynamics.bases.parts import (
    Passive,
    Radius,
    assembled,
    axle_row,
    by_steering,
    far_apart_first,
    fixed_wheel,
    named,
    roller_part,
    steered_wheels,
)
from kane_dynamics.bases.wheeled_base import WheeledBase
from kane_dynamics.constraints.wheels import DifferentialDrive, knife_edge
from kane_dynamics.exceptions import ConstraintError
from kane_dynamics.robot.checks import as_vector, index_of
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import ArrayLike


def differential(
    robot: Robot,
    left: Sequence[str],
    right: Sequence[str],
    *,
    casters: Mapping[str, str | Sequence[str]] | None = None,
    balls: Sequence[str] = (),
    supports: Sequence[ArrayLike] = (),
    radius: Radius = None,
) -> WheeledBase:
    """
    Return a base with driven wheels on one axle: differential drive.

    Rows: no side slip of the axle, and rolling along the track of each wheel.

    Parameters
    ----------
    robot : Robot
        A robot with a planar or a floating base.
    left, right : sequence of str
        Joints of the wheels on each side, at least one each.
    casters : mapping of str to str, optional
        Casters that are joints: the wheel's joint by that of the swivel. Neither has a motor.
    balls : sequence of str
        Spherical joints of balls that roll freely.
    supports : sequence of array_like, shape (3,)
        Contact points of massless casters in the base frame [m]: they bind nothing.
    radius : float or mapping of str to float, optional
        Of all wheels and balls, or by joint [m]; from collision cylinders or spheres of the URDF
        where left out.

    Raises
    ------
    NameNotFoundError
        If there is no such joint.
    ConstraintError
        If a joint is named twice or a side has none, the wheels do not share an axle along y of
        the base frame (see `skid_steer`), or as for `rolling_wheel`.
    InvalidInputError
        If anything else than names or finite numbers is given.

    Warns
    -----
    ModelWarning
        As `rolling_wheel`.

    """
    joints = (*named(robot, 'left', left), *named(robot, 'right', right))
    passive = Passive(casters, balls, supports, radius)
    if robot.base != 'planar':
        parts = [fixed_wheel(robot, joint, radius) for joint in joints]
        return assembled('differential', robot, parts, passive)
    axle = axle_row(robot, left, right, radius)
    parts = [fixed_wheel(robot, joint, radius, along=True) for joint in joints]
    rolling = [part.rows for part in parts]
    if len(rolling) == 2:
        drive = DifferentialDrive(robot, axle, *rolling)
        return assembled('differential', robot, parts, passive, (drive,))
    return assembled('differential', robot, parts, passive, (axle, *rolling))


def skid_steer(
    robot: Robot,
    left: Sequence[str],
    right: Sequence[str],
    *,
    track_factor: float = 1.0,
    casters: Mapping[str, str | Sequence[str]] | None = None,
    balls: Sequence[str] = (),
    supports: Sequence[ArrayLike] = (),
    radius: Radius = None,
) -> WheeledBase:
    """
    Return a base with several driven axles and no steering, which skids where it turns.

    Rows: rolling along the track of each wheel. Sideways wheels slide: friction there is a force.
    In the kinematics the base turns about a point level with the middle of its axles.

    Parameters
    ----------
    robot, casters, balls, supports, radius
        As for `differential`.
    left, right : sequence of str
        Joints of the wheels on each side, two or more each.
    track_factor : float
        By which the track seems wider where the base turns, from a trial or from the ground:
        `wheel_separation_multiplier` of ros2_control.

    Raises
    ------
    NameNotFoundError, InvalidInputError
        As for `differential`, with its warnings.
    ConstraintError
        If a side has fewer than two wheels, an axle is not along y of the base frame, or as for
        `differential`.

    """
    joints = (*named(robot, 'left', left, 2), *named(robot, 'right', right, 2))
    parts = [fixed_wheel(robot, joint, radius, along=True) for joint in joints]
    axles = [wheel_place(robot, part.rows) for part in parts]
    for joint, axle in zip(joints, axles, strict=True):
        if not abs(axle.axis[1]) > np.sqrt(1.0 - ALIGNED**2):
            raise ConstraintError(
                f"skid_steer: the axis {np.round(axle.axis, 4).tolist()} of wheel '{joint}' does "
                'not lie along y of the base frame'
            )
    passive = Passive(casters, balls, supports, radius)
    middle = float(np.mean([axle.point[0] for axle in axles]))
    assumed = (knife_edge(robot, robot.bodies[0].name, (middle, 0.0, 0.0)),)
    return assembled('skid_steer', robot, parts, passive, None, assumed, track_factor)


def mecanum(
    robot: Robot,
    wheels: Sequence[str],
    roller_angles: Sequence[float],
    *,
    casters: Mapping[str, str | Sequence[str]] | None = None,
    balls: Sequence[str] = (),
    supports: Sequence[ArrayLike] = (),
    radius: Radius = None,
) -> WheeledBase:
    """
    Return a base on wheels with rollers at an angle.

    Rows: one for each wheel, along the axis of the roller that touches the ground.

    Parameters
    ----------
    robot, casters, balls, supports, radius
        As for `differential`.
    wheels : sequence of str
        Joints of the wheels.
    roller_angles : sequence of float
        For each wheel, from its forward direction to the axis of the roller that touches the
        ground, counterclockwise seen from above [rad]. Of four wheels front left, front right,
        rear left, rear right: (-pi/4, pi/4, pi/4, -pi/4) most often.

    Raises
    ------
    NameNotFoundError, ConstraintError
        As for `differential`.
    InvalidInputError
        If there is not one finite angle for each wheel, or as for `differential`.

    Warns
    -----
    ModelWarning
        Where the wheels leave a motion of the base free; or as `rolling_wheel`.

    """
    joints = named(robot, 'wheels', wheels)
    angles = as_vector('roller_angles [rad]', roller_angles, len(joints)).tolist()
    parts = [roller_part(robot, j, angle, radius) for j, angle in zip(joints, angles, strict=True)]
    return assembled('mecanum', robot, parts, Passive(casters, balls, supports, radius))


def omni(
    robot: Robot,
    wheels: Sequence[str],
    *,
    casters: Mapping[str, str | Sequence[str]] | None = None,
    balls: Sequence[str] = (),
    supports: Sequence[ArrayLike] = (),
    radius: Radius = None,
) -> WheeledBase:
    """
    Return a base on wheels whose rollers let them slide along their axles.

    Rows: rolling along the track of each wheel.

    Parameters
    ----------
    robot, casters, balls, supports, radius
        As for `differential`.
    wheels : sequence of str
        Joints of the wheels, most often three or four.

    Raises
    ------
    NameNotFoundError, ConstraintError, InvalidInputError
        As for `mecanum`, with its warnings.

    """
    joints = named(robot, 'wheels', wheels)
    parts = [roller_part(robot, joint, 0.0, radius) for joint in joints]
    return assembled('omni', robot, parts, Passive(casters, balls, supports, radius))


def ackermann(
    robot: Robot,
    rear: Sequence[str],
    steered: Mapping[str, str | Sequence[str]],
    *,
    driven: Sequence[str] | None = None,
    casters: Mapping[str, str | Sequence[str]] | None = None,
    balls: Sequence[str] = (),
    supports: Sequence[ArrayLike] = (),
    radius: Radius = None,
) -> WheeledBase:
    """
    Return a base with fixed and steered wheels: a car, a tricycle.

    Rows: rolling of every wheel along its track and across. Those of wheels on one axle repeat
    each other; steering angles that do not meet in one centre of turning contradict each other.

    Parameters
    ----------
    robot, casters, balls, supports, radius
        As for `differential`.
    rear : sequence of str
        Joints of the wheels that are not steered.
    steered : mapping of str to str or sequence of str
        The wheel's joint by that of its steering; several where twin wheels share the axis.
    driven : sequence of str, optional
        Joints of the wheels with a motor; those of `rear` where left out.

    Raises
    ------
    NameNotFoundError, InvalidInputError
        As for `differential`, with its warnings.
    ConstraintError
        If a steering joint does not turn its wheel about a vertical axis, or as for
        `differential`.

    """
    fixed = named(robot, 'rear', rear)
    turned = by_steering(robot, 'steered', steered, least=1)
    motors = fixed if driven is None else named(robot, 'driven', driven)
    for joint in motors:
        index_of('wheel', joint, (*fixed, *chain(*turned.values())))
    parts = [fixed_wheel(robot, joint, radius, driven=joint in motors) for joint in fixed]
    parts += steered_wheels(robot, turned, radius, motors=motors)
    return assembled('ackermann', robot, parts, Passive(casters, balls, supports, radius))


def swerve(
    robot: Robot,
    steered: Mapping[str, str | Sequence[str]],
    *,
    casters: Mapping[str, str | Sequence[str]] | None = None,
    balls: Sequence[str] = (),
    supports: Sequence[ArrayLike] = (),
    radius: Radius = None,
) -> WheeledBase:
    """
    Return a base whose wheels are all steered and driven: swerve, powered casters.

    Rows: rolling of every wheel along its track and across. A wheel may stand beside its steering
    axis, and behind it.

    Parameters
    ----------
    robot, casters, balls, supports, radius
        As for `differential`.
    steered : mapping of str to str or sequence of str
        The wheel's joint by that of its steering; several where twin wheels share the axis.

    Raises
    ------
    NameNotFoundError, ConstraintError, InvalidInputError
        As for `ackermann`, with its warnings.

    """
    parts = steered_wheels(robot, by_steering(robot, 'steered', steered, least=1), radius)
    count = sum(part.wheel.kind == 'steered' for part in parts)
    first = far_apart_first(robot, [part.rows for part in parts[:count]])
    rows = (*first, *(part.rows for part in parts[count:]))
    return assembled('swerve', robot, parts, Passive(casters, balls, supports, radius), rows)
