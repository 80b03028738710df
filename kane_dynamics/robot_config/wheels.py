# SPDX-License-Identifier: Apache-2.0
"""The wheeled base that the parameters ``base.*`` describe; nothing here needs rclpy."""

from __future__ import annotations

from typing import Any

import kane_dynamics as kd
from kane_dynamics.exceptions import ConstraintError, InvalidInputError, KaneDynamicsError
from kane_dynamics.robot_config.parameters.tables import RobotParameters

WHEELED = ('skid_steer', 'mecanum', 'omni', 'ackermann', 'swerve')
_KINDS = {'diff_drive': 'differential', **{kind: kind for kind in WHEELED}}
# which lists a kind takes, besides casters
_TAKES = {
    'differential': ('base_left_wheel_names', 'base_right_wheel_names'),
    'skid_steer': ('base_left_wheel_names', 'base_right_wheel_names'),
    'mecanum': ('base_wheel_names',),
    'omni': ('base_wheel_names',),
    'ackermann': (
        'base_wheel_names',
        'base_steering_names',
        'base_steered_wheel_names',
        'base_driven_wheel_names',
    ),
    'swerve': ('base_steering_names', 'base_steered_wheel_names'),
}
_LISTS = tuple(dict.fromkeys(name for names in _TAKES.values() for name in names))


def wheeled_base(parameters: RobotParameters, robot: kd.Robot) -> kd.bases.WheeledBase | None:
    """Return the base on wheels, or None where wheels do not roll."""
    p = parameters
    rolls = p.base_constraint == 'rolling' or (
        p.base_constraint == 'auto' and p.base_type in _KINDS
    )
    if not rolls:
        return None
    if p.base_type == 'none':
        raise ConstraintError("base.constraint 'rolling' needs a base_type other than none")
    kind = _KINDS.get(p.base_type, 'differential')  # of a planar base that is to roll
    _check_lists(p, kind)
    try:
        return kd.bases.wheeled_base(robot, _block(p, kind))
    except KaneDynamicsError as error:
        error.args = (f'base_type {p.base_type}: {error}', *error.args[1:])
        raise


def named_motors(parameters: RobotParameters) -> tuple[str, ...]:
    """Return all joints that the parameters name for this kind of base."""
    names = _TAKES.get(_KINDS.get(parameters.base_type, ''), ())
    joints = (joint for name in names for joint in getattr(parameters, name))
    return tuple(dict.fromkeys(joints))


def _block(p: RobotParameters, kind: str) -> dict[str, Any]:
    """Return the block of `kd.bases.wheeled_base`."""
    block: dict[str, Any] = {'kind': kind}
    if 'base_left_wheel_names' in _TAKES[kind]:
        block.update(left=p.base_left_wheel_names, right=p.base_right_wheel_names)
    if kind == 'skid_steer':
        block['track_factor'] = p.base_wheel_separation_multiplier
    if kind in ('mecanum', 'omni'):
        block['wheels'] = p.base_wheel_names
    if kind == 'mecanum':
        block['roller_angles'] = p.base_roller_angles
    if kind == 'ackermann':
        block.update(rear=p.base_wheel_names, driven=p.base_driven_wheel_names or None)
    if 'base_steering_names' in _TAKES[kind]:
        block['steered'] = _paired(p, 'base_steering_names', 'base_steered_wheel_names')
    block['casters'] = _paired(p, 'base_caster_swivel_names', 'base_caster_wheel_names')
    block['supports'] = _points(p.base_support_points)
    if p.base_wheel_radius:
        wheels = (joint for name in _TAKES[kind] for joint in getattr(p, name))
        joints = [joint for joint in wheels if joint not in p.base_steering_names]
        block['radius'] = dict.fromkeys(joints, p.base_wheel_radius)
    return block


def _check_lists(p: RobotParameters, kind: str) -> None:
    """Refuse names of wheels that this kind of base has no use for, or that it lacks."""
    for name in _TAKES[kind]:
        if not getattr(p, name) and name != 'base_driven_wheel_names':
            raise InvalidInputError(
                f'base_type {p.base_type} needs names of joints in {_shown(name)}'
            )
    for name in _LISTS:
        if getattr(p, name) and name not in _TAKES[kind]:
            raise InvalidInputError(
                f'{_shown(name)} has no meaning for base_type {p.base_type}, which takes '
                f'{", ".join(map(_shown, _TAKES[kind]))}'
            )


def _paired(p: RobotParameters, keys: str, values: str) -> dict[str, str | tuple[str, ...]]:
    """Return two lists as a mapping; a key that comes again has several values."""
    names, wheels = getattr(p, keys), getattr(p, values)
    if len(names) != len(wheels):
        raise InvalidInputError(
            f'{_shown(keys)} and {_shown(values)} need as many names, got {list(names)} and '
            f'{list(wheels)}'
        )
    result: dict[str, tuple[str, ...]] = {}
    for name, wheel in zip(names, wheels, strict=True):
        result[name] = (*result.get(name, ()), wheel)
    return {name: local[0] if len(local) == 1 else local for name, local in result.items()}


def _points(numbers: tuple[float, ...]) -> list[tuple[float, float, float]]:
    """Return the points of base.support_points."""
    if tuple(numbers) == (0.0,):
        return []
    if len(numbers) % 3:
        raise InvalidInputError(
            f'base.support_points: need x, y, z of each point, got {len(numbers)} numbers'
        )
    return [(numbers[k], numbers[k + 1], numbers[k + 2]) for k in range(0, len(numbers), 3)]


def _shown(field: str) -> str:
    return field.replace('_', '.', 1)
