# SPDX-License-Identifier: Apache-2.0
r"""
Effort rate limiter, and trajectory time under an external speed-scaling factor.

Along a path :math:`q(s)` at the rate :math:`r = \dot s` the motion is

.. math:: v = q'(s)\,r, \qquad a = q''(s)\,r^2 + q'(s)\,\dot r .

The rate follows the scaling factor on ramps of constant :math:`\dot r`: speeds do not jump.
"""

from typing import NamedTuple

import numpy as np

from kane_dynamics.robot.checks import as_positive, as_share
from kane_dynamics.typing import Floats

__all__ = ['ScaledInstant', 'ScaledTime']


class EffortRateLimiter:
    """Lets efforts grow from zero over a time, and limits how fast each may change."""

    def __init__(self, size: int) -> None:
        self._size = size
        self.configure(0.0, np.zeros(size))
        self.reset()

    def configure(self, duration: float, rate: Floats) -> None:
        """Take over the time of growth [s] and the limits [N m/s or N/s]; 0: none."""
        self.duration, self.rate = duration, np.where(rate > 0.0, rate, np.inf)
        self._limited = bool(rate.any())

    def reset(self) -> None:
        """Restart from zero with the next efforts."""
        self._begin: int | None = None
        self._last_time, self._last = 0, np.zeros(self._size)

    def share(self, time: int) -> float:
        """Return how much of the wanted efforts is let through at a time [ns], 0 to 1."""
        if not self.duration:
            return 1.0
        if self._begin is None:
            return 0.0
        return min(1.0, max(0.0, (time - self._begin) * 1e-9 / self.duration))

    def limited(self, time: int, effort: Floats) -> Floats:
        """Return what becomes of the wanted efforts at a time."""
        if self._begin is None:
            self._begin = self._last_time = time
        result = effort if not self.duration else self.share(time) * effort
        if self._limited:
            step = self.rate.copy()
            step[np.isfinite(step)] *= max(0, time - self._last_time) * 1e-9
            result = np.clip(result, self._last - step, self._last + step)
        self._last, self._last_time = result, max(time, self._last_time)
        return result


class ScaledInstant(NamedTuple):
    """
    Where a trajectory is played at an instant.

    Parameters
    ----------
    lag : float
        By which it is late [s]: s = t - lag.
    rate, change : float
        r [1] and its derivative [1/s].

    """

    lag: float
    rate: float
    change: float

    def motion(
        self, position: Floats, velocity: Floats, acceleration: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Return position, velocity and acceleration over time from those along the path."""
        return (
            position,
            velocity * self.rate,
            acceleration * self.rate**2 + velocity * self.change,
        )


class ScaledTime:
    """
    The time along one trajectory, which begins at the full rate.

    Parameters
    ----------
    start : float
        Time at which it begins [s].

    """

    def __init__(self, start: float) -> None:
        self._time, self._lag, self._rate = start, 0.0, 1.0

    def at(self, time: float, speed_scaling: float, ramp: float) -> ScaledInstant:
        """
        Return where the trajectory is at a time; earlier ones count as the newest.

        Parameters
        ----------
        time : float
            [s].
        speed_scaling : float
            Rate since the time before, from 0 (stand) to 1 (full).
        ramp : float
            Time from the full rate to rest [s].

        Raises
        ------
        InvalidInputError
            If the scaling is not between 0 and 1, or the ramp not > 0.

        """
        as_share('speed_scaling', speed_scaling)
        passed, self._time = max(time - self._time, 0.0), max(time, self._time)
        on_ramp = min(passed, abs(speed_scaling - self._rate) * as_positive('ramp [s]', ramp))
        reached = on_ramp < passed or speed_scaling == self._rate
        slope = 0.0 if reached else (1.0 if speed_scaling > self._rate else -1.0) / ramp
        after = speed_scaling if reached else self._rate + slope * on_ramp
        played = 0.5 * (self._rate + after) * on_ramp + speed_scaling * (passed - on_ramp)
        self._lag += passed - played if min(self._rate, after) < 1.0 else 0.0
        self._rate = after
        return ScaledInstant(self._lag, after, slope)
