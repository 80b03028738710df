# SPDX-License-Identifier: Apache-2.0
"""The parameters of a robot from what its URDF shows and what its owner answers."""

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kane_dynamics.bases.block import wheeled_base
from kane_dynamics.bases.recognition import FoundWheel
from kane_dynamics.exceptions import (
    ConstraintError,
    InvalidInputError,
    ModelWarning,
    NameNotFoundError,
)
from kane_dynamics.robot_config.declared_constraints import CASTERS, ENTRIES, shown
from kane_dynamics.robot_config.inspection import (
    Ask,
    Findings,
    Question,
    base_question,
    fitting_types,
)

_STEERED = ('ackermann', 'swerve')
_ALWAYS_LOCKED = ('suspension', 'several', 'ball')
_OF_WHEELS = ('wheel', 'steered wheel', 'steering', 'caster wheel', 'caster swivel')
_OF_CASTERS = ('caster wheel', 'caster swivel')
_GRIPPER = 2  # joints at most; more make a hand, whose motion hardly moves the robot


@dataclass(frozen=True)
class Setting:
    """One parameter of the nodes."""

    name: str
    value: Any
    comment: str = ''
    guessed: bool = False


def settle(urdf: Findings, address: str, text: str, ask: Ask) -> tuple[Setting, ...]:
    """Return the parameters of a robot, but for its gains."""
    question = base_question(urdf, text)
    base = question.answered(ask)
    base_type = base.value
    why = question.why if base_type == question.proposal else 'by its owner'
    settings = [
        Setting('urdf_file', address),
        Setting('base_type', base_type, why, base.guessed),
    ]
    if base_type in fitting_types(urdf):
        settings += _wheels(urdf, base_type, ask)
    if base_type != 'none':
        frame = Setting('base_frame_id', urdf.frames.base, 'child_frame_id of the odometry')
        settings += [_drive(urdf, base_type, ask), frame]
    settings += _locked(urdf, base_type, settings, ask)
    return (*settings, *_arm(urdf, settings, ask))


def _wheels(urdf: Findings, base_type: str, ask: Ask) -> Iterator[Setting]:
    """Yield the parameters of a base on wheels."""
    block = fitting_types(urdf)[base_type].block
    for entry, names in ENTRIES[block['kind']].items():
        if entry in block:
            yield from _lists(names, block[entry])
    by_name = {wheel.joint: wheel for wheel in urdf.wheels}
    if base_type == 'mecanum':
        yield _rollers([by_name[joint] for joint in block['wheels']], ask)
    yield from _radius(urdf, block, ask)
    if 'casters' in block:
        casters = Question(
            'casters',
            'Do the casters roll in the model, or stand still as joints without encoders do?',
            'lock',
            'joint_states seldom tell of casters',
            ('lock', 'roll'),
        ).answered(ask)
        if casters.value == 'roll':
            yield from _lists(CASTERS, block['casters'], casters.guessed)
    if urdf.supports:
        points = [x for point in urdf.supports for x in point]
        yield Setting('base.support_points', points, 'below links that are called casters', True)


def _lists(names: str | tuple[str, str], joints: Any, guessed: bool = False) -> Iterator[Setting]:
    """Yield the lists of joints, or of steering joints and their wheels."""
    fields = (names,) if isinstance(names, str) else names
    lists = (list(joints),) if isinstance(names, str) else _paired(joints)
    for k, (field, values) in enumerate(zip(fields, lists, strict=True)):
        yield Setting(shown(field), values, '', guessed and k == 0)


def _paired(by_steering: Mapping[str, str | list[str]]) -> tuple[list[str], list[str]]:
    """Return two lists of as many names; twin wheels have the same steering joint."""
    pairs = [
        (joint, wheel)
        for joint, wheels in by_steering.items()
        for wheel in ([wheels] if isinstance(wheels, str) else wheels)
    ]
    return [joint for joint, _ in pairs], [wheel for _, wheel in pairs]


