# SPDX-License-Identifier: Apache-2.0
"""The time of a node, read once where a callback asks for it again and again; no rclpy here."""

from __future__ import annotations

from types import TracebackType
from typing import Any


class NodeTime:
    """The time of a node's clock: within ``with`` that of its begin, outside the present one."""

    def __init__(self, clock: Any) -> None:
        self._clock = clock
        self._held: tuple[int, bool] | None = None

    def __enter__(self) -> None:
        """Hold the time; not twice."""
        self._held = self._read()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let it go on."""
        self._held = None

    def renew(self) -> None:
        """Read the clock again where it is held: what was done since took its time."""
        if self._held is not None:
            self._held = self._read()

    def now(self) -> int:
        """Return the time [ns]."""
        return (self._held or self._read())[0]

    def simulated(self) -> bool:
        """Return whether it is that of ``/clock``."""
        return (self._held or self._read())[1]

    def _read(self) -> tuple[int, bool]:
        return int(self._clock.now().nanoseconds), bool(self._clock.ros_time_is_active)
