# SPDX-License-Identifier: Apache-2.0
"""``~/step`` of the simulator: many steps, in parts between which others are served."""

from __future__ import annotations

import time
from collections.abc import Callable

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.task import Future

PART = 0.02
"""Wall time [s] of a part: signals and other services wait so long."""


class Stepping:
    """Steps that a service has asked for."""

    def __init__(self, node: Node, advance: Callable[[int], int]) -> None:
        self._node, self._advance, self._left = node, advance, 0
        self._clock = Clock(clock_type=ClockType.STEADY_TIME)

    @property
    def busy(self) -> bool:
        """Return whether steps are being done."""
        return self._left > 0

    def stop(self) -> None:
        """Do no more of the steps."""
        self._left = 0

    async def run(self, count: int) -> bool:
        """Do steps until the end; return whether all were done."""
        self._left = count
        done = self._part()
        if self._left:
            ended: Future[bool] = Future()

            def ring() -> None:
                if not ended.done() and (self._part() or not self._left):
                    ended.set_result(True)

            timer = self._node.create_timer(0.001, ring, clock=self._clock)
            await ended
            self._node.destroy_timer(timer)
            done = self._all
        return done

    def _part(self) -> bool:
        """Do some of the steps that are left; return whether these were the last."""
        self._all, until = False, time.monotonic() + PART
        while self._left and time.monotonic() < until:
            steps = self._advance(self._left)
            self._left = max(self._left - steps, 0) if steps else 0
            self._all = bool(steps) and not self._left
        return self._all
