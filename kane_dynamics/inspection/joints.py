# SPDX-License-Identifier: Apache-2.0
"""Which joints a robot has, and the role of each: wheel, steering, caster, finger, arm."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kane_dynamics.bases.recognition import FoundWheel
from kane_dynamics.model.body import Mimic
from kane_dynamics.model.joint_kinds import Prismatic, Revolute
from kane_dynamics.model.robot import Robot

ROLES = (
    'wheel',  # rolls on the ground, its axle turns with the base
    'steered wheel',
    'steering',  # turns a steered wheel
    'caster wheel',
    'caster swivel',
    'ball',
    'suspension',  # lies between the base and a wheel, and does not steer it
    'follower',  # a mimic joint
    'finger',  # of a gripper
    'several',  # has more than one degree of freedom
    'joint',  # of an arm, a lift, a head
)
_WHEEL_ROLES = {
    'fixed': 'wheel',
    'steered': 'steered wheel',
    'caster': 'caster wheel',
    'ball': 'ball',
}
_LIKE_A_FINGER = re.compile(r'finger|gripper|knuckle|thumb|jaw', re.IGNORECASE)


@dataclass(frozen=True)
class FoundJoint:
    """
    A joint that moves.

    Parameters
    ----------
    name : str
        Of the joint.
    link : str
        That it moves.
    kind : str
        'revolute', 'prismatic' or the name of another kind of joint.
    role : str
        One of `ROLES`.
    lower, upper : float
        Position limits [rad or m]; infinite where unknown or none.
    velocity_limit, effort_limit : float
        [rad/s or m/s, N m or N]; infinite where unknown.
    mimic : Mimic or None
        Set where the joint follows another.

    """

    name: str
    link: str
    kind: str
    role: str
    lower: float
    upper: float
    velocity_limit: float
    effort_limit: float
    mimic: Mimic | None = None


def found_joints(robot: Robot, wheels: Sequence[FoundWheel]) -> tuple[FoundJoint, ...]:
    """Return the joints of a robot with their roles, in its order; its own base is none."""
    roles = {wheel.joint: _WHEEL_ROLES[wheel.kind] for wheel in wheels}
    for wheel in wheels:
        if wheel.steering is not None:
            roles[wheel.steering] = 'caster swivel' if wheel.kind == 'caster' else 'steering'
    for wheel in wheels:
        for body in robot.ancestors(robot.body_of_joint(wheel.joint))[:-1]:
            roles.setdefault(robot.bodies[body].joint.name, 'suspension')
    return tuple(
        _found(robot, body, roles)
        for body in range(len(robot.bodies))
        if body > 0 or robot.base == 'fixed'
    )


def _found(robot: Robot, body: int, roles: dict[str, str]) -> FoundJoint:
    joint, link, mimic = (
        robot.bodies[body].joint,
        robot.bodies[body].name,
        robot.bodies[body].mimic,
    )
    one = isinstance(joint.kind, (Revolute, Prismatic))
    role = roles.get(joint.name) or ('several' if not one else 'joint')
    if mimic is not None:
        role = 'follower'
    elif role == 'joint' and (_LIKE_A_FINGER.search(joint.name) or _LIKE_A_FINGER.search(link)):
        role = 'finger'
    return FoundJoint(
        joint.name,
        link,
        type(joint.kind).__name__.lower(),
        role,
        joint.lower,
        joint.upper,
        joint.velocity_limit,
        joint.effort_limit,
        mimic,
    )
