# SPDX-License-Identifier: Apache-2.0
"""Published values of the Puma 560 (robotics-toolbox-python, tests/test_DHRobot.py)."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.puma560 import puma560

import kane_dynamics as kd

Q_N = (0.0, np.pi / 4, np.pi, 0.0, np.pi / 4, 0.0)
REST, ONES = np.zeros(6), np.ones(6)
PRINTED = 5.1e-5  # four decimals; six significant digits where more are printed


@pytest.mark.claim(18)
@pytest.mark.parametrize(
    ('v', 'a', 'gravity', 'expected'),
    [
        (REST, REST, 9.81, (0, 31.6399, 6.0351, 0, 0.0283, 0)),
        (REST, ONES, 9.81, (3.35311, 36.0025, 7.42596, 0.190043, 0.203441, 0.194133)),
        (ONES, REST, 9.81, (29.1421, 56.5044, 16.3528, 1.26448, 1.12392, 0.519648)),
        (ONES, ONES, 9.81, (32.4952, 60.867, 17.7436, 1.45452, 1.29911, 0.713781)),
        (ONES, ONES, 0.0, (32.4952, 29.2271, 11.7085, 1.45452, 1.27086, 0.713781)),
    ],
    ids=['gravity', 'acceleration', 'motion', 'all', 'weightless'],
)
def test_inverse_dynamics(v, a, gravity, expected):
    tau = kd.inverse_dynamics(puma560(gravity), Q_N, v, a)
    assert_allclose(tau, expected, rtol=0, atol=PRINTED)


def test_inertia():
    expected = (3.6594, 4.4137, 0.9378, 0.1925, 0.1713, 0.1941)
    M = kd.mass_matrix(puma560(), Q_N)
    assert_allclose(np.diag(M), expected, rtol=0, atol=PRINTED)


def test_forward_dynamics_undoes_the_published_torque():
    expected = (32.4952428, 60.8669885, 17.7435949, 1.454519, 1.2991104, 0.7137809)
    motion = kd.forward_dynamics(puma560(), Q_N, ONES, expected)
    assert_allclose(motion.acceleration, ONES, rtol=0, atol=1e-6)  # seven decimals over M of 0.17
