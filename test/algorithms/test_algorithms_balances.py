# SPDX-License-Identifier: Apache-2.0
"""Power, momentum and free fall: laws that hold for any robot."""

import numpy as np
import pytest
from support.calculus import along, derivative, relative
from support.trees import thirty_trees, tree_and_state

import kane_dynamics as kd

DIFFERENCES = 1e-10  # first derivatives of order 8, see support.calculus


@pytest.mark.parametrize(('seed', 'base'), thirty_trees())
def test_power_balance(seed, base):
    # d/dt (T + V) = v' (tau - friction); Coriolis forces do no work
    robot, q, v, a = tree_and_state(seed, base)
    path = along(robot, q, v)

    def energy(s):
        q_s, v_s = path(s), v + s * a
        return kd.kinetic_energy(robot, q_s, v_s) + kd.potential_energy(robot, q_s)

    tau = kd.inverse_dynamics(robot, q, v, a)
    power = v @ (tau - kd.friction_force(robot, v))
    assert relative([derivative(energy)], np.array([power])) < DIFFERENCES


def momentum(robot, q, v):
    """Return linear momentum and angular momentum about the world's origin."""
    kin = kd.forward_kinematics(robot, q, v)
    linear, angular = np.zeros(3), np.zeros(3)
    for body in robot.bodies:
        pose, twist = kin.pose(body.name), kin.twist(body.name)
        R, com = pose.rotation_matrix(), body.inertia.com
        p = body.inertia.mass * R @ (twist[3:] + np.cross(twist[:3], com))
        linear += p
        angular += np.cross(pose.position() + R @ com, p) + R @ body.inertia.tensor @ twist[:3]
    return linear, angular


@pytest.mark.parametrize('seed', range(2, 30, 3))
def test_momentum_changes_only_by_the_wrench_on_the_floating_base(seed):
    # no rotor inertia: what armature adds to M belongs to no body of the sum
    robot, q, v, a = tree_and_state(seed, 'floating', armature=False, friction=False)
    path = along(robot, q, v)
    force_rate = derivative(lambda s: momentum(robot, path(s), v + s * a)[0])
    moment_rate = derivative(lambda s: momentum(robot, path(s), v + s * a)[1])
    tau = kd.inverse_dynamics(robot, q, v, a)
    base = kd.forward_kinematics(robot, q).pose('base')
    R = base.rotation_matrix()
    force = R @ tau[3:6]
    moment = R @ tau[:3] + np.cross(base.position(), force)
    for body in robot.bodies:
        pose = kd.forward_kinematics(robot, q).pose(body.name)
        weight = body.inertia.mass * robot.gravity
        force = force + weight
        com = pose.position() + pose.rotation_matrix() @ body.inertia.com
        moment = moment + np.cross(com, weight)
    assert relative(force_rate, force) < DIFFERENCES
    assert relative(moment_rate, moment) < DIFFERENCES


@pytest.mark.claim(7)
@pytest.mark.parametrize('seed', range(2, 30, 3))
def test_free_fall_needs_no_effort(seed):
    robot, q, v, a = tree_and_state(seed, 'floating', friction=False)
    a[:], v[:] = 0.0, 0.0
    R = kd.forward_kinematics(robot, q).pose('base').rotation_matrix()
    v[3:6] = (0.3, -0.8, 0.5)  # a steady translation changes nothing
    a[3:6] = R.T @ robot.gravity
    tau = kd.inverse_dynamics(robot, q, v, a)
    assert np.abs(tau).max() < 1e-13 * np.abs(kd.gravity_force(robot, q)).max()


def test_spinning_body_in_free_fall():
    # the centre of mass is off the frame's origin and the body tumbles: Euler's equations and
    # p_com'' = g give a in closed form
    robot, q, v, _ = tree_and_state(2, 'floating', kinds=(), mimic=False)
    body = robot.bodies[0].inertia
    omega = v[:3]
    alpha = np.linalg.solve(body.tensor, -np.cross(omega, body.tensor @ omega))
    R = kd.forward_kinematics(robot, q).pose('base').rotation_matrix()
    classical = R.T @ robot.gravity - np.cross(alpha, body.com)
    classical -= np.cross(omega, np.cross(omega, body.com))
    rate = classical - np.cross(omega, v[3:])  # pddot = rate + omega x v
    tau = kd.inverse_dynamics(robot, q, v, np.r_[alpha, rate])
    assert np.abs(tau).max() < 1e-13
    motion = kd.forward_dynamics(robot, q, v, np.zeros(6))
    assert relative(motion.acceleration, np.r_[alpha, rate]) < 1e-13
