# SPDX-License-Identifier: Apache-2.0
"""The functions of Gibbs and Appell, and of Gauss: arguments are checked, then they are called."""

from __future__ import annotations

from numpy.typing import ArrayLike

from kane_dynamics.formulations.gibbs_appell import (
    acceleration_gradient,
    gauss_measure,
    gauss_measure_gradient,
    gibbs,
)
from kane_dynamics.robot.checks import as_vector
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_coordinates, checked_speeds
from kane_dynamics.typing import Floats


def gibbs_function(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> float:
    """
    Return the Gibbs-Appell function S(q, v, a) (54) [W/s].

    Parameters
    ----------
    robot : Robot
        The robot.
    q : array_like, shape (nq,)
        Coordinates.
    v, a : array_like, shape (nv,)
        Speeds and accelerations.

    Raises
    ------
    InvalidInputError
        If a shape is wrong or a number is not finite.

    """
    return float(gibbs(robot, *_checked(robot, q, v, a)))


def gibbs_gradient(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Floats:
    """
    Return the gradient of S with respect to `a`, M a + C v (55), shape (nv,) [N m or N].

    Parameters
    ----------
    robot : Robot
        The robot.
    q : array_like, shape (nq,)
        Coordinates.
    v, a : array_like, shape (nv,)
        Speeds and accelerations.

    Raises
    ------
    InvalidInputError
        If a shape is wrong or a number is not finite.

    """
    return acceleration_gradient(robot, *_checked(robot, q, v, a))


def gauss_function(
    robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, tau: ArrayLike
) -> float:
    """
    Return Gauss's function sum_i (a_i - abar_i)' Psi_i (a_i - abar_i)/2 (31), (37).

    Efforts act as opposite wrenches on the two bodies of a joint, gravity and joint friction among
    the impressed forces. Of all accelerations that the constraints allow, the true one has the
    least value.

    Parameters
    ----------
    robot : Robot
        The robot.
    q : array_like, shape (nq,)
        Coordinates.
    v, a, tau : array_like, shape (nv,)
        Speeds, accelerations and efforts.

    Raises
    ------
    InvalidInputError
        If a shape is wrong or a number is not finite.
    SingularMassMatrixError
        If a body has no inertia in some direction: (37) then has no acceleration for it.

    """
    return gauss_measure(robot, *_checked(robot, q, v, a), as_vector('tau', tau, robot.nv))


def gauss_gradient(
    robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, tau: ArrayLike
) -> Floats:
    """
    Return the gradient of Gauss's function with respect to `a` (39), (61), shape (nv,).

    It is sum_i J_i' Psi_i (a_i - abar_i) = M a + C v + g + friction - tau, and needs no inverse of
    Psi_i.

    Parameters
    ----------
    robot : Robot
        The robot.
    q : array_like, shape (nq,)
        Coordinates.
    v, a : array_like, shape (nv,)
        Speeds and accelerations.
    tau : array_like, shape (nv,)
        Efforts on v [N m or N].

    Raises
    ------
    InvalidInputError
        If a shape is wrong or a number is not finite.

    """
    return gauss_measure_gradient(
        robot, *_checked(robot, q, v, a), as_vector('tau', tau, robot.nv)
    )


def _checked(
    robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike
) -> tuple[list[float], list[float], list[float]]:
    return (checked_coordinates(robot, q), checked_speeds(robot, v), checked_speeds(robot, a, 'a'))
