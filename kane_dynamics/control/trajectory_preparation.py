# SPDX-License-Identifier: Apache-2.0
"""A trajectory on its way to a controller, filled soon or beside the callbacks; no rclpy."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kane_dynamics.background import BackgroundTask
from kane_dynamics.trajectories.effort_points import EffortViolation
from kane_dynamics.trajectories.joint_trajectory import JointTrajectory

Found = tuple[JointTrajectory, tuple[EffortViolation, ...]]
Find = Callable[[Callable[[], bool]], Found]
Finish = Callable[[Found, int], 'Filled']


class Filled(NamedTuple):
    """A trajectory for the controller."""

    values: JointTrajectory  # What came and what goes
    points: JointTrajectory  # What came and what goes
    clamped: tuple[EffortViolation, ...]  # Efforts beyond their limits

    def origin(self, sent: int) -> int:
        """Return the point that came to which a point that goes leads."""
        times = self.values.times
        at = self.points.times[min(max(sent, 0), len(self.points.times) - 1)]
        return min(int(np.searchsorted(times, at - 1e-9)), len(times) - 1)


class Preparation:
    """The efforts of one trajectory, being found."""

    def __init__(self, find: Find, finish: Finish, patience: float) -> None:
        self._stopped = threading.Event()
        self._finish, self._work = finish, BackgroundTask(lambda: find(self._stopped.is_set))
        self._work.wait(patience)

    def done(self) -> bool:
        """Return whether there is a result, or an error."""
        return self._work.done()

    def stop(self) -> None:
        """Say that nobody wants the result any more."""
        self._stopped.set()

    def filled(self, time: int) -> Filled:
        """Wait for the efforts, and write them; raises what kept them from being found."""
        return self._finish(self._work.result(), time)
