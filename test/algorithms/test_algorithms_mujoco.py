# SPDX-License-Identifier: Apache-2.0
"""MuJoCo on random trees of the joint kinds that it has: M and C v + g."""

import pytest
from support.calculus import relative
from support.trees import tree_and_state

import kane_dynamics as kd

pytest.importorskip('mujoco', reason='the extra "oracle" is not installed')
from studies.peers.mujoco_twin import MujocoTwin

pytestmark = pytest.mark.oracle
AGREEMENT = 1e-12  # some 1e3 products of order 1 to 100 in other orders; measured 2e-15
KINDS = ('revolute', 'prismatic', 'cylindrical', 'planar', 'spherical')


@pytest.mark.claim(18)
@pytest.mark.parametrize('base', ['fixed', 'planar'])
@pytest.mark.parametrize('seed', range(8))
def test_dynamics(seed, base):
    robot, q, v, a = tree_and_state(seed, base, kinds=KINDS, mimic=False)
    twin = MujocoTwin(robot)
    M, bias = twin.mass_matrix(q), twin.bias_force(q, v)
    assert relative(kd.mass_matrix(robot, q), M) < AGREEMENT
    assert relative(kd.bias_force(robot, q, v), bias) < AGREEMENT
    tau = kd.inverse_dynamics(robot, q, v, a) - kd.friction_force(robot, v)
    assert relative(tau, M @ a + bias) < AGREEMENT
