# SPDX-License-Identifier: Apache-2.0
"""
The inertial parameters of bodies, ten numbers each, in which efforts are linear.

About the origin of the body's frame, the frame of the URDF's link below its moving joint, in its
axes; what is welded to the link is part of it. The order is that of `PARAMETERS`; Pinocchio puts
Jyy before Jxz.
"""

import numpy as np

from kane_dynamics.algebra.inertia import UPPER, Inertia
from kane_dynamics.algebra.matrices import skew
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_vector
from kane_dynamics.robot.robot import Robot, with_loads
from kane_dynamics.robot.state import checked_robot
from kane_dynamics.typing import ArrayLike, Floats

__all__ = ['inertial_parameters', 'with_inertial_parameters']

PARAMETERS = ('m', 'mx', 'my', 'mz', 'Jxx', 'Jxy', 'Jxz', 'Jyy', 'Jyz', 'Jzz')


def inertial_parameters(robot: Robot) -> Floats:
    """
    Return the parameters of all bodies, shape (10 bodies,) [kg, kg m, kg m^2].

    Parameters
    ----------
    robot : Robot
        The robot.

    Examples
    --------
    >>> from kane_dynamics.robot.inertial_parameters import inertial_parameters
    >>> d = kd.dynamics(kd.serial_chain(2))
    >>> q, v, a = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    >>> efforts = d.mass_matrix(q) @ a + d.bias_force(q, v)
    >>> np.allclose(d.regressor(q, v, a) @ inertial_parameters(d.robot), efforts)
    True

    """
    return np.concatenate([_parameters(body.inertia) for body in checked_robot(robot).bodies])


def with_inertial_parameters(robot: Robot, parameters: ArrayLike) -> Robot:
    """
    Return a robot whose bodies have other inertial parameters.

    Parameters
    ----------
    robot : Robot
        The robot.
    parameters : array_like, shape (10 bodies,)
        As of `inertial_parameters`.

    Raises
    ------
    InvalidInputError
        If a shape is wrong, or no body has such a mass and inertia.

    Examples
    --------
    >>> from kane_dynamics.robot.inertial_parameters import *
    >>> robot = kd.serial_chain(2)
    >>> twice = with_inertial_parameters(robot, 2.0 * inertial_parameters(robot))
    >>> np.allclose(kd.mass_matrix(twice, [0.1, 0.2]), 2.0 * kd.mass_matrix(robot, [0.1, 0.2]))
    True

    """
    count = len(checked_robot(robot).bodies)
    rows = as_vector('parameters', parameters, len(PARAMETERS) * count).reshape(count, -1)
    return with_loads(robot, robot.gravity, {i: _inertia(row) for i, row in enumerate(rows)})


def _parameters(inertia: Inertia) -> Floats:
    """Return (m, m c, J), J = J_C - m S(c)^2 about the origin (parallel axis theorem)."""
    J = inertia.tensor - inertia.mass * skew(inertia.com) @ skew(inertia.com)
    return np.concatenate([[inertia.mass], inertia.mass * inertia.com, J[UPPER]])


def _inertia(parameters: Floats) -> Inertia:
    """Return mass, centre of mass and central tensor; what has no mass has its centre at 0."""
    mass = parameters[0]
    if mass == 0.0 and parameters[1:4].any():
        raise InvalidInputError(f'parameters: need no first moment without mass, got {parameters}')
    com = parameters[1:4] / (mass if mass > 0.0 else np.inf)
    return Inertia(mass, com, central_tensor(parameters, com))


def central_tensor(parameters: Floats, com: Floats) -> Floats:
    """Return the inertia about the centre of mass from ten parameters, shape (3, 3)."""
    upper = np.zeros((3, 3))
    upper[UPPER] = parameters[4:]
    central = upper + np.triu(upper, 1).T + parameters[0] * skew(com) @ skew(com)
    return np.asarray(central)
