# SPDX-License-Identifier: Apache-2.0
r"""
The nearest command of a base whose motion keeps all limits, by searches along lines.

1. What no base could hold for good is given up: of each component what it alone could have, then
   as much of all together as keeps the limits (its direction stays).
2. While a component must become slower, none grows: :math:`s_i` is between the present twist and
   zero. From the hardest braking of all components, :math:`b = (1 - \beta) u`, it goes on towards
   s as far as the limits allow. No slow component lags behind b, so that wanted zeros are zero at
   the latest when braking of the whole base along its twist would have stopped it.
3. Then it grows towards what is wanted: of each component what it alone could have now, then
   towards their corner.

At a twist, friction, tip-over and efforts are convex in the acceleration, so lines between what
keeps them keep them, too, and braking is among that where the ground has something left to give:
it has not where a bend or a slope uses all but the reserves. Then the reserves are used to brake:
a tenth, half or all of them, half of what going on leaves of them where it uses some; and where no
braking keeps the limits themselves, the one that breaks them least.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kane_dynamics.bases.block import TwistReach
from kane_dynamics.typing import Floats, Indices

# of a line: small ones too, since drives make a large acceleration of a small step
FRACTIONS = np.array([0.0, 0.005, 0.01, 0.02, 0.05, *np.linspace(0.1, 1.0, 10)])
_WIDE = np.array([0.0, *np.exp2(np.arange(-30.0, 0.5, 0.5))])  # of commands of any size
_NO_BRAKING = 1e-3  # of the present twist
_INSIDE = 0.98  # of the way to where a limit was crossed between two candidates
_BACK = (1.0, 0.9, 0.7, 0.0)  # of that way, where the limit is nearer than a line says
_LITTLE = 0.1  # of the reserves, to brake out of a bend


class Command(NamedTuple):
    """A command."""

    free: Floats
    rooms: Floats
    bound: int


class CommandSearch:
    """Search for commands near a target."""

    def __init__(self, along: Callable[..., Floats], reach: TwistReach, slack: Floats) -> None:
        self._along, self._reach, self._slack = along, reach, slack

    def nearest(self, now: Floats, target: Floats, held: Floats, rooms: Floats) -> Command:
        """Return the command to give."""
        if rooms.min() >= 0.0:
            return Command(target, rooms, -1)
        goal, bound = self._holdable(target)
        least = np.minimum(np.abs(now), np.abs(goal))
        slower = self._reach.within(np.where(now * goal > 0.0, np.sign(now) * least, 0.0))
        if (slower == now).all() and held.min() >= 0.0:
            best = self._grown(now, goal)
        else:
            ends = np.stack([slower, np.zeros_like(now)])
            lines = self._on_lines(now, ends, FRACTIONS)
            passes = lines[-1, 0].min() >= 0.0
            best = self._grown(slower, goal) if passes else self._braked(now, slower, lines[:, 1])
        return best._replace(bound=best.bound if best.bound >= 0 else bound)

    def _holdable(self, target: Floats) -> tuple[Floats, int]:
        """Return what of a twist can be held for good, and what limits the rest; -1: nothing."""
        best, bound = target, -1
        for ends, fractions in ((np.diag(target), _WIDE), (None, FRACTIONS)):
            lines = best[None] if ends is None else ends
            rooms = self._on_lines(np.zeros_like(best), lines, fractions, steady=True)
            share, limits = _furthest(rooms, fractions)
            best = self._reach.within(share @ lines)
            bound = max(bound, int(limits.max()))
        return best, bound

    def _grown(self, start: Floats, goal: Floats) -> Command:
        """Return the command on the way to what each component alone could have now."""
        rooms = self._on_lines(start, start + np.diag(goal - start), FRACTIONS)
        share, limits = _furthest(rooms, FRACTIONS)
        best = self._towards(start, self._reach.within(start + share * (goal - start)), 0.0)
        return best if best.bound >= 0 else best._replace(bound=int(limits.max()))

    def _braked(self, now: Floats, slower: Floats, rooms: Floats) -> Command:
        """Return the command that brakes at the limit; `rooms` are those from now to rest."""
        with np.errstate(divide='ignore', invalid='ignore'):
            used = float(np.clip(np.nanmax(-rooms[0] / self._slack), 0.0, 1.0))  # by going on
        little = [level for level in (0.0, _LITTLE) if level >= 2.0 * used]
        for level in (*little, 0.5 * (1.0 + used), 1.0):
            kept = np.flatnonzero((rooms + level * self._slack).min(axis=1) >= 0.0)
            if not len(kept):
                continue
            before, part = FRACTIONS[kept[-1]], rooms[kept[-1] :] + level * self._slack
            share = _furthest(part[:, None], FRACTIONS[kept[-1] :])[0][0]
            if share <= _NO_BRAKING:
                continue
            for back in _BACK:
                start = (1.0 - before - back * (share - before)) * now
                best = self._towards(start, slower, level)
                if (best.rooms + level * self._slack).min() >= 0.0:
                    return best
        index = 1 + int(np.argmax(rooms[1:].min(axis=1)))
        free = (1.0 - FRACTIONS[index]) * now
        return Command(free, rooms[index], int(np.argmin(rooms[index])))

    def _towards(self, start: Floats, end: Floats, level: float) -> Command:
        """Return the furthest command on a line that keeps the limits."""
        rooms = self._on_lines(start, end[None], FRACTIONS)[:, 0]
        kept = rooms + level * self._slack
        (share,), (bound,) = _furthest(kept[:, None], FRACTIONS)
        if bound < 0:
            return Command(end, rooms[-1], -1)
        free = self._reach.within(start + share * (end - start))
        best = self._along(free[None])[0]
        if (best + level * self._slack).min() >= 0.0:
            return Command(free, best, int(bound))
        before = max(0, int(np.searchsorted(FRACTIONS, share, 'right')) - 1)
        free = self._reach.within(start + FRACTIONS[before] * (end - start))
        return Command(free, rooms[before], int(bound))

    def _on_lines(
        self, start: Floats, ends: Floats, fractions: Floats, steady: bool = False
    ) -> Floats:
        """Return headrooms at fractions of lines, shape (n, e, l)."""
        free = start + fractions[:, None, None] * (ends - start)
        rooms = self._along(free.reshape(-1, free.shape[-1]), steady=steady)
        return rooms.reshape(*free.shape[:2], -1)


def _furthest(rooms: Floats, fractions: Floats) -> tuple[Floats, Indices]:
    """Return how far each line keeps all limits, and the limit that ends it (-1: none)."""
    shares, limits = list[float](), list[int]()
    for line, least in enumerate(rooms.min(axis=2).T.tolist()):
        first = next((k for k, room in enumerate(least) if not room >= 0.0), -1)
        share, limit = 1.0, -1
        if first >= 0:
            last = max(first - 1, 0)
            before, after = rooms[last, line].tolist(), rooms[first, line].tolist()
            pairs = zip(before, after, strict=True)
            part = min([b / (b - a) for b, a in pairs if a < 0.0 <= b], default=1.0)
            start, end = fractions.item(last), fractions.item(first)
            share, limit = start + _INSIDE * part * (end - start), after.index(min(after))
        shares.append(share)
        limits.append(limit)
    return np.array(shares), np.array(limits)
