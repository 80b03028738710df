# SPDX-License-Identifier: Apache-2.0
"""Efforts that begin softly and change no faster than motors and gears like."""

from __future__ import annotations

import numpy as np

from kane_dynamics.typing import Floats


class EffortRateLimiter:
    """
    Lets efforts grow from zero over a time, and limits how fast each may change.

    Parameters
    ----------
    size : int
        Number of motors.

    Attributes
    ----------
    duration : float
        Time in which the efforts grow from zero to what is wanted, >= 0 [s].
    rate : ndarray, shape (size,)
        Largest change of each, > 0, infinite where there is no limit [N m/s or N/s].

    """

    def __init__(self, size: int) -> None:
        self.duration, self.rate = 0.0, np.full(size, np.inf)
        self.halt()

    def halt(self) -> None:
        """Begin anew from zero with the next efforts."""
        self._begin: int | None = None
        self._last_time, self._last = 0, np.zeros(len(self.rate))

    def share(self, time: int) -> float:
        """Return how much of the wanted efforts is let through at a time [ns], 0 to 1."""
        if not self.duration:
            return 1.0
        if self._begin is None:
            return 0.0
        return min(1.0, max(0.0, (time - self._begin) * 1e-9 / self.duration))

    def limited(self, time: int, effort: Floats) -> Floats:
        """
        Return what becomes of the wanted efforts at a time.

        Parameters
        ----------
        time : int
            [ns]; where it goes back, no time has passed.
        effort : ndarray, shape (size,)
            Wanted efforts, finite.

        """
        if self._begin is None:
            self._begin = self._last_time = time
        passed = max(0, time - self._last_time) * 1e-9
        step = self.rate.copy()
        step[np.isfinite(step)] *= passed
        target = self.share(time) * effort
        self._last = np.clip(target, self._last - step, self._last + step)
        self._last_time = max(time, self._last_time)
        return self._last.copy()