def _rollers(wheels: Sequence[FoundWheel], ask: Ask) -> Setting:
    """Return the angles of rollers; usual are those that point to the middle of the base."""
    angles = [-math.copysign(math.pi / 4.0, w.centre[0] * w.centre[1]) for w in wheels]
    names = ', '.join(wheel.joint for wheel in wheels)
    question = Question(
        'roller-angles',
        f'Angle [rad] from forward to the axis of the roller on the ground, seen from above, '
        f'counterclockwise, of {names}:',
        ','.join(f'{angle:.6g}' for angle in angles),
        'rollers of 45 degrees, as most mecanum bases have them',
    )
    answer = ask(question)
    values = numbers_of('roller-angles', answer.value, len(wheels), f'[rad] of {names}')
    listing = 'rollers of 45 degrees; a URDF has no rollers' if answer.guessed else 'by its owner'
    return Setting('base.roller_angles', list(values), listing, answer.guessed)


def _radius(urdf: Findings, block: Mapping[str, Any], ask: Ask) -> Iterator[Setting]:
    """Yield the radius of wheels where collision shapes do not tell it, or the owner does."""
    steered = block.get('steered', {})
    wheels = [w for w in urdf.wheels if w.kind in ('fixed', 'steered') or w.steering in steered]
    unknown = [wheel for wheel in wheels if wheel.radius is None]
    problem = '' if unknown else _problem(urdf, block)
    text, proposal, why = 'Radius of the wheels [m]?', '', 'that of the collision shapes'
    if unknown:
        base = urdf.robot.frames[urdf.frames.base].pose.position()
        height = min(wheel.centre[2] - float(base[2]) for wheel in unknown)
        text += ' They have no collision cylinder or sphere.'
        proposal = f'{height:.6g}' if height > 0.0 else ''
        why = f'height of the axles above {urdf.frames.base}' if proposal else 'nothing tells it'
    elif problem:
        radii = {wheel.radius for wheel in wheels}
        text += f' Their shapes are not about their axes: {problem}.'
        proposal = f'{wheels[0].radius:.6g}' if len(radii) == 1 else ''
        why = 'that of the collision shapes, as a circle about the axis'
    is_open = bool(unknown or problem)
    answer = ask(Question('wheel-radius', text, proposal, why, open=is_open))
    if is_open or answer.value:
        (radius,) = numbers_of('wheel-radius', answer.value, 1, '[m]')
        comment = why if answer.value == proposal else 'by its owner'
        yield Setting('base.wheel_radius', radius, f'[m] {comment}', answer.guessed)


def _problem(urdf: Findings, block: Mapping[str, Any]) -> str:
    """Return why wheels cannot roll on their collision shapes, or ''."""
    entries = {key: value for key, value in block.items() if key != 'casters'}
    if entries['kind'] == 'mecanum':
        entries = {**entries, 'kind': 'omni'}  # the same wheels, without their rollers
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore', ModelWarning)  # the nodes tell them
            wheeled_base(urdf.robot, entries)
    except ConstraintError as error:
        return str(error)
    return ''


def _drive(urdf: Findings, base_type: str, ask: Ask) -> Setting:
    """Return what the drives of the base take."""
    steered = base_type in _STEERED
    followed = steered or bool(urdf.fixed_wheels)
    answer = Question(
        'drive',
        'Do the drives of the base take efforts (simulation, research), or velocities by cmd_vel '
        '(most bases that are sold)?',
        'velocity' if followed else 'effort',
        'steered wheels follow cmd_vel together'
        if steered
        else 'nothing turns its wheels in this file'
        if followed
        else 'then the demo compares the efforts of the base, too',
        ('effort', 'velocity'),
    ).answered(ask)
    return Setting(
        'base.command_interface', answer.value, 'effort or velocity (cmd_vel)', answer.guessed
    )


