# SPDX-License-Identifier: Apache-2.0
"""
Guards that end a mode.

They are positive while it lasts: gaps of open contacts, pushes of closed ones, margins of
friction of those that stick, slips of those that slide, and margins of limits of constraints.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import hypot
from operator import ge
from typing import NamedTuple

import numpy as np

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
)
from kane_dynamics.typing import Floats

Forces = list[float] | dict[int, float]  # by the numbers of rows
GAP, PUSH, GRIP, SLIP, LIMIT = 'gap', 'push', 'grip', 'slip', 'limit'
# What counts as zero [m], [N or N m], [m/s]: above roundoff, below what anybody measures.
NOTHING = {GAP: 1e-12, PUSH: 1e-9, GRIP: 1e-9, LIMIT: 1e-9, SLIP: 1e-10}


@dataclass(frozen=True, eq=False, slots=True)
class Guard:
    """A quantity that ends a mode where it falls below zero."""

    kind: str
    part: NamedConstraint
    rows: Sequence[int]

    def margin(self, multipliers: Forces) -> float:
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
    rates: list[float]


class EventDetector:
    """The guards of a mode."""

    def __init__(
        self, mode: Mode, rows: NamedRows, flow: Flow, directions: Mapping[str, Floats]
    ) -> None:
        self._flow, self._directions, self._rows = flow, directions, rows
        gaps = [_guard(GAP, part, rows, [part.distance]) for part in mode.in_state(OPEN)]
        self._open = [guard.rows[0] for guard in gaps]
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
        self._pushes = [guard.rows[0] for guard in pushes]
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
        values = [distances[k] for k in self._open]
        values += [self._slip(guard, [rates[k] for k in guard.rows]) for guard in self._slips]
        values += self._shared(q, v, t, forces)[0]
        guards = GuardValues(values, [rates[k] for k in self._open])
        self._last = q, v, guards  # the end of a step is the start of the next
        return guards

    def _shared(
        self, q: Floats, v: Floats, t: float, forces: Forces
    ) -> tuple[list[float], Floats | None]:
        """Return pushes and margins; where one fails, the largest with their forces, if others."""
        margins = [forces[k] for k in self._pushes]
        margins += [guard.margin(forces) for guard in self._bounds]
        if not self._shares or all(margin >= 0.0 for margin in margins):
            return margins, None
        N = self._flow.left_null_space(q, v, t)
        if not N.any():
            return margins, None
        multipliers = np.array([forces[k] for k in self._flow.numbers])
        unit, held = np.eye(len(N)), self._mode.rows_by_name
        cones = [guard.cone(unit[held[guard.part.name]]) for guard in self._bounded]
        margins, z = largest_margin([cone.moved(multipliers, N) for cone in cones])
        return margins, multipliers + N @ z

    def share(self, q: Floats, v: Floats, t: float, multipliers: Floats) -> Floats:
        """Return forces of the rows that hold, of least norm, in the share that guards judge."""
        forces = dict(zip(self._flow.numbers, multipliers.tolist(), strict=True))
        other = self._shared(q, v, t, forces)[1] if self._shares else None
        return multipliers if other is None else other

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
