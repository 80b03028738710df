# SPDX-License-Identifier: Apache-2.0
r"""
Gauss's principle in dual quaternion algebra, dqGP (Silva et al., section 4, (31)-(52)).

:math:`M_{GP} a + C_{GP} v + g_{GP} = \tau_{GP}` in closed form from the body Jacobians. The matrix
C of (47) makes :math:`\dot M - 2 C` skew (52). Armature (rotor inertia) adds a constant diagonal
to M and nothing to C.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.algebra.inertia import Inertia
from kane_dynamics.algebra.matrices import product, scaled, skew
from kane_dynamics.algebra.quaternions import as_array
from kane_dynamics.algorithms.kinematics import BodyJacobian, body_jacobians
from kane_dynamics.robot.robot import Robot


def gauss_mass_matrix(robot: Robot, q: Any) -> NDArray[Any]:
    """Return M = sum_i J_i' Psi_i J_i + diag(armature) (46), shape (nv, nv)."""
    total: NDArray[Any] = np.diag(robot.armature)
    for inertia, body in _bodies_with_mass(robot, q, [0.0] * robot.nv):
        total = total + product(body.jacobian.T, product(psi(inertia), body.jacobian))
    return total


def gauss_coriolis_matrix(robot: Robot, q: Any, v: Any) -> NDArray[Any]:
    """Return C = sum_i J_i' (Sbar_i J_i + Psi_i dJ_i/dt) (47), shape (nv, nv)."""
    total: NDArray[Any] = np.zeros((robot.nv, robot.nv))
    speeds = as_array(v)
    for inertia, body in _bodies_with_mass(robot, q, v):
        omega = product(body.jacobian[:3], speeds)
        momentum_rate = product(s_bar(inertia, omega), body.jacobian)
        momentum_rate = momentum_rate + product(psi(inertia), body.rate)
        total = total + product(body.jacobian.T, momentum_rate)
    return total


def gauss_gravity_force(robot: Robot, q: Any) -> NDArray[Any]:
    """Return g = -sum_i J_D,i' R_0^i m_i gravity (50), (51), on the left side, shape (nv,)."""
    total: NDArray[Any] = np.zeros(robot.nv)
    for inertia, body in _bodies_with_mass(robot, q, [0.0] * robot.nv):
        weight = inertia.mass * product(body.from_world, robot.gravity)
        total = total - product(body.jacobian[3:].T, weight)
    return total


def psi(inertia: Inertia) -> NDArray[Any]:
    """Return Psi = blkdiag(I_c, m 1) (31), shape (6, 6)."""
    matrix = np.zeros((6, 6), dtype=inertia.tensor.dtype)
    matrix[:3, :3] = inertia.tensor
    matrix[3:, 3:] = scaled(np.eye(3), inertia.mass)
    return matrix


def s_bar(inertia: Inertia, omega: NDArray[Any]) -> NDArray[Any]:
    """Return Sbar = blkdiag(-S(I_c omega), m S(omega)) (44), shape (6, 6)."""
    spin, momentum = skew(omega), skew(product(inertia.tensor, omega))
    matrix = np.zeros((6, 6), dtype=np.result_type(spin, momentum))
    matrix[:3, :3] = -momentum
    matrix[3:, 3:] = scaled(spin, inertia.mass)
    return matrix


def _bodies_with_mass(robot: Robot, q: Any, v: Any) -> Iterator[tuple[Inertia, BodyJacobian]]:
    for body, body_jacobian in zip(robot.bodies, body_jacobians(robot, q, v), strict=True):
        if not body.inertia.is_zero:
            yield body.inertia, body_jacobian
