# SPDX-License-Identifier: Apache-2.0
"""
What ends a mode: quantities that are positive while it lasts.

Gaps of open contacts, pushes of closed ones, what is left of the grip of those that stick, slip of
those that slide, and what is left of the limits of constraints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import hypot
from typing import NamedTuple

import numpy as np

from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.dynamics import Distances
from kane_dynamics.events.flow import Flow
from kane_dynamics.events.parts import OPEN, SLIPS, STICKS, Mode, Part
from kane_dynamics.model.robot import Robot
from kane_dynamics.typing import Floats

GAP, PUSH, GRIP, SLIP, LIMIT = 'gap', 'push', 'grip', 'slip', 'limit'
# What counts as zero [m], [N or N m], [m/s]: above roundoff, below what anybody measures.
NOTHING = {GAP: 1e-12, PUSH: 1e-9, GRIP: 1e-9, LIMIT: 1e-9, SLIP: 1e-10}


@dataclass(frozen=True, eq=False, slots=True)
class Guard:
    """
    A quantity that ends a mode where it falls below zero.

    Parameters
    ----------
    kind : str
        'gap', 'push', 'grip', 'slip' or 'limit'.
    part : Part
        Whose it is.
    first, last : int
        Where its multipliers begin and end among those of the flow; the normal force is first.

    """

    kind: str
    part: Part
    first: int = 0
    last: int = 0

    def reserve(self, multipliers: list[float]) -> float:
        """Return how far the forces are from where they end the mode."""
        contact, first = self.part.contact, self.first
        if contact is None:
            return self.part.limit - hypot(*multipliers[first : self.last])
        push = contact.load if contact.normal is None else multipliers[first]
        if self.kind == PUSH:
            return push
        along = multipliers[first + (contact.normal is not None) : self.last]
        return contact.static_friction * push - hypot(*along)


class Look(NamedTuple):
    """Values of all guards, and the rates of the gaps among them, which come first."""

    values: list[float]
    rates: list[float]


class Watch:
    """
    The guards of a mode.

    Parameters
    ----------
    robot : Robot
        The robot.
    mode : Mode
        The mode.
    flow : Flow
        What moves the robot in it.
    directions : mapping of str to ndarray
        Along which the parts that slip do.
    distances : callable
        (q, v, t) -> gaps and rates of `Mode.distances`.

    """

    def __init__(
        self,
        robot: Robot,
        mode: Mode,
        flow: Flow,
        directions: Mapping[str, Floats],
        distances: Distances,
    ) -> None:
        self._flow, self._directions, self._distances = flow, directions, distances
        gaps = [Guard(GAP, part) for part in mode.in_state(OPEN)]
        pressed = [part for part, _ in mode.distances]
        self._open = [pressed.index(guard.part) for guard in gaps]
        self._last: tuple[Floats, Floats, Look] | None = None
        self._slips = [
            (Guard(SLIP, part), ConstraintSet(robot, [part.contact.tangent]))
            for part in mode.slipping
            if part.contact is not None and part.contact.tangent is not None
        ]
        self.turning = [rows for _, rows in self._slips if len(rows.labels) > 1]
        self._forces = _force_guards(mode)
        self.guards = (*gaps, *(guard for guard, _ in self._slips), *self._forces)
        # a slip in two directions is compared with its least size, not with zero
        exact = [self.begins(k) for k in range(len(self.guards))]
        nothing = [-NOTHING[guard.kind] for guard in self.guards]
        self._nothing = [0.0 if one else x for one, x in zip(exact, nothing, strict=True)]

    def look(self, q: Floats, v: Floats, tau: Floats, t: float) -> Look:
        """Return the value of every guard at a state."""
        gaps = self.gaps(q, v, t)
        found = [self._slip(guard, tangent.rows(q, v, t), v) for guard, tangent in self._slips]
        if self._forces:
            multipliers = self._flow.multipliers(q, v, tau, t).tolist()
            found += [guard.reserve(multipliers) for guard in self._forces]
        return Look(gaps.values + found, gaps.rates)

    def failing(self, values: list[float]) -> list[int]:
        """Return the numbers of the guards that are below zero, beyond roundoff."""
        pairs = zip(values, self._nothing, strict=True)
        return [k for k, (value, nothing) in enumerate(pairs) if not value >= nothing]

    def gaps(self, q: Floats, v: Floats, t: float) -> Look:
        """Return the gaps of open contacts and their rates: the first guards."""
        if not self._open:
            return _NO_GAPS
        if self._last is None or self._last[0] is not q or self._last[1] is not v:
            gaps, rates = self._distances(q, v, t).tolist()
            look = Look([gaps[k] for k in self._open], [rates[k] for k in self._open])
            self._last = q, v, look  # the end of a step is the start of the next
        return self._last[2]

    def begins(self, k: int) -> bool:
        """Return whether guard k is of a slip in two directions: it is no less than nothing."""
        guard = self.guards[k]
        return guard.kind == SLIP and len(self._directions[guard.part.name]) > 1

    def times_to_stick(self, q: Floats, v: Floats, t: float, tau: Floats) -> list[float]:
        """Return when slips in two directions would end at their present rates [s]."""
        times = []
        for tangent in self.turning:
            rows = tangent.rows(q, v, t)
            slip = rows.matrix @ v - rows.velocity
            speed = float(np.linalg.norm(slip))
            rate = rows.matrix @ self._flow.motion(q, v, tau, t).acceleration - rows.acceleration
            if speed > NOTHING[SLIP] and slip @ rate < 0.0:
                times.append(-speed * speed / float(slip @ rate))
        return times

    def _slip(self, guard: Guard, rows: ConstraintRows, v: Floats) -> float:
        """Return the slip along its direction, or its size where there are two."""
        slip = rows.matrix @ v - rows.velocity
        if len(slip) == 1:
            return float(self._directions[guard.part.name][0] * slip[0])
        return float(np.linalg.norm(slip)) - 2.0 * NOTHING[SLIP]


_NO_GAPS = Look([], [])


def _force_guards(mode: Mode) -> list[Guard]:
    """Return the guards that are made of multipliers."""
    guards: list[Guard] = []
    for name, (first, last) in mode.places.items():
        part, state = mode.parts[name], mode.states[name]
        contact = part.contact
        if contact is None:
            guards += [Guard(LIMIT, part, first, last)] if np.isfinite(part.limit) else []
        elif state in (SLIPS, STICKS):
            pressed, held = contact.normal is not None, contact.tangent is not None
            guards += [Guard(PUSH, part, first, last)] if pressed else []
            guards += [Guard(GRIP, part, first, last)] if held and state == STICKS else []
    return guards
