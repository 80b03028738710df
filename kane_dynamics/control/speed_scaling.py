# SPDX-License-Identifier: Apache-2.0
r"""
A trajectory played slower: the time along it, when others say at which pace it may go.

Along a path :math:`q(s)` at the rate :math:`r = \dot s` the motion is

.. math:: v = q'(s)\,r, \qquad a = q''(s)\,r^2 + q'(s)\,\dot r .

The rate follows the pace on ramps of constant :math:`\dot r`, so that speeds do not jump.
"""

from __future__ import annotations

from typing import NamedTuple

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_nonnegative, as_positive
from kane_dynamics.typing import Floats

__all__ = ['ScaledInstant', 'ScaledTime']


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

    def at(self, time: float, scaling: float, ramp: float) -> ScaledInstant:
        """
        Return where the trajectory is at a time; earlier ones count as the newest.

        Parameters
        ----------
        time : float
            [s].
        scaling : float
            Rate that is wanted since the time before, from 0 (stand) to 1 (full).
        ramp : float
            Time from the full rate to rest [s].

        Raises
        ------
        InvalidInputError
            If the pace is not between 0 and 1, or the ramp not > 0.

        """
        if as_nonnegative('pace', scaling) > 1.0:
            raise InvalidInputError(f'pace: need a number from 0 to 1, got {scaling:g}')
        passed, self._time = max(time - self._time, 0.0), max(time, self._time)
        on_ramp = min(passed, abs(scaling - self._rate) * as_positive('ramp [s]', ramp))
        reached = on_ramp < passed or scaling == self._rate
        slope = 0.0 if reached else (1.0 if scaling > self._rate else -1.0) / ramp
        after = scaling if reached else self._rate + slope * on_ramp
        played = 0.5 * (self._rate + after) * on_ramp + scaling * (passed - on_ramp)
        self._lag += passed - played if min(self._rate, after) < 1.0 else 0.0
        self._rate = after
        return ScaledInstant(self._lag, after, slope)
