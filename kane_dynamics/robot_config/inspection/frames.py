# SPDX-License-Identifier: Apache-2.0
"""Which frames a robot has: of the base, of sensors, of tools; where stiff casters stand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kane_dynamics.bases.recognition import LIKE_A_WHEEL, FoundWheel
from kane_dynamics.robot.body import Vector
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.urdf.records import UrdfLink, UrdfModel
from kane_dynamics.robot.urdf.tree import depth_first
from kane_dynamics.robot_config.inspection.hands import descendants
from kane_dynamics.robot_config.inspection.joints import FoundJoint

BASE_FRAMES = ('base_footprint', 'base_link')  # as REP 105 and 120 call them
_TOOL = ('tool0', 'tcp', 'tool', 'ee_link', 'end_effector', 'grasp', 'gripper', 'hand', 'flange')
_IMU = re.compile(r'imu|gyro', re.IGNORECASE)
_CASTER = re.compile(r'caster|castor', re.IGNORECASE)
_ARM_ROLES = ('joint', 'several')


@dataclass(frozen=True)
class FoundFrames:
    """
    Frames of a robot by what they are for.

    Parameters
    ----------
    root : str
        Root link.
    base : str
        Link that odometry belongs to: ``base_footprint`` or ``base_link`` where one of these is
        fixed to the root link, else the root link.
    imu : tuple of str
        Links called after an inertial sensor.
    tools : tuple of str
        One link at the end of each chain of joints, the longest chain first: one called after a
        tool, else the last.

    """

    root: str
    base: str
    imu: tuple[str, ...]
    tools: tuple[str, ...]


def found_frames(robot: Robot, urdf: UrdfModel, joints: Sequence[FoundJoint]) -> FoundFrames:
    """Return the frames of a robot."""
    root, _ = depth_first(urdf)
    fixed = [link for link, frame in robot.frames.items() if _is_base(robot, frame.body)]
    base = next((name for name in BASE_FRAMES if name in fixed), root)
    imu = tuple(link for link in robot.frames if _IMU.search(link))
    return FoundFrames(root, base, imu, _tools(robot, joints))


def found_supports(
    robot: Robot, urdf: UrdfModel, wheels: Sequence[FoundWheel]
) -> tuple[Vector, ...]:
    """
    Return where casters that are no joints touch the ground, in the root link [m].

    They are links called casters, fixed to the base; wheels with a known radius tell how deep the
    ground is.
    """
    bottoms = [wheel.centre[2] - wheel.radius for wheel in wheels if wheel.radius]
    if not bottoms:
        return ()
    casters = {link.name for link in urdf.links if _CASTER.search(link.name)}
    forks = {joint.parent for joint in urdf.joints if joint.child in casters}
    points = (
        _under(robot, link, min(bottoms))
        for link in urdf.links
        if link.name in casters - forks and _is_base(robot, robot.frames[link.name].body)
    )
    return tuple(dict.fromkeys(points))


def found_fixed_wheels(robot: Robot, urdf: UrdfModel) -> tuple[str, ...]:
    """Return the fixed joints of the base that are called wheels: their file lets nothing roll."""
    return tuple(
        joint.name
        for joint in urdf.joints
        if joint.type == 'fixed'
        and LIKE_A_WHEEL.search(f'{joint.name} {joint.child}')
        and _is_base(robot, robot.frames[joint.child].body)
    )


def _under(robot: Robot, link: UrdfLink, ground: float) -> Vector:
    """Return the point on the ground below a link, or below its sphere."""
    pose = robot.frames[link.name].pose
    if link.rounds and link.rounds[0].is_sphere:
        pose = pose * link.rounds[0].origin.pose()
    x, y, _ = np.round(pose.position(), 6).tolist()
    return x, y, round(ground, 6)


def _is_base(robot: Robot, body: int) -> bool:
    """Return whether a body is the base: the first one where that moves, else the world."""
    return body == (-1 if robot.base == 'fixed' else 0)


def _tools(robot: Robot, joints: Sequence[FoundJoint]) -> tuple[str, ...]:
    """Return one link at the end of each chain of arm joints; fingers hang on it."""
    bodies = {robot.body_of_joint(joint.name) for joint in joints if joint.role in _ARM_ROLES}
    tips = [body for body in sorted(bodies) if bodies.isdisjoint(descendants(robot, body))]
    tips.sort(key=lambda tip: -len(bodies.intersection(robot.ancestors(tip))))
    return tuple(_tool(robot, tip) for tip in tips)


def _tool(robot: Robot, body: int) -> str:
    links = [link for link, frame in robot.frames.items() if frame.body == body]
    for word in _TOOL:
        result = [link for link in links if word in link.lower()]
        if result:
            return result[-1]
    return links[-1]
