# SPDX-License-Identifier: Apache-2.0
"""The wheeled base and the named constraints that parameters declare; no rclpy."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import kane_dynamics as kd
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.dry_friction import Contact
from kane_dynamics.exceptions import ConstraintError, InvalidInputError, KaneDynamicsError
from kane_dynamics.robot_config.parameters.tables import ConstraintParameters, RobotParameters

C = kd.constraints
_NAME = re.compile(r'[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*')  # a token of a ROS service's name
OWN_NAMES = ('names', 'base')


@dataclass(frozen=True, eq=False)
class Declared:
    """A constraint or contact that can be switched."""

    what: Constraint | Contact  # It
    limit: float | None  # Norm of its multipliers beyond which it lets go
    active: bool  # Whether it holds from the start


def declared_constraints(
    robot: kd.Robot, table: Mapping[str, ConstraintParameters]
) -> dict[str, Declared]:
    """Return what the parameters declare, by name."""
    result = {}
    for name, p in table.items():
        if not _NAME.fullmatch(name) or name in OWN_NAMES:
            raise InvalidInputError(
                f"constraints.names: '{name}' cannot name a service; need letters, digits and "
                f'single underscores, and none of {list(OWN_NAMES)}'
            )
        try:
            what = _BUILDERS[p.type](robot, p)
            if isinstance(what, Contact) and p.limit:
                raise InvalidInputError('a contact has friction, no limit')
        except KaneDynamicsError as error:
            raise InvalidInputError(f"constraint '{name}' of type {p.type}: {error}") from error
        result[name] = Declared(what, p.limit or None, p.active)
    return result


def stops(robot: kd.Robot) -> dict[str, Contact]:
    """Return the ends of the ranges of all joints as contacts that do not bounce."""
    result = {}
    for name in robot.joint_names:
        if name not in robot.coordinate_names:
            continue
        k = robot.coordinate_index(name)
        if not robot.lower[k] < robot.upper[k]:  # a range of zero width is one that is not known
            continue
        for side, limit in (('lower', robot.lower[k]), ('upper', robot.upper[k])):
            if np.isfinite(limit):
                result[f'{name}/{side}'] = C.contact(C.joint_limit(robot, name, side))
    return result


def _rolling(robot: kd.Robot, p: ConstraintParameters) -> Constraint | Contact:
    wheel = C.rolling_wheel(
        robot, p.joint, plane=kd.Plane(p.normal, p.offset), tyre_radius=p.tyre_radius
    )
    if not p.friction_coefficient:
        return wheel
    if 'vertical' in wheel.directions:
        return C.rolling_contact(wheel, friction=p.friction_coefficient, restitution=p.restitution)
    if not p.load:
        raise ConstraintError('friction of a wheel that nothing lifts needs its load [N]')
    return C.traction(wheel, p.load, p.friction_coefficient)


def _point_contact(robot: kd.Robot, p: ConstraintParameters) -> Contact:
    distance = C.point_contact(robot, p.link, p.point, p.normal, p.offset)
    slip = C.point_slip(robot, p.link, p.point, p.normal) if p.friction_coefficient else None
    return C.contact(distance, slip, friction=p.friction_coefficient, restitution=p.restitution)


_BUILDERS: dict[str, Callable[[kd.Robot, ConstraintParameters], Constraint | Contact]] = {
    'lock': lambda robot, p: C.lock(robot, p.joint),
    'coupling': lambda robot, p: C.coupling(robot, p.joint, p.master, p.ratio, p.offset),
    'no_side_slip': lambda robot, p: C.no_side_slip(robot, p.offset),
    'rolling': _rolling,
    'roller': lambda robot, p: C.roller_wheel(
        robot, p.joint, p.roller_angle, plane=kd.Plane(p.normal, p.offset)
    ),
    'joint_stop': lambda robot, p: C.contact(
        C.joint_limit(robot, p.joint, p.side), restitution=p.restitution
    ),
    'point_contact': _point_contact,
    'loop_closure': lambda robot, p: C.loop_closure(robot, p.other_link, p.link),
}


KINDS = {'diff_drive': 'differential'}
"""Kinds of base by base_type."""
KINDS |= {kind: kind for kind in ('skid_steer', 'mecanum', 'omni', 'ackermann', 'swerve')}
_STEERED = ('base_steering_names', 'base_steered_wheel_names')
CASTERS = ('base_caster_swivel_names', 'base_caster_wheel_names')
ENTRIES: dict[str, dict[str, str | tuple[str, str]]] = {
    'differential': {'left': 'base_left_wheel_names', 'right': 'base_right_wheel_names'},
    'skid_steer': {
        'left': 'base_left_wheel_names',
        'right': 'base_right_wheel_names',
        'track_factor': 'base_wheel_separation_multiplier',
    },
    'mecanum': {'wheels': 'base_wheel_names', 'roller_angles': 'base_roller_angles'},
    'omni': {'wheels': 'base_wheel_names'},
    'ackermann': {
        'rear': 'base_wheel_names',
        'steered': _STEERED,
        'driven': 'base_driven_wheel_names',
    },
    'swerve': {'steered': _STEERED},
}
"""Entries of `kane_dynamics.bases.wheeled_base` and their parameters, by kind; two are paired."""
_LISTS = {
    kind: tuple(
        name
        for names in entries.values()
        for name in ((names,) if isinstance(names, str) else names)
        if name.endswith('_names')
    )
    for kind, entries in ENTRIES.items()
}


def wheeled_base(parameters: RobotParameters, robot: kd.Robot) -> kd.bases.WheeledBase | None:
    """Return the base on wheels, or None where wheels do not roll."""
    p = parameters
    rolls = p.base_constraint == 'rolling' or (
        p.base_constraint == 'auto' and p.base_type in KINDS
    )
    if not rolls:
        return None
    if p.base_type == 'none':
        raise ConstraintError("base.constraint 'rolling' needs a base_type other than none")
    kind = KINDS.get(p.base_type, 'differential')  # of a planar base that is to roll
    _check_lists(p, kind)
    try:
        return kd.bases.wheeled_base(robot, _block(p, kind))
    except KaneDynamicsError as error:
        error.args = (f'base_type {p.base_type}: {error}', *error.args[1:])
        raise


def named_motors(parameters: RobotParameters) -> tuple[str, ...]:
    """Return all joints that the parameters name for this kind of base."""
    names = _LISTS.get(KINDS.get(parameters.base_type, ''), ())
    joints = (joint for name in names for joint in getattr(parameters, name))
    return tuple(dict.fromkeys(joints))


def _block(p: RobotParameters, kind: str) -> dict[str, Any]:
    """Return the block of `kd.bases.wheeled_base`, without what is not named."""
    entries = {
        entry: getattr(p, names) if isinstance(names, str) else _paired(p, *names)
        for entry, names in {**ENTRIES[kind], 'casters': CASTERS}.items()
    }
    entries['supports'] = _points(p.base_support_points)
    if p.base_wheel_radius:
        wheels = (joint for name in _LISTS[kind] for joint in getattr(p, name))
        joints = [joint for joint in wheels if joint not in p.base_steering_names]
        entries['radius'] = dict.fromkeys(joints, p.base_wheel_radius)
    return {'kind': kind, **{entry: value for entry, value in entries.items() if value}}


def _check_lists(p: RobotParameters, kind: str) -> None:
    """Refuse names of wheels that this kind of base has no use for, or that it lacks."""
    for name in _LISTS[kind]:
        if not getattr(p, name) and name != 'base_driven_wheel_names':
            raise InvalidInputError(
                f'base_type {p.base_type} needs names of joints in {shown(name)}'
            )
    for name in dict.fromkeys(name for names in _LISTS.values() for name in names):
        if getattr(p, name) and name not in _LISTS[kind]:
            raise InvalidInputError(
                f'{shown(name)} has no meaning for base_type {p.base_type}, which takes '
                f'{", ".join(map(shown, _LISTS[kind]))}'
            )


def _paired(p: RobotParameters, keys: str, values: str) -> dict[str, tuple[str, ...]]:
    """Return two lists as a mapping; a key that comes again has several values."""
    names, wheels = getattr(p, keys), getattr(p, values)
    if len(names) != len(wheels):
        raise InvalidInputError(
            f'{shown(keys)} and {shown(values)} need as many names, got {list(names)} and '
            f'{list(wheels)}'
        )
    result: dict[str, tuple[str, ...]] = {}
    for name, wheel in zip(names, wheels, strict=True):
        result[name] = (*result.get(name, ()), wheel)
    return result


def _points(numbers: tuple[float, ...]) -> list[tuple[float, float, float]]:
    """Return the points of base.support_points."""
    if tuple(numbers) == (0.0,):
        return []
    if len(numbers) % 3:
        raise InvalidInputError(
            f'base.support_points: need x, y, z of each point, got {len(numbers)} numbers'
        )
    return [(numbers[k], numbers[k + 1], numbers[k + 2]) for k in range(0, len(numbers), 3)]


def shown(field: str) -> str:
    """Return the name of a parameter of a base."""
    return field.replace('_', '.', 1)
