# SPDX-License-Identifier: Apache-2.0
"""
Messages to arrays and back; the only place with ROS quaternion order (x, y, z, w).

Nothing here imports rclpy: the functions read and fill message objects that they are given.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane_dynamics.messages.inputs import RejectedInput
from kane_dynamics.typing import Floats, Indices

QUATERNION_TOLERANCE = 1e-3
"""Allowed deviation of an orientation's norm from 1; drivers send float32 and truncated text."""
LARGEST = 1e9
"""Largest magnitude of a number that a robot can mean [SI]; its square is far from overflow."""


def nanoseconds(stamp: Any) -> int:
    """Return a builtin_interfaces Time or Duration as an integer [ns]."""
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


def set_stamp(stamp: Any, time_ns: int) -> None:
    """Write a time [ns] into a builtin_interfaces Time."""
    stamp.sec, stamp.nanosec = divmod(time_ns, 1_000_000_000)


def set_doubles(target: array[float], values: Floats) -> None:
    """Overwrite a message's double array in place; the lengths must agree."""
    memoryview(target)[:] = values  # type: ignore[call-overload]


class NameMap:
    """Finds wanted names in a message, whatever their order there."""

    def __init__(self, what: str, names: Sequence[str]) -> None:
        self.what, self.names = what, tuple(names)
        self._wanted = {name: i for i, name in enumerate(self.names)}
        self._last: list[str] | None = None
        self._pair: tuple[Indices, Indices]

    def present(self, message_names: Sequence[str]) -> tuple[Indices, Indices]:
        """Return where the wanted names stand in the message, and which of the wanted they are."""
        if self._last is None or message_names != self._last:
            names = list(message_names)
            if len(set(names)) != len(names):
                twice = sorted({n for n in names if names.count(n) > 1})
                raise RejectedInput('duplicate', f'{self.what}: names come twice: {twice}')
            result = [(i, self._wanted[n]) for i, n in enumerate(names) if n in self._wanted]
            self._pair = (
                np.array([i for i, _ in result], dtype=np.intp),
                np.array([j for _, j in result], dtype=np.intp),
            )
            self._last = names
        return self._pair

    def all_present(self, message_names: Sequence[str]) -> tuple[Indices, Indices]:
        """Return what `present` returns, for messages that must name every wanted name."""
        source, target = self.present(message_names)
        if len(target) != len(self.names):
            missing = sorted(set(self.names) - set(message_names))
            raise RejectedInput(
                'missing', (f'{self.what}: no value for {missing} among {list(message_names)}')
            )
        return source, target

    def none_unknown(self, message_names: Sequence[str]) -> tuple[Indices, Indices]:
        """Return what `present` returns, for messages that may name a part but nothing else."""
        source, target = self.present(message_names)
        if len(source) != len(message_names) or len(source) == 0:
            unknown = sorted(set(message_names) - set(self.names))
            raise RejectedInput(
                'unknown', (f'{self.what}: unknown names {unknown}; known are {list(self.names)}')
            )
        return source, target


def field_values(
    what: str, field: str, values: array[float], names: Sequence[str], source: Indices
) -> Floats:
    """Return one field of a message at the places `source`, as a new array."""
    if len(values) != len(names):
        raise RejectedInput(
            'short', (f'{what}: {field} has {len(values)} values for {len(names)} names')
        )
    picked: Floats = np.frombuffer(values, dtype=np.float64)[source]
    if not _usable(picked):
        check_numbers(f'{what}: {field}', picked, [names[i] for i in source])
    return picked


def check_numbers(what: str, values: Floats, names: Sequence[str]) -> None:
    """Check that the numbers of named things are finite and not beyond `LARGEST`."""
    if _usable(values):
        return
    bad = [name for name, x in zip(names, values, strict=True) if not np.isfinite(x)]
    if bad:
        raise RejectedInput('nan', f'{what} of {bad} is not a finite number')
    bad = [name for name, x in zip(names, values, strict=True) if np.abs(x) > LARGEST]
    raise RejectedInput('range', f'{what} of {bad} is beyond {LARGEST:g}')


def _usable(values: Floats) -> bool:
    """Return whether all numbers are finite and none is beyond `LARGEST`."""
    small = values @ values <= LARGEST**2  # in a sixth of the time; false for nan
    return bool(small or np.abs(values).max(initial=0.0) <= LARGEST)


def yaw_from_msg(what: str, orientation: Any) -> float:
    """Return the yaw [rad] of a geometry_msgs Quaternion (x, y, z, w)."""
    w, x, y, z = orientation.w, orientation.x, orientation.y, orientation.z
    norm = float(np.sqrt(w * w + x * x + y * y + z * z))
    if not abs(norm - 1.0) <= QUATERNION_TOLERANCE:  # also catches nan
        kind = 'nan' if not np.isfinite(norm) else 'frame'
        raise RejectedInput(kind, f'{what}: orientation has norm {norm:g}, need a unit quaternion')
    return float(np.arctan2(2.0 * (w * z + x * y), w * w + x * x - y * y - z * z))


