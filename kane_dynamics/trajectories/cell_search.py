# SPDX-License-Identifier: Apache-2.0
"""The fastest profile on one grid, and what it uses of each limit on and between its cells."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kane_dynamics.exceptions import NotSolvedError
from kane_dynamics.trajectories.cell_steps import CellSteps
from kane_dynamics.trajectories.fastest import Fastest, Says, fastest
from kane_dynamics.trajectories.free_sharing import least_uses, projected
from kane_dynamics.trajectories.limit_rows import LimitRows
from kane_dynamics.trajectories.looks import Looks, looks
from kane_dynamics.trajectories.path_limits import PathLimits
from kane_dynamics.trajectories.speed_profile import SpeedProfile
from kane_dynamics.typing import Floats

_NEWTON = 8  # rounds for viscous friction, which goes with the root of x
_SETTLED = 1e-6  # relative change of the duration
_HALVINGS = 40  # of the interval of a factor of time
_LOOKS = (-0.75, -0.5, -0.25, 0.25, 0.5, 0.75)  # from the middle of a cell to its ends
_REACHED = 0.99  # use of a limit that is active
_STARTS, _ENDS = slice(None, -1), slice(1, None)  # of cells, in a grid


def _together(row: int, use: float) -> str:
    return 'all limits together, however redundant motors share'


def peaks(values: Floats) -> Floats:
    """Return the largest of values at even steps, (k, ...), or of a parabola through three."""
    before, here, after = values[:-2], values[1:-1], values[2:]
    bend, tilt = 2.0 * here - before - after, after - before
    inside = (bend > 0.0) & (np.abs(tilt) < 2.0 * bend)
    rise = np.divide(tilt**2, 8.0 * bend, out=np.zeros_like(bend), where=inside)
    return np.asarray(np.maximum(values.max(axis=0), (here + rise).max(axis=0)))


@dataclass(frozen=True, slots=True)
class LimitUse:
    """
    What a motion uses of one limit.

    Parameters
    ----------
    largest : float
        All of it is 1; of speeds it is the square.
    place : float
        Where on the path that is.
    active : float
        Part of the duration that is spent in cells where the limit is reached.

    """

    largest: float
    place: float
    active: float


class CellSearch:
    """
    One grid with the rows in the middles of its cells and at their ends.

    Parameters
    ----------
    limits : PathLimits
        Limits of a robot on a path.
    grid : ndarray, shape (n + 1,)
        Places on the path.
    tight : ndarray, shape (n, m)
        What is left of each row in each cell.
    free : bool
        Whether redundant motors share as the limits need it, not with least efforts.
    before : CellSearch, optional
        Of a grid with some of these cells, whose rows are not evaluated again.

    """

    def __init__(
        self,
        limits: PathLimits,
        grid: Floats,
        tight: Floats,
        free: bool,
        before: CellSearch | None = None,
    ) -> None:
        self.limits, self.grid, self._tight = limits, grid, tight
        self.middles, reach = 0.5 * (grid[1:] + grid[:-1]), 0.5 * np.diff(grid)
        seen: tuple[Looks | None, Looks | None, Looks | None] = (None, None, None)
        if before is not None:
            seen = before._looks
        inside = looks(limits, self.middles, reach, free, seen[0])
        nodes = looks(limits, grid, None, free, seen[1])
        # a limit that depends much on the place is exceeded most between the middle and the ends
        others = np.concatenate([self.middles + part * reach for part in _LOOKS])
        between = None if free else looks(limits, others, None, free, seen[2])
        self._looks: tuple[Looks, Looks, Looks | None] = inside, nodes, between
        self._exact, self._nodes = inside.rows, nodes.rows
        self._shares = None
        if inside.shares is not None and nodes.shares is not None:
            self._shares = inside.shares, nodes.shares

    def fastest(self) -> Fastest:
        """Return the fastest profile; errors as for `fastest.fastest`."""
        found = self._under(*(replace(one, d=0.0 * one.d) for one in (self._exact, self._nodes)))
        if not self._exact.d.any():
            return found
        for _ in range(_NEWTON):
            before = found.profile
            cells = self._exact.tangent(before.of(self.middles)[1])
            found = self._under(cells, self._nodes.tangent(before.of(self.grid)[1]))
            if abs(found.profile.duration / before.duration - 1.0) < _SETTLED:
                break
        return found

    def _under(self, cells: LimitRows, nodes: LimitRows) -> Fastest:
        """Return the fastest profile under rows without d."""
        says: Says = self.limits.says
        starts, ends = nodes.part(_STARTS), nodes.part(_ENDS)
        middles = cells.drawn_in(self._tight)
        if self._shares is None:
            starts, ends = starts.drawn_in(self._tight), ends.drawn_in(self._tight)
        else:
            says, count = _together, len(self.middles)
            every = projected(
                middles.followed_by(nodes),
                np.concatenate(self._shares),
                np.concatenate([self.middles, self.grid]),
            )
            middles, nodes = every.part(slice(count)), every.part(slice(count, None))
            starts, ends = nodes.part(_STARTS), nodes.part(_ENDS)
            # sides of polygons have no order: one is one row where it stays what it is
            same = middles.alike(starts) & middles.alike(ends)
            starts = replace(starts, a=np.where(same, starts.a, 0.0))
        return fastest(
            self.grid, CellSteps(np.diff(self.grid), starts, middles, ends), nodes, says
        )

    def uses(self, profile: SpeedProfile, pace: float = 1.0) -> list[Floats]:
        """Return uses at the start, in the middle and at the end of each cell, all (n, m)."""
        motions = (
            profile.of(self.grid[:-1]),
            profile.of(self.middles),
            profile.of(self.grid[1:], before=True),
        )
        rows = self._nodes.part(_STARTS), self._exact, self._nodes.part(_ENDS)
        found = [
            one.use(pace**2 * u, pace**2 * x) for one, (u, x) in zip(rows, motions, strict=True)
        ]
        if self._shares is None:
            return found
        middles, nodes = self._shares
        shares = nodes[_STARTS], middles, nodes[_ENDS]
        return [least_uses(use, share) for use, share in zip(found, shares, strict=True)]

    def excess(self, profile: SpeedProfile, pace: float = 1.0) -> Floats:
        """Return by how much each limit is exceeded in each cell, shape (n, m)."""
        uses, between = self.uses(profile, pace), self._looks[2]
        if between is None:
            return np.maximum.reduce(uses) - 1.0
        u, x = profile.of(between.places)
        several = np.split(between.rows.use(pace**2 * u, pace**2 * x), len(_LOOKS))
        half, (start, middle, end) = len(_LOOKS) // 2, uses
        return peaks(np.stack([start, *several[:half], middle, *several[half:], end])) - 1.0

    def pace(self, profile: SpeedProfile, tolerance: float) -> float:
        """
        Return the largest factor of speed, up to 1, with which no limit is exceeded.

        Raises
        ------
        NotSolvedError
            If there is none.

        """
        if self.excess(profile).max() <= tolerance:
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            if self.excess(profile, middle).max() <= tolerance:
                low = middle
            else:
                high = middle
        if low <= 0.0:
            excess = self.excess(profile)
            cell, row = np.unravel_index(int(np.argmax(excess)), excess.shape)
            raise NotSolvedError(
                f'retiming: {self.limits.names[row]} is exceeded by {excess[cell, row]:.2g} of it '
                f'at {self.grid[cell]:g}, however fine the grid is'
            )
        return low

    def report(self, profile: SpeedProfile) -> dict[str, LimitUse]:
        """Return what is used of each limit, by name."""
        times = np.diff(self.grid) / np.sqrt(profile.of(self.middles)[1])
        places = np.concatenate([self.grid[:-1], self.middles, self.grid[1:]])
        found: dict[str, LimitUse] = {}
        most_of_cells = 1.0 + self.excess(profile)
        every = np.concatenate(self.uses(profile))
        for name in dict.fromkeys(self.limits.names):
            rows = [k for k, one in enumerate(self.limits.names) if one == name]
            most = every[:, rows].max(axis=1)
            worst = int(np.argmax(most))
            reached = most_of_cells[:, rows].max(axis=1) >= _REACHED
            active = float(times[reached].sum() / times.sum())
            found[name] = LimitUse(float(most[worst]), float(places[worst]), active)
        return found
