# SPDX-License-Identifier: Apache-2.0
"""The robot: a frozen tree of bodies, its labels and its index tables."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import pure
from kane_dynamics.exceptions import InvalidInputError, NameNotFoundError
from kane_dynamics.model.body import Body, Frame, WheelShape
from kane_dynamics.model.checks import as_vector, came, index_of
from kane_dynamics.model.content import add_content
from kane_dynamics.model.joint_kinds import Free, Planar
from kane_dynamics.model.joint_tables import JointIndex, index_tables, joint_arrays

Floats = NDArray[np.float64]
WORLD = -1
BASE_JOINT = 'base'  # the name of a joint that makes a robot mobile


@dataclass(frozen=True, eq=False)
class Robot:
    """
    A tree of rigid bodies.

    Parameters
    ----------
    name : str
        Name.
    bodies : sequence of Body
        Every body after its parent (topological order); v and q follow this order.
    gravity : array_like, shape (3,)
        Gravity acceleration in world axes [m/s^2].
    frames : mapping of str to Frame, optional
        Named frames besides those of the bodies.
    wheels : mapping of str to WheelShape, optional
        Collision cylinder or sphere that a joint turns, by joint name.

    Attributes
    ----------
    nq, nv : int
        Numbers of coordinates and of speeds.
    coordinate_names, velocity_names : tuple of str
        Labels of q and v.
    parents : tuple of int
        Index of each body's parent; -1 is the world.
    indices : tuple of JointIndex
        Where each body's joint is in q and v.
    frames : mapping of str to Frame
        All named frames, those of the bodies included.
    armature, damping, friction : ndarray, shape (nv,)
        What acts along each speed; followers (mimic joints) are reflected to their master.
    lower, upper : ndarray, shape (nq,)
        Position limits, infinite where unknown.
    velocity_limit, effort_limit : ndarray, shape (nv,)
        Bounds of |v| and |tau|, infinite where unknown.

    Raises
    ------
    InvalidInputError
        If names repeat, a parent or master does not come before its child, or gravity is not
        three finite numbers.

    """

    name: str
    bodies: Sequence[Body]
    gravity: Any = (0.0, 0.0, -9.81)
    frames: Mapping[str, Frame] = field(default_factory=dict)
    wheels: Mapping[str, WheelShape] = field(default_factory=dict)
    nq: int = field(init=False)
    nv: int = field(init=False)
    coordinate_names: tuple[str, ...] = field(init=False)
    velocity_names: tuple[str, ...] = field(init=False)
    parents: tuple[int, ...] = field(init=False)
    indices: tuple[JointIndex, ...] = field(init=False)
    armature: Floats = field(init=False)
    damping: Floats = field(init=False)
    friction: Floats = field(init=False)
    lower: Floats = field(init=False)
    upper: Floats = field(init=False)
    velocity_limit: Floats = field(init=False)
    effort_limit: Floats = field(init=False)

    def __post_init__(self) -> None:
        bodies = _checked_bodies(self.bodies)
        _set(self, bodies=bodies, gravity=as_vector('gravity [m/s^2]', self.gravity, 3))
        _check_unique('body', [body.name for body in bodies])
        _check_unique('joint', [body.joint.name for body in bodies])
        _set(self, parents=_parents(bodies))
        indices, q_names, v_names = index_tables(bodies)
        _check_unique('speed', v_names)
        _set(self, indices=indices, coordinate_names=q_names, velocity_names=v_names)
        _set(self, nq=len(q_names), nv=len(v_names))
        _set(self, **joint_arrays(bodies, indices, self.nq, self.nv))
        frames = {body.name: Frame(i, Pose.identity()) for i, body in enumerate(bodies)}
        _set(self, frames=MappingProxyType({**frames, **self.frames}))
        _set(self, wheels=MappingProxyType(dict(self.wheels)))

    @property
    def base(self) -> str:
        """Return 'planar' or 'floating' where the first joint, 'base', moves so, else 'fixed'."""
        joint = self.bodies[0].joint if self.bodies else None
        if joint is None or joint.name != BASE_JOINT:
            return 'fixed'
        return {Planar: 'planar', Free: 'floating'}.get(type(joint.kind), 'fixed')

    @cached_property
    def kinematic_key(self) -> str:
        """Return a hash of the joints and where they are; masses, friction, gravity left out."""
        digest = hashlib.sha256()
        for body in self.bodies:
            joint = (body.joint.name, body.joint.kind, body.placement, body.mimic)
            add_content(digest, (body.name, body.parent, *joint))
        return digest.hexdigest()

    def __repr__(self) -> str:
        return (
            f"Robot('{self.name}', {self.base} base, {len(self.bodies)} bodies, nq={self.nq}, "
            f'nv={self.nv})'
        )

    def __str__(self) -> str:
        """Return a line for each body: how it moves on which other one, and its mass."""
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
            for body in self.bodies
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            '  '.join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        return '\n  '.join([repr(self), *lines])

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle what the robot was built from."""
        parts = self.name, self.bodies, self.gravity, dict(self.frames), dict(self.wheels)
        return type(self), parts

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Return the names of the joints that own speeds, in the order of v."""
        return tuple(body.joint.name for body in self.bodies if body.mimic is None)

    @property
    def gravity_quaternion(self) -> Any:
        """Return gravity as a pure quaternion in world axes [m/s^2]."""
        return pure(self.gravity)

    def velocity_index(self, name: str) -> int:
        """
        Return the index in v of a speed.

        Raises
        ------
        NameNotFoundError
            If there is no such speed.

        """
        return index_of('velocity', name, self.velocity_names)

    def coordinate_index(self, name: str) -> int:
        """
        Return the index in q of a coordinate.

        Raises
        ------
        NameNotFoundError
            If there is no such coordinate.

        """
        return index_of('coordinate', name, self.coordinate_names)

    def body_of_joint(self, joint: str) -> int:
        """
        Return the index of the body that a joint carries.

        Raises
        ------
        NameNotFoundError
            If there is no such joint.

        """
        return index_of('joint', joint, tuple(body.joint.name for body in self.bodies))

    def frame(self, name: str) -> Frame:
        """
        Return a named frame (a link of the URDF, or a body).

        Raises
        ------
        NameNotFoundError
            If there is no such frame.

        """
        if not isinstance(name, str) or name not in self.frames:
            raise NameNotFoundError('frame', name, self.frames)
        return self.frames[name]

    def ancestors(self, body: int) -> tuple[int, ...]:
        """Return the bodies on the path from the world to `body`, `body` last."""
        path: list[int] = []
        while body != WORLD:
            path.append(body)
            body = self.parents[body]
        return tuple(reversed(path))

    def neutral(self) -> Floats:
        """Return the q at which every joint frame coincides with its body frame, shape (nq,)."""
        q = np.zeros(self.nq)
        for body, index in zip(self.bodies, self.indices, strict=True):
            if body.mimic is None:
                q[index.q] = body.joint.kind.neutral
        return q


def _set(robot: Robot, **values: Any) -> None:
    for key, value in values.items():
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
        object.__setattr__(robot, key, value)


def _checked_bodies(bodies: Any) -> tuple[Body, ...]:
    several = tuple(bodies) if isinstance(bodies, Iterable) else (bodies,)
    wrong = [body for body in several if not isinstance(body, Body)]
    if wrong or not isinstance(bodies, Iterable):
        raise InvalidInputError(f'bodies: need a sequence of Body, got {came(bodies)}')
    return several


def _check_unique(what: str, names: Sequence[str]) -> None:
    repeated = sorted({name for name in names if list(names).count(name) > 1})
    if repeated:
        raise InvalidInputError(f'{what} names must be unique, these repeat: {repeated}')


def _parents(bodies: tuple[Body, ...]) -> tuple[int, ...]:
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
