# SPDX-License-Identifier: Apache-2.0
"""Joints of a robot and their roles: wheel, steering, caster, finger, arm."""

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from kane_dynamics.bases.recognition import FoundWheel
from kane_dynamics.exceptions import UrdfError
from kane_dynamics.robot.body import Mimic
from kane_dynamics.robot.robot import WORLD, Robot
from kane_dynamics.robot.urdf.xml import robot_element

LIKE_A_FINGER = re.compile(r'finger|gripper|knuckle|thumb|jaw', re.IGNORECASE)
SRDF_FOLDERS = ('.', '../srdf', '../config')  # of a description, from the folder of its URDF
ARM_JOINTS, FINGERS = 3, 3  # least number up to a palm, and on it
LENGTH = 0.3  # of a finger, from its first joint to its last, at most [m]


@dataclass(frozen=True)
class Hand:
    """The fingers at one end of a robot."""

    name: str
    joints: tuple[str, ...]


def srdf_groups(urdf: str | os.PathLike[str], robot: Robot) -> dict[str, frozenset[int]]:
    """Return the bodies of each end effector in the SRDF beside a URDF."""
    path = Path(urdf)
    stem = path.name.split('.')[0]
    files = [f for folder in SRDF_FOLDERS for f in sorted((path.parent / folder).glob('*.srdf'))]
    for file in sorted(files, key=lambda file: file.stem != stem):
        try:
            root = robot_element(file)
        except UrdfError:
            continue  # not this robot's: an SRDF only helps to propose
        groups = _end_effectors(root, robot)
        if groups and (file.stem == stem or root.get('name') == robot.name):
            return groups
    return {}


def _end_effectors(root: Element, robot: Robot) -> dict[str, frozenset[int]]:
    """Return the bodies of end effectors that hang on their parent link, by group."""
    groups = {element.get('name', ''): element for element in root.findall('group')}
    effectors = {}
    for effector in root.findall('end_effector'):
        name, parent = effector.get('group', ''), effector.get('parent_link', '')
        if name in groups and parent in robot.frames:
            palm = robot.frames[parent].body
            bodies = _bodies(groups[name], groups, robot, frozenset())
            effectors[name] = frozenset(
                b for b in bodies if palm in robot.ancestors(b) and b != palm
            )
    return {name: bodies for name, bodies in effectors.items() if bodies}


def _bodies(
    group: Element, groups: Mapping[str, Element], robot: Robot, above: frozenset[str]
) -> set[int]:
    """Return the bodies that a group moves: its joints, links, chains and groups."""
    bodies = {
        robot.body_of_joint(one.get('name', ''))
        for one in group.findall('joint')
        if one.get('name') in robot.joint_names
    }
    links = [one.get('name', '') for one in group.findall('link')]
    bodies |= {robot.frames[link].body for link in links if link in robot.frames}
    for chain in group.findall('chain'):
        base, tip = chain.get('base_link', ''), chain.get('tip_link', '')
        if base in robot.frames and tip in robot.frames:
            to_base = {*robot.ancestors(robot.frames[base].body)}
            bodies |= {*robot.ancestors(robot.frames[tip].body)} - to_base
    for one in group.findall('group'):
        name = one.get('name', '')
        if name in groups and name not in above:
            bodies |= _bodies(groups[name], groups, robot, above | {name})
    return bodies


def find_hands(
    robot: Robot, arm: Collection[int], groups: Mapping[str, Collection[int]]
) -> tuple[Hand, ...]:
    """Return the hands of a robot."""
    names = {body: name for name, bodies in groups.items() for body in bodies}
    below = {body for palm in _palms(robot, arm) for body in descendants(robot, palm)}
    fingers = {body for body in arm if body in names or body in below or _like(robot, body)}
    hands: dict[str, list[str]] = {}
    for body in sorted(fingers):
        palm = robot.parents[body]
        while palm in fingers:
            palm = robot.parents[palm]
        hand = names.get(body) or ('world' if palm == WORLD else robot.bodies[palm].name)
        joints = hands.setdefault(hand, [])
        if robot.bodies[body].mimic is None:
            joints.append(robot.bodies[body].joint.name)
    return tuple(Hand(name, tuple(joints)) for name, joints in hands.items() if joints)


def _like(robot: Robot, body: int) -> bool:
    """Return whether a joint or its link is called a finger."""
    one = robot.bodies[body]
    return bool(LIKE_A_FINGER.search(one.joint.name) or LIKE_A_FINGER.search(one.name))


def _palms(robot: Robot, arm: Collection[int]) -> Iterator[int]:
    """Yield bodies at the end of an arm that carry several chains as short as fingers."""
    for palm in arm:
        below = [body for body in arm if palm in robot.ancestors(body) and body != palm]
        before = [body for body in robot.ancestors(palm) if body in arm]
        chains = [body for body in below if robot.parents[body] == palm]
        if len(before) >= ARM_JOINTS and len(chains) >= FINGERS:
            reach = dict.fromkeys(chains, 0.0)
            for body in below:  # parents come first
                if body not in reach:
                    step = float(np.linalg.norm(robot.bodies[body].placement.position()))
                    reach[body] = reach[robot.parents[body]] + step
            if max(reach.values()) <= LENGTH:
                yield palm


def descendants(robot: Robot, body: int) -> Iterator[int]:
    """Yield the bodies that a body carries, without itself."""
    return (k for k in range(len(robot.bodies)) if k != body and body in robot.ancestors(k))


_WHEEL_ROLES = {
    'fixed': 'wheel',
    'steered': 'steered wheel',
    'caster': 'caster wheel',
    'ball': 'ball',
}


@dataclass(frozen=True)
class JointRole:
    """
    A joint that moves.

    Its role is 'wheel' (rolls, and its axle turns with the base), 'steered wheel', 'steering',
    'caster wheel', 'caster swivel', 'ball', 'suspension' (lies between base and wheel, and does
    not steer it), 'follower' (a mimic joint), 'finger' (of a gripper or hand), 'several' (has more
    than one degree of freedom) or 'joint' (of an arm, a lift, a head).
    """

    name: str
    role: str
    mimic: Mimic | None


def joint_roles(
    robot: Robot, wheels: Sequence[FoundWheel], groups: Mapping[str, Collection[int]]
) -> tuple[tuple[JointRole, ...], tuple[Hand, ...]]:
    """Return the joints of a robot with their roles, in its order, and its hands."""
    roles = {wheel.joint: _WHEEL_ROLES[wheel.kind] for wheel in wheels}
    for wheel in wheels:
        if wheel.steering is not None:
            roles[wheel.steering] = 'caster swivel' if wheel.kind == 'caster' else 'steering'
    for wheel in wheels:
        for body in robot.ancestors(robot.body_of_joint(wheel.joint))[:-1]:
            roles.setdefault(robot.bodies[body].joint.name, 'suspension')
    bodies = range(robot.base != 'fixed', len(robot.bodies))
    arm = [body for body in bodies if robot.bodies[body].joint.name not in roles]
    hands = find_hands(robot, arm, groups)
    roles |= {name: 'finger' for hand in hands for name in hand.joints}
    return tuple(_with_role(robot, body, roles) for body in bodies), hands


def _with_role(robot: Robot, body: int, roles: Mapping[str, str]) -> JointRole:
    joint, mimic = robot.bodies[body].joint, robot.bodies[body].mimic
    role = roles.get(joint.name) or ('joint' if joint.kind.nv == 1 else 'several')
    return JointRole(joint.name, 'follower' if mimic is not None else role, mimic)
