# SPDX-License-Identifier: Apache-2.0
"""How long outputs take, and whether they come before the next state; no rclpy here."""

from __future__ import annotations

from dataclasses import dataclass

BUSY = 0.8
"""Part of the period from which a computation counts as too slow: messages take time too."""


@dataclass(frozen=True)
class DeadlineReport:
    """What happened since the last report."""

    outputs: int  # How many outputs there were, and how many came later than stamp + period
    missed: int  # How many outputs there were, and how many came later than stamp + period
    mean: float  # Time to compute one [s]
    longest: float  # Time to compute one [s]
    period: float  # Mean time between the stamps of states [s]

    @property
    def problem(self) -> str:
        """Return why the rate cannot be kept, or ''."""
        if self.mean <= BUSY * self.period or not self.period:
            return ''
        return (
            f'too slow for the rate: an output takes {1e3 * self.mean:.2f} ms of a period of '
            f'{1e3 * self.period:.2f} ms'
        )


class Deadlines:
    """Counts outputs against the period of the states that they answer."""

    def __init__(self) -> None:
        self.missed = 0
        self._last = 0
        self._begin()

    def _begin(self) -> None:
        self._outputs = 0
        self._busy = self._longest = self._span = 0.0
        self._missed_before = self.missed

    def count(self, stamp: int, now: int, busy: float) -> None:
        """Take one output."""
        period, self._last = (stamp - self._last) * 1e-9 if self._last else 0.0, stamp
        self._outputs += 1
        self._busy += busy
        self._longest = max(self._longest, busy)
        if period <= 0.0:  # the first one, another answer to the same state, or a reset
            return
        self._span += period
        if max((now - stamp) * 1e-9, busy) > period:
            self.missed += 1

    def report(self) -> DeadlineReport:
        """Return what happened since the last report, and begin anew."""
        n = max(self._outputs, 1)
        report = DeadlineReport(
            self._outputs,
            self.missed - self._missed_before,
            self._busy / n,
            self._longest,
            self._span / n,
        )
        self._begin()
        return report
