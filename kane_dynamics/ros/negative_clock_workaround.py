# SPDX-License-Identifier: Apache-2.0
"""Nodes that a ``/clock`` before zero does not end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rosgraph_msgs.msg import Clock


class ClockFromZero(Node):
    """A node that leaves out messages of ``/clock`` with negative seconds, and says so once."""

    def create_subscription(
        self,
        msg_type: Any,
        topic: str,
        callback: Callable[..., Any],
        *remainder: Any,
        **options: Any,
    ) -> Any:
        """As that of rclpy, whose own subscription of /clock comes here as well."""
        if msg_type is Clock:
            callback = self._from_zero(callback)
        return super().create_subscription(msg_type, topic, callback, *remainder, **options)

    def _from_zero(self, callback: Callable[..., Any]) -> Callable[[Clock], None]:
        def take(message: Clock) -> None:
            if message.clock.sec < 0:
                self.get_logger().warning(
                    f'/clock is left out before zero: {message.clock.sec} s came', once=True
                )
            else:
                callback(message)

        return take
