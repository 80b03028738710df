# SPDX-License-Identifier: Apache-2.0
"""Payloads welded to frames of a robot, and gravity and payloads that change at work."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

from kane_dynamics.algebra.inertia import Inertia
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.robot import POINT, Robot, payload_inertia, with_loads
from kane_dynamics.typing import ArrayLike


class GravityAndPayloads:
    """A robot under gravity and payloads that can be set."""

    def __init__(self, robot: Robot, frames: Collection[str] | None = None) -> None:
        self.robot = self.bare = robot
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
