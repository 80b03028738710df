# SPDX-License-Identifier: Apache-2.0
"""When a simulator in lockstep waits, repeats its state, or goes on alone; no rclpy here."""

from __future__ import annotations

import time
from collections.abc import Callable

RETRY_PERIOD = 0.05
"""Wall time [s] after which an unanswered state is published again."""


class Lockstep:
    """Keeps simulator and controller in step."""

    def __init__(self, target: bool, steady: Callable[[], float] = time.monotonic) -> None:
        self._wanted, self._steady = target, steady
        self._answered, self._ever_answered = False, False
        self._published_at = steady()

    def publish(self) -> None:
        """Note that a new state is out, which nobody has answered."""
        self._answered, self._published_at = False, self._steady()

    def answer(self) -> None:
        """Note the efforts of the last state."""
        self._answered = self._ever_answered = True

    def waiting(self) -> bool:
        """Return whether the next period must wait for efforts."""
        return self._wanted and not self._answered

    def alone(self) -> bool:
        """Return whether no controller has ever answered."""
        return self._wanted and not self._ever_answered

    def lost(self, timeout: float) -> bool:
        """Return whether a controller that was there has not answered for so long [s]."""
        return self.waiting() and self._ever_answered and self._waited() > timeout

    def repeat(self) -> bool:
        """Return whether the state is to be published again."""
        return self.waiting() and self._waited() > RETRY_PERIOD

    def _waited(self) -> float:
        return self._steady() - self._published_at