def set_yaw(orientation: Any, yaw: float) -> None:
    """Write a rotation about z [rad] into a geometry_msgs Quaternion (x, y, z, w)."""
    orientation.x = orientation.y = 0.0
    orientation.z, orientation.w = float(np.sin(0.5 * yaw)), float(np.cos(0.5 * yaw))


AXES = ('x', 'y', 'yaw')


def rotation(angle: float) -> Floats:
    """Return the 2-by-2 rotation matrix of an angle [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


@dataclass(frozen=True)
class PlanarFrame:
    """Pose of the odometry's child frame C in the root link R."""

    x: float = 0.0  # Origin of C in R [m]
    y: float = 0.0  # Origin of C in R [m]
    yaw: float = 0.0  # Angle from R to C [rad]

    def root_state(self, pose_C: Floats, twist_C: Floats) -> tuple[Floats, Floats]:
        """Return q, v of the planar base."""
        yaw = pose_C[2] - self.yaw
        arm_O = rotation(yaw) @ (self.x, self.y)
        q = np.append(pose_C[:2] - arm_O, yaw)
        return q, self.root_velocity(q, twist_C)

    def root_velocity(self, q: Floats, twist_C: Floats) -> Floats:
        """Return v of the planar base at coordinates q from the twist of C in C, shape (3,)."""
        rate, arm_O = twist_C[2], rotation(q[2]) @ (self.x, self.y)
        velocity_O = rotation(q[2] + self.yaw) @ twist_C[:2] - rate * _turned(arm_O)
        return np.append(velocity_O, rate)

    def child_state(self, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        """Return pose of C in O and twist of C in C; the inverse of `root_state`."""
        yaw = q[2] + self.yaw
        arm_O = rotation(q[2]) @ (self.x, self.y)
        velocity_O = v[:2] + v[2] * _turned(arm_O)
        return (np.append(q[:2] + arm_O, yaw), np.append(rotation(-yaw) @ velocity_O, v[2]))

    def child_acceleration(self, q: Floats, v: Floats, a: Floats) -> Floats:
        """Return the inertial acceleration of the origin of C, in C, and the yaw acceleration."""
        arm_O = rotation(q[2]) @ (self.x, self.y)
        acceleration_O = a[:2] + a[2] * _turned(arm_O) - v[2] ** 2 * arm_O
        return np.append(rotation(-q[2] - self.yaw) @ acceleration_O, a[2])

    def root_acceleration(self, q: Floats, v: Floats, acceleration_C: Floats) -> Floats:
        """Return a of the planar base, in O; the inverse of `child_acceleration`."""
        arm_O = rotation(q[2]) @ (self.x, self.y)
        turning = acceleration_C[2]
        acceleration_O = rotation(q[2] + self.yaw) @ acceleration_C[:2]
        return np.append(acceleration_O - turning * _turned(arm_O) + v[2] ** 2 * arm_O, turning)


def _turned(vector: Floats) -> Floats:
    """Return the vector turned by +90 degrees (e_z cross vector)."""
    return np.array([-vector[1], vector[0]])


def read_odometry(message: Any, child_frame_id: str) -> tuple[Floats, Floats]:
    """Return pose of C in O (x, y, yaw) and twist of C in C (v_x, v_y, yaw rate)."""
    if message.child_frame_id != child_frame_id:
        raise RejectedInput(
            'frame',
            (f"odom: child_frame_id is '{message.child_frame_id}', need '{child_frame_id}'"),
        )
    position, twist = message.pose.pose.position, message.twist.twist
    yaw = yaw_from_msg('odom', message.pose.pose.orientation)
    pose = np.array([position.x, position.y, yaw])
    velocity = np.array([twist.linear.x, twist.linear.y, twist.angular.z])
    check_numbers('odom: pose', pose, AXES)
    check_numbers('odom: twist', velocity, AXES)
    return pose, velocity


def fill_twist(message: Any, twist: Floats, frame_id: str = '', time_ns: int = 0) -> None:
    """Write a planar twist into a Twist or Accel, or with frame and time into a TwistStamped."""
    if hasattr(message, 'twist'):
        message.header.frame_id = frame_id
        set_stamp(message.header.stamp, time_ns)
        message = message.twist
    message.linear.x, message.linear.y, message.angular.z = twist.tolist()


def fill_odometry(message: Any, pose: Floats, twist: Floats) -> None:
    """Write pose of C in O and twist of C in C into a nav_msgs Odometry."""
    position = message.pose.pose.position
    position.x, position.y = float(pose[0]), float(pose[1])
    set_yaw(message.pose.pose.orientation, pose[2])
    fill_twist(message.twist.twist, twist)
