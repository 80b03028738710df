# SPDX-License-Identifier: Apache-2.0
"""
Messages to arrays and back; the only place with ROS quaternion order (x, y, z, w).

Nothing here imports rclpy: the functions read and fill message objects that they are given.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from kane_dynamics.messages.input_monitor import RejectedInput
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
    np.frombuffer(target, dtype=np.float64)[:] = values


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
    return bool(np.abs(values).max(initial=0.0) <= LARGEST)  # false for nan


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
