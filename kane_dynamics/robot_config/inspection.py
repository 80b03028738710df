# SPDX-License-Identifier: Apache-2.0
"""What a URDF shows, and questions to its owner about what it does not, with proposals."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from kane_dynamics.bases.recognition import (
    LIKE_A_WHEEL,
    FittingKind,
    FoundWheel,
    fitting_kinds,
    found_wheels,
)
from kane_dynamics.exceptions import InvalidInputError, ModelWarning
from kane_dynamics.robot.body import Vector
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.urdf import depth_first, load_urdf
from kane_dynamics.robot.urdf.model_warnings import angle_warnings, speeds_without_inertia
from kane_dynamics.robot.urdf.records import UrdfLink, UrdfModel, read_urdf
from kane_dynamics.robot_config.declared_constraints import KINDS
from kane_dynamics.robot_config.joint_roles import (
    Hand,
    JointRole,
    descendants,
    joint_roles,
    srdf_groups,
)

HEAVIEST = 2000.0  # [kg] of a robot whose file is in kilograms; a few industrial arms have more


def mass_warnings(robot: Robot) -> Iterator[str]:
    """Yield what is unlikely about the masses of a robot, with the links."""
    mobile = robot.base != 'fixed'
    if mobile and robot.bodies[0].inertia.mass == 0.0:
        name = robot.bodies[0].name
        yield (
            f"link '{name}': the base has 0 kg, with all links fixed to it; efforts of the wheels "
            'will be too small: give it an <inertial>'
        )
    massless_bodies = [body for body in robot.bodies[mobile:] if body.inertia.mass == 0.0]
    massless = [f"'{body.name}' ('{body.joint.name}')" for body in massless_bodies]
    if massless:
        yield (
            f'links of 0 kg that joints move: {", ".join(massless)}; efforts leave out what they '
            'weigh: give them an <inertial>, unless other links have their mass'
        )
    mass = sum(body.inertia.mass for body in robot.bodies)
    if mass > HEAVIEST:
        heaviest = max(robot.bodies, key=lambda body: body.inertia.mass)
        yield (
            f'the robot has {mass:.4g} kg in motion, most of it ({heaviest.inertia.mass:.4g} kg) '
            f"in link '{heaviest.name}': URDF masses are in kg, not in g"
        )


BASE_FRAMES = ('base_footprint', 'base_link')  # as REP 105 and 120 call them
_TOOL = ('tool0', 'tcp', 'tool', 'ee_link', 'end_effector', 'grasp', 'gripper', 'hand', 'flange')
_IMU = re.compile(r'imu|gyro', re.IGNORECASE)
_CASTER = re.compile(r'caster|castor', re.IGNORECASE)
_ARM_ROLES = ('joint', 'several')


@dataclass(frozen=True)
class FrameRoles:
    """Frames of a robot by what they are for."""

    root: str
    base: str
    imu: tuple[str, ...]
    tools: tuple[str, ...]


def frame_roles(robot: Robot, urdf: UrdfModel, joints: Sequence[JointRole]) -> FrameRoles:
    """Return the frames of a robot."""
    root, _ = depth_first(urdf)
    fixed = [link for link, frame in robot.frames.items() if _is_base(robot, frame.body)]
    base = next((name for name in BASE_FRAMES if name in fixed), root)
    imu = tuple(link for link in robot.frames if _IMU.search(link))
    return FrameRoles(root, base, imu, _tools(robot, joints))


def caster_supports(
    robot: Robot, urdf: UrdfModel, wheels: Sequence[FoundWheel]
) -> tuple[Vector, ...]:
    """Return where casters that are no joints touch the ground, in the root link [m]."""
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


def fixed_wheel_joints(robot: Robot, urdf: UrdfModel) -> tuple[str, ...]:
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


def _tools(robot: Robot, joints: Sequence[JointRole]) -> tuple[str, ...]:
    """Return one link at the end of each chain of arm joints; fingers hang on it."""
    bodies = {robot.body_of_joint(joint.name) for joint in joints if joint.role in _ARM_ROLES}
    tips = [body for body in sorted(bodies) if bodies.isdisjoint(descendants(robot, body))]
    tips.sort(key=lambda tip: -len(bodies.intersection(robot.ancestors(tip))))
    return tuple(_tool(robot, tip) for tip in tips)


def _tool(robot: Robot, body: int) -> str:
    links = [link for link, frame in robot.frames.items() if frame.body == body]
    for word in _TOOL:
        named = [link for link in links if word in link.lower()]
        if named:
            return named[-1]
    return links[-1]


@dataclass(frozen=True, eq=False)
class Findings:
    """What a robot description shows; made by `inspect_urdf`."""

    robot: Robot
    mass: float
    joints: tuple[JointRole, ...]
    hands: tuple[Hand, ...]
    massless: tuple[str, ...]
    wheels: tuple[FoundWheel, ...]
    kinds: tuple[FittingKind, ...]
    fixed_wheels: tuple[str, ...]
    supports: tuple[Vector, ...]
    frames: FrameRoles
    messages: tuple[str, ...]

    def named(self, *roles: str) -> tuple[str, ...]:
        """Return the names of the joints with one of these roles."""
        return tuple(joint.name for joint in self.joints if joint.role in roles)


def inspect_urdf(text: str, path: str = '') -> Findings:
    """Return what a robot description shows."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always', ModelWarning)
        robot = load_urdf(text)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)  # told already
        wheels = found_wheels(robot)
        if wheels:
            robot = load_urdf(text, base='planar')
            wheels = found_wheels(robot)
        kinds = fitting_kinds(robot) if wheels else ()
    urdf = read_urdf(text)
    path = path or ('' if '<' in text else text)
    groups = srdf_groups(path, robot) if path else {}
    joints, hands = joint_roles(robot, wheels, groups)
    massless = speeds_without_inertia(robot)
    messages = (
        *(str(warning.message) for warning in caught),
        *mass_warnings(robot),
        *angle_warnings(urdf),
    )
    return Findings(
        robot,
        sum(body.inertia.mass for body in robot.bodies),
        joints,
        hands,
        tuple(joint.name for joint in joints if joint.name in massless),
        wheels,
        kinds,
        () if wheels else fixed_wheel_joints(robot, urdf),
        caster_supports(robot, urdf, wheels),
        frame_roles(robot, urdf, joints),
        messages,
    )


