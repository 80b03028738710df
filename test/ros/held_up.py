# SPDX-License-Identifier: Apache-2.0
"""
What the machine takes from everybody: one process on each processor that only sleeps.

It has the highest real-time priority where that is allowed, so nothing that runs here can keep it
from waking up; where it wakes up late, the kernel or the host of a virtual machine had the
processor. A deadline that was missed then says nothing about who missed it (as with cyclictest).
"""

import bisect
import multiprocessing
import os
import time
from dataclasses import dataclass
from pathlib import Path

SLEEP = 1e-3  # [s]
LATE = 0.5e-3  # [s]: a quarter of a period at 500 Hz
PRIORITY = 99  # of SCHED_FIFO
AROUND = 0.25  # [s] before and after, that count as held up: what waited has to catch up


@dataclass(frozen=True)
class HeldUp:
    """
    When the machine stood still.

    Parameters
    ----------
    times : tuple of float
        When a sleeper should have woken up, on the monotonic clock, ascending [s].
    delays : tuple of float
        How much later it did [s].
    stolen : float
        Part of the processor time that the host kept from this machine meanwhile.

    """

    times: tuple
    delays: tuple
    stolen: float

    def between(self, begin, end):
        """Return whether it stood still from `begin` to `end`, or just before or after."""
        first = bisect.bisect_left(self.times, begin - AROUND)
        return first < len(self.times) and self.times[first] <= end + AROUND

    def in_words(self):
        """Return what was seen."""
        longest = 1e3 * max(self.delays, default=0.0)
        return (
            f'{len(self.times)} times longer than {1e3 * LATE:g} ms, longest {longest:.1f} ms; '
            f'the host kept {100.0 * self.stolen:.1f} % of the processor time'
        )


class Sleepers:
    """The processes; from `start` to `stop`."""

    def __init__(self):
        context = multiprocessing.get_context('spawn')
        self._over = context.Event()
        self._found = context.Queue()
        self._processes = [
            context.Process(target=_sleep, args=(cpu, self._over, self._found), daemon=True)
            for cpu in sorted(os.sched_getaffinity(0))
        ]
        self._before = None

    def start(self):
        """Begin to watch."""
        for process in self._processes:
            process.start()
        self._before = _steal()

    def stop(self):
        """End, and return what they saw."""
        self._over.set()
        found = sorted(pair for _ in self._processes for pair in self._found.get(timeout=30.0))
        for process in self._processes:
            process.join()
        stolen, whole = (b - a for a, b in zip(self._before, _steal(), strict=True))
        times, delays = zip(*found, strict=True) if found else ((), ())
        return HeldUp(times, delays, stolen / whole if whole else 0.0)


def _sleep(cpu, over, found):
    os.sched_setaffinity(0, {cpu})
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    except PermissionError:
        pass  # then it also sees what other processes keep it from: too much, never too little
    late, look = [], 0
    due = time.monotonic() + SLEEP
    while look % 100 or not over.is_set():
        look += 1
        time.sleep(max(0.0, due - time.monotonic()))
        now = time.monotonic()
        if now - due > LATE:
            late.append((due, now - due))
        due = max(due, now) + SLEEP
    found.put(late)


def _steal():
    """Return the time that the host kept and all time, of all processors [ticks]."""
    words = [int(word) for word in Path('/proc/stat').read_text().split('\n')[0].split()[1:9]]
    return words[7], sum(words)
