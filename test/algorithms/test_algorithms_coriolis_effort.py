# SPDX-License-Identifier: Apache-2.0
"""C x by recursion against the matrix (47)."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.trees import BASES, tree_and_state

import kane_dynamics as kd
from kane_dynamics.algorithms.coriolis_effort import coriolis_effort


@pytest.mark.parametrize('seed', range(6))
def test_equals_the_matrix_times_any_speeds(seed):
    robot, q, v, x = tree_and_state(seed, BASES[seed % 3])
    expected = kd.coriolis_matrix(robot, q, v) @ x
    found = coriolis_effort(robot, q.tolist(), v.tolist(), x.tolist())
    # a few hundred roundings
    assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(expected).max())