@dataclass(frozen=True)
class Question:
    """One question."""

    name: str
    text: str
    proposal: str
    why: str
    choices: tuple[str, ...] = ()
    open: bool = True

    def answered(self, ask: Ask) -> Answer:
        """Return the answer, one of the choices where there are some."""
        answer = ask(self)
        value = answer.value
        if self.choices and value not in self.choices:
            raise InvalidInputError(
                f"--{self.name}: need {' or '.join(self.choices)} for this robot, got '{value}'; "
                f'{self.proposal} is likely: {self.why}'
            )
        return answer


@dataclass(frozen=True)
class Answer:
    """What was answered, and whether that is a guess which nobody confirmed."""

    value: str
    guessed: bool = False


Ask: TypeAlias = Callable[[Question], Answer]


_WHY = {
    'diff_drive': 'driven wheels on one axle',
    'skid_steer': 'two axles or more, and nothing steers',
    'mecanum': 'axles along y; only rollers, which no URDF shows, let it move sideways',
    'omni': 'axles in several directions: only rollers let these wheels move',
    'ackermann': 'an axle that nothing steers, and steered wheels',
    'swerve': 'every wheel is steered',
}
_ROLLERS = re.compile(r'mecanum|swedish', re.IGNORECASE)


def fitting_types(urdf: Findings) -> dict[str, FittingKind]:
    """Return the kinds of base that fit, by their base_type, the likeliest first."""
    types = {kind: base_type for base_type, kind in KINDS.items()}
    return {types[kind.kind]: kind for kind in urdf.kinds}


def base_question(urdf: Findings, text: str) -> Question:
    """Return the question for the kind of base."""
    types = fitting_types(urdf)
    choices = (*types, 'planar', 'none')
    proposal = 'planar'
    if urdf.fixed_wheels:
        first, *others = urdf.fixed_wheels
        why = f'wheels are fixed joints in this file: {first} and {len(others)} others'
        choices = ('planar', 'none')
    elif not urdf.wheels:
        proposal, why = 'none', 'no joint turns a wheel on the ground'
        choices = ('none', 'planar')
    elif not types:
        wheels = ', '.join(wheel.joint for wheel in urdf.wheels)
        why = f'no kind of base on wheels fits {wheels}, with x of the root link forward'
    elif 'mecanum' in types and (match := _ROLLERS.search(text)):
        proposal, why = 'mecanum', f"the description says '{match[0]}'"
    else:
        proposal, *others = types
        fits = [f'{name} fits too ({_WHY[name]})' for name in others]
        why = '; '.join([_WHY[proposal], *fits])
    asked = 'Which base carries the robot? (planar: pushed in the plane, wheels left out)'
    return Question('base-type', asked, proposal, why, choices)
