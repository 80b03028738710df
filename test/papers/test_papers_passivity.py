# SPDX-License-Identifier: Apache-2.0
"""
What a skew dM/dt - 2 C is good for: passivity-based control (Silva (52), Parsa (42)).

With s = v - v_r and tau = M vdot_r + C v_r + g - K s the law of motion becomes
M sdot + (C + K) s = 0, and V = s' M s/2 falls with V' = -s' K s for any robot and any motion.
"""

import numpy as np
import pytest
from support import parsa
from support.calculus import along, derivative, relative
from support.trees import BASES, tree_and_state

import kane_dynamics as kd

DIFFERENCES = 1e-9  # of order 8, of a function of 1e2 J


def storage_rate(robot, q, v, reference, reference_rate, C, gain):
    """Return V' by differences along the controlled motion, and -s' K s."""
    s = v - reference
    tau = kd.mass_matrix(robot, q) @ reference_rate + C @ reference + kd.gravity_force(robot, q)
    a = kd.forward_dynamics(robot, q, v, tau - gain @ s).acceleration

    def storage(time):
        error = s + time * (a - reference_rate)
        return 0.5 * error @ kd.mass_matrix(robot, along(robot, q, v)(time)) @ error

    return derivative(storage), -s @ gain @ s


@pytest.mark.claim(14)
@pytest.mark.parametrize('matrix', [kd.coriolis_matrix, parsa.coriolis_matrix])
@pytest.mark.parametrize('seed', range(3))
def test_error_energy_falls_by_the_gain_alone(seed, matrix):
    robot, q, v, rate = tree_and_state(seed, BASES[seed], friction=False)
    rng = np.random.default_rng(seed)
    reference, half = rng.uniform(-1, 1, robot.nv), rng.normal(size=(robot.nv, robot.nv))
    gain = half @ half.T + np.eye(robot.nv)
    C = matrix(robot, q, v)
    found, wanted = storage_rate(robot, q, v, reference, rate, C, gain)
    assert found == pytest.approx(wanted, rel=DIFFERENCES)
    assert wanted < -1.0


@pytest.mark.claim(14)
def test_another_matrix_with_the_same_c_v_is_not_enough():
    robot, q, v, rate = tree_and_state(1, 'planar', friction=False)
    reference = np.random.default_rng(1).uniform(-1, 1, robot.nv)
    C = kd.coriolis_matrix(robot, q, v)
    across = np.roll(v, 1) - v * (np.roll(v, 1) @ v) / (v @ v)
    other = C + np.outer(v, across)
    assert relative(other @ v, C @ v) < 1e-12
    gain = 2.0 * np.eye(robot.nv)
    found, wanted = storage_rate(robot, q, v, reference, rate, other, gain)
    assert abs(found - wanted) > 0.01
