# SPDX-License-Identifier: Apache-2.0
r"""
When a mode ends: the first instant at which one of its guards falls below zero.

A step of the integrator, as a function of its length, is a continuous extension without an error
of its own: Brent's method finds the root on it. Gaps that close and open again within a step are
found by the sign of their rates at its ends.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import mul
from typing import NamedTuple

import numpy as np
import scipy

from kane_dynamics.events.flow import Flow
from kane_dynamics.events.guards import EventDetector, Guard, GuardValues
from kane_dynamics.typing import Floats

ROOT_TOLERANCE = 1e-13  # [s]
_HALVINGS = 40  # of a step, in search of a moment at which a guard is positive
_DEEPEST = 4.0  # times the way at the first speed: no gap falls further in a step and comes back
_SLOWER = 0.25  # slip in two directions comes to rest in steps of this part of what it takes


class State(NamedTuple):
    """Coordinates, speeds and time [s]."""

    q: Floats
    v: Floats
    t: float


class EventTime(NamedTuple):
    """Where a motion got to: the state, how long it took [s], and what ended the mode."""

    state: State
    duration: float
    failing: list[Guard]


class StepInterval:
    """
    Motion from a state in one mode, at constant efforts.

    Parameters
    ----------
    flow, watch : Flow, Watch
        What moves the robot, and what ends the mode.
    start : State
        Where it begins.
    efforts : ndarray, shape (nv,)
        tau.

    """

    __slots__ = ('_looks', 'efforts', 'flow', 'start', 'watch')

    def __init__(self, flow: Flow, watch: EventDetector, start: State, efforts: Floats) -> None:
        self.flow, self.watch, self.start, self.efforts = flow, watch, start, efforts
        self._looks: dict[float, GuardValues] = {}

    def after(self, h: float) -> State:
        """Return the state after h [s]."""
        if h == 0.0:
            return self.start
        q, v, t = self.start
        return State(*self.flow.advance(q, v, self.efforts, t, h), t + h)

    def look(self, h: float) -> GuardValues:
        """Return the guards after h [s], looked at once."""
        result = self._looks.get(h)
        if result is None:
            q, v, t = self.after(h)
            result = self._looks[h] = self.watch.look(q, v, self.efforts, t)
        return result

    def reached(self, h: float) -> EventTime:
        """Return the end of h [s], or the first event before it."""
        watch, (q, v, t) = self.watch, self.start
        if not watch.guards:
            return EventTime(self.after(h), h, [])
        if watch.turning:
            h = self._longest(h)
        first, end = watch.gaps(q, v, self.efforts, t), self.after(h)
        last = self._looks[h] = watch.look(end.q, end.v, self.efforts, end.t)
        failing = watch.failing(last.values)
        turns = min(map(mul, first.rates, last.rates), default=0.0) < 0.0
        result = self._dips(first, last, h, failing) if turns else []
        if not (failing or result):
            return EventTime(end, h, [])
        roots = [(self._root(k, h), k) for k in failing]
        result += [(s, k) for s, k in roots if s is not None]
        if not result:
            return EventTime(end, h, [])
        soonest = min(result)[0]
        ended = [watch.guards[k] for s, k in result if s <= soonest + ROOT_TOLERANCE]
        return EventTime(self.after(soonest), soonest, ended)

    def _longest(self, h: float) -> float:
        """Return h, or less where slip in two directions is about to end."""
        times = self.watch.times_to_stick(*self.start, self.efforts)
        return min([h, *(_SLOWER * x for x in times)])

    def _root(self, k: int, h: float) -> float | None:
        """Return when guard k, which is negative after h, begins to be; None for a slow slip."""
        value = self._values(k)
        if value(0.0) > 0.0:
            return _zero(value, 0.0, h)
        for j in range(1, _HALVINGS):
            part = h * 0.5**j
            if value(part) > 0.0:
                return _zero(value, part, 2.0 * part)
        return None if self.watch.begins(k) else 0.0

    def _dips(
        self, first: GuardValues, last: GuardValues, h: float, failing: list[int]
    ) -> list[tuple[float, int]]:
        """Return when gaps begin to be negative that are positive again after h."""
        result = []
        for k, (rate, later) in enumerate(zip(first.rates, last.rates, strict=True)):
            if not rate < 0.0 < later or k in failing:
                continue
            if 0.0 < first.values[k] < -_DEEPEST * rate * h:
                lowest = _zero(self._rate(k), 0.0, h)
                if self.look(lowest).values[k] < 0.0:
                    result.append((_zero(self._values(k), 0.0, lowest), k))
        return result

    def _rate(self, k: int) -> Callable[[float], float]:
        return lambda s: self.look(s).rates[k]

    def _values(self, k: int) -> Callable[[float], float]:
        return lambda s: self.look(s).values[k]


def _zero(function: Callable[[float], float], a: float, b: float) -> float:
    """Return where a function changes its sign."""
    if function(b) == 0.0:
        return b
    root: float = scipy.optimize.brentq(
        function, a, b, xtol=ROOT_TOLERANCE, rtol=4.0 * np.finfo(float).eps
    )
    return root
