# SPDX-License-Identifier: Apache-2.0
"""Constraints that the parameters declare by name; nothing here needs rclpy."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

import kane_dynamics as kd
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.constraints.dry_friction import Contact
from kane_dynamics.exceptions import ConstraintError, InvalidInputError, KaneDynamicsError
from kane_dynamics.robot_config.parameters.tables import ConstraintParameters

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
            what = _built(robot, p)
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


def _built(robot: kd.Robot, p: ConstraintParameters) -> Constraint | Contact:
    if p.type == 'lock':
        return C.lock(robot, p.joint)
    if p.type == 'coupling':
        return C.coupling(robot, p.joint, p.master, p.ratio, p.offset)
    if p.type == 'no_side_slip':
        return C.no_side_slip(robot, p.offset)
    if p.type == 'rolling':
        return _rolling(robot, p)
    if p.type == 'roller':
        return C.roller_wheel(robot, p.joint, p.roller_angle, plane=_plane(p))
    if p.type == 'joint_stop':
        return C.contact(C.joint_limit(robot, p.joint, p.side), restitution=p.restitution)
    if p.type == 'loop_closure':
        return C.loop_closure(robot, p.other_link, p.link)
    distance = C.point_contact(robot, p.link, p.point, p.normal, p.offset)
    slip = C.point_slip(robot, p.link, p.point, p.normal) if p.friction_coefficient else None
    return C.contact(distance, slip, friction=p.friction_coefficient, restitution=p.restitution)


def _plane(p: ConstraintParameters) -> kd.Plane:
    """Return what a wheel rolls on."""
    return kd.Plane(p.normal, p.offset)


def _rolling(robot: kd.Robot, p: ConstraintParameters) -> Constraint | Contact:
    wheel = C.rolling_wheel(robot, p.joint, plane=_plane(p), tyre_radius=p.tyre_radius)
    if not p.friction_coefficient:
        return wheel
    if 'vertical' in wheel.directions:
        return C.rolling_contact(wheel, friction=p.friction_coefficient, restitution=p.restitution)
    if not p.load:
        raise ConstraintError('friction of a wheel that nothing lifts needs its load [N]')
    return C.traction(wheel, p.load, p.friction_coefficient)
