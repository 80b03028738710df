# SPDX-License-Identifier: Apache-2.0
r"""
What the motion of a base asks of ground, wheels and arm, for many motions at once.

With coordinates and the arm's motion fixed, the wrench of the ground and all efforts are
polynomials of the motion of the base: of its inertial acceleration :math:`(a_x, a_y)`, yaw
acceleration :math:`\alpha`, yaw rate :math:`\omega`, and of the part s of the arm's speed (speeds
s v, accelerations :math:`s^2 a`):

.. math:: W = W_0 + W_x a_x + W_y a_y + W_\alpha \alpha + W_\omega \omega^2 + W_c s\omega
   + W_s s^2.

The speed along the ground does not enter (Galilei). Seven evaluations of the recursion of Newton
and Euler give the coefficients, and then all the motions that a planner or governor looks at are
one product of matrices. The spin of wheels is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.algebra.quaternions import vec3
from kane_dynamics.algorithms.newton_euler import transmitted
from kane_dynamics.exceptions import ConstraintError
from kane_dynamics.model.robot import Robot
from kane_dynamics.model.state import checked_coordinates, checked_robot, checked_speeds
from kane_dynamics.typing import Floats

_CASES = np.array(  # a_x, a_y, alpha, omega, s that determine the coefficients
    [
        [0.0, 0.0, 0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 1.0],
        [0.0, 0.0, 0.0, 1.0, 1.0],
    ]
)


@dataclass(frozen=True, eq=False, slots=True)
class BaseEffects:
    """
    Coefficients of the wrench of the ground and of the efforts. Built by `base_effects`.

    Parameters
    ----------
    wrenches : ndarray, shape (7, 6)
        Of (tau, f) of the ground on the robot about the origin of the world, world axes.
    efforts : ndarray, shape (7, nv)
        Of M a + C v + g, without armature and friction.

    """

    wrenches: Floats
    efforts: Floats

    def at(
        self, acceleration: ArrayLike, yaw_rate: ArrayLike, pace: ArrayLike = 1.0
    ) -> tuple[Floats, Floats]:
        """
        Return wrenches and efforts of motions.

        Parameters
        ----------
        acceleration : array_like, shape (..., 3)
            Of the base as `BaseMotion.acceleration`, for the base frame itself.
        yaw_rate, pace : array_like, shape (...)
            omega [rad/s] and s.

        Returns
        -------
        wrenches, efforts : ndarray, shapes (..., 6), (..., nv)

        """
        x, y, alpha = np.moveaxis(np.asarray(acceleration, dtype=float), -1, 0)
        chosen = _features(x, y, alpha, yaw_rate, pace)
        return chosen @ self.wrenches, chosen @ self.efforts


def base_effects(
    robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, still: Sequence[str] = ()
) -> BaseEffects:
    """
    Return what the motion of a planar base asks, at coordinates and a motion of the arm.

    Parameters
    ----------
    robot : Robot
        A robot with a planar base.
    q : array_like, shape (nq,)
        Coordinates.
    v, a : array_like, shape (nv,)
        Motion of the joints at full pace; what is given for the base does not count.
    still : sequence of str
        Speeds that do not count either: wheels.

    Raises
    ------
    ConstraintError
        If the base is not planar.
    InvalidInputError, NameNotFoundError
        If a shape is wrong, a number is not finite, or a name unknown.

    """
    place = checked_coordinates(planar_robot(robot), q)
    speeds, rates = (np.array(checked_speeds(robot, x, name)) for x, name in ((v, 'v'), (a, 'a')))
    stopped = [0, 1, 2, *(robot.velocity_index(name) for name in still)]
    speeds[stopped] = rates[stopped] = 0.0
    c, s = np.cos(place[2]), np.sin(place[2])
    found = []
    for x, y, alpha, omega, pace in _CASES.tolist():
        v_case, a_case = pace * speeds, pace**2 * rates
        v_case[2], a_case[:3] = omega, (c * x - s * y, s * x + c * y, alpha)
        efforts, wrench = transmitted(robot, place, v_case.tolist(), a_case.tolist())
        parts = vec3(wrench.dual), vec3(wrench.primary), efforts
        found.append(np.concatenate([np.asarray(part, dtype=float) for part in parts]))
    coefficients = np.linalg.solve(_features(*_CASES.T), np.array(found))
    return BaseEffects(coefficients[:, :6], coefficients[:, 6:])


def planar_robot(robot: Robot) -> Robot:
    """
    Return a robot, if its base is planar.

    Raises
    ------
    ConstraintError
        If it is not.
    InvalidInputError
        If it is no robot.

    """
    if checked_robot(robot).base != 'planar':
        raise ConstraintError(f'base_effects needs a planar base, this base is {robot.base}')
    return robot


def _features(
    x: ArrayLike, y: ArrayLike, alpha: ArrayLike, omega: ArrayLike, pace: ArrayLike
) -> Floats:
    """Return what the coefficients multiply, shape (..., 7)."""
    w, s = np.asarray(omega, dtype=float), np.asarray(pace, dtype=float)
    parts = np.broadcast_arrays(1.0, x, y, alpha, w * w, s * w, s * s)
    return np.stack(parts, axis=-1).astype(float)
