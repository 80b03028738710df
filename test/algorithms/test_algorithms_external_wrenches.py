# SPDX-License-Identifier: Apache-2.0
"""Wrenches from outside act through the transposed Jacobian of the link they are named for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.calculus import relative
from support.machines import at, inertia, revolute
from support.trees import thirty_trees, tree_and_state

import kane_dynamics as kd
from kane_dynamics.exceptions import InvalidInputError, NameNotFoundError

ROUNDOFF = 1e-12  # see test_algorithms_equation_of_motion
WRENCH = np.array([1.0, -2.0, 3.0, 4.0, 0.5, -6.0])  # (tau, f)


@pytest.mark.claim(7)
@pytest.mark.parametrize(('seed', 'base'), thirty_trees()[:9])
def test_effect_is_minus_the_transposed_jacobian(seed, base):
    robot, q, v, a = tree_and_state(seed, base)
    kin = kd.forward_kinematics(robot, q)
    without = kd.inverse_dynamics(robot, q, v, a)
    for link in ('tool', robot.bodies[0].name, robot.bodies[-1].name):  # 'tool' is welded on
        effect = kd.inverse_dynamics(robot, q, v, a, external_wrenches={link: WRENCH}) - without
        assert relative(effect, -kin.jacobian(link).T @ WRENCH) < ROUNDOFF


def test_wrenches_on_frames_of_one_body_add():
    robot, q, v, a = tree_and_state(4, 'planar')
    both = {'tool': WRENCH, robot.bodies[-1].name: -2.0 * WRENCH}
    kin = kd.forward_kinematics(robot, q)
    effect = kd.inverse_dynamics(robot, q, v, a, both) - kd.inverse_dynamics(robot, q, v, a)
    expected = -sum(kin.jacobian(link).T @ wrench for link, wrench in both.items())
    assert relative(effect, expected) < ROUNDOFF


def test_forward_dynamics_feels_the_same_wrench():
    robot, q, v, a = tree_and_state(5, 'floating')
    wrenches = {'tool': WRENCH}
    tau = kd.inverse_dynamics(robot, q, v, a, wrenches)
    motion = kd.forward_dynamics(robot, q, v, tau, external_wrenches=wrenches)
    assert relative(motion.acceleration, a) < 1e-10


@pytest.mark.claim(7)
def test_force_at_the_tip_of_a_pendulum():
    # by hand: a link along x, 2 N along its +y at 0.5 m turn it to the left: the motor holds back
    body = kd.Body('link', '', revolute('hinge'), inertia=inertia(1.0, (0.2, 0, 0), (1, 1, 1)))
    robot = kd.Robot('pendulum', [body], (0, 0, 0), {'tip': kd.Frame(0, at(0.5, 0, 0))})
    wrench = {'tip': (0, 0, 0.25, 0, 2.0, 0)}
    tau = kd.inverse_dynamics(robot, [0.4], [0.0], [0.0], wrench)
    assert_allclose(tau, [-(2.0 * 0.5 + 0.25)], rtol=1e-15)
    motion = kd.forward_dynamics(robot, [0.4], [0.0], [0.0], external_wrenches=wrench)
    assert motion.acceleration[0] == pytest.approx(1.25 / 1.04)


@pytest.mark.claim(26)
def test_weight_as_an_external_force_at_every_centre_of_mass():
    robot, q, v, a = tree_and_state(2, 'floating')
    kin = kd.forward_kinematics(robot, q)
    weights = {}
    for body in robot.bodies:
        force = body.inertia.mass * kin.pose(body.name).rotation_matrix().T @ robot.gravity
        weights[body.name] = np.r_[np.cross(body.inertia.com, force), force]
    twice = kd.inverse_dynamics(robot, q, v, a, weights) - kd.inverse_dynamics(robot, q, v, a)
    assert relative(twice, kd.gravity_force(robot, q)) < ROUNDOFF


def test_wrench_on_the_world_moves_nothing():
    robot, q, v, a = tree_and_state(0, 'fixed')
    tau = kd.inverse_dynamics(robot, q, v, a, {'anchor': WRENCH})
    assert_allclose(tau, kd.inverse_dynamics(robot, q, v, a), rtol=0, atol=0)


def test_errors_name_the_link():
    robot, q, v, a = tree_and_state(0, 'fixed')
    with pytest.raises(NameNotFoundError, match='tool') as caught:
        kd.inverse_dynamics(robot, q, v, a, {'nose': WRENCH})
    assert caught.value.name == 'nose'
    assert 'tool' in caught.value.available
    with pytest.raises(InvalidInputError, match=r"'tool'.*\(6,\)"):
        kd.inverse_dynamics(robot, q, v, a, {'tool': WRENCH[:5]})
    with pytest.raises(InvalidInputError, match=r"'tool'.*finite"):
        kd.forward_dynamics(robot, q, v, a, external_wrenches={'tool': WRENCH * np.nan})
