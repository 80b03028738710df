# SPDX-License-Identifier: Apache-2.0
"""Joints, bodies and named frames of a robot, all frozen: their tree, their table, their hash."""

import dataclasses
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kane_dynamics.algebra.inertia import Inertia
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import NumericQuaternion, vec3, vec4
from kane_dynamics.algebra.scalars import as_number, as_numbers, unit_axis
from kane_dynamics.exceptions import InvalidInputError, NotFingerprintableError
from kane_dynamics.robot.checks import as_finite, as_nonnegative, as_positive, as_vector, describe
from kane_dynamics.robot.joint_kinds import JointKind

Vector = tuple[float, float, float]
WORLD = -1  # in the place of the index of a body


@dataclass(frozen=True)
class Joint:
    """
    A joint of one of the kinds of `joint_kinds`, with what acts along it.

    Parameters
    ----------
    name : str
        Name, unique in the robot.
    kind : JointKind
        Motion of the child frame in the joint frame.
    armature : float
        Reflected rotor inertia on each speed [kg m^2 or kg], part of M.
    damping : float
        Viscous friction on each speed [N m s/rad or N s/m].
    friction : float
        Coulomb friction on each speed [N m or N].
    lower, upper : float
        Position limits [rad or m]; infinite where unknown.
    velocity_limit, effort_limit : float
        Bounds of ``|v|`` and ``|tau|``; infinite where unknown.

    Raises
    ------
    InvalidInputError
        If armature, damping or friction is negative or not finite, or a limit is not a number.

    """

    name: str
    kind: JointKind
    armature: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    lower: float = -np.inf
    upper: float = np.inf
    velocity_limit: float = np.inf
    effort_limit: float = np.inf

    def __post_init__(self) -> None:
        for field_name in ('armature', 'damping', 'friction'):
            what = f"joint '{self.name}': {field_name}"
            object.__setattr__(self, field_name, as_nonnegative(what, getattr(self, field_name)))
        for field_name in ('lower', 'upper', 'velocity_limit', 'effort_limit'):
            what = f"joint '{self.name}': {field_name}"
            value = as_numbers(what, getattr(self, field_name))
            if value.shape != () or np.isnan(value):
                raise InvalidInputError(f'{what} is not a number, got {value}')
            object.__setattr__(self, field_name, float(value))


@dataclass(frozen=True)
class Mimic:
    """
    The joint follows another: q = ratio q_master + offset. It is not in q and v.

    Parameters
    ----------
    master : str
        The joint that is followed.
    ratio : float
        [1], or [m/rad] where a slide follows a hinge.
    offset : float
        [rad or m].

    Raises
    ------
    InvalidInputError
        If ratio or offset is not a finite number.

    """

    master: str
    ratio: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        for field_name in ('ratio', 'offset'):
            what = f"{field_name} of the joint that follows '{self.master}'"
            object.__setattr__(self, field_name, as_number(what, getattr(self, field_name)))


@dataclass(frozen=True, eq=False)
class Body:
    """
    A rigid body and the joint that carries it.

    Parameters
    ----------
    name : str
        Name, unique in the robot.
    parent : str
        Name of the body that carries the joint; ``''`` is the world.
    joint : Joint
        Joint between parent and body. The body frame B is the moving frame of the joint.
    placement : Pose
        Pose x_J^P of the joint frame in the parent's body frame, constant.
    inertia : Inertia
        Mass properties in B.
    mimic : Mimic, optional
        Set where the joint follows another one.

    Raises
    ------
    InvalidInputError
        If a number of the placement is not finite.

    """

    name: str
    parent: str
    joint: Joint
    placement: Pose = field(default_factory=Pose.identity)
    inertia: Inertia = field(default_factory=Inertia.zero)
    mimic: Mimic | None = None

    def __post_init__(self) -> None:
        numbers = np.array([*vec4(self.placement.rotation), *vec3(self.placement.translation)])
        as_finite(f"body '{self.name}': placement", numbers)


