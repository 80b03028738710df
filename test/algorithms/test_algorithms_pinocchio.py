# SPDX-License-Identifier: Apache-2.0
"""Pinocchio on the same random trees: rnea, crba, Coriolis matrix, gravity, energies, poses."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.calculus import relative
from support.trees import thirty_trees, tree_and_state, tree_params

import kane_dynamics as kd

pytest.importorskip('pinocchio', reason='the extra "oracle" is not installed')
from studies.peers.pinocchio_twin import PinocchioTwin

pytestmark = pytest.mark.oracle
AGREEMENT = 1e-12  # both sum some 1e3 products of order 1 to 100 in other orders; measured 4e-15


@pytest.fixture(params=tree_params())
def case(request):
    """Return a robot with a state."""
    return tree_and_state(*request.param)


@pytest.mark.claim(10, 18)
def test_dynamics(case):
    robot, q, v, a = case
    twin = PinocchioTwin(robot)
    tau = kd.inverse_dynamics(robot, q, v, a) - kd.friction_force(robot, v)
    assert relative(tau, twin.inverse_dynamics(q, v, a)) < AGREEMENT
    assert relative(kd.mass_matrix(robot, q), twin.mass_matrix(q)) < AGREEMENT
    coriolis = kd.coriolis_matrix(robot, q, v) @ v
    assert relative(coriolis, twin.coriolis_force(q, v)) < AGREEMENT
    assert relative(kd.gravity_force(robot, q), twin.gravity_force(q)) < AGREEMENT
    assert relative(kd.bias_force(robot, q, v), twin.inverse_dynamics(q, v, 0 * a)) < AGREEMENT


def test_poses(case):
    robot, q, _, _ = case
    twin, kin = PinocchioTwin(robot), kd.forward_kinematics(robot, q)
    for body in robot.bodies:
        rotation, position = twin.body_pose(q, body.name)
        assert_allclose(kin.pose(body.name).rotation_matrix(), rotation, rtol=0, atol=1e-14)
        assert_allclose(kin.pose(body.name).position(), position, rtol=0, atol=1e-14)


@pytest.mark.parametrize(('seed', 'base'), thirty_trees()[:6])
def test_energies(seed, base):
    robot, q, v, _ = tree_and_state(seed, base, armature=False)
    kinetic, potential = PinocchioTwin(robot).energies(q, v)
    assert kd.kinetic_energy(robot, q, v) == pytest.approx(kinetic, rel=AGREEMENT)
    assert kd.potential_energy(robot, q) == pytest.approx(potential, rel=AGREEMENT)


def test_integration_on_the_manifold():
    import pinocchio as pin

    robot, q, v, _ = tree_and_state(2, 'floating', mimic=False)
    twin = PinocchioTwin(robot)
    moved = twin.coordinates(kd.integrate(robot, q, v, 0.6))
    other = pin.integrate(twin.model, twin.coordinates(q), 0.6 * twin.V @ v)
    assert_allclose(moved, other, rtol=0, atol=1e-14)
    assert not np.allclose(moved, twin.coordinates(q))
