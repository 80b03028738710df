# SPDX-License-Identifier: Apache-2.0
"""Which wheels a URDF shows: by joint axes and collision shapes, names as a hint only."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from kane_dynamics.bases.wheel_locations import (
    ALIGNED,
    Place,
    is_horizontal,
    is_vertical,
    joint_above,
    joint_place,
    shape_place,
    trail,
)
from kane_dynamics.robot.body import Vector
from kane_dynamics.robot.joint_kinds import Revolute, Spherical
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_robot
from kane_dynamics.typing import Floats

LIKE_A_WHEEL = re.compile(r'wheel|caster|castor', re.IGNORECASE)
_ON_THE_GROUND = 0.1  # [radii] between the lowest points of wheels of one robot
_TRAIL = 0.1  # [radii] from which a swivel is a caster: printed digits leave less


@dataclass(frozen=True)
class FoundWheel:
    """
    What a robot description shows of a wheel, in the frame of the base at the neutral state.

    Parameters
    ----------
    joint : str
        Joint that it turns on.
    kind : str
        'fixed', 'steered' (below a vertical axis), 'caster' (behind one) or 'ball'; twins on one
        vertical axis are of one kind. Rollers on a rim are in no URDF: mecanum and omni wheels
        are 'fixed' here.
    radius : float or None
        Of its collision shape [m]; None where there is none and its name is all that tells.
    centre : tuple of float
        [m].
    axis : tuple of float
        Unit vector; zero for a ball.
    steering : str or None
        Joint with a vertical axis that carries nothing but this wheel, or it and its twins.
    trail : float
        Distance in the heading from the steering axis to the wheel [m].
    named : bool
        Whether joint or link is called a wheel or a caster.

    """

    joint: str
    kind: str
    radius: float | None
    centre: Vector
    axis: Vector
    steering: str | None
    trail: float
    named: bool


def found_wheels(robot: Robot) -> tuple[FoundWheel, ...]:
    """
    Return the wheels that a robot shows, in the order of its joints.

    A wheel turns without end about a horizontal axis, carries nothing, and has a collision
    cylinder or sphere about that axis, which is as low as that of the others. Without such a shape
    its name counts, and `radius` is None. A ball hangs on a spherical joint.

    Parameters
    ----------
    robot : Robot
        The robot, as `load_urdf` returns it.

    Raises
    ------
    InvalidInputError
        If it is no robot.

    """
    carriers = set(checked_robot(robot).parents)
    result = [
        wheel
        for body in range(len(robot.bodies))
        if body not in carriers and (wheel := _wheel(robot, body)) is not None
    ]
    lowest = min((_bottom(wheel) for wheel in result if wheel.radius), default=0.0)
    return tuple(
        wheel
        for wheel in result
        if not wheel.radius or _bottom(wheel) - lowest <= _ON_THE_GROUND * wheel.radius
    )


def _wheel(robot: Robot, body: int) -> FoundWheel | None:
    """Return what a body that carries nothing shows of a wheel."""
    joint, link = robot.bodies[body].joint, robot.bodies[body].name
    if robot.bodies[body].mimic is not None or not _is_endless(joint.lower, joint.upper):
        return None
    shape = robot.wheels.get(joint.name)
    named = bool(LIKE_A_WHEEL.search(joint.name) or LIKE_A_WHEEL.search(link))
    place = shape_place(robot, joint.name)
    radius = None if shape is None else shape.radius
    if isinstance(joint.kind, Spherical):
        ball = shape is not None and shape.axis is None
        return _found(joint.name, 'ball', radius, place, named) if ball else None
    if not isinstance(joint.kind, Revolute) or not is_horizontal(place.axis):
        return None
    if shape is None and not named:
        return None
    steering = _steering(robot, joint.name)
    if steering is None:
        return _found(joint.name, 'fixed', radius, place, named)
    behind = trail(joint_place(robot, steering), place)
    kind = 'caster' if radius is not None and behind > _TRAIL * radius else 'steered'
    return _found(joint.name, kind, radius, place, named, steering, behind)


def _found(
    joint: str,
    kind: str,
    radius: float | None,
    place: Place,
    named: bool,
    steering: str | None = None,
    behind: float = 0.0,
) -> FoundWheel:
    vectors = _vector(place.point), _vector(place.axis)
    return FoundWheel(joint, kind, radius, *vectors, steering, round(behind, 9), named)


def _steering(robot: Robot, wheel: str) -> str | None:
    """Return the joint above a wheel, if it turns about a vertical axis and only wheels."""
    above = joint_above(robot, wheel)
    if above is None or not is_vertical(joint_place(robot, above).axis):
        return None
    fork, axis = robot.body_of_joint(above), joint_place(robot, wheel).axis
    payload = [robot.bodies[k] for k, parent in enumerate(robot.parents) if parent == fork]
    twins = all(
        _is_endless(body.joint.lower, body.joint.upper)
        and abs(joint_place(robot, body.joint.name).axis @ axis) > 1.0 - ALIGNED**2
        for body in payload
    )
    return above if twins else None


def _bottom(wheel: FoundWheel) -> float:
    return wheel.centre[2] - (wheel.radius or 0.0)


def _is_endless(lower: float, upper: float) -> bool:
    return bool(np.isinf(lower) and np.isinf(upper))


def _vector(x: Floats) -> Vector:
    a, b, c = np.round(x, 9).tolist()
    return a, b, c