@dataclass(frozen=True)
class WheelShape:
    """
    A collision cylinder or sphere that a joint turns: what is known of a wheel or a ball.

    Parameters
    ----------
    radius : float
        [m], > 0.
    centre : tuple of float
        Its centre in the frame of the body that the joint carries [m].
    axis : tuple of float, optional
        Unit axis of a cylinder in that frame; None for a sphere.

    Raises
    ------
    InvalidInputError
        If the radius is not positive, or centre or axis are not three finite numbers.

    """

    radius: float
    centre: Vector = (0.0, 0.0, 0.0)
    axis: Vector | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, 'radius', as_positive('radius of a wheel [m]', self.radius))
        centre = as_vector('centre of a wheel [m]', self.centre, 3)
        object.__setattr__(self, 'centre', tuple(centre.tolist()))
        if self.axis is not None:
            object.__setattr__(self, 'axis', unit_axis(self.axis, 'axis of a wheel'))


@dataclass(frozen=True, eq=False)
class Frame:
    """
    A named frame F fixed in a body.

    Parameters
    ----------
    body : int
        Index of the body; -1 is the world.
    pose : Pose
        Pose x_F^B in the body frame.

    """

    body: int
    pose: Pose


def check_unique(what: str, names: Sequence[str]) -> None:
    """Check that no name comes twice."""
    repeated = sorted(name for name, times in Counter(names).items() if times > 1)
    if repeated:
        raise InvalidInputError(f'{what} names must be unique, these repeat: {repeated}')


def parents_of(bodies: tuple[Body, ...]) -> tuple[int, ...]:
    """Return the index of each body's parent."""
    seen = {'': WORLD}
    parents = []
    for i, body in enumerate(bodies):
        if body.parent not in seen:
            raise InvalidInputError(
                f"body '{body.name}': parent '{body.parent}' must come before it; "
                f'before it are {sorted(seen)}'
            )
        parents.append(seen[body.parent])
        seen[body.name] = i
    return tuple(parents)


_OUR_CODE = f'{__name__.split(".")[0]}.'


def add_content(digest: Any, value: Any) -> None:
    """Feed a value to a hash of hashlib, so that equal content gives equal hashes."""
    digest.update(type(value).__qualname__.encode() + b'(')
    if value is None or isinstance(value, (str, bool, int)):
        digest.update(repr(value).encode())
    elif isinstance(value, float):
        digest.update(value.hex().encode())
    elif isinstance(value, np.ndarray):
        digest.update(repr((value.shape, value.dtype.str)).encode() + value.tobytes())
    elif isinstance(value, NumericQuaternion):
        digest.update(vec4(value).tobytes())
    elif isinstance(value, Mapping):
        for key in sorted(value):
            add_content(digest, key)
            add_content(digest, value[key])
    elif isinstance(value, (tuple, list)):
        for item in value:
            add_content(digest, item)
    elif isinstance(value, slice):
        digest.update(repr(value).encode())
    elif dataclasses.is_dataclass(value) and type(value).__module__.startswith(_OUR_CODE):
        for item in dataclasses.fields(value):
            if item.compare:
                digest.update(item.name.encode())
                add_content(digest, getattr(value, item.name))
    else:
        raise NotFingerprintableError(
            f'{describe(value)} has no content to hash; need numbers, text, arrays, robots or '
            'other dataclasses of this package'
        )
    digest.update(b')')


def content_hash(value: Any) -> str:
    """Return a hash of a value, the same where its content is."""
    digest = hashlib.sha256()
    add_content(digest, value)
    return digest.hexdigest()


def body_table(bodies: Sequence[Body]) -> list[str]:
    """Return a head and a line for each body: how it moves on which other one, and its mass."""
    rows = [('body', 'on', 'joint', 'kind', 'mass [kg]')]
    rows += [
        (
            body.name,
            body.parent or 'the world',
            body.joint.name,
            type(body.joint.kind).__name__.lower()
            + (f' follows {body.mimic.master}' if body.mimic else ''),
            f'{body.inertia.mass:.6g}',
        )
        for body in bodies
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        '  '.join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
