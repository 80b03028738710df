# SPDX-License-Identifier: Apache-2.0
"""
Roithmayr, Bajodah, Hodges, Chen, corrigendum: what must be read with care, and how it fails.

The numbers E12, E13 are those of doc/errata.md.
"""

import numpy as np
import pytest
from support.calculus import relative
from support.rheonomic import rheonomic_system

import kane_dynamics as kd

# Differences of order 8 of quantities that are themselves differences of energies, about 1e2 J.
DIFFERENCES = 1e-8


@pytest.fixture(params=range(3))
def system(request):
    """Return a rheonomic system and its remainder L, which the package forms from W and v."""
    system = rheonomic_system(request.param)
    solution = system.motion('kane').details
    Q = system.motion('nonminimal').details.mass
    return system, -solution.inertia_force - Q @ solution.u_rate  # F* = -Q udot - L (6)


@pytest.mark.claim(31)
def test_e12_slope_of_the_energy_at_fixed_rates_of_the_coordinates(system):
    system, remainder = system
    right = system.remainder_by_energy(system.slope_at_fixed_rates())
    assert relative(right, remainder) < DIFFERENCES
    wrong = system.remainder_by_energy(system.slope_at_fixed_speeds())
    assert np.abs(wrong - remainder).max() > 0.1


@pytest.mark.claim(32)
def test_e13_remainder_of_accelerations_in_l(system):
    system, remainder = system
    q, t = system.q(system.x, system.t), system.t
    chosen = system.speeds.at(q, system.speeds.velocity(q, system.u, t), t)
    v = chosen.W @ system.u + chosen.X
    at_rest_in_u = kd.forward_kinematics(system.robot, q, v, chosen.bias)
    right, with_velocities = np.zeros(system.n), np.zeros(system.n)
    for body, partial in zip(
        system.robot.bodies, kd.partial_velocities(system.robot, q, system.speeds, t), strict=True
    ):
        omega = at_rest_in_u.twist(body.name)[:3]
        alpha, origin = np.split(at_rest_in_u.acceleration(body.name), 2)
        arm, tensor = body.inertia.com, body.inertia.tensor
        a_t = origin + np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm))  # (15)
        moment = tensor @ alpha + np.cross(omega, tensor @ omega)
        right += body.inertia.mass * a_t @ partial.v + moment @ partial.omega
        with_velocities += body.inertia.mass * partial.v_t @ partial.v
    assert relative(right, remainder) < 1e-11
    # the letters are lost in print; the other remainder with index t gives something else
    assert np.abs(with_velocities - remainder).max() > 0.1
