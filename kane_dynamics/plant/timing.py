# SPDX-License-Identifier: Apache-2.0
"""When the next simulated period is due: by a clock, or in lockstep with another; no rclpy."""

import time
from collections.abc import Callable

BACKLOG = 5
"""Most periods that are made up for; what is late beyond that is given up."""


class Rate:
    """Paces a simulation."""

    def __init__(self, rtf: float, steady: Callable[[], int] = time.monotonic_ns) -> None:
        self.rtf = rtf  # simulated seconds per second that are wanted; 0: as many as possible
        self._steady, self._now = steady, steady
        self._length, self._period = 0, 0.0
        self._next = self._ran = float(steady())
        self._mark = (steady(), 0)

    def start(self, period: int) -> None:
        """Begin to pace periods of simulated time [ns]; the first is due one period from now."""
        self._length = period
        self._period = period / self.rtf if self.rtf > 0.0 else 0.0
        self.skip()

    def follow(self, now: Callable[[], int]) -> None:
        """Pace by another time [ns], one simulated second per second of it."""
        self._now, self.rtf = now, 1.0
        self.start(self._length)

    def skip(self) -> None:
        """Give up what is due: the next period is due one period from now."""
        self._ran = self._now()
        self._next = self._ran + self._period

    def due(self) -> bool:
        """Return whether a period is due; a timer may ring half a period early."""
        return self._now() >= self._next - 0.5 * self._period

    def late(self) -> bool:
        """Return whether two periods or more went by since the last one began."""
        return self._period > 0.0 and self._now() - self._ran >= 2.0 * self._period

    def count(self) -> None:
        """Count one period as run."""
        self._ran = self._now()
        self._next += self._period
        if self._ran - self._next > BACKLOG * self._period:
            self.skip()

    def achieved(self, simulated: int) -> float:
        """Return simulated time per wall time since the last call; `simulated` in ns."""
        now = self._steady()
        before, simulated_before = self._mark
        self._mark = (now, simulated)
        return (simulated - simulated_before) / max(now - before, 1)


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
