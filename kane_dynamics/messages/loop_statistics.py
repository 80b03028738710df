# SPDX-License-Identifier: Apache-2.0
"""What came too late in a closed loop, counted period by period; nothing here needs rclpy."""

from collections import Counter, deque

import numpy as np

REAL_TIME_SHORTFALL = 0.95
"""Part of the wanted real time factor below which the simulator says that it is too slow."""
MISSED_PART = 0.1
"""Part of the periods without efforts above which the controller is too slow."""

MOST_STAMPS = 1000
"""Missed periods that are remembered one by one."""

MOST_DELAYS = 10_000
"""Newest delays of efforts between two reports."""


class LoopStatistics:
    """Counts since the start, and since the last report."""

    def __init__(self) -> None:
        self._total: Counter[str] = Counter()
        self._before: Counter[str] = Counter()
        self._interrupted = True
        self.missed_stamps: deque[int] = deque(maxlen=MOST_STAMPS)
        self._delays: deque[float] = deque(maxlen=MOST_DELAYS)

    def add(self, **counts: int) -> None:
        """Count released, timeouts, ..."""
        self._total.update(counts)

    def seen(self, **totals: int) -> None:
        """Take over totals that others count: clamped, stopped."""
        self._total |= Counter(totals)

    def period(self, stamp: int, answered: int, patience: float, late: bool = False) -> None:
        """Count a period that begins now, and is late itself or not."""
        there = answered and (stamp - answered) * 1e-9 <= patience
        missed = bool(there and (late or answered < stamp))
        self._total['periods'] += 1
        if missed:
            self._total['missed'] += 1
            self.missed_stamps.append(stamp)

    def delay(self, seconds: float) -> None:
        """Take the wall time from a state to the efforts that answer it [s]."""
        self._delays.append(seconds)

    def delays(self) -> str:
        """Return how long answers took since the last call [ms], in words; '' if none came."""
        if not self._delays:
            return ''
        half, most, longest = 1e3 * np.percentile(self._delays, (50, 99, 100), method='higher')
        self._delays.clear()
        return f'half {half:.2f}, 99 % {most:.2f}, longest {longest:.2f}'

    @property
    def missed(self) -> int:
        """Return how many periods were missed."""
        return self._total['missed']

    def interrupt(self) -> None:
        """Note that the simulation paused, so that it need not keep up until the next report."""
        self._interrupted = True

    def values(self) -> dict[str, object]:
        """Return the counts since the start, in words."""
        total = self._total
        return {
            'missed periods': f'{total["missed"]} of {total["periods"]}',
            'released commands': total['released'],
            'clamped efforts': total['clamped'],
            'joints at stops': total['stopped'],
            'lockstep timeouts': total['timeouts'],
        }

    def note(self, rtf: float, achieved: float) -> str:
        """Return what was wrong since the last call, or ''."""
        since = self._total - self._before
        interrupted, self._interrupted = self._interrupted, False
        self._before = self._total.copy()
        if since['released'] or since['timeouts']:
            return f'{since["released"] + since["timeouts"]} efforts went to zero: timeout.command'
        if not interrupted and achieved < REAL_TIME_SHORTFALL * rtf:
            return (
                f'too slow: real time factor {achieved:.2f} instead of {rtf:g}; take a larger '
                'step_size or a smaller rtf'
            )
        if since['missed'] > MISSED_PART * since['periods']:
            return (
                f'{since["missed"]} of {since["periods"]} periods began without the efforts of '
                'their state or late: take a smaller rtf or joint_state_rate, or lockstep'
            )
        if since['clamped']:
            return f'{since["clamped"]} efforts clamped to the URDF limits'
        return ''
