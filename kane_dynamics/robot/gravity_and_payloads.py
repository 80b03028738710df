# SPDX-License-Identifier: Apache-2.0
"""Gravity and payloads that change while a robot is at work."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

from numpy.typing import ArrayLike

from kane_dynamics.algebra.inertia import Inertia
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_names
from kane_dynamics.robot.robot import POINT, Robot, loaded_inertias, payload_inertia, with_loads
from kane_dynamics.robot.state import checked_robot


def checked_payload_frames(robot: Robot, payloads: Any) -> tuple[str, ...]:
    """
    Return the names of frames that may carry a payload.

    Raises
    ------
    InvalidInputError
        If they are no names, one comes twice, or a frame is part of the world.
    NameNotFoundError
        If there is no such frame.

    """
    names = as_names('payloads', payloads)
    for name in names:
        checked_robot(robot).moving_body(name)
    if len(set(names)) < len(names):
        raise InvalidInputError(f'payloads: need different frames, got {list(names)}')
    return names


class GravityAndPayloads:
    """
    A robot under gravity and payloads that can be set.

    Parameters
    ----------
    robot : Robot
        The robot without payloads.
    frames : collection of str, optional
        Frames that may carry a payload; every one where left out.

    Attributes
    ----------
    robot : Robot
        The robot with the present gravity and payloads.

    """

    def __init__(self, robot: Robot, frames: Collection[str] | None = None) -> None:
        self.robot = self._bare = robot
        self._frames = frames
        self._carried: dict[str, Inertia] = {}

    @property
    def bare(self) -> Robot:
        """Return the robot without payloads."""
        return self._bare

    @property
    def payload(self) -> Mapping[str, Inertia]:
        """Return what frames carry at present, in their axes."""
        return MappingProxyType(self._carried)

    def copied(self) -> GravityAndPayloads:
        """Return another load that begins with the present gravity and payloads."""
        other = GravityAndPayloads(self._bare, self._frames)
        other.robot, other._carried = self.robot, self._carried
        return other

    def set_gravity(self, vector: ArrayLike) -> None:
        """
        Set the gravity acceleration, until it is set again.

        Parameters and errors as for `Robot.with_gravity`.
        """
        self.robot = self.robot.with_gravity(vector)

    def set_payload(
        self, frame: str, mass: float, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike = POINT
    ) -> None:
        """Set what a frame carries; parameters and errors as for `Dynamics.set_payload`."""
        self._bare.moving_body(frame)
        if self._frames is not None and frame not in self._frames:
            raise InvalidInputError(
                f"a payload on '{frame}' must be named when compiling, payloads=('{frame}', ...); "
                f'named were {sorted(self._frames)}'
            )
        payload = payload_inertia(frame, mass, com, inertia)
        payload_items = {name: x for name, x in self._carried.items() if name != frame}
        if payload.mass > 0.0:
            payload_items[frame] = payload
        inertias = loaded_inertias(self._bare, payload_items)
        self.robot = with_loads(self._bare, self.robot.gravity, inertias)
        self._carried = payload_items
