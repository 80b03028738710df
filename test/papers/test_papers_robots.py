# SPDX-License-Identifier: Apache-2.0
"""
The sizes of robots of Silva, section 5: 50, 9 and 8 freedoms, both algorithms, a third program.

Classic Newton-Euler is Pinocchio's. Constraints that it lacks are eliminated with a basis of the
allowed speeds, which needs no method of the package.
"""

import numpy as np
import pytest
from support.calculus import relative
from support.trees import random_state

import kane_dynamics as kd

pytest.importorskip('pinocchio', reason='the extra "oracle" is not installed')
from studies.peers.pinocchio_twin import PinocchioTwin

pytestmark = pytest.mark.oracle
AGREEMENT = 1e-12  # efforts of up to 1e3 N m after some 1e4 roundings
METHODS = ('newton_euler', 'gauss')


def arm_of_fifty(robots):
    return kd.serial_chain(50), ()


def holonomic(robots):
    return kd.load_urdf(robots / 'holonomic.urdf', base='planar'), ()


def nonholonomic(robots):
    """Return the same platform with an axle that does not slip sideways: 9 speeds, 8 freedoms."""
    robot, _ = holonomic(robots)
    return robot, (kd.constraints.no_side_slip(robot),)


@pytest.fixture(params=[(arm_of_fifty, 50), (holonomic, 9), (nonholonomic, 8)], ids=[50, 9, 8])
def robot_at_a_state(request, robots):
    """Return robot, constraints, q, v and efforts."""
    make, freedoms = request.param
    robot, constraints = make(robots)
    assert robot.nv - len(constraints) == freedoms
    rng = np.random.default_rng(freedoms)
    q, v, _ = random_state(robot, rng)
    if constraints:
        q, v = kd.simulation.project(robot, constraints, q, v, 0.0)
    return robot, constraints, q, v, rng.uniform(-5.0, 5.0, robot.nv)


@pytest.mark.claim(18)
def test_inverse_dynamics_of_three_programs(robot_at_a_state):
    robot, _, q, v, a = robot_at_a_state
    recursion = kd.inverse_dynamics(robot, q, v, a) - kd.friction_force(robot, v)
    closed_form = kd.mass_matrix(robot, q) @ a + kd.coriolis_matrix(robot, q, v) @ v
    closed_form = closed_form + kd.gravity_force(robot, q)
    classic = PinocchioTwin(robot).inverse_dynamics(q, v, a)
    assert relative(recursion, classic) < AGREEMENT
    assert relative(closed_form, classic) < AGREEMENT


def accelerations_of_pinocchio(robot, constraints, q, v, tau):
    """Return vdot with M and bias of Pinocchio, rows (64) by elimination."""
    twin = PinocchioTwin(robot)
    M, bias = twin.mass_matrix(q), twin.inverse_dynamics(q, v, 0.0 * v)
    force = tau - bias - kd.friction_force(robot, v)
    if not constraints:
        return np.linalg.solve(M, force)
    s, c = np.sin(q[2]), np.cos(q[2])
    B = np.delete(np.eye(robot.nv), 1, axis=1)  # forward speed and yaw stand for x', y', yaw'
    B[:2, 0] = c, s
    # x'' = c f' - s w f, y'' = s f' + c w f with the forward speed f and yaw rate w
    forward = c * v[0] + s * v[1]
    turning = np.zeros(robot.nv)
    turning[:2] = -s * v[2] * forward, c * v[2] * forward
    return B @ np.linalg.solve(B.T @ M @ B, B.T @ (force - M @ turning)) + turning


@pytest.mark.claim(18)
@pytest.mark.parametrize('method', METHODS)
def test_accelerations_of_three_programs(robot_at_a_state, method):
    robot, constraints, q, v, tau = robot_at_a_state
    expected = accelerations_of_pinocchio(robot, constraints, q, v, tau)
    found = kd.forward_dynamics(robot, q, v, tau, constraints, method).acceleration
    # condition of M, up to 3e4, times what M itself is off by
    assert relative(found, expected) < 1e-9
