# SPDX-License-Identifier: Apache-2.0
"""Centre of mass and momentum: Pinocchio, and their laws."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.trees import thirty_trees, tree_and_state

import kane_dynamics as kd

pin = pytest.importorskip('pinocchio')
from studies.peers.pinocchio_twin import PinocchioTwin  # noqa: E402

ROUNDOFF = 1e-12


@pytest.mark.parametrize(('seed', 'base'), thirty_trees())
def test_momentum_is_that_of_pinocchio(seed, base):
    robot, q, v, _ = tree_and_state(seed, base)
    twin = PinocchioTwin(robot)
    place, speeds = twin.coordinates(q), twin.V @ v
    expected = pin.computeCentroidalMomentum(twin.model, twin.data, place, speeds)
    momentum = kd.momentum(robot, q, v)
    scale = 1.0 + np.abs(momentum).max()
    assert_allclose(momentum[:3], expected.angular, rtol=0, atol=ROUNDOFF * scale)
    assert_allclose(momentum[3:], expected.linear, rtol=0, atol=ROUNDOFF * scale)
    assert_allclose(kd.momentum_matrix(robot, q) @ v, momentum, rtol=0, atol=ROUNDOFF * scale)
    com = pin.centerOfMass(twin.model, twin.data, place)
    assert_allclose(kd.center_of_mass(robot, q), com, rtol=0, atol=ROUNDOFF * 10)


@pytest.mark.parametrize(('seed', 'base'), thirty_trees())
def test_the_rate_of_the_momentum_is_that_of_pinocchio(seed, base):
    robot, q, v, a = tree_and_state(seed, base)
    twin = PinocchioTwin(robot)
    motion = twin.coordinates(q), twin.V @ v, twin.V @ a
    expected = pin.computeCentroidalMomentumTimeVariation(twin.model, twin.data, *motion)
    rate = kd.centroidal_momentum_rate(robot, q, v, a)
    scale = 1.0 + np.abs(rate).max()
    assert_allclose(rate[:3], expected.angular, rtol=0, atol=ROUNDOFF * scale)
    assert_allclose(rate[3:], expected.linear, rtol=0, atol=ROUNDOFF * scale)


def test_the_rate_of_the_momentum_of_all_engines():
    robot = kd.serial_chain(3)
    q, v, a = np.random.default_rng(2).normal(size=(3, 4, 3))
    expected = [kd.centroidal_momentum_rate(robot, *state) for state in zip(q, v, a, strict=True)]
    for dynamics in (kd.dynamics(robot), kd.compile(robot)):
        found = dynamics.centroidal_momentum_rate(q, v, a)
        assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_gravity_is_what_changes_the_momentum_of_a_body_that_falls():
    robot = kd.load_urdf(
        '<robot name="stone"><link name="stone"><inertial><origin xyz="0.1 0.2 0.3"/>'
        '<mass value="2"/><inertia ixx="0.3" iyy="0.4" izz="0.5" ixy="0" ixz="0" iyz="0"/>'
        '</inertial></link></robot>',
        base='floating',
    )
    q, v = robot.neutral(), np.array([1.0, -2.0, 3.0, 0.5, 0.2, -0.3])
    motion = kd.simulate(robot, q, v, 0.1, step=1e-3)
    before, after = kd.momentum(robot, q, v), kd.momentum(robot, motion.q[-1], motion.v[-1])
    # of order 4 in the step: what is left is below 1e-9
    assert_allclose(after - before, [0, 0, 0, 0, 0, -2.0 * 9.81 * 0.1], rtol=0, atol=1e-9)
