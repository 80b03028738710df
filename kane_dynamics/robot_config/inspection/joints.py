# SPDX-License-Identifier: Apache-2.0
"""Which joints a robot has, and the role of each: wheel, steering, caster, finger, arm."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from kane_dynamics.bases.recognition import FoundWheel
from kane_dynamics.robot.body import Mimic
from kane_dynamics.robot.joint_kinds import Prismatic, Revolute
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot_config.inspection.hands import Hand, find_hands

ROLES = (
    'wheel',  # rolls on the ground, its axle turns with the base
    'steered wheel',
    'steering',  # turns a steered wheel
    'caster wheel',
    'caster swivel',
    'ball',
    'suspension',  # lies between the base and a wheel, and does not steer it
    'follower',  # a mimic joint
    'finger',  # of a gripper or hand
    'several',  # has more than one degree of freedom
    'joint',  # of an arm, a lift, a head
)
_WHEEL_ROLES = {
    'fixed': 'wheel',
    'steered': 'steered wheel',
    'caster': 'caster wheel',
    'ball': 'ball',
}


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


def found_joints(
    robot: Robot, wheels: Sequence[FoundWheel], groups: Mapping[str, Collection[int]]
) -> tuple[tuple[FoundJoint, ...], tuple[Hand, ...]]:
    """
    Return the joints of a robot with their roles, in its order, and its hands.

    Parameters
    ----------
    robot : Robot
        Its own base is no joint.
    wheels : sequence of FoundWheel
        Its wheels.
    groups : mapping of str to collection of int
        As for `find_hands`.

    """
    roles = {wheel.joint: _WHEEL_ROLES[wheel.kind] for wheel in wheels}
    for wheel in wheels:
        if wheel.steering is not None:
            roles[wheel.steering] = 'caster swivel' if wheel.kind == 'caster' else 'steering'
    for wheel in wheels:
        for body in robot.ancestors(robot.body_of_joint(wheel.joint))[:-1]:
            roles.setdefault(robot.bodies[body].joint.name, 'suspension')
    local = range(robot.base != 'fixed', len(robot.bodies))
    arm = [body for body in local if robot.bodies[body].joint.name not in roles]
    hands = find_hands(robot, arm, groups)
    roles |= {name: 'finger' for hand in hands for name in hand.joints}
    return tuple(_found(robot, body, roles) for body in local), hands


def _found(robot: Robot, body: int, roles: Mapping[str, str]) -> FoundJoint:
    joint, link, mimic = (
        robot.bodies[body].joint,
        robot.bodies[body].name,
        robot.bodies[body].mimic,
    )
    one = isinstance(joint.kind, (Revolute, Prismatic))
    role = roles.get(joint.name) or ('several' if not one else 'joint')
    return FoundJoint(
        joint.name,
        link,
        type(joint.kind).__name__.lower(),
        'follower' if mimic is not None else role,
        joint.lower,
        joint.upper,
        joint.velocity_limit,
        joint.effort_limit,
        mimic,
    )
