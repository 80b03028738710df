# SPDX-License-Identifier: Apache-2.0
"""
Fair timing: contenders take turns, so that a change of the machine's speed meets all of them.

One repeat of a contender is several short loops of calls, of which the fastest counts: what is
slower was disturbed. Repeats alternate between contenders; the result is the median over repeats.
"""

from __future__ import annotations

import gc
import statistics
import timeit
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Turn = Callable[[], float]


class Racer(Protocol):
    """Who takes part in a race."""

    @property
    def name(self) -> str:
        """Return who it is."""

    def start(self, effort: Effort) -> Turn:
        """Warm up; return a turn: the time of one call [s] in the fastest of its loops."""


@dataclass(frozen=True)
class Contender:
    """
    A statement to be timed.

    Parameters
    ----------
    name : str
        Who it is.
    statement : str
        One call, as a user would write it.
    names : mapping of str to object
        What the statement uses.

    """

    name: str
    statement: str
    names: Mapping[str, Any]

    def start(self, effort: Effort) -> Turn:
        """Warm up; return a turn."""
        timer = timeit.Timer(self.statement, globals=dict(self.names))
        count = _calls(timer, effort.loop_time)
        return lambda: min(timer.repeat(effort.loops, count)) / count


@dataclass(frozen=True)
class Effort:
    """
    How long to measure.

    Parameters
    ----------
    repeats : int
        Turns of each contender.
    loops : int
        Loops in a turn, the fastest of which counts.
    loop_time : float
        Length of a loop [s].

    """

    repeats: int = 15
    loops: int = 20
    loop_time: float = 0.001


QUICK = Effort(repeats=5, loops=8, loop_time=0.001)


@dataclass(frozen=True)
class Timing:
    """
    Time of one call of a contender [s].

    Parameters
    ----------
    median : float
        Median over turns of the fastest loop.
    repeats : tuple of float
        The fastest loop of each turn.

    """

    median: float
    repeats: tuple[float, ...]


def race(contenders: Sequence[Racer], effort: Effort) -> dict[str, Timing]:
    """Return the time of one call of each contender, measured in turns."""
    turns = [contender.start(effort) for contender in contenders]
    best: list[list[float]] = [[] for _ in contenders]
    enabled = gc.isenabled()
    gc.disable()
    try:
        for _ in range(effort.repeats):
            for times, turn in zip(best, turns, strict=True):
                times.append(turn())
    finally:
        if enabled:
            gc.enable()
    return {
        contender.name: Timing(statistics.median(times), tuple(times))
        for contender, times in zip(contenders, best, strict=True)
    }


def _calls(timer: timeit.Timer, loop_time: float) -> int:
    """Warm up and return how many calls fill a loop."""
    count = 1
    while True:
        duration = timer.timeit(count)
        if duration >= 0.5 * loop_time:
            return max(1, round(count * loop_time / duration))
        count *= 2
