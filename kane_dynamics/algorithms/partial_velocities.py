# SPDX-License-Identifier: Apache-2.0
r"""
Partial velocities of every body in generalized speeds (Gillespie (23)-(35), Parsa (48)).

.. math:: \omega_i = \sum_r \omega_{i,r} u_r + \omega_{i,t}, \qquad
   v_{c_i} = \sum_r v_{i,r} u_r + v_{i,t}

They are the columns of :math:`J_i W`; the remainders are :math:`J_i X`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.algorithms.generalized_speeds import (
    GeneralizedSpeeds,
    checked_generalized_speeds,
)
from kane_dynamics.algorithms.jacobians import body_jacobians
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_coordinates
from kane_dynamics.typing import Floats


@dataclass(frozen=True, eq=False, slots=True)
class PartialVelocity:
    """
    Partial velocities of a body and of its centre of mass, in the body's axes.

    Parameters
    ----------
    body : str
        Name of the body.
    omega, v : ndarray, shape (3, nu)
        Partial angular velocities, and partial velocities of the centre of mass.
    omega_t, v_t : ndarray, shape (3,)
        What remains at u = 0.

    """

    body: str
    omega: Floats
    v: Floats
    omega_t: Floats
    v_t: Floats


def partial_velocities(
    robot: Robot, q: ArrayLike, speeds: GeneralizedSpeeds | None = None, time: float = 0.0
) -> tuple[PartialVelocity, ...]:
    """
    Return the partial velocities of all bodies, in the robot's order of bodies.

    Parameters
    ----------
    robot : Robot
        The robot.
    q : array_like, shape (nq,)
        Coordinates.
    speeds : GeneralizedSpeeds, optional
        u; the robot's own speeds v where left out.
    time : float
        t of speeds that depend on time [s].

    Raises
    ------
    InvalidInputError
        If a shape is wrong, a number is not finite, or W is not finite at q.

    """
    coordinates = checked_coordinates(robot, q)
    W, X = np.eye(robot.nv), np.zeros(robot.nv)
    if speeds is not None:
        W, X = checked_generalized_speeds(speeds, robot).matrices(coordinates, time)
    result = []
    for body, at_com in zip(
        robot.bodies, body_jacobians(robot, coordinates, [0.0] * robot.nv), strict=True
    ):
        columns, remainder = at_com.jacobian @ W, at_com.jacobian @ X
        result.append(
            PartialVelocity(body.name, columns[:3], columns[3:], remainder[:3], remainder[3:])
        )
    return tuple(result)
