# SPDX-License-Identifier: Apache-2.0
"""The fastest profile on one grid, and what it uses of each limit on and between its cells."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kane_dynamics.exceptions import NotSolvedError
from kane_dynamics.trajectories.fastest import fastest
from kane_dynamics.trajectories.free_sharing import least_uses, projected
from kane_dynamics.trajectories.path_limits import LimitRows, PathLimits
from kane_dynamics.trajectories.speed_profile import SpeedProfile
from kane_dynamics.typing import Floats

_NEWTON = 8  # rounds for viscous friction, which goes with the root of x
_SETTLED = 1e-6  # relative change of the duration
_HALVINGS = 40  # of the interval of a factor of time
_LOOKS = (-0.75, -0.5, -0.25, 0.25, 0.5, 0.75)  # from the middle of a cell to its ends
_REACHED = 0.99  # use of a limit that is active


def _together(row: int, use: float) -> str:
    return 'all limits together, however redundant motors share'


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

    """

    def __init__(self, limits: PathLimits, grid: Floats, tight: Floats, free: bool) -> None:
        self.limits, self.grid = limits, grid
        self.middles, reach = 0.5 * (grid[1:] + grid[:-1]), 0.5 * np.diff(grid)
        self._exact, self._nodes = limits.at(self.middles, reach), limits.at(grid)
        # a limit that depends much on the place is exceeded most between the middle and the ends
        self._others = np.concatenate([self.middles + part * reach for part in _LOOKS])
        if not free:
            self._between = limits.at(self._others)
        self._shares = (limits.shares(self.middles), limits.shares(grid)) if free else None
        self._cells = replace(self._exact, c=self._exact.c + tight)

    def fastest(self) -> SpeedProfile:
        """Return the fastest profile; errors as for `fastest.fastest`."""
        profile = self._under(*(replace(one, d=0.0 * one.d) for one in (self._cells, self._nodes)))
        if not self._cells.d.any():
            return profile
        for _ in range(_NEWTON):
            before = profile.duration
            cells = self._cells.tangent(profile.of(self.middles)[1])
            profile = self._under(cells, self._nodes.tangent(profile.of(self.grid)[1]))
            if abs(profile.duration / before - 1.0) < _SETTLED:
                break
        return profile

    def _under(self, cells: LimitRows, nodes: LimitRows) -> SpeedProfile:
        """Return the fastest profile under rows without d."""
        if self._shares is None:
            return fastest(self.grid, cells, nodes, self.limits.says)
        cells = projected(cells, self._shares[0], self.middles)
        nodes = projected(nodes, self._shares[1], self.grid)
        return fastest(self.grid, cells, nodes, _together)

    def uses(self, profile: SpeedProfile, pace: float = 1.0) -> tuple[Floats, Floats]:
        """Return uses in the middles and at the grid, at a pace, (n, m) and (n + 1, m)."""
        middles, nodes = (profile.of(at) for at in (self.middles, self.grid))
        inside = self._exact.use(*(pace**2 * part for part in middles))
        ends = self._nodes.use(*(pace**2 * part for part in nodes))
        if self._shares is None:
            return inside, ends
        return least_uses(inside, self._shares[0]), least_uses(ends, self._shares[1])

    def excess(self, profile: SpeedProfile, pace: float = 1.0) -> Floats:
        """Return by how much each limit is exceeded in each cell, shape (n, m)."""
        inside, ends = self.uses(profile, pace)
        uses = [inside, ends[1:], ends[:-1]]
        if self._shares is None:
            between = self._between.use(*(pace**2 * part for part in profile.of(self._others)))
            uses += np.split(between, len(_LOOKS))
        return np.maximum.reduce(uses) - 1.0

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
        inside, ends = self.uses(profile)
        times = np.diff(self.grid) / np.sqrt(profile.of(self.middles)[1])
        places = np.concatenate([self.middles, self.grid])
        found: dict[str, LimitUse] = {}
        most_of_cells = 1.0 + self.excess(profile)
        every = np.concatenate([inside, ends])
        for name in dict.fromkeys(self.limits.names):
            rows = [k for k, one in enumerate(self.limits.names) if one == name]
            most = every[:, rows].max(axis=1)
            worst = int(np.argmax(most))
            reached = most_of_cells[:, rows].max(axis=1) >= _REACHED
            active = float(times[reached].sum() / times.sum())
            found[name] = LimitUse(float(most[worst]), float(places[worst]), active)
        return found
