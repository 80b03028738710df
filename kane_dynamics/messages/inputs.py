# SPDX-License-Identifier: Apache-2.0
"""Inputs: messages checked, kept and counted; ages, time stamps, and the time of a node."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from kane_dynamics.exceptions import InvalidInputError

SIM_TIME_WATCHDOG = 1.0
"""Wall time [s] without a message after which an input is stale even if simulated time stands."""

SMOOTHING = 0.1
"""Weight of the newest message in the mean time between messages."""


class RejectedInput(InvalidInputError):  # noqa: N818 - a verdict, caught at once by the node
    """A message that must not reach an output."""

    def __init__(self, kind: str, reason: str) -> None:
        self.kind = kind
        super().__init__(reason)


class InputMonitor:
    """Decides whether the newest message of a topic may be used, and remembers why not."""

    def __init__(
        self,
        name: str,
        max_age: float,
        now: Callable[[], int],
        sim_time: Callable[[], bool] = lambda: False,
        steady: Callable[[], int] = time.monotonic_ns,
        tell: Callable[[str], None] = lambda reason: None,
        limit: str = '',
    ) -> None:
        self.name, self.max_age = name, max_age
        self.limit = limit  # field of the parameters that is the age limit
        self.now = now  # the time of the node [ns]
        self._sim_time, self._steady, self._tell = sim_time, steady, tell
        self.accepted = self._reported = 0
        self.rejected: Counter[str] = Counter()  # by kind
        self.last_reason = self._rejected_now = ''
        self.reset()

    def reset(self) -> None:
        """Forget the newest message (time has jumped, or the node was deactivated)."""
        self.stamp = 0
        self._reference: int | None = None
        self._received, self._lasts, self._ahead = 0, 0.0, 0.0
        self.interval = 0.0

    @property
    def time(self) -> int:
        """Return the time from which the age of the newest message counts [ns]."""
        return self.now() if self._reference is None else self._reference

    def admit(self, stamp: int, lasts: float = 0.0) -> None:
        """Check the stamp of a message whose content is in order and take it as the newest."""
        self.check(stamp, lasts)
        self.note(stamp, lasts)

    def check(self, stamp: int, lasts: float = 0.0) -> None:
        """Do the checks of `admit` only."""
        now = self.now()
        self._check_age((now - (stamp or now)) * 1e-9, lasts)
        back = 0.0 if self._reference is None else (self._reference - (stamp or now)) * 1e-9
        if 0.0 < back < self.max_age:
            reason = f'{self.name}: stamp is {back:.3f} s older than the message before'
            raise RejectedInput('order', reason)

    def _check_age(self, age: float, lasts: float) -> None:
        """Raise RejectedInput if a message is over, or comes from the future."""
        if -self.max_age <= age <= self.max_age + lasts:
            return
        if self._sim_time() and self.now() == 0:
            raise RejectedInput(
                'stale', f'{self.name}: use_sim_time is set, but no /clock has come yet'
            )
        over = f'{age - lasts:.3f} s old' if age > 0.0 else f'{-age:.3f} s in the future'
        what = 'the end of the trajectory' if lasts else 'stamp'
        hint = (
            'this node uses simulated time, the sender seems not to'
            if self._sim_time()
            else 'if the sender uses simulated time, set use_sim_time'
        )
        raise RejectedInput(
            'stale', f'{self.name}: {what} is {over}, limit {self.max_age:g} s ({hint})'
        )

    def note(self, stamp: int, lasts: float = 0.0) -> None:
        """Take a message as the newest without a check; for messages checked elsewhere."""
        self.stamp, self._received = stamp, self._steady()
        now, before = self.now(), self._reference
        self._reference = min(stamp or now, now)
        self._ahead = (stamp - now) * 1e-9 if stamp > now else 0.0
        self.extend(lasts)
        if before is not None:
            step = max(self._reference - before, 0) * 1e-9
            self.interval += SMOOTHING * (step - self.interval) if self.interval else step
        self.accepted += 1
        self._rejected_now = ''

    def extend(self, lasts: float) -> None:
        """Let the age of the newest message count from another time after its stamp [s]."""
        self._lasts = lasts + self._ahead if lasts else 0.0

    def reject(self, rejection: RejectedInput) -> None:
        """Count a message that was not used."""
        if rejection.kind not in self.rejected:
            self._tell(str(rejection))
        self.rejected[rejection.kind] += 1
        self.last_reason = self._rejected_now = str(rejection)

    def age(self) -> float:
        """Return the age of the newest usable message [s]; infinite before the first one."""
        if self._reference is None:
            return float('inf')
        age = (self.now() - self._reference) * 1e-9
        if age < -self.max_age:  # the clock has jumped back since
            return float('inf')
        wall = (self._steady() - self._received) * 1e-9
        if self._sim_time():  # a paused simulation is not stale at once, a dead one is
            dead = wall > max(self.max_age, SIM_TIME_WATCHDOG) and not self._lasts
            wall = wall if dead else 0.0
        return max(age, wall) - self._lasts

    def fresh(self) -> bool:
        """Return whether there is a message that is not too old."""
        return self.age() <= self.max_age

    def problem(self) -> str:
        """Return why there is no usable message, or '' if there is one."""
        if self._reference is None:
            hint = f'; last one rejected: {self.last_reason}' if self.rejected else ''
            return f'{self.name}: no usable message yet{hint}'
        if not self.fresh():
            hint = f'; last one rejected: {self._rejected_now}' if self._rejected_now else ''
            return f'{self.name}: stale, {self.age():.3f} s old, limit {self.max_age:g} s{hint}'
        return ''

    def another(self, name: str) -> InputMonitor:
        """Return the monitor of another topic with the same clock and age limit."""
        clocks = self.now, self._sim_time, self._steady
        return InputMonitor(name, self.max_age, *clocks, self._tell, self.limit)

    def limit_problem(self, name: str, max_age: float) -> str:
        """Return why a parameter's age limit [s] would let every message run out, or ''."""
        if max_age > self.interval:
            return ''
        return (
            f"parameter '{name}' must be longer than the time between two messages, "
            f'{self.interval:.4f} s, got {max_age:g}'
        )

    def pop_rejections(self) -> int:
        """Return how many messages were rejected since the last call."""
        before, self._reported = self._reported, self.rejected.total()
        return self._reported - before


