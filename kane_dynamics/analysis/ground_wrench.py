# SPDX-License-Identifier: Apache-2.0
r"""
The wrench that the ground, or the mounting, must give to a robot that moves so.

.. math:: f = \sum_i m_i (a_i - g) - f_e, \qquad
   \tau = \sum_i (p_i \times m_i (a_i - g) + \tfrac{d}{dt} I_i \omega_i) - \tau_e

It is what the backward recursion of Newton and Euler, (27)-(29) of Silva et al., leaves at the
root: also the part that the joint of a planar base does not move along.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.algebra.quaternions import vec3
from kane_dynamics.algorithms.newton_euler import ExternalWrenches, transmitted, wrenches_on_bodies
from kane_dynamics.robot.checks import as_vector
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_coordinates, checked_robot, checked_speeds
from kane_dynamics.typing import Floats


def ground_wrench(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    external_wrenches: ExternalWrenches = None,
    about: ArrayLike = (0.0, 0.0, 0.0),
) -> Floats:
    """
    Return the wrench (tau, f) of the ground on the robot, world axes, shape (6,) [N m, N].

    For any base: what the wheels, the feet or the bolts of a fixed base carry together. Motors
    count as part of their links; the spin of rotors (armature) is left out.

    Parameters
    ----------
    robot : Robot
        The robot.
    q : array_like, shape (nq,)
        Coordinates.
    v, a : array_like, shape (nv,)
        Speeds and accelerations; they need not satisfy any constraint.
    external_wrenches : mapping of str to array_like, shape (6,), optional
        Wrench (tau, f) [N m, N] that acts on a link from elsewhere, about the link's origin in
        the link's axes.
    about : array_like, shape (3,)
        Point of the world that the moment is about [m].

    Raises
    ------
    InvalidInputError
        If a shape is wrong or a number is not finite.
    NameNotFoundError
        If a wrench names a link that does not exist.

    """
    point = as_vector('about [m]', about, 3)
    wrench = transmitted(
        checked_robot(robot),
        checked_coordinates(robot, q),
        checked_speeds(robot, v),
        checked_speeds(robot, a, 'a'),
        external=wrenches_on_bodies(robot, external_wrenches),
    )[1]
    force = vec3(wrench.primary)
    return np.r_[vec3(wrench.dual) - np.cross(point, force), force]
