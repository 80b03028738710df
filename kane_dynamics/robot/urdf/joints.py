# SPDX-License-Identifier: Apache-2.0
"""From the joints of a URDF to the joint kinds of the model; joints that are held in place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from kane_dynamics.algebra.dual_quaternion import ZERO
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import make_quaternion, normalised
from kane_dynamics.exceptions import (
    InvalidInputError,
    NameNotFoundError,
    UnknownJointTypeError,
    UrdfStructureError,
    UrdfSyntaxError,
    known_names,
)
from kane_dynamics.robot.body import Joint
from kane_dynamics.robot.checks import as_names, as_vector
from kane_dynamics.robot.joint_kinds import Free, JointKind, Planar, Prismatic, Revolute, unit_axis
from kane_dynamics.robot.urdf.records import UrdfJoint, UrdfLimit

JOINT_TYPES = ('revolute', 'continuous', 'prismatic', 'fixed', 'floating', 'planar')
ONE_DOF = ('revolute', 'continuous', 'prismatic')

LockedJoints = Iterable[str] | Mapping[str, Any]
Coordinates = tuple[float, ...]


def joint_kind(joint: UrdfJoint) -> JointKind | None:
    """
    Return the kind of a joint, None if it is fixed.

    Raises
    ------
    UnknownJointTypeError
        If URDF has no such type.
    UrdfSyntaxError
        If the axis is zero.

    """
    if joint.type not in JOINT_TYPES:
        raise UnknownJointTypeError(
            f"joint '{joint.name}': type '{joint.type}' is unknown; "
            f'{known_names(JOINT_TYPES, joint.type)}'
        )
    if joint.type == 'fixed':
        return None
    if joint.type == 'floating':
        return Free()
    axis = _axis(joint)
    if joint.type == 'planar':
        return Planar()
    return Prismatic(axis) if joint.type == 'prismatic' else Revolute(axis)


def _axis(joint: UrdfJoint) -> tuple[float, float, float]:
    try:
        return unit_axis(joint.axis)
    except InvalidInputError as error:
        raise UrdfSyntaxError(f"joint '{joint.name}': {error}") from error


def alignment(joint: UrdfJoint) -> Pose:
    """
    Return x_K^J: the frame K in which the joint's kind moves, in the joint frame J of the URDF.

    The identity but for a planar joint, whose kind moves in x, y: K has its z along the axis and
    is J turned the shortest way.
    """
    if joint.type != 'planar':
        return Pose.identity()
    x, y, z = _axis(joint)
    across = x * x + y * y
    if across == 0.0 and z < 0.0:
        return Pose(make_quaternion(0.0, 1.0, 0.0, 0.0), ZERO)
    w = 1.0 + z if z > 0.0 else across / (1.0 - z)  # both are 1 + z, this one without cancellation
    return Pose(normalised(make_quaternion(w, -y, x, 0.0)), ZERO)


def moving_joint(joint: UrdfJoint, kind: JointKind) -> Joint:
    """Return a joint with its friction and bounds; what is unknown is infinite."""
    limit = joint.limit or UrdfLimit()
    lower, upper = -np.inf, np.inf
    if joint.type in ('revolute', 'prismatic') and has_range(limit):
        lower, upper = limit.lower or 0.0, limit.upper or 0.0
    return Joint(
        joint.name,
        kind,
        damping=joint.damping,
        friction=joint.friction,
        lower=lower,
        upper=upper,
        velocity_limit=_bound(limit.velocity),
        effort_limit=_bound(limit.effort),
    )


def has_range(limit: UrdfLimit) -> bool:
    """Return whether there is a range of positions: one bound left out is 0, both are unknown."""
    if limit.lower is None and limit.upper is None:
        return False
    return (limit.lower or 0.0) <= (limit.upper or 0.0)


def _bound(value: float | None) -> float:
    """Return a velocity or effort limit; real files write 0 where it is unknown."""
    return np.inf if value is None or value <= 0.0 else value


def held_joints(
    joints: Iterable[UrdfJoint], locked_joints: LockedJoints
) -> Mapping[str, Coordinates]:
    """
    Return the coordinates of the joints that do not move, by name; none for fixed ones.

    These are the fixed joints, the locked ones, and the followers (mimic joints) of both.

    Parameters
    ----------
    joints : iterable of UrdfJoint
        All joints.
    locked_joints : iterable of str, or mapping of str to float
        Names, or names and positions [rad or m].

    Raises
    ------
    NameNotFoundError
        If there is no such joint.
    InvalidInputError
        If a position does not fit its joint, or the names are one str.
    UrdfStructureError
        If a mimic joint is wrong.

    """
    by_name = {joint.name: joint for joint in joints}
    _check_mimics(by_name)
    names = as_names('locked_joints', locked_joints)
    held: dict[str, Coordinates] = {name: () for name, j in by_name.items() if j.type == 'fixed'}
    for name in names:
        if name not in by_name:
            raise NameNotFoundError('joint', name, by_name)
        position = locked_joints[name] if isinstance(locked_joints, Mapping) else None
        held[name] = _locked_coordinates(by_name[name], position)
    for name, joint in by_name.items():
        if joint.mimic is not None and name not in held:
            position = _followed_position(joint, by_name, held)
            if position is not None:
                held[name] = (position,)
    return held


def _locked_coordinates(joint: UrdfJoint, position: Any) -> Coordinates:
    kind = joint_kind(joint)
    if kind is None:
        if np.any(position):
            raise InvalidInputError(f"joint '{joint.name}' is fixed, cannot lock it at {position}")
        return ()
    if position is None:
        return kind.neutral
    name = f"locked_joints['{joint.name}'] ({joint.type})"
    return tuple(as_vector(name, np.atleast_1d(position), kind.nq).tolist())


def _followed_position(
    joint: UrdfJoint, by_name: Mapping[str, UrdfJoint], held: Mapping[str, Coordinates]
) -> float | None:
    """Return the position of a follower whose master is held, through a chain of masters."""
    if joint.mimic is None:
        return None
    master = by_name[joint.mimic.joint]
    if master.name in held:
        position = held[master.name][0] if held[master.name] else 0.0
    else:
        followed = _followed_position(master, by_name, held)
        if followed is None:
            return None
        position = followed
    return joint.mimic.multiplier * position + joint.mimic.offset


def _check_mimics(by_name: Mapping[str, UrdfJoint]) -> None:
    """Refuse followers of nothing, of themselves, or of what has not one degree of freedom."""
    for joint in by_name.values():
        path = [joint]
        while path[-1].mimic is not None and path[-1].type != 'fixed':
            name = path[-1].mimic.joint
            if name not in by_name:
                raise UrdfStructureError(
                    f"joint '{path[-1].name}' mimics '{name}', which does not exist; "
                    f'{known_names(by_name, name)}'
                )
            if by_name[name] in path:
                raise UrdfStructureError(
                    f'mimic joints follow each other in a circle: {[j.name for j in path]}'
                )
            for end in (path[-1], by_name[name]):
                if end.type not in (*ONE_DOF, 'fixed'):
                    raise UrdfStructureError(
                        f"joint '{path[-1].name}' cannot mimic '{name}': "
                        f"'{end.name}' is {end.type}, not 1-DoF"
                    )
            path.append(by_name[name])
