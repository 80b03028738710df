# SPDX-License-Identifier: Apache-2.0
r"""
Wrenches at centres of mass, and those of a distant attracting body (Parsa, (33), section 4.2).

In orbit gravity depends on the place: a body at :math:`r` from the attracting centre feels

.. math:: f = -\mu m \frac{r}{|r|^3}, \qquad n = \frac{3\mu}{|r|^5}\, r \times (I r)

at its centre of mass, the gravity-gradient torque being the first term that its extension adds.
A base acceleration cannot stand for such a field, so the wrenches enter as external ones. What is
left out of the force is smaller by the square of (size of the body)/|r|.
"""

from collections.abc import Mapping

import numpy as np

from kane_dynamics.algebra.dual_quaternion import vec6, wrench_from_vector
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algorithms.kinematics import body_poses
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_mapping, as_positive, as_vector
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_coordinates, checked_robot
from kane_dynamics.typing import ArrayLike, Floats

EARTH = 3.986004418e14  # gravitational parameter mu of the Earth [m^3/s^2], WGS 84


def orbital_wrenches(
    robot: Robot, q: ArrayLike, centre: ArrayLike = (0.0, 0.0, 0.0), mu: float = EARTH
) -> dict[str, Floats]:
    """
    Return the wrenches of a central gravity field on all bodies that have mass.

    They come on top of ``robot.gravity``, which should be zero in orbit.

    Parameters
    ----------
    robot : Robot
        The robot.
    q : array_like, shape (nq,)
        Coordinates.
    centre : array_like, shape (3,), optional
        The attracting centre, in the world frame [m].
    mu : float
        Gravitational parameter of the attracting body [m^3/s^2]; that of the Earth if left out.

    Returns
    -------
    dict of str to ndarray, shape (6,)
        Wrench (tau, f) [N m, N] on each body, about the origin of its frame in its axes: the
        ``external_wrenches`` of `inverse_dynamics` and `forward_dynamics`.

    Raises
    ------
    InvalidInputError
        If a shape is wrong, a number is not finite, mu is not positive, or a centre of mass lies
        at the attracting centre.

    Examples
    --------
    >>> robot = kd.serial_chain(2)
    >>> wrenches = kd.orbital_wrenches(robot, robot.neutral(), centre=[0, 0, -7e6], mu=3.986e14)
    >>> wrenches['link_2'].shape
    (6,)

    """
    coordinates = checked_coordinates(robot, q)
    origin = as_vector('centre [m]', centre, 3)
    strength = as_positive('mu [m^3/s^2]', mu)
    at_com = {}
    for body, pose in zip(robot.bodies, body_poses(robot, coordinates), strict=True):
        if body.inertia.mass == 0.0:
            continue
        from_world = pose.rotation_matrix().T
        r = from_world @ (pose.position() - origin) + body.inertia.com
        distance = float(np.linalg.norm(r))
        if distance == 0.0:
            raise InvalidInputError(f"body '{body.name}' has its centre of mass at the centre")
        torque = 3.0 * strength / distance**5 * np.cross(r, body.inertia.tensor @ r)
        force = -strength * body.inertia.mass / distance**3 * r
        at_com[body.name] = np.concatenate([torque, force])
    return wrenches_at_com(robot, at_com)


def wrenches_at_com(robot: Robot, wrenches: Mapping[str, ArrayLike]) -> dict[str, Floats]:
    """
    Return external wrenches from such ones at centres of mass (Parsa (33)).

    Links that a description welds together share one body: the centre of mass and the axes are
    those of the body that carries the link, not of the link alone. A body without mass has its
    centre of mass at the origin of its frame.

    Parameters
    ----------
    robot : Robot
        The robot.
    wrenches : mapping of str to array_like, shape (6,)
        (n, f) [N m, N] at the centre of mass of the body that carries the link, in the axes of
        that body.

    Returns
    -------
    dict of str to ndarray, shape (6,)
        Wrench (tau, f) [N m, N] on each link, about the link's origin in the link's axes: the
        ``external_wrenches`` of `inverse_dynamics` and `forward_dynamics`.

    Raises
    ------
    InvalidInputError
        If a wrench is not six finite numbers, or its link is part of the world.
    NameNotFoundError
        If there is no such link.

    Examples
    --------
    >>> robot = kd.serial_chain(2)
    >>> kd.wrenches_at_com(robot, {'link_2': [0, 0, 0, 0, 0, 1.0]})['link_2'].shape
    (6,)

    """
    about_origins = {}
    checked_robot(robot)
    for link, vector in as_mapping('wrenches', wrenches).items():
        wrench_C = wrench_from_vector(
            as_vector(f"wrench on '{link}' [N m, N]", vector, 6).tolist()
        )
        com = robot.bodies[robot.moving_body(link)].inertia.com
        x_C_B = Pose.shift(com)
        x_F_B = robot.frame(link).pose
        force, moment = np.split(vec6(x_F_B.adjoint_inverse(x_C_B.adjoint(wrench_C))), 2)
        about_origins[link] = np.concatenate([moment, force])
    return about_origins
