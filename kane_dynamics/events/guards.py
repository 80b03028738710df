# SPDX-License-Identifier: Apache-2.0
"""
Guards that end a mode, and the root finding of the first one that does.

Guards are positive while a mode lasts: gaps of open contacts, pushes of closed ones, margins of
friction of those that stick, slips of those that slide, and margins of limits of constraints.

A step of the integrator, as a function of its length, is a continuous extension without an error
of its own: Brent's method finds the root on it. Gaps that close and open again within a step are
found by the sign of their rates at its ends.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import hypot
from operator import ge, itemgetter, mul
from typing import NamedTuple

import numpy as np
import scipy

from kane_dynamics.algorithms.largest_margin import largest_margin
from kane_dynamics.algorithms.least_distance import ConeRows
from kane_dynamics.constraints.base import Constraint
from kane_dynamics.events.flow import Flow
from kane_dynamics.events.named_constraints import (
    OPEN,
    SLIPS,
    STICKS,
    Mode,
    NamedConstraint,
    NamedRows,
    State,
)
from kane_dynamics.typing import Floats

GAP, PUSH, GRIP, SLIP, LIMIT = 'gap', 'push', 'grip', 'slip', 'limit'
# What counts as zero [m], [N or N m], [m/s]: above roundoff, below what anybody measures.
NOTHING = {GAP: 1e-12, PUSH: 1e-9, GRIP: 1e-9, LIMIT: 1e-9, SLIP: 1e-10}


@dataclass(frozen=True, eq=False, slots=True)
class Guard:
    """A quantity that ends a mode where it falls below zero."""

    kind: str
    part: NamedConstraint
    rows: Sequence[int]

    def margin(self, multipliers: list[float]) -> float:
        """Return how far forces are from the limit, or from that of friction."""
        contact, forces = self.part.contact, [multipliers[k] for k in self.rows]
        if contact is None:
            return self.part.limit - hypot(*forces)
        push = contact.load if contact.normal is None else forces.pop(0)
        return contact.static_friction * push - hypot(*forces)

    def cone(self, rows: Floats) -> ConeRows:
        """Return the same of all multipliers, where those of its part have these unit rows."""
        contact, normal, tangent = self.part.contact, np.zeros(rows.shape[1]), rows
        if contact is None:
            return ConeRows(rows, np.zeros(len(rows)), normal, self.part.limit)
        if contact.normal is not None:
            normal, tangent = rows[0], rows[1:]
        mu = contact.static_friction
        if self.kind == PUSH:
            mu, tangent = 1.0, rows[:0]
        return ConeRows(tangent, np.zeros(len(tangent)), mu * normal, mu * contact.load)


class GuardValues(NamedTuple):
    """Values of all guards, and the rates of the gaps among them, which come first."""

    values: list[float]
    rates: tuple[float, ...]


class EventDetector:
    """The guards of a mode."""

    def __init__(
        self, mode: Mode, rows: NamedRows, flow: Flow, directions: Mapping[str, Floats]
    ) -> None:
        self._flow, self._directions, self._rows = flow, directions, rows
        gaps = [_guard(GAP, part, rows, [part.distance]) for part in mode.in_state(OPEN)]
        self._open = _picked([guard.rows[0] for guard in gaps])
        self._slips = [
            _guard(SLIP, part, rows, [part.contact.tangent])
            for part in mode.slipping
            if part.contact is not None
        ]
        self.turning = [guard for guard in self._slips if len(guard.rows) > 1]
        pushes = [
            _guard(PUSH, part, rows, [part.distance])
            for part in mode.in_state(SLIPS, STICKS)
            if part.contact is not None and part.contact.normal is not None
        ]
        self._pushes = _picked([guard.rows[0] for guard in pushes])
        self._bounds = _bounds(mode, rows)
        self._forces = bool(pushes or self._bounds)
        self._shares = any(guard.kind == GRIP for guard in self._bounds)
        self._mode, self._bounded = mode, (*pushes, *self._bounds)
        self._last: tuple[Floats, Floats, GuardValues] | None = None
        self.guards = (*gaps, *self._slips, *self._bounded)
        # a slip in two directions is compared with its least size, not with zero
        exact = [self.begins(k) for k in range(len(self.guards))]
        nothing = [-NOTHING[guard.kind] for guard in self.guards]
        self._nothing = [0.0 if one else x for one, x in zip(exact, nothing, strict=True)]

    def guard_values(self, q: Floats, v: Floats, tau: Floats, t: float) -> GuardValues:
        """Return the value of every guard at a state."""
        distances, rates, forces = self._flow.row_values(q, v, tau, t, self._forces).tolist()
        values = [*self._open(distances)]
        for guard in self._slips:
            values.append(self._slip(guard, [rates[k] for k in guard.rows]))
        values += self._margins(q, v, t, forces)
        guards = GuardValues(values, self._open(rates))
        self._last = q, v, guards  # the end of a step is the start of the next
        return guards

    def _margins(self, q: Floats, v: Floats, t: float, forces: list[float]) -> list[float]:
        """Return pushes and margins; where one fails, those of the share with the largest."""
        margins = [*self._pushes(forces), *(guard.margin(forces) for guard in self._bounds)]
        if not self._shares or all(margin >= 0.0 for margin in margins):
            return margins
        N = self._flow.left_null_space(q, v, t)
        if not N.any():
            return margins
        multipliers = np.array([forces[k] for k in self._flow.numbers])
        unit, held = np.eye(len(N)), self._mode.rows_by_name
        cones = [guard.cone(unit[held[guard.part.name]]) for guard in self._bounded]
        return largest_margin([cone.moved(multipliers, N) for cone in cones])

    def failing(self, values: list[float]) -> list[int]:
        """Return the numbers of the guards that are below zero, beyond roundoff."""
        if all(map(ge, values, self._nothing)):
            return []
        pairs = zip(values, self._nothing, strict=True)
        return [k for k, (value, nothing) in enumerate(pairs) if not value >= nothing]

    def gaps(self, q: Floats, v: Floats, tau: Floats, t: float) -> GuardValues:
        """Return what begins with the gaps of open contacts: forces are of any efforts."""
        last = self._last
        if last is None or last[0] is not q or last[1] is not v:
            return self.guard_values(q, v, tau, t)
        return last[2]

    def begins(self, k: int) -> bool:
        """Return whether guard k is of a slip in two directions: it is no less than nothing."""
        guard = self.guards[k]
        return guard.kind == SLIP and len(guard.rows) > 1

    def times_to_stick(self, q: Floats, v: Floats, t: float, tau: Floats) -> list[float]:
        """Return when slips in two directions would end at their present rates [s]."""
        times = []
        for guard in self.turning:
            rows = self._rows.at(q, v, t).take(guard.rows)
            slip = rows.matrix @ v - rows.velocity
            speed = float(np.linalg.norm(slip))
            rate = rows.matrix @ self._flow.motion(q, v, tau, t).acceleration - rows.acceleration
            if speed > NOTHING[SLIP] and slip @ rate < 0.0:
                times.append(-speed * speed / float(slip @ rate))
        return times

    def _slip(self, guard: Guard, slip: list[float]) -> float:
        """Return the slip along its direction, or its size where there are two."""
        if len(slip) == 1:
            return float(self._directions[guard.part.name][0] * slip[0])
        return hypot(*slip) - 2.0 * NOTHING[SLIP]


def _picked(numbers: Sequence[int]) -> Callable[[list[float]], tuple[float, ...]]:
    """Return a function that picks entries; `itemgetter` alone gives one as no tuple."""
    if len(numbers) > 1:
        return itemgetter(*numbers)
    return lambda values: tuple(values[k] for k in numbers)


def _bounds(mode: Mode, rows: NamedRows) -> list[Guard]:
    """Return the guards of limits, and of friction that holds."""
    guards: list[Guard] = []
    for name, part in mode.parts.items():
        state, contact = mode.states[name], part.contact
        held = part.rows_in(state)
        if contact is None:
            guards += [_guard(LIMIT, part, rows, held)] if np.isfinite(part.limit) else []
        elif state == STICKS and contact.tangent is not None:
            guards.append(_guard(GRIP, part, rows, held))
    return guards


def _guard(
    kind: str, part: NamedConstraint, rows: NamedRows, watched: Iterable[Constraint | None]
) -> Guard:
    return Guard(kind, part, rows.numbers(one for one in watched if one is not None))


ROOT_TOLERANCE = 1e-13  # [s]
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
        roots = [(self._root(k, h), k) for k in failing]
        events += [(s, k) for s, k in roots if s is not None]
        if not events:
            return EventTime(end, h, [])
        soonest = min(events)[0]
        ended = [detector.guards[k] for s, k in events if s <= soonest + ROOT_TOLERANCE]
        return EventTime(self.after(soonest), soonest, ended)

    def _root(self, k: int, h: float) -> float | None:
        """Return when guard k, which is negative after h, begins to be; None for a slow slip."""
        value = self._value_of(k)
        if value(0.0) > 0.0:
            return _zero(value, 0.0, h)
        for j in range(1, _HALVINGS):
            part = h * 0.5**j
            if value(part) > 0.0:
                return _zero(value, part, 2.0 * part)
        return None if self.detector.begins(k) else 0.0

    def _dips(
        self, first: GuardValues, last: GuardValues, h: float, failing: list[int]
    ) -> list[tuple[float, int]]:
        """Return when gaps begin to be negative that are positive again after h."""
        dips = []
        for k, (rate, later) in enumerate(zip(first.rates, last.rates, strict=True)):
            if not rate < 0.0 < later or k in failing:
                continue
            if 0.0 < first.values[k] < -_DEEPEST * rate * h:
                lowest = _zero(self._rate(k), 0.0, h)
                if self.guard_values(lowest).values[k] < 0.0:
                    dips.append((_zero(self._value_of(k), 0.0, lowest), k))
        return dips

    def _rate(self, k: int) -> Callable[[float], float]:
        return lambda s: self.guard_values(s).rates[k]

    def _value_of(self, k: int) -> Callable[[float], float]:
        return lambda s: self.guard_values(s).values[k]


def _zero(function: Callable[[float], float], a: float, b: float) -> float:
    """Return where a function changes its sign."""
    if function(b) == 0.0:
        return b
    root: float = scipy.optimize.brentq(
        function, a, b, xtol=ROOT_TOLERANCE, rtol=4.0 * np.finfo(float).eps
    )
    return root
