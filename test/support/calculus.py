# SPDX-License-Identifier: Apache-2.0
"""Derivatives by differences of high order, and laws of mechanics that need nothing else."""

import numpy as np

import kane_dynamics as kd

# Central difference of order 8. With functions that vary over times of 0.3 s or more the
# truncation (h/0.3)^8/630 and the roundoff 1e-16/h are both below 1e-13 of the function's size.
WEIGHTS = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
STEP = 8e-3


def derivative(function, step=STEP):
    """Return d/ds function(s) at s = 0, for a function that returns numbers or arrays."""
    total = 0.0
    for k, weight in enumerate(WEIGHTS, start=1):
        ahead, behind = np.asarray(function(k * step)), np.asarray(function(-k * step))
        total = total + weight / step * (ahead - behind)
    return total


def along(robot, q, v):
    """Return s -> q(s), the path through q with speeds v that stay constant."""
    return lambda s: kd.integrate(robot, q, v, s)


def tangent_gradient(robot, q, function):
    """Return the derivative of function(q) along each speed, shape (nv,)."""
    return np.array(
        [derivative(lambda s, e=e: function(along(robot, q, e)(s))) for e in np.eye(robot.nv)]
    )


def lagrange_force(robot, q, v, a, energy=kd.kinetic_energy, potential=kd.potential_energy):
    """
    Return the left side of Lagrange's equations, from the two energies alone, shape (nv,).

    With body-side velocities of groups (spherical and free joints) these are the Euler-Poincare
    equations: d/dt p - ad* p - dT/dq + dV/dq, where the momentum of a rotation precesses
    (omega x p) and that of a free joint also feels v x p_v. No formula of the package is used
    but its energies and `integrate`.
    """
    position = along(robot, q, v)

    def momentum(q_s, v_s):
        # T is a quadratic form in v: half the difference of T(v + e) and T(v - e) is exact
        return np.array(
            [
                0.5 * (energy(robot, q_s, v_s + e) - energy(robot, q_s, v_s - e))
                for e in np.eye(robot.nv)
            ]
        )

    rate = derivative(lambda s: momentum(position(s), v + s * a))
    slope = tangent_gradient(robot, q, lambda q_s: energy(robot, q_s, v) - potential(robot, q_s))
    return rate - slope + _precession(robot, v, momentum(q, v))


def _precession(robot, v, p):
    """Return -ad* p of every spherical and free joint."""
    total = np.zeros(robot.nv)
    for body, index in zip(robot.bodies, robot.indices, strict=True):
        kind, columns = body.joint.kind, index.v
        if isinstance(kind, (kd.Spherical, kd.Free)):
            speed, own = v[columns], p[columns]
            total[columns][:3] += np.cross(speed[:3], own[:3])
            if isinstance(kind, kd.Free):
                total[columns][:3] += np.cross(speed[3:], own[3:])
                total[columns][3:] += np.cross(speed[:3], own[3:])
    return total


def relative(actual, desired):
    """Return the largest difference in units of the largest entry of `desired` (at least 1)."""
    return np.abs(np.asarray(actual) - desired).max() / max(1.0, np.abs(desired).max())
