# SPDX-License-Identifier: Apache-2.0
"""
Joint trajectories interpolated in time: linear, cubic or quintic by what their points give.

The splines are those of ros2_controllers' joint_trajectory_controller: positions alone give
straight lines, positions and velocities cubic, and with accelerations quintic Hermite splines.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import BPoly

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import check_increasing, not_finite
from kane_dynamics.typing import Floats

__all__ = ['Setpoint', 'Trajectory', 'braking']


@dataclass(frozen=True, eq=False)
class Setpoint:
    """
    Wanted values that do not depend on time, from a sender that renews them.

    Parameters
    ----------
    position, velocity, acceleration : ndarray, shape (k,)
        [rad, rad/s, rad/s^2 or m, m/s, m/s^2].

    """

    position: Floats
    velocity: Floats
    acceleration: Floats

    def at(self, time: float) -> tuple[Floats, Floats, Floats]:
        """Return position, velocity and acceleration, whatever the time [s]."""
        return self.position, self.velocity, self.acceleration


class Trajectory:
    """
    Motion through points; after the last one it rests there.

    Parameters
    ----------
    times : array_like, shape (n,)
        Times of the points [s], strictly increasing.
    positions : array_like, shape (n, k)
        Positions of k joints [rad or m].
    velocities : array_like, shape (n, k), optional
        [rad/s or m/s].
    accelerations : array_like, shape (n, k), optional
        [rad/s^2 or m/s^2]; they count with velocities only.

    Raises
    ------
    InvalidInputError
        If there is no point, the times do not increase, shapes differ, a number is not finite,
        or there are accelerations without velocities.

    """

    def __init__(
        self,
        times: ArrayLike,
        positions: ArrayLike,
        velocities: ArrayLike | None = None,
        accelerations: ArrayLike | None = None,
    ) -> None:
        if velocities is None and accelerations is not None:
            raise InvalidInputError('a trajectory with accelerations needs velocities too')
        arguments = (positions, velocities, accelerations)
        derivatives = [np.array(x, dtype=float) for x in arguments if x is not None]
        self._times = np.array(times, dtype=float)
        _check(self._times, derivatives)
        self._last = derivatives[0][-1]
        self._splines: tuple[BPoly, BPoly, BPoly] | None = None
        if len(self._times) > 1:
            spline = BPoly(_bernstein(self._times, derivatives), self._times, extrapolate=False)
            self._splines = (spline, spline.derivative(), spline.derivative(2))

    @property
    def start(self) -> float:
        """Return the time of the first point [s]."""
        return float(self._times[0])

    @property
    def end(self) -> float:
        """Return the time of the last point [s]."""
        return float(self._times[-1])

    def at(self, time: float) -> tuple[Floats, Floats, Floats]:
        """
        Return position, velocity and acceleration at a time [s], each of shape (k,).

        Before the first point and after the last one the joints rest there.
        """
        if self._splines is not None and self.start <= time <= self.end:
            position, velocity, acceleration = (spline(time) for spline in self._splines)
            return position, velocity, acceleration
        remainder = np.zeros_like(self._last)
        if self._splines is not None and time < self.start:
            return self._splines[0](self.start), remainder, remainder
        return self._last, remainder, remainder


def braking(position: ArrayLike, velocity: ArrayLike, duration: float) -> Trajectory:
    """
    Return the motion that comes to rest with constant deceleration and stays there.

    Parameters
    ----------
    position, velocity : array_like, shape (k,)
        State at time zero.
    duration : float
        Time until rest [s].

    """
    p, v = np.asarray(position, dtype=float), np.asarray(velocity, dtype=float)
    # the cubic through these ends is the parabola of constant deceleration
    stop = p + 0.5 * duration * v
    return Trajectory([0.0, duration], [p, stop], [v, np.zeros_like(v)])


def _bernstein(times: Floats, derivatives: list[Floats]) -> Floats:
    """Return the Bernstein coefficients of the Hermite spline, shape (degree + 1, n - 1, k)."""
    h, degree = np.diff(times)[:, None], 2 * len(derivatives) - 1
    left, right = [derivatives[0][:-1]], [derivatives[0][1:]]
    if degree >= 3:
        slope = h / degree
        left.append(left[0] + slope * derivatives[1][:-1])
        right.append(right[0] - slope * derivatives[1][1:])
    if degree == 5:
        bend = h**2 / (degree * (degree - 1))
        left.append(2.0 * left[1] - left[0] + bend * derivatives[2][:-1])
        right.append(2.0 * right[1] - right[0] + bend * derivatives[2][1:])
    return np.array([*left, *reversed(right)])


def _check(times: Floats, derivatives: list[Floats]) -> None:
    """Raise InvalidInputError if the points do not make a trajectory."""
    if times.ndim != 1 or not len(times):
        raise InvalidInputError(
            f'times [s]: need shape (n,), at least one, got shape {times.shape}'
        )
    shape = (len(times), *derivatives[0].shape[1:])
    for name, values in zip(
        ('positions', 'velocities', 'accelerations'), derivatives, strict=False
    ):
        if values.ndim != 2 or values.shape != shape:
            raise InvalidInputError(f'{name} need shape {shape}, got {values.shape}')
        if not np.isfinite(values).all():
            raise InvalidInputError(f'{name} must be finite, got {not_finite(values)}')
    check_increasing('times [s]', times)
