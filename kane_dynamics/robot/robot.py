# SPDX-License-Identifier: Apache-2.0
"""The robot: a frozen tree of bodies, its labels and its index tables."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from kane_dynamics.algebra.inertia import Inertia, triangle_problem
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import pure
from kane_dynamics.exceptions import InvalidInputError, ModelWarning, NameNotFoundError
from kane_dynamics.robot.body import (
    WORLD,
    Body,
    Frame,
    WheelShape,
    body_table,
    check_unique,
    content_hash,
    parents_of,
)
from kane_dynamics.robot.checks import as_numbers, as_several, as_vector, index_of
from kane_dynamics.robot.joint_kinds import Free, Planar
from kane_dynamics.robot.joint_tables import JointIndex, index_tables, joint_arrays
from kane_dynamics.typing import ArrayLike, Floats

BASE_JOINT = 'base'  # the name of a joint that makes a robot mobile

POINT = np.zeros((3, 3))  # inertia of a point mass
POINT.setflags(write=False)


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
    quaternion_slices : tuple of (str, slice)
        The joints with a quaternion among their coordinates, and where in q it is.
    frames : mapping of str to Frame
        All named frames, those of the bodies included.
    armature, damping, friction : ndarray, shape (nv,)
        What acts along each speed; followers (mimic joints) are reflected to their master.
    lower, upper : ndarray, shape (nq,)
        Position limits, infinite where unknown.
    velocity_limit, effort_limit : ndarray, shape (nv,)
        Bounds of ``|v|`` and ``|tau|``, infinite where unknown.

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
    quaternion_slices: tuple[tuple[str, slice], ...] = field(init=False)
    armature: Floats = field(init=False)
    damping: Floats = field(init=False)
    friction: Floats = field(init=False)
    lower: Floats = field(init=False)
    upper: Floats = field(init=False)
    velocity_limit: Floats = field(init=False)
    effort_limit: Floats = field(init=False)

    def __post_init__(self) -> None:
        bodies = as_several(Body, 'bodies', self.bodies)
        gravity = as_vector('gravity [m/s^2]', self.gravity, 3)
        check_unique('body', [body.name for body in bodies])
        check_unique('joint', [body.joint.name for body in bodies])
        parents = parents_of(bodies)
        indices, wxyz, q_names, v_names = index_tables(bodies)
        check_unique('speed', v_names)
        nq, nv = len(q_names), len(v_names)
        arrays = {'gravity': gravity, **joint_arrays(bodies, indices, nq, nv)}
        for array in arrays.values():
            array.setflags(write=False)
        frames = {body.name: Frame(i, Pose.identity()) for i, body in enumerate(bodies)}
        vars(self).update(arrays, bodies=bodies, parents=parents, indices=indices, nq=nq, nv=nv)
        vars(self).update(coordinate_names=q_names, velocity_names=v_names, quaternion_slices=wxyz)
        vars(self)['frames'] = MappingProxyType({**frames, **self.frames})
        vars(self)['wheels'] = MappingProxyType(dict(self.wheels))

    @property
    def base(self) -> str:
        """Return 'planar' or 'floating' where the first joint, 'base', moves so, else 'fixed'."""
        if not self.bodies or self.bodies[0].joint.name != BASE_JOINT:
            return 'fixed'
        kinds = {Planar: 'planar', Free: 'floating'}
        return kinds.get(type(self.bodies[0].joint.kind), 'fixed')

    @cached_property
    def kinematic_key(self) -> str:
        """Return a hash of the joints and where they are; masses, friction, gravity left out."""
        parts = [(x.name, x.parent, x.joint.name, x.joint.kind) for x in self.bodies]
        return content_hash((parts, [(x.placement, x.mimic) for x in self.bodies]))

    @cached_property
    def content_key(self) -> str:
        """Return a hash of all that the robot was built from."""
        return content_hash((self.name, self.bodies, self.gravity, self.frames, self.wheels))

    def __eq__(self, other: object) -> bool:
        """Return whether both are built from the same names and numbers, bit for bit."""
        if not isinstance(other, Robot):
            return NotImplemented
        return self is other or self.content_key == other.content_key

    def __hash__(self) -> int:
        return hash(self.content_key)

    def __repr__(self) -> str:
        return (
            f"Robot('{self.name}', {self.base} base, {len(self.bodies)} bodies, nq={self.nq}, "
            f'nv={self.nv})'
        )

    def __str__(self) -> str:
        """Return a line for each body: how it moves on which other one, and its mass."""
        return '\n  '.join([repr(self), *body_table(self.bodies)])

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

    def with_gravity(self, gravity: ArrayLike) -> Robot:
        """
        Return this robot under another gravity, e.g. on a tilted or an accelerated base.

        Parameters
        ----------
        gravity : array_like, shape (3,)
            Gravity acceleration in world axes [m/s^2], less the acceleration of the world frame.

        Raises
        ------
        InvalidInputError
            If it is not three finite numbers.

        """
        vector = as_vector('gravity [m/s^2]', gravity, 3)
        vector.setflags(write=False)
        return with_loads(self, vector, {})

    def with_payload(
        self, frame: str, mass: float, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike = POINT
    ) -> Robot:
        """
        Return this robot with a load, e.g. what a gripper holds, welded to a named frame.

        Parameters
        ----------
        frame : str
            The frame that it is fixed in; what other payloads are there, stays.
        mass : float
            [kg], >= 0.
        com : array_like, shape (3,)
            Its centre of mass from the origin of the frame, in the frame's axes [m].
        inertia : array_like, shape (3, 3)
            Its inertia about the centre of mass, in the frame's axes [kg m^2]; a point mass where
            left out.

        Raises
        ------
        NameNotFoundError
            If there is no such frame.
        InvalidInputError
            If the frame is part of the world, anything but real numbers is given, or no body has
            this mass and inertia.

        """
        body = self.moving_body(frame)
        payload = payload_inertia(frame, mass, com, inertia).moved(self.frames[frame].pose)
        return with_loads(self, self.gravity, {body: self.bodies[body].inertia + payload})

    def moving_body(self, frame: str) -> int:
        """
        Return the index of the body that a named frame is fixed in.

        NameNotFoundError if there is no such frame, InvalidInputError if it is part of the world.
        """
        body = self.frame(frame).body
        if body == WORLD:
            raise InvalidInputError(f"frame '{frame}' is part of the world: nothing moves it")
        return body

    def velocity_index(self, name: str) -> int:
        """Return the index in v of a speed; NameNotFoundError if there is none."""
        return index_of('velocity', name, self.velocity_names)

    def coordinate_index(self, name: str) -> int:
        """Return the index in q of a coordinate; NameNotFoundError if there is none."""
        return index_of('coordinate', name, self.coordinate_names)

    def body_of_joint(self, joint: str) -> int:
        """Return the index of the body of a joint; NameNotFoundError if there is none."""
        return index_of('joint', joint, tuple(body.joint.name for body in self.bodies))

    def frame(self, name: str) -> Frame:
        """Return a link of the URDF, or a body; NameNotFoundError if there is none."""
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


def payload_inertia(frame: str, mass: float, com: ArrayLike, inertia: ArrayLike) -> Inertia:
    """Return the inertia of a payload; parameters and errors as for `Robot.with_payload`."""
    at, about = as_numbers('centre of mass [m]', com), as_numbers('inertia [kg m^2]', inertia)
    payload = Inertia(mass, at, about)
    if problem := triangle_problem(frame, payload.tensor):
        warnings.warn(problem, ModelWarning, stacklevel=3)
    return payload


def with_loads(robot: Robot, gravity: Any, inertias: Mapping[int, Inertia]) -> Robot:
    """Return a robot with other inertias of some bodies; nothing is checked: may be traced."""
    bodies = tuple(
        replace(body, inertia=inertias[i]) if i in inertias else body
        for i, body in enumerate(robot.bodies)
    )
    other = object.__new__(type(robot))
    # joints, and so every table made of them, are the same
    vars(other).update(vars(robot), gravity=gravity, bodies=bodies)
    vars(other).pop('content_key', None)
    return other
