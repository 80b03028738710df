# SPDX-License-Identifier: Apache-2.0
"""
The root finding of the first guard that ends a mode.

A step of the integrator, as a function of its length, is a continuous extension without an error
of its own: roots are found on it, those of gaps by Newton's method with their rates, others by
Brent's. Gaps that close and open again within a step are found by the sign of their rates at its
ends.
"""

from math import sqrt
from operator import mul
from typing import NamedTuple

import scipy

from kane_dynamics.events.flow import Flow
from kane_dynamics.events.guards import EventDetector, Guard, GuardValues
from kane_dynamics.events.named_constraints import State
from kane_dynamics.typing import Floats

ROOT_TOLERANCE = 1e-13  # [s]
_NEWTON, _SLOWEST = 5, 1e-300  # steps, of which two or three are usual; rate of a gap
_HALVINGS = 40  # of a step, in search of a moment at which a guard is positive
_DEEPEST = 4.0  # times the way at the first speed: no gap falls further in a step and comes back
_SLOWER = 0.25  # slip in two directions comes to rest in steps of this part of what it takes


class EventTime(NamedTuple):
    """Where a motion got to: the state, how long it took [s], and what ended the mode."""

    state: State
    duration: float
    failing: list[Guard]


class StepInterval:
    """Motion from a state in one mode, at constant efforts."""

    __slots__ = ('_values', 'detector', 'efforts', 'flow', 'start')

    def __init__(self, flow: Flow, detector: EventDetector, start: State, efforts: Floats) -> None:
        self.flow, self.detector, self.start, self.efforts = flow, detector, start, efforts
        self._values: dict[float, GuardValues] = {}

    def after(self, h: float) -> State:
        """Return the state after h [s]."""
        if h == 0.0:
            return self.start
        q, v, t = self.start
        return State(*self.flow.advance(q, v, self.efforts, t, h), t + h)

    def guard_values(self, h: float) -> GuardValues:
        """Return the guards after h [s], cached."""
        values = self._values.get(h)
        if values is None:
            q, v, t = self.after(h)
            values = self._values[h] = self.detector.guard_values(q, v, self.efforts, t)
        return values

    def reached(self, h: float) -> EventTime:
        """Return the end of h [s], or the first event before it."""
        detector, (q, v, t) = self.detector, self.start
        if not detector.guards:
            return EventTime(self.after(h), h, [])
        if detector.turning:
            # less where slip in two directions is about to end
            h = min([h, *(_SLOWER * x for x in detector.times_to_stick(q, v, t, self.efforts))])
        first, end = detector.gaps(q, v, self.efforts, t), self.after(h)
        last = self._values[h] = detector.guard_values(end.q, end.v, self.efforts, end.t)
        failing = detector.failing(last.values)
        turns = min(map(mul, first.rates, last.rates), default=0.0) < 0.0
        events = self._dips(first, last, h, failing) if turns else []
        if not (failing or events):
            return EventTime(end, h, [])
        roots = [(self._root(k, h, first, last), k) for k in failing]
        events += [(s, k) for s, k in roots if s is not None]
        if not events:
            return EventTime(end, h, [])
        soonest = min(events)[0]
        ended = [detector.guards[k] for s, k in events if s <= soonest + ROOT_TOLERANCE]
        return EventTime(self.after(soonest), soonest, ended)

    def _root(self, k: int, h: float, first: GuardValues, last: GuardValues) -> float | None:
        """Return when guard k, which is negative after h, begins to be; None for a slow slip."""
        if k < len(last.rates) and (root := self._gap_root(k, h, first, last)) is not None:
            return root
        begin, end = 0.0, h
        for j in range(_HALVINGS):
            if self.guard_values(begin).values[k] > 0.0:
                return self._zero('values', k, begin, end)
            end = h * 0.5**j
            begin = 0.5 * end
        return None if self.detector.begins(k) else 0.0

    def _gap_root(self, k: int, h: float, first: GuardValues, last: GuardValues) -> float | None:
        """Return when a gap closes, by Newton's method from a parabola, None where that fails."""
        value, rate, bend = first.values[k], first.rates[k], (last.rates[k] - first.rates[k]) / h
        both = abs(rate) + sqrt(max(rate * rate - 2.0 * bend * value, 0.0)) + _SLOWEST
        s = 2.0 * value / both if rate < 0.0 else -both / min(bend, -_SLOWEST)
        for _ in range(_NEWTON):
            if not 0.0 < s < h:
                break
            guards = self.guard_values(s)
            step = guards.values[k] / min(guards.rates[k], -_SLOWEST)
            s -= step
            if abs(step) <= ROOT_TOLERANCE:
                return min(max(s, 0.0), h)
        return None

    def _dips(
        self, first: GuardValues, last: GuardValues, h: float, failing: list[int]
    ) -> list[tuple[float, int]]:
        """Return when gaps begin to be negative that are positive again after h."""
        dips = []
        for k, (rate, later) in enumerate(zip(first.rates, last.rates, strict=True)):
            if not rate < 0.0 < later or k in failing:
                continue
            if 0.0 < first.values[k] < -_DEEPEST * rate * h:
                lowest = self._zero('rates', k, 0.0, h)
                if self.guard_values(lowest).values[k] < 0.0:
                    dips.append((self._zero('values', k, 0.0, lowest), k))
        return dips

    def _zero(self, what: str, k: int, a: float, b: float) -> float:
        """Return when one of the values or rates changes its sign."""

        def of(s: float) -> float:
            return getattr(self.guard_values(s), what)[k]

        return scipy.optimize.brentq(of, a, b, xtol=ROOT_TOLERANCE)
