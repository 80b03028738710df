# SPDX-License-Identifier: Apache-2.0
"""
What ends a mode: quantities that are positive while it lasts.

Gaps of open contacts, pushes of closed ones, what is left of the grip of those that stick, slip of
those that slide, and what is left of the limits of constraints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.dynamics import RowsFunction
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
    rows : tuple of int
        Its multipliers among those of the flow; the normal force first.

    """

    kind: str
    part: Part
    rows: tuple[int, ...] = ()


class Look(NamedTuple):
    """Values of all guards, and the rates of the gaps among them, which come first."""

    values: Floats
    rates: Floats


_NO_GAPS = Look(np.zeros(0), np.zeros(0))


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
        (q, v, t) -> rows of `Mode.distances`.

    """

    def __init__(
        self,
        robot: Robot,
        mode: Mode,
        flow: Flow,
        directions: Mapping[str, Floats],
        distances: RowsFunction,
    ) -> None:
        self._flow, self._directions, self._distances = flow, directions, distances
        self._gap_guards = [Guard(GAP, part) for part in mode.in_state(OPEN)]
        pressed = [part for part, _ in mode.distances]
        self._open = [pressed.index(guard.part) for guard in self._gap_guards]
        self._last: tuple[Floats, Floats, Look] | None = None
        self._slips = [
            (Guard(SLIP, part), ConstraintSet(robot, [part.contact.tangent]))
            for part in mode.slipping
            if part.contact is not None and part.contact.tangent is not None
        ]
        self._forces = _force_guards(mode)
        slips = [guard for guard, _ in self._slips]
        self.guards = (*self._gap_guards, *slips, *self._forces)
        self._nothing = np.array([NOTHING[guard.kind] for guard in self.guards])

    def look(self, q: Floats, v: Floats, tau: Floats, t: float) -> Look:
        """Return the value of every guard at a state."""
        gaps = self.gaps(q, v, t)
        found = [self._slip(guard, tangent.rows(q, v, t), v) for guard, tangent in self._slips]
        if self._forces:
            multipliers = self._flow.motion(q, v, tau, t).multipliers
            found += [_reserve(guard, multipliers) for guard in self._forces]
        return Look(np.concatenate([gaps.values, found]), gaps.rates)

    def failing(self, values: Floats) -> list[int]:
        """Return the numbers of the guards that are below zero, beyond roundoff."""
        if (values >= 0.0).all():
            return []
        below: list[int] = np.flatnonzero(values < -self._nothing).tolist()
        return below

    def gaps(self, q: Floats, v: Floats, t: float) -> Look:
        """Return the gaps of open contacts and their rates: the first guards."""
        if not self._open:
            return _NO_GAPS
        if self._last is None or self._last[0] is not q or self._last[1] is not v:
            rows = self._distances(q, v, t)
            gaps = np.array(rows.positions, dtype=float)[self._open]
            rates = (rows.matrix @ v - rows.velocity)[self._open]
            self._last = q, v, Look(gaps, rates)  # the end of a step is the start of the next
        return self._last[2]

    def times_to_stick(self, q: Floats, v: Floats, t: float, tau: Floats) -> list[float]:
        """Return when slips in two directions would end at their present rates [s]."""
        times = []
        for guard, tangent in self._slips:
            if len(self._directions[guard.part.name]) == 1:
                continue
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


def _force_guards(mode: Mode) -> list[Guard]:
    """Return the guards that are made of multipliers."""
    guards, first = [], 0
    for name, part in mode.parts.items():
        state, contact = mode.states[name], part.contact
        rows = tuple(range(first, first + sum(len(c.labels) for c in part.rows_in(state))))
        first += len(rows)
        if contact is None:
            guards += [Guard(LIMIT, part, rows)] if np.isfinite(part.limit) else []
            continue
        pressed = contact.normal is not None
        guards += [Guard(PUSH, part, rows[:1])] if pressed and state in (SLIPS, STICKS) else []
        held = contact.tangent is not None and np.isfinite(contact.static_friction)
        guards += [Guard(GRIP, part, rows)] if held and state == STICKS else []
    return guards


def _reserve(guard: Guard, multipliers: Floats) -> float:
    """Return how far a force is from where it ends a mode."""
    forces, part = multipliers[list(guard.rows)], guard.part
    if guard.kind == PUSH:
        return float(forces[0])
    if guard.kind == LIMIT or part.contact is None:
        return part.limit - float(np.linalg.norm(forces))
    contact = part.contact
    pressed = contact.normal is not None
    push = float(forces[0]) if pressed else contact.load
    return contact.static_friction * push - float(np.linalg.norm(forces[int(pressed) :]))
