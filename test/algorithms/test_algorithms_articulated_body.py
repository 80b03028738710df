# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics by articulated bodies against the dense solution."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.trees import BASES, tree_and_state

import kane_dynamics as kd
from kane_dynamics.algebra.dual_quaternion import twist_from_vector, vec6
from kane_dynamics.algorithms.articulated_body import (
    ArticulatedInertia,
    articulated_acceleration,
)
from kane_dynamics.algorithms.composite_inertia import CompositeInertia
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.model.sample_robots import random_inertia, random_pose


@pytest.mark.parametrize('seed', range(6))
def test_equals_the_dense_solution(seed):
    robot, q, v, effort = tree_and_state(seed, BASES[seed % 3], mimic=False, friction=False)
    expected = kd.forward_dynamics(robot, q, v, effort).acceleration
    found = articulated_acceleration(robot, q.tolist(), v.tolist(), effort.tolist())
    # eight joints; the dense solve alone loses the condition of M, about 1e3
    assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_inertia_of_a_rigid_body_maps_twists_on_momenta_in_any_frame():
    rng = np.random.default_rng(4)
    body, pose, twist = CompositeInertia.of_body(random_inertia(rng)), random_pose(rng), None
    twist = twist_from_vector(rng.normal(size=6))
    there = pose.adjoint(twist)
    moved = ArticulatedInertia.of_rigid(body).moved(pose).wrench(there)
    # some tens of roundings
    assert_allclose(vec6(moved), vec6(body.moved(pose).momentum(there)), rtol=0, atol=1e-14)
    assert_allclose(vec6(moved), vec6(pose.adjoint(body.momentum(twist))), rtol=0, atol=1e-14)


def test_followers_are_refused():
    robot, q, v, effort = tree_and_state(0, 'fixed')
    with pytest.raises(InvalidInputError, match='no joint may follow another'):
        articulated_acceleration(robot, q, v, effort)