def _locked(
    urdf: Findings, base_type: str, settings: Sequence[Setting], ask: Ask
) -> Iterator[Setting]:
    """Yield the joints that are held: what only rests, and wheels that the base leaves out."""
    names = urdf.named(*_ALWAYS_LOCKED)
    rolling = any(setting.name == 'base.caster_swivel_names' for setting in settings)
    if base_type in ('none', 'planar'):
        names += urdf.named(*_OF_WHEELS)
    elif not rolling:
        block = fitting_types(urdf)[base_type].block
        names += tuple(
            name
            for name in urdf.named(*_OF_CASTERS)
            if name not in block.get('steered', {})
            and name not in _paired(block.get('steered', {}))[1]
        )
    hands = {hand.name: hand.joints for hand in urdf.hands if len(hand.joints) > _GRIPPER}
    joints = tuple(joint.name for joint in urdf.joints if joint.mimic is None)
    # a robot that is nothing but a hand shall move
    still = () if set(joints) <= {name for hand in hands.values() for name in hand} else hands
    names = tuple(dict.fromkeys((*names, *urdf.massless, *still)))
    listing = ', '.join(f'{name} ({len(fingers)} joints)' for name, fingers in hands.items())
    answer = ask(
        Question(
            'lock',
            'Which joints stand still, with commas? There are '
            f'{", ".join(joints)}{f"; hands: {listing}" if hands else ""}.',
            ','.join(names) or 'none',
            'suspension, casters and wheels that do not take part, links without inertia, hands'
            if names
            else 'all may move',
            open=bool(names),
        )
    )
    selection = joints_of('lock', answer.value, joints, hands)
    if selection:
        yield Setting('locked_joints', list(selection), 'held at zero', answer.guessed)


def _arm(urdf: Findings, settings: Sequence[Setting], ask: Ask) -> Iterator[Setting]:
    """Yield what the nodes need of an arm: who carries it, and its tool."""
    if not urdf.frames.tools:
        return
    tools = urdf.frames.tools
    text = f'Which link is the tool? {", ".join(tools)} are at the ends of chains of joints.'
    longest = 'the longest chain of joints'
    answer = ask(Question('tool', text, tools[0], longest, open=len(tools) > 1))
    if answer.value not in urdf.robot.frames:
        raise NameNotFoundError('link for --tool', answer.value, urdf.robot.frames)
    yield Setting('frame', answer.value, 'of kane_wrench_control', answer.guessed)
    answer = Question(
        'gravity',
        'Who holds the arm against gravity: the efforts of this package (controller), or the '
        'drives of the robot themselves (robot)?',
        'controller',
        'a URDF does not tell',
        ('controller', 'robot'),
    ).answered(ask)
    locked = [name for s in settings if s.name == 'locked_joints' for name in s.value]
    arm = [name for name in urdf.named('joint', 'finger') if name not in locked]
    selection = arm if answer.value == 'robot' else ['']
    comment = "[''] means none: the efforts carry the arm"
    yield Setting('gravity_compensated_joints', selection, comment, answer.guessed)


def joints_of(
    name: str, text: str, available: Sequence[str], groups: Mapping[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """Return the joints in a list of joints and groups with commas; '' or 'none' is no name."""
    names = tuple(part.strip() for part in text.split(',') if part.strip() not in ('', 'none'))
    for one in names:
        if one not in available and one not in groups:
            known = ', '.join((*groups, *available)) or 'none'
            raise InvalidInputError(f"--{name}: no joint or hand named '{one}'; there are {known}")
    joints = (joint for one in names for joint in ((one,) if one in available else groups[one]))
    return tuple(dict.fromkeys(joints))


def numbers_of(name: str, text: str, count: int, what: str) -> tuple[float, ...]:
    """Return the numbers in a list with commas."""
    try:
        numbers = tuple(float(part) for part in text.split(','))
    except ValueError:
        numbers = ()
    if len(numbers) != count:
        raise InvalidInputError(
            f"--{name}: need {count} numbers with commas, {what}, got '{text}'"
        )
    return numbers
