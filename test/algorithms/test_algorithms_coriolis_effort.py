# SPDX-License-Identifier: Apache-2.0
"""C x by recursion against the matrix (47)."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.trees import BASES, tree_and_state

import kane_dynamics as kd
from kane_dynamics.algorithms.newton_euler import coriolis_effort, reference_effort


@pytest.mark.parametrize('seed', range(6))
def test_equals_the_matrix_times_any_speeds(seed):
    robot, q, v, x = tree_and_state(seed, BASES[seed % 3])
    expected = kd.coriolis_matrix(robot, q, v) @ x
    found = coriolis_effort(robot, q.tolist(), v.tolist(), x.tolist())
    # a few hundred roundings
    assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


@pytest.mark.parametrize('seed', range(3))
def test_effort_of_reference_speeds_is_the_sum_of_its_terms(seed):
    robot, q, v, x = tree_and_state(seed, BASES[seed % 3])
    rate = np.random.default_rng(seed).normal(size=robot.nv)
    parts = [
        kd.mass_matrix(robot, q) @ rate,
        kd.coriolis_matrix(robot, q, v) @ x,
        kd.gravity_force(robot, q),
        kd.friction_force(robot, x),
    ]
    given = robot, q.tolist(), v.tolist(), x.tolist(), rate.tolist()
    scale = max(np.abs(part).max() for part in parts)
    for switches in (*np.eye(4).tolist(), [1.0] * 4):
        expected = sum(on * part for on, part in zip(switches, parts, strict=True))
        found = reference_effort(*given, switches)
        assert_allclose(found, expected, rtol=0, atol=1e-12 * scale)
