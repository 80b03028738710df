# SPDX-License-Identifier: Apache-2.0
r"""
Terms of the equation of motion of a robot: arguments are checked, then the algorithm is called.

.. math:: M(q) a + C(q, v) v + g(q) + D v + F \mathrm{sign}(v) = \tau + J^T w

Gravity stands on the left side; friction acts against :math:`\tau`; armature is part of M.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.algebra.quaternions import vec3
from kane_dynamics.algorithms.friction import joint_friction
from kane_dynamics.algorithms.gauss import gauss_coriolis_matrix, gauss_mass_matrix
from kane_dynamics.algorithms.kinematics import (
    momentum_vector,
    tree_center_of_mass,
    tree_kinetic_energy,
    tree_potential_energy,
)
from kane_dynamics.algorithms.newton_euler import (
    ExternalWrenches,
    newton_euler,
    required_effort,
    wrenches_on_bodies,
)
from kane_dynamics.robot.checks import as_number
from kane_dynamics.robot.motion import integrate_coordinates
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_coordinates, checked_speeds
from kane_dynamics.typing import Floats


def inverse_dynamics(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    external_wrenches: ExternalWrenches = None,
) -> Floats:
    r"""
    Return the efforts that produce `a`.

    :math:`\tau = M a + C v + g + D v + F \mathrm{sign}(v) - J^T w`.

    By dual quaternion Newton-Euler (Silva et al., (19)-(30)).

    Parameters
    ----------
    robot : Robot
        The robot.
    q : array_like, shape (nq,)
        Coordinates.
    v, a : array_like, shape (nv,)
        Speeds and accelerations.
    external_wrenches : mapping of str to array_like, shape (6,), optional
        Wrench (tau, f) [N m, N] that acts on a link, about the link's origin in the link's axes.

    Returns
    -------
    ndarray, shape (nv,)
        Efforts on v [N m or N].

    Raises
    ------
    InvalidInputError
        If a shape is wrong or a number is not finite.
    NameNotFoundError
        If a wrench names a link that does not exist.

    """
    return required_effort(
        robot,
        checked_coordinates(robot, q),
        checked_speeds(robot, v),
        checked_speeds(robot, a, 'a'),
        wrenches_on_bodies(robot, external_wrenches),
    )


def bias_force(robot: Robot, q: ArrayLike, v: ArrayLike) -> Floats:
    """
    Return C v + g, shape (nv,) [N m or N]: inverse dynamics at a = 0 without friction.

    Parameters
    ----------
    robot : Robot
        The robot.
    q : array_like, shape (nq,)
        Coordinates.
    v : array_like, shape (nv,)
        Speeds.

    Raises
    ------
    InvalidInputError
        If a shape is wrong or a number is not finite.

    """
    coordinates, speeds = checked_coordinates(robot, q), checked_speeds(robot, v)
    result: Floats = newton_euler(robot, coordinates, speeds, [0.0] * robot.nv)
    return result


def gravity_force(robot: Robot, q: ArrayLike) -> Floats:
    """
    Return g of M a + C v + g = tau, shape (nv,) [N m or N] (Silva et al., (51)).

    Parameters
    ----------
    robot : Robot
        The robot.
    q : array_like, shape (nq,)
        Coordinates.

    Raises
    ------
    InvalidInputError
        If a shape is wrong or a number is not finite.

    """
    coordinates = checked_coordinates(robot, q)
    at_rest = [0.0] * robot.nv
    result: Floats = newton_euler(robot, coordinates, at_rest, at_rest)
    return result


def friction_force(robot: Robot, v: ArrayLike) -> Floats:
    """
    Return D v + F sign(v), shape (nv,) [N m or N]: what the actuators need against friction.

    Parameters
    ----------
    robot : Robot
        The robot.
    v : array_like, shape (nv,)
        Speeds.

    Raises
    ------
    InvalidInputError
        If a shape is wrong or a number is not finite.

    """
    return joint_friction(robot, checked_speeds(robot, v))


def mass_matrix(robot: Robot, q: ArrayLike) -> Floats:
    """
    Return M(q), shape (nv, nv), symmetric, armature included (Silva et al., (46)).

    Parameters
    ----------
    robot : Robot
        The robot.
    q : array_like, shape (nq,)
        Coordinates.

    Raises
    ------
    InvalidInputError
        If a shape is wrong or a number is not finite.

    """
    return gauss_mass_matrix(robot, checked_coordinates(robot, q))


def coriolis_matrix(robot: Robot, q: ArrayLike, v: ArrayLike) -> Floats:
    """
    Return C(q, v), shape (nv, nv), with dM/dt - 2 C skew (Silva et al., (47), (52)).

    Parameters
    ----------
    robot : Robot
        The robot.
    q : array_like, shape (nq,)
        Coordinates.
    v : array_like, shape (nv,)
        Speeds.

    Raises
    ------
    InvalidInputError
        If a shape is wrong or a number is not finite.

    """
    return gauss_coriolis_matrix(robot, checked_coordinates(robot, q), checked_speeds(robot, v))


def kinetic_energy(robot: Robot, q: ArrayLike, v: ArrayLike) -> float:
    """
    Return v' M v / 2 [J].

    Parameters
    ----------
    robot : Robot
        The robot.
    q : array_like, shape (nq,)
        Coordinates.
    v : array_like, shape (nv,)
        Speeds.

    Raises
    ------
    InvalidInputError
        If a shape is wrong or a number is not finite.

    """
    return float(
        tree_kinetic_energy(robot, checked_coordinates(robot, q), checked_speeds(robot, v))
    )


def potential_energy(robot: Robot, q: ArrayLike) -> float:
    """
    Return -sum m_i <gravity, p_i> [J], zero with all masses at the world origin.

    Parameters
    ----------
    robot : Robot
        The robot.
    q : array_like, shape (nq,)
        Coordinates.

    Raises
    ------
    InvalidInputError
        If a shape is wrong or a number is not finite.

    """
    return float(tree_potential_energy(robot, checked_coordinates(robot, q)))


def center_of_mass(robot: Robot, q: ArrayLike) -> Floats:
    """
    Return the centre of mass in the world, shape (3,) [m].

    Parameters
    ----------
    robot : Robot
        The robot.
    q : array_like, shape (nq,)
        Coordinates.

    Raises
    ------
    InvalidInputError
        If a shape is wrong or a number is not finite.

    """
    return np.array(vec3(tree_center_of_mass(robot, checked_coordinates(robot, q))), dtype=float)


def momentum(robot: Robot, q: ArrayLike, v: ArrayLike) -> Floats:
    """
    Return the momentum (angular about the centre of mass, linear), in world axes, shape (6,).

    In [N m s] and [N s].

    Parameters
    ----------
    robot : Robot
        The robot.
    q : array_like, shape (nq,)
        Coordinates.
    v : array_like, shape (nv,)
        Speeds.

    Raises
    ------
    InvalidInputError
        If a shape is wrong or a number is not finite.

    """
    coordinates, speeds = checked_coordinates(robot, q), checked_speeds(robot, v)
    return np.array(momentum_vector(robot, coordinates, speeds), dtype=float)


def momentum_matrix(robot: Robot, q: ArrayLike) -> Floats:
    """
    Return the matrix that makes `momentum` of v, shape (6, nv).

    Parameters
    ----------
    robot : Robot
        The robot.
    q : array_like, shape (nq,)
        Coordinates.

    Raises
    ------
    InvalidInputError
        If a shape is wrong or a number is not finite.

    """
    coordinates = checked_coordinates(robot, q)
    columns = [momentum_vector(robot, coordinates, e) for e in np.eye(robot.nv).tolist()]
    return np.array(columns, dtype=float).T.reshape(6, robot.nv)


def integrate(robot: Robot, q: ArrayLike, v: ArrayLike, dt: float) -> Floats:
    """
    Return q (+) v dt on the manifold: unit quaternions stay unit.

    Parameters
    ----------
    robot : Robot
        The robot.
    q : array_like, shape (nq,)
        Coordinates.
    v : array_like, shape (nv,)
        Speeds, constant in each joint's child frame.
    dt : float
        Time [s], may be negative.

    Raises
    ------
    InvalidInputError
        If a shape is wrong or a number is not finite.

    """
    return integrate_coordinates(
        robot, checked_coordinates(robot, q), checked_speeds(robot, v), as_number('dt [s]', dt)
    )
