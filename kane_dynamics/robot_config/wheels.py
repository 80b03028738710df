# SPDX-License-Identifier: Apache-2.0
"""The wheeled base that the parameters ``base.*`` describe; nothing here needs rclpy."""

from __future__ import annotations

from typing import Any

import kane_dynamics as kd
from kane_dynamics.exceptions import ConstraintError, InvalidInputError, KaneDynamicsError
from kane_dynamics.robot_config.parameters.robot import WHEELED, RobotParameters

_KINDS = {'diff_drive': 'differential', **{kind: kind for kind in WHEELED}}
# which lists a kind takes, besides casters
_TAKES = {
    'differential': ('left_wheel_names', 'right_wheel_names'),
    'skid_steer': ('left_wheel_names', 'right_wheel_names'),
    'mecanum': ('wheel_names',),
    'omni': ('wheel_names',),
    'ackermann': ('wheel_names', 'steering_names', 'steered_wheel_names', 'driven_wheel_names'),
    'swerve': ('steering_names', 'steered_wheel_names'),
}
_LISTS = tuple(dict.fromkeys(name for names in _TAKES.values() for name in names))


def wheeled_base(parameters: RobotParameters, robot: kd.Robot) -> kd.bases.WheeledBase | None:
    """
    Return the base on wheels, or None where wheels do not roll.

    Raises
    ------
    InvalidInputError
        If lists do not belong to the kind of base or to each other.
    KaneDynamicsError
        If the base cannot be built; the message names base_type.

    """
    p = parameters
    rolls = p.constraint == 'rolling' or (p.constraint == 'auto' and p.base_type in _KINDS)
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
    if 'left_wheel_names' in _TAKES[kind]:
        block.update(left=p.left_wheel_names, right=p.right_wheel_names)
    if kind == 'skid_steer':
        block['track_factor'] = p.wheel_separation_multiplier
    if kind in ('mecanum', 'omni'):
        block['wheels'] = p.wheel_names
    if kind == 'mecanum':
        block['roller_angles'] = p.roller_angles
    if kind == 'ackermann':
        block.update(rear=p.wheel_names, driven=p.driven_wheel_names or None)
    if 'steering_names' in _TAKES[kind]:
        block['steered'] = _paired(p, 'steering_names', 'steered_wheel_names')
    block['casters'] = _paired(p, 'caster_swivel_names', 'caster_wheel_names')
    block['supports'] = _points(p.support_points)
    if p.wheel_radius:
        wheels = (joint for name in _TAKES[kind] for joint in getattr(p, name))
        joints = [joint for joint in wheels if joint not in p.steering_names]
        block['radius'] = dict.fromkeys(joints, p.wheel_radius)
    return block


def _check_lists(p: RobotParameters, kind: str) -> None:
    """Refuse names of wheels that this kind of base has no use for, or that it lacks."""
    for name in _TAKES[kind]:
        if not getattr(p, name) and name != 'driven_wheel_names':
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
    """
    Return the points of base.support_points.

    Raises
    ------
    InvalidInputError
        If the numbers are no threes.

    """
    if tuple(numbers) == (0.0,):
        return []
    if len(numbers) % 3:
        raise InvalidInputError(
            f'base.support_points: need x, y, z of each point, got {len(numbers)} numbers'
        )
    return [(numbers[k], numbers[k + 1], numbers[k + 2]) for k in range(0, len(numbers), 3)]


def _shown(field: str) -> str:
    return f'base.{field}'