class NodeTime:
    """The time of a node's clock: within ``with`` that of its begin, outside the present one."""

    def __init__(self, clock: Any) -> None:
        self._clock = clock
        self._held: tuple[int, bool] | None = None

    def __enter__(self) -> None:
        """Hold the time; not twice."""
        self._held = self._read()

    def __exit__(self, *error: object) -> None:
        """Let it go on."""
        self._held = None

    def renew(self) -> None:
        """Read the clock again where it is held; that of ``/clock`` stands during a callback."""
        if self._held is not None and not self._held[1]:
            self._held = self._read()

    def now(self) -> int:
        """Return the time [ns]."""
        return (self._held or self._read())[0]

    def simulated(self) -> bool:
        """Return whether it is that of ``/clock``."""
        return (self._held or self._read())[1]

    def _read(self) -> tuple[int, bool]:
        return int(self._clock.now().nanoseconds), bool(self._clock.ros_time_is_active)


class Input:
    """Newest message of a topic: checked, kept and counted; a subclass says how it is read."""

    periodic = True  # messages come at a rate, below which an age limit is of no use
    accept: Callable[..., None]  # checks a message and keeps it; raises RejectedInput

    def __init__(self, guard: InputMonitor) -> None:
        self.guard = guard

    def take(self, *message: Any) -> bool:
        """Check a message and keep it; return whether it was accepted."""
        return self.attempt(self.accept, *message)

    def attempt(self, accept: Callable[..., None], *arguments: Any) -> bool:
        """Count a message that `accept` rejects; return whether it was accepted."""
        try:
            accept(*arguments)
        except RejectedInput as rejection:
            self.guard.reject(rejection)
            return False
        return True

    def set_max_age(self, max_age: float) -> None:
        """Change the age limit [s]."""
        self.guard.max_age = max_age

    def problem(self) -> str:
        """Return why the newest message cannot be used, or ''."""
        return self.guard.problem()

    def reset(self) -> None:
        """Forget the newest message."""
        self.guard.reset()


class EventInput(Input):
    """Messages that act at once and need not come: they have no age."""

    def __init__(self, name: str) -> None:
        super().__init__(InputMonitor(name, math.inf, now=lambda: 0))

    def attempt(self, accept: Callable[..., None], *arguments: Any) -> bool:
        """Count a message; return whether it was accepted."""
        accepted = super().attempt(accept, *arguments)
        if accepted:
            self.guard.note(0)
        return accepted

    def problem(self) -> str:
        """Return '': without messages all is well."""
        return ''
