# SPDX-License-Identifier: Apache-2.0
r"""
The motion of a base whose drives follow a commanded twist, and what an IMU tells of it.

Each component u of the twist follows its command :math:`u_c` with a lag and a bounded rate,

.. math:: \dot u = \max(-A, \min(A, (u_c - u)/T)),

which is the filtered derivative of the command, and a model of the drives. The solution over any
time is exact: a ramp at A, then what is left dies out as :math:`e^{-t/T}`.

Twists are (v_x, v_y, yaw rate) of one frame C of the base, in C; accelerations are the inertial
ones of its origin, in C, and the yaw acceleration:
:math:`(\dot v_x - \omega v_y, \dot v_y + \omega v_x, \dot\omega)`.
"""

from typing import Any, NamedTuple

import numpy as np

from kane_dynamics.algebra.scalars import absolute, exp, sign, where
from kane_dynamics.algorithms.sparse_ldl import smaller
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot import checks
from kane_dynamics.typing import ArrayLike, Floats

__all__ = ['BaseMotion', 'DriveResponse']


class BaseMotion(NamedTuple):
    """
    Motion of a frame of a base in the plane, in its own axes.

    Parameters
    ----------
    twist : ndarray, shape (..., 3)
        v_x, v_y [m/s] and yaw rate [rad/s].
    acceleration : ndarray, shape (..., 3)
        Of the origin along x and y [m/s^2], and of the yaw [rad/s^2].

    """

    twist: Floats
    acceleration: Floats


class DriveResponse:
    """
    How drives follow a commanded twist.

    Parameters
    ----------
    time_constant : float
        T of the lag [s].
    acceleration_limit : array_like, shape (3,)
        A for v_x, v_y [m/s^2] and the yaw rate [rad/s^2]; infinite where there is none.

    Raises
    ------
    InvalidInputError
        If a number is negative or NaN, or a component has neither a lag nor a limit.

    """

    def __init__(
        self, time_constant: float, acceleration_limit: ArrayLike = (np.inf, np.inf, np.inf)
    ) -> None:
        self._lag = checks.as_nonnegative('time_constant [s]', time_constant)
        limit = checks.as_numbers('acceleration_limit [m/s^2, m/s^2, rad/s^2]', acceleration_limit)
        if limit.shape != (3,) or not (limit > 0.0).all():
            raise InvalidInputError(
                'acceleration_limit [m/s^2, m/s^2, rad/s^2]: need three numbers > 0, got '
                f'{checks.describe(acceleration_limit)}'
            )
        if self._lag == 0.0 and np.isinf(limit).any():
            raise InvalidInputError(
                'a drive without a limit of its acceleration needs a time_constant > 0'
            )
        self._limit = limit
        self.parameters = np.array([self._lag, *limit])  # T, and A of each component
        self.parameters.setflags(write=False)

    def after(self, twist: ArrayLike, command: ArrayLike, time: ArrayLike) -> BaseMotion:
        """
        Return the motion a time after `twist`, under a command that stands.

        Parameters
        ----------
        twist, command : array_like, shape (..., 3)
            In the same frame.
        time : array_like, shape (...)
            [s].

        Raises
        ------
        InvalidInputError
            If a shape is wrong, a number is not finite, or a time negative.

        """
        start, goal = _twists('twist', twist), _twists('command', command)
        duration = checks.as_numbers('time [s]', time)[..., None]
        if not (duration >= 0.0).all() or np.isinf(duration).any():
            raise InvalidInputError(
                f'time [s]: need finite numbers >= 0, got {checks.describe(time)}'
            )
        return moving(*followed(start, goal, duration, self._lag, self._limit))

    def covered(self, twist: ArrayLike, command: ArrayLike, time: ArrayLike) -> Floats:
        r"""
        Return the integral of the twist, each component in C, over a time under a command.

        Where the rate is bounded the gap g to the command obeys :math:`\int g = (g_0^2 -
        g^2)/(2A)`, where the lag rules :math:`\int g = T (g_0 - g)`. Parameters and errors as for
        `after`.
        """
        start, goal = _twists('twist', twist), _twists('command', command)
        last = np.abs(goal - self.after(start, goal, time).twist)
        first, lag, limit = np.abs(goal - start), self._lag, self._limit
        knee = np.minimum(first, lag * limit)  # from where on the lag rules
        bounded = (first**2 - np.maximum(last, knee) ** 2) / (2.0 * limit)
        lacking = bounded + lag * np.maximum(knee - last, 0.0)
        duration = checks.as_numbers('time [s]', time)[..., None]
        return goal * duration - np.sign(goal - start) * lacking


def followed(start: Any, goal: Any, duration: Any, lag: Any, limit: Any) -> tuple[Any, Any]:
    """Return a component of the twist after a time, and its rate; numbers, arrays or traced."""
    gap, lags = absolute(goal - start), lag > 0.0
    beyond = gap > lag * limit
    most = where(beyond, limit, 1.0)  # finite
    ramped = where(beyond, smaller(gap - lag * most, duration * most), 0.0)
    gap = gap - ramped  # the bounded rate has taken some of it
    slow = where(lags, lag, 1.0)
    gap = where(lags, gap * exp(-(duration - ramped / limit) / slow), gap)
    rate = where(lags, smaller(gap / slow, limit), where(gap > 0.0, limit, 0.0))
    side = sign(goal - start)
    return goal - side * gap, side * rate


def moving(twist: Floats, rate: Floats) -> BaseMotion:
    """Return the motion of a frame from its twist and the derivative of that, each in C."""
    turning = twist[..., 2:]
    across = np.concatenate([-twist[..., 1:2], twist[..., :1]], axis=-1)
    acceleration = np.concatenate([rate[..., :2] + turning * across, rate[..., 2:]], axis=-1)
    return BaseMotion(twist, acceleration)


def _twists(what: str, x: ArrayLike) -> Floats:
    rows = checks.as_numbers(what, x)
    if rows.shape[-1:] != (3,):
        raise InvalidInputError(f'{what}: need shape (3,) or (..., 3), got shape {rows.shape}')
    return checks.as_finite(what, rows)


def sensed_acceleration(
    specific_force: ArrayLike,
    rotation: ArrayLike,
    position: ArrayLike,
    yaw_rate: float,
    yaw_acceleration: float,
    gravity: ArrayLike = (0.0, 0.0),
) -> Floats:
    """Return the acceleration of the frame C of a base from what an accelerometer on it shows."""
    turned = checks.as_shaped('rotation', rotation, (3, 3))
    x, y, _ = checks.as_vector('position [m]', position, 3).tolist()
    force = (turned @ checks.as_vector('specific_force [m/s^2]', specific_force, 3))[:2]
    arm = np.array([x, y])
    across = np.array([-y, x])
    level = force + checks.as_vector('gravity [m/s^2]', gravity, 2)
    return np.append(level - yaw_acceleration * across + yaw_rate**2 * arm, yaw_acceleration)
