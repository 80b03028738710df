# SPDX-License-Identifier: Apache-2.0
"""Targets of a frame: wrench, pose and twist of geometry_msgs as arrays; no rclpy here."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from kane_dynamics.messages.conversions import QUATERNION_TOLERANCE, check_numbers, nanoseconds
from kane_dynamics.messages.inputs import Input, InputMonitor, RejectedInput
from kane_dynamics.typing import Floats

AXES = ('x', 'y', 'z')


class TargetInput(Input):
    """Newest target of one kind."""

    def __init__(
        self, guard: InputMonitor, frame: str, read: Callable[[str, Any], Floats]
    ) -> None:
        super().__init__(guard)
        self._frame, self._read = frame, read
        self._value: Floats | None = None

    @property
    def value(self) -> Floats | None:
        """Return the newest target, or None where there is none that is fresh."""
        return self._value if self.guard.fresh() else None

    def accept(self, message: Any) -> None:
        """Check a message and keep its numbers."""
        check_frame(self.guard.name, message, self._frame)
        value = self._read(self.guard.name, message)
        self.guard.admit(nanoseconds(message.header.stamp))
        self._value = value

    def near(self, place: Floats, tolerance: float) -> Floats | None:
        """Return the newest pose, or None where there is none that is fresh and near enough."""
        pose = self.value
        if pose is None:
            return None
        way = pose[:3] - place[:3]
        return pose if self.within(way, tolerance) else None

    def within(self, way: Floats, tolerance: float) -> bool:
        """Return whether the newest pose is near enough; drop it if it is not."""
        gap = math.hypot(*way.tolist())
        if gap <= tolerance:
            return True
        name = self.guard.name
        reason = f'{name}: the target is {gap:.3f} m away, tolerance {tolerance:g} m'
        self.drop(RejectedInput('jump', reason))
        return False

    def drop(self, reason: RejectedInput) -> None:
        """Count the newest target as rejected, and forget it."""
        self.guard.reject(reason)
        self._value = None

    def reset(self) -> None:
        """Forget the newest target."""
        self._value = None
        super().reset()


def check_frame(name: str, message: Any, frame: str) -> None:
    """Check that a message has the axes of a frame."""
    values = message.header.frame_id
    if values != frame:
        raise RejectedInput('frame', f"{name}: need frame_id '{frame}', got '{values}'")


def read_wrench(name: str, message: Any) -> Floats:
    """Return (tau, f) of a WrenchStamped, shape (6,) [N m, N]."""
    return _two_vectors(name, message.wrench, ('torque', 'force'))


def read_twist(name: str, message: Any) -> Floats:
    """Return (omega, v) of a TwistStamped, shape (6,) [rad/s, m/s]."""
    return _two_vectors(name, message.twist, ('angular', 'linear'))


def read_pose(name: str, message: Any) -> Floats:
    """Return position and (w, x, y, z) of a PoseStamped, shape (7,) [m]."""
    place, turned = message.pose.position, message.pose.orientation
    position = np.array([place.x, place.y, place.z], dtype=float)
    check_numbers(f'{name}: position', position, AXES)
    wxyz = np.array([turned.w, turned.x, turned.y, turned.z], dtype=float)
    check_numbers(f'{name}: orientation', wxyz, ('w', *AXES))
    length = float(np.linalg.norm(wxyz))
    if not abs(length - 1.0) <= QUATERNION_TOLERANCE:
        reason = f'{name}: orientation has norm {length:g}, need a unit quaternion'
        raise RejectedInput('frame', reason)
    return np.r_[position, wxyz / length]


def _two_vectors(name: str, parts: Any, fields: tuple[str, str]) -> Floats:
    vectors = []
    for field in fields:
        vector = getattr(parts, field)
        numbers = np.array([vector.x, vector.y, vector.z], dtype=float)
        check_numbers(f'{name}: {field}', numbers, AXES)
        vectors.append(numbers)
    return np.concatenate(vectors)
