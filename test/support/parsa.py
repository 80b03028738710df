# SPDX-License-Identifier: Apache-2.0
"""
Parsa's closed forms (22)-(40) one by one, made of the bodies' Jacobians of the package.

Speeds and coordinates are numbers or traced.
"""

import numpy as np

from kane_dynamics.algebra.matrices import product, skew
from kane_dynamics.algebra.scalars import as_array
from kane_dynamics.formulations.lagrange import (
    lagrange_jacobians,
    mass_of_bodies,
    velocity_force_of_bodies,
)


def mass_matrix(robot, q):
    """Return M = sum_i J_i' M_i J_i + diag(armature) (39), shape (nv, nv)."""
    return mass_of_bodies(robot, lagrange_jacobians(robot, q, [0.0] * robot.nv))


def velocity_force(robot, q, v):
    """Return h = sum_i J_i' (M_i dJ_i/dt + W_i M_i J_i) v (39), shape (nv,)."""
    return velocity_force_of_bodies(robot, lagrange_jacobians(robot, q, v), v)


def coriolis_matrix(robot, q, v):
    """
    Return C = sum_i J_i' (M_i dJ_i/dt + W_i M_i J_i + M_i W_i J_i) (40), shape (nv, nv).

    The last term vanishes in C v = h (41) and makes dM/dt - 2 C skew.
    """
    total = np.zeros((robot.nv, robot.nv))
    for body in lagrange_jacobians(robot, q, v):
        momentum_rate = product(body.mass, body.rate)
        momentum_rate = momentum_rate + product(body.precession, product(body.mass, body.jacobian))
        momentum_rate = momentum_rate + product(body.mass, product(body.precession, body.jacobian))
        total = total + product(body.jacobian.T, momentum_rate)
    return total


def gravity_force(robot, q):
    """Return dV/dq = -sum_i m_i J_v,i' g (32), on the left side, shape (nv,)."""
    total = np.zeros(robot.nv)
    for body, at in zip(robot.bodies, lagrange_jacobians(robot, q, [0.0] * robot.nv), strict=True):
        total = total - product(at.jacobian[3:].T, body.inertia.mass * robot.gravity)
    return total


def applied_force(robot, q, wrenches):
    """
    Return sum_i J_i' w_i (35), on the right side, w_i = [n; R_i f] (33), shape (nv,).

    `wrenches` are (n, f) by link, at the centre of mass of its body, in the body's axes.
    """
    total = np.zeros(robot.nv)
    bodies = lagrange_jacobians(robot, q, [0.0] * robot.nv)
    for link, wrench in wrenches.items():
        body = bodies[robot.moving_body(link)]
        in_mixed_axes = np.concatenate([wrench[:3], product(body.to_world, wrench[3:])])
        total = total + product(body.jacobian.T, in_mixed_axes)
    return total


def kinetic_energy_gradient(robot, q, v):
    """
    Return dT/dq = sum_i (dJ_i/dt' M_i J_i - J_i' W_i M_i J_i) v (29) at fixed qdot, shape (nv,).

    Where the speeds are the derivatives of the coordinates.
    """
    total, speeds = np.zeros(robot.nv), as_array(v)
    for body in lagrange_jacobians(robot, q, v):
        momentum = product(body.mass, product(body.jacobian, speeds))
        total = total + product(body.rate.T, momentum)
        total = total - product(body.jacobian.T, product(body.precession, momentum))
    return total


def angular_velocity_gradient(robot, q, v):
    """
    Return domega_i/dq = dJ_omega/dt + [omega x] J_omega (22) of every body, each of shape (3, nv).

    Theorem 1, in the body's axes; where the speeds are the derivatives of the coordinates.
    """
    return [
        body.rate[:3] + product(skew(body.omega), body.jacobian[:3])
        for body in lagrange_jacobians(robot, q, v)
    ]
