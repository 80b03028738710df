# SPDX-License-Identifier: Apache-2.0
r"""
Lagrange's equations in closed form, without differentiating M (Parsa, (17)-(42)).

:math:`J_i = [J_{\omega i}; J_{v i}]` takes the speeds to :math:`\omega_i` in the axes of body i
and to :math:`\dot c_i`, the velocity of its centre of mass, in **world** axes. So
:math:`J_i v` is no twist, and with :math:`M_i = \mathrm{blkdiag}(I_i, m_i 1)` and
:math:`W_i = \mathrm{blkdiag}([\omega_i\times], 0)`

.. math:: \sum_i J_i^T \Big[M_i \frac{d}{dt}(J_i v) + W_i M_i J_i v\Big] = \sum_i J_i^T w_i
   \quad (34), (35), \qquad M \dot v + C v = \tau + f_c \quad (42).

These hold for any speeds v. Armature adds a constant diagonal to M and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.algebra.inertia import Inertia
from kane_dynamics.algebra.matrices import product, skew
from kane_dynamics.algebra.quaternions import as_array
from kane_dynamics.algorithms.gauss import psi
from kane_dynamics.algorithms.jacobians import BodyJacobian, body_jacobians
from kane_dynamics.robot.robot import Robot


@dataclass(frozen=True, eq=False, slots=True)
class LagrangeJacobian:
    """
    Jacobian of a body with omega in body axes and the velocity of its mass centre in world axes.

    Parameters
    ----------
    jacobian, rate : ndarray, shape (6, nv)
        J_i of (26), angular rows first, and its time derivative.
    omega : ndarray, shape (3,)
        J_omega v, in the body's axes [rad/s] (19).
    mass : ndarray, shape (6, 6)
        M_i = blkdiag(I_i, m_i 1), I_i central and in the body's axes [kg m^2, kg] (26).
    to_world : ndarray, shape (3, 3)
        R_i, rotation of components in the body's axes into world axes (33).

    """

    jacobian: NDArray[Any]
    rate: NDArray[Any]
    omega: NDArray[Any]
    mass: NDArray[Any]
    to_world: NDArray[Any]

    @property
    def precession(self) -> NDArray[Any]:
        """Return W_i = blkdiag([omega x], 0), shape (6, 6) [rad/s] (30)."""
        spin = skew(self.omega)
        matrix = np.zeros((6, 6), dtype=spin.dtype)
        matrix[:3, :3] = spin
        return matrix


def lagrange_jacobians(robot: Robot, q: Any, v: Any) -> list[LagrangeJacobian]:
    """
    Return J_i, dJ_i/dt, W_i and M_i (19), (20), (26), (30) of every body.

    Parameters
    ----------
    robot : Robot
        The tree.
    q, v : sequence of scalar, lengths nq and nv
        State, numbers or traced.

    """
    speeds = as_array(v)
    return [
        _in_mixed_axes(body.inertia, at_com, speeds)
        for body, at_com in zip(robot.bodies, body_jacobians(robot, q, v), strict=True)
    ]


def _in_mixed_axes(inertia: Inertia, at_com: BodyJacobian, v: NDArray[Any]) -> LagrangeJacobian:
    """Return J_i and its rate from those with both parts in the body's axes."""
    angular, linear = at_com.jacobian[:3], at_com.jacobian[3:]
    omega = product(angular, v)
    to_world = at_com.from_world.T
    linear_rate = at_com.rate[3:] + product(skew(omega), linear)  # of R J_v, in body axes
    return LagrangeJacobian(
        np.vstack([angular, product(to_world, linear)]),
        np.vstack([at_com.rate[:3], product(to_world, linear_rate)]),
        omega,
        psi(inertia),
        to_world,
    )


def mass_of_bodies(robot: Robot, bodies: Sequence[LagrangeJacobian]) -> NDArray[Any]:
    """Return M (39) from the Jacobians of all bodies, shape (nv, nv)."""
    total: NDArray[Any] = np.diag(robot.armature)
    for body in bodies:
        total = total + product(body.jacobian.T, product(body.mass, body.jacobian))
    return total


def velocity_force_of_bodies(
    robot: Robot, bodies: Sequence[LagrangeJacobian], v: Any
) -> NDArray[Any]:
    """Return h (39) from the Jacobians of all bodies at speeds v, shape (nv,) [N m or N]."""
    total: NDArray[Any] = np.zeros(robot.nv)
    speeds = as_array(v)
    for body in bodies:
        momentum = product(body.mass, product(body.jacobian, speeds))
        inertial = product(body.mass, product(body.rate, speeds))
        inertial = inertial + product(body.precession, momentum)  # (37)
        total = total + product(body.jacobian.T, inertial)
    return total
