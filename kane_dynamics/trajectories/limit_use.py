# SPDX-License-Identifier: Apache-2.0
"""What a motion along a path uses of each limit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kane_dynamics.exceptions import NotSolvedError
from kane_dynamics.trajectories.free_sharing import least_uses
from kane_dynamics.trajectories.limit_rows import largest_pace
from kane_dynamics.trajectories.path_limits import PathLimits
from kane_dynamics.trajectories.speed_profile import Timing

_LOOKS = np.array([1e-6, 0.25, 0.5, 0.75, 1.0 - 1e-6])  # of the times between jumps
_REACHED = 0.99  # use of a limit that is active


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
        Part of the duration in which the limit is reached.

    """

    largest: float
    place: float
    active: float


class MotionUses:
    """
    Uses of all limits, at the ends of the smooth parts of a motion and between them.

    Parameters
    ----------
    limits : PathLimits
        Limits of a robot on a path.
    timing : Timing
        When it is where.
    free : bool
        Whether redundant motors share as the limits need it, not with least efforts.

    """

    def __init__(self, limits: PathLimits, timing: Timing, free: bool) -> None:
        starts, self._lengths = timing.times[:-1], np.diff(timing.times)
        moments = (starts[:, None] + self._lengths[:, None] * _LOOKS).ravel()
        self._limits, (self._places, u, x) = limits, timing.at(moments)
        rows = limits.at(self._places)
        self._drag, self._still, use = rows.d * np.sqrt(x)[:, None], rows.c, rows.use(u, x)
        if free:
            shares = limits.shares(self._places)
            self._still, use = least_uses(rows.c, shares), least_uses(use, shares)
        self._inertial = use - self._drag - self._still

    def scaling(self, tolerance: float) -> float:
        """
        Return the largest factor of speed, up to 1, with which no limit is exceeded by more.

        Raises
        ------
        NotSolvedError
            If there is none.

        """
        scaling = largest_pace(self._inertial, self._drag, self._still, 1.0 + tolerance)
        if scaling <= 0.0:
            at, row = np.unravel_index(int(np.argmax(self._still)), self._still.shape)
            raise NotSolvedError(
                f'retiming: {self._limits.says(int(row), float(self._still[at, row]))} at '
                f'{self._places[at]:g} of the path: only speed carries the robot over, and on '
                'this grid limits are exceeded; give more cells'
            )
        return scaling

    def report(self, scaling: float) -> dict[str, LimitUse]:
        """Return what is used of each limit at a part of the speed, by name."""
        every = scaling * (scaling * self._inertial + self._drag) + self._still
        result: dict[str, LimitUse] = {}
        names = self._limits.names
        for name in dict.fromkeys(names):
            most = every[:, [one == name for one in names]].max(axis=1)
            worst = int(np.argmax(most))
            reached = most.reshape(len(self._lengths), -1).max(axis=1) >= _REACHED
            active = float(self._lengths[reached].sum() / self._lengths.sum())
            result[name] = LimitUse(float(most[worst]), float(self._places[worst]), active)
        return result
