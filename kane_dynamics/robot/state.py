# SPDX-License-Identifier: Apache-2.0
"""Argument checks of states, as lists of floats; gravity and payloads of a robot at work."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from kane_dynamics.algebra.inertia import Inertia
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import vec4
from kane_dynamics.algebra.scalars import Scalar
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_names, as_vector, describe
from kane_dynamics.robot.robot import POINT, Robot, payload_inertia, with_loads
from kane_dynamics.typing import ArrayLike, Floats

# A quaternion whose length is further from 1 than this is no rotation gone stale.
UNIT_TOLERANCE = 1e-3


def checked_robot(robot: Any) -> Robot:
    """Return the robot."""
    if not isinstance(robot, Robot):
        inner = isinstance(getattr(robot, 'robot', None), Robot)
        hint = '; call its method, or pass its attribute robot' if inner else ''
        raise InvalidInputError(
            f'robot: need a Robot, as load_urdf returns it, got {describe(robot)}{hint}'
        )
    return robot


def checked_frames(robot: Robot, frames: Any) -> tuple[str, ...]:
    """Return the names of frames, those of all bodies where `frames` is None."""
    if frames is None:
        return tuple(body.name for body in checked_robot(robot).bodies)
    names = as_names('frames', frames)
    for name in names:
        checked_robot(robot).frame(name)
    return names


def checked_payload_frames(robot: Robot, payloads: Any) -> tuple[str, ...]:
    """Return the names of frames that may carry a payload."""
    names = as_names('payloads', payloads)
    for name in names:
        checked_robot(robot).moving_body(name)
    if len(set(names)) < len(names):
        raise InvalidInputError(f'payloads: need different frames, got {list(names)}')
    return names


def is_unit(wxyz: Sequence[Scalar]) -> Any:
    """Return whether the length of a quaternion is within UNIT_TOLERANCE of 1; traced too."""
    square = sum(x * x for x in wxyz)
    return abs(square - (1.0 + UNIT_TOLERANCE**2)) <= 2.0 * UNIT_TOLERANCE  # (1 -+ tolerance)^2


def checked_coordinates(robot: Robot, q: ArrayLike, name: str = 'q') -> list[float]:
    """Return coordinates as a list of floats."""
    coordinates: list[float] = as_vector(name, q, checked_robot(robot).nq).tolist()
    for joint, columns in robot.quaternion_slices:
        if not is_unit(coordinates[columns]):
            raise InvalidInputError(
                f"{name}: joint '{joint}' needs a unit quaternion (w, x, y, z), got "
                f'{coordinates[columns]}'
            )
    return coordinates


def checked_speeds(robot: Robot, v: ArrayLike, name: str = 'v') -> list[float]:
    """Return speeds, or any vector over them, as a list of floats."""
    return as_vector(name, v, checked_robot(robot).nv).tolist()


def pose_numbers(name: str, x: ArrayLike | Pose) -> Floats:
    """Return position and (w, x, y, z) of a `Pose`, or of 7 numbers, shape (7,)."""
    components = [*x.position(), *vec4(x.rotation)] if isinstance(x, Pose) else x
    numbers = as_vector(name, components, 7)
    if not numbers[3:].any():
        raise InvalidInputError(f'{name}: need a quaternion that is not zero, got {numbers[3:]}')
    return numbers


def as_pose(name: str, x: ArrayLike | Pose) -> Pose:
    """Return a `Pose`, or one made of position and (w, x, y, z) of any length."""
    numbers = pose_numbers(name, x)
    length = float(np.linalg.norm(numbers[3:]))
    return Pose.from_rotation_and_position((numbers[3:] / length).tolist(), numbers[:3].tolist())


class GravityAndPayloads:
    """A robot under gravity and payloads that can be set."""

    def __init__(self, robot: Robot, frames: Collection[str] | None = None) -> None:
        self.robot = self.bare = checked_robot(robot)
        self._frames = frames
        self._payloads: dict[str, Inertia] = {}

    @property
    def payloads(self) -> Mapping[str, Inertia]:
        """Return what frames carry at present, in their axes."""
        return MappingProxyType(self._payloads)

    def copied(self) -> GravityAndPayloads:
        """Return another load that begins with the present gravity and payloads."""
        other = GravityAndPayloads(self.bare, self._frames)
        other.robot, other._payloads = self.robot, self._payloads
        return other

    def set_gravity(self, vector: ArrayLike) -> None:
        """Set the gravity acceleration, until it is set again."""
        self.robot = self.robot.with_gravity(vector)

    def set_payload(
        self, frame: str, mass: float, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike = POINT
    ) -> None:
        """Set what a frame carries; parameters and errors as for `Dynamics.set_payload`."""
        self.bare.moving_body(frame)
        if self._frames is not None and frame not in self._frames:
            raise InvalidInputError(
                f"a payload on '{frame}' must be named when compiling, payloads=('{frame}', ...); "
                f'named were {sorted(self._frames)}'
            )
        payload = payload_inertia(frame, mass, com, inertia)
        payloads = {name: x for name, x in self._payloads.items() if name != frame}
        if payload.mass > 0.0:
            payloads[frame] = payload
        inertias = loaded_inertias(self.bare, payloads)
        self.robot = with_loads(self.bare, self.robot.gravity, inertias)
        self._payloads = payloads


def loaded_inertias(robot: Robot, payloads: Mapping[str, Inertia]) -> dict[int, Inertia]:
    """Return the inertias of bodies, by index, together with payloads on named frames."""
    inertias: dict[int, Inertia] = {}
    for frame, payload in payloads.items():
        body = robot.moving_body(frame)
        inertia = inertias.get(body, robot.bodies[body].inertia)
        inertias[body] = inertia + payload.moved(robot.frames[frame].pose)
    return inertias
