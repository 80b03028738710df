# SPDX-License-Identifier: Apache-2.0
r"""
Lagrange's equations in closed form, without differentiating M (Parsa, (17)-(42)).

:math:`J_i = [J_{\omega i}; J_{v i}]` takes the speeds to :math:`\omega_i` in the axes of body i
and to :math:`\dot c_i`, the velocity of its centre of mass, in **world** axes. So
:math:`J_i v` is no twist, and with :math:`M_i = \mathrm{blkdiag}(I_i, m_i 1)` and
:math:`W_i = \mathrm{blkdiag}([\omega_i\times], 0)`

.. math:: \sum_i J_i^T \Big[M_i \frac{d}{dt}(J_i v) + W_i M_i J_i v\Big] = \sum_i J_i^T w_i
   \quad (34), (35), \qquad M \dot v + C v = \tau + f_c \quad (42).

These hold for any speeds v. Where the speeds are the derivatives of the coordinates, Theorem 1,
:math:`\partial\omega/\partial q = \dot J_\omega + [\omega\times] J_\omega` (22), also gives
:math:`\partial T/\partial q` (29). Armature adds a constant diagonal to M and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kane_dynamics.algebra.inertia import Inertia
from kane_dynamics.algebra.matrices import product, skew
from kane_dynamics.algebra.quaternions import as_array
from kane_dynamics.algorithms.gauss import psi
from kane_dynamics.algorithms.jacobians import BodyJacobian, body_jacobians
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.model.checks import as_vector
from kane_dynamics.model.robot import Robot


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


def lagrange_mass_matrix(robot: Robot, q: Any) -> NDArray[Any]:
    """Return M = sum_i J_i' M_i J_i + diag(armature) (39), shape (nv, nv)."""
    return mass_of_bodies(robot, lagrange_jacobians(robot, q, [0.0] * robot.nv))


def lagrange_velocity_force(robot: Robot, q: Any, v: Any) -> NDArray[Any]:
    """Return h = sum_i J_i' (M_i dJ_i/dt + W_i M_i J_i) v (39), shape (nv,) [N m or N]."""
    return velocity_force_of_bodies(robot, lagrange_jacobians(robot, q, v), v)


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


def lagrange_coriolis_matrix(robot: Robot, q: Any, v: Any) -> NDArray[Any]:
    """
    Return C = sum_i J_i' (M_i dJ_i/dt + W_i M_i J_i + M_i W_i J_i) (40), shape (nv, nv).

    The last term vanishes in C v = h (41) and makes dM/dt - 2 C skew.
    """
    total: NDArray[Any] = np.zeros((robot.nv, robot.nv))
    for body in lagrange_jacobians(robot, q, v):
        momentum_rate = product(body.mass, body.rate)
        momentum_rate = momentum_rate + product(body.precession, product(body.mass, body.jacobian))
        momentum_rate = momentum_rate + product(body.mass, product(body.precession, body.jacobian))
        total = total + product(body.jacobian.T, momentum_rate)
    return total


def lagrange_gravity_force(robot: Robot, q: Any) -> NDArray[Any]:
    """Return dV/dq = -sum_i m_i J_v,i' g (32), on the left side, shape (nv,) [N m or N]."""
    total: NDArray[Any] = np.zeros(robot.nv)
    for body, at in zip(robot.bodies, lagrange_jacobians(robot, q, [0.0] * robot.nv), strict=True):
        total = total - product(at.jacobian[3:].T, body.inertia.mass * robot.gravity)
    return total


def applied_force(robot: Robot, q: Any, wrenches: Mapping[str, ArrayLike]) -> NDArray[Any]:
    """
    Return sum_i J_i' w_i (35), on the right side, of wrenches at centres of mass.

    Parameters
    ----------
    robot : Robot
        The tree.
    q : sequence of scalar, length nq
        Coordinates, numbers or traced.
    wrenches : mapping of str to array_like, shape (6,)
        (n, f) [N m, N] at the centre of mass of the body that carries the link, in the axes of
        that body; w_i = [n; R_i f] (33).

    Returns
    -------
    ndarray, shape (nv,)
        Generalized forces on v [N m or N].

    Raises
    ------
    InvalidInputError
        If a wrench is not six finite numbers, or its link is part of the world.
    NameNotFoundError
        If there is no such link.

    """
    total: NDArray[Any] = np.zeros(robot.nv)
    bodies = lagrange_jacobians(robot, q, [0.0] * robot.nv)
    for link, vector in wrenches.items():
        wrench = as_vector(f"wrench on '{link}'", vector, 6)
        body = bodies[robot.moving_body(link)]
        in_mixed_axes = np.concatenate([wrench[:3], product(body.to_world, wrench[3:])])
        total = total + product(body.jacobian.T, in_mixed_axes)
    return total


def kinetic_energy_gradient(robot: Robot, q: Any, v: Any) -> NDArray[Any]:
    r"""
    Return :math:`\partial T/\partial q` at fixed qdot (29), shape (nv,) [J/rad or J/m].

    :math:`\sum_i (\dot J_i^T M_i J_i - J_i^T W_i M_i J_i) v`, where v = qdot.

    Raises
    ------
    InvalidInputError
        If the speeds of some joint are not the derivatives of its coordinates.

    """
    _check_speeds_are_rates(robot)
    total: NDArray[Any] = np.zeros(robot.nv)
    speeds = as_array(v)
    for body in lagrange_jacobians(robot, q, v):
        momentum = product(body.mass, product(body.jacobian, speeds))
        total = total + product(body.rate.T, momentum)
        total = total - product(body.jacobian.T, product(body.precession, momentum))
    return total


def angular_velocity_gradient(robot: Robot, q: Any, v: Any) -> list[NDArray[Any]]:
    r"""
    Return :math:`\partial\omega_i/\partial q` at fixed qdot of every body, each of shape (3, nv).

    Theorem 1, in the body's axes: :math:`\dot J_\omega + [\omega\times] J_\omega` (22). In world
    axes the cross product changes its sign (A-6).

    Raises
    ------
    InvalidInputError
        If the speeds of some joint are not the derivatives of its coordinates.

    """
    _check_speeds_are_rates(robot)
    return [
        body.rate[:3] + product(skew(body.omega), body.jacobian[:3])
        for body in lagrange_jacobians(robot, q, v)
    ]


def _check_speeds_are_rates(robot: Robot) -> None:
    """Check that no joint has speeds that are no derivatives of coordinates."""
    others = [b.joint.name for b in robot.bodies if b.joint.kind.nq != b.joint.kind.nv]
    if others:
        raise InvalidInputError(
            'derivatives with respect to q need speeds that are derivatives of coordinates; '
            f'those of these joints (spherical or free) are not: {others}'
        )
