# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics by articulated bodies against the dense solution."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.trees import BASES, tree_and_state

import kane_dynamics as kd
from kane_dynamics.algebra.dual_quaternion import ZERO, DualQuaternion, twist_from_vector, vec6
from kane_dynamics.algebra.quaternions import vec3
from kane_dynamics.algorithms.articulated_body import (
    ArticulatedInertia,
    MassSpread,
    bias_step,
    hinge_rcond,
    inward_step,
    outward_step,
)
from kane_dynamics.algorithms.mass_matrix import CompositeInertia, composite_mass_matrix
from kane_dynamics.algorithms.sparse_ldl import factor_tree
from kane_dynamics.robot.motion import AT_REST, joint_motion
from kane_dynamics.robot.robot import WORLD
from studies.random_robots import random_inertia, random_pose


def articulated_acceleration(robot, q, v, effort):
    """Return the accelerations of a tree by three ways over its bodies."""
    joints = [joint_motion(robot, i, q, v) for i in range(len(robot.bodies))]
    twists, biases, wrenches = {WORLD: AT_REST}, [], []
    for i, parent in enumerate(robot.parents):
        step = bias_step(joints[i], robot.bodies[i].inertia, twists[parent])
        twists[i] = step[0]
        biases.append(step[1])
        wrenches.append(step[2])
    carried = [CompositeInertia.of_body(body.inertia) for body in robot.bodies]
    inertias, hinges = [ArticulatedInertia.of_rigid(body) for body in carried], {}
    for i in reversed(range(len(joints))):
        columns, parent = joints[i].columns, robot.parents[i]
        given = robot.armature[columns].tolist(), effort[columns]
        hinges[i], inertia, wrench = inward_step(
            joints[i], *given, inertias[i], biases[i], wrenches[i]
        )
        if parent != WORLD:
            inertias[parent] = inertias[parent] + inertia
            wrenches[parent] = wrenches[parent] + wrench
    rates = {WORLD: DualQuaternion(ZERO, -robot.gravity_quaternion)}
    acceleration = np.zeros(robot.nv)
    for i, parent in enumerate(robot.parents):
        step = outward_step(joints[i], hinges[i], biases[i], rates[parent])
        acceleration[joints[i].columns], rates[i] = step
    return acceleration


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


def test_spread_is_half_the_trace_of_the_inertia_in_any_frame():
    rng = np.random.default_rng(5)
    body, pose = CompositeInertia.of_body(random_inertia(rng)), random_pose(rng)
    moved, expected = MassSpread.of_body(body).moved(pose), body.moved(pose)
    x, y, z = expected.tensor
    assert moved.square == pytest.approx(0.5 * (x.x + y.y + z.z), rel=1e-13)
    assert (moved.mass, moved.square) != (body.mass, MassSpread.of_body(body).square)
    assert_allclose(vec3(moved.moment), vec3(expected.moment), rtol=0, atol=1e-14)


@pytest.mark.parametrize('kinds', [('revolute', 'helical'), ('prismatic',)])
def test_health_bounds_that_of_the_factor_of_the_mass_matrix(kinds):
    # the smallest pivot of M = L' D L beside what no diagonal of M is above
    robot, q, v, _ = tree_and_state(1, 'planar', kinds=kinds, mimic=False)
    count = len(robot.bodies)
    joints = [joint_motion(robot, i, q.tolist(), v.tolist()) for i in range(count)]
    carried = [CompositeInertia.of_body(body.inertia) for body in robot.bodies]
    inertias = [ArticulatedInertia.of_rigid(body) for body in carried]
    nothing, found = DualQuaternion(ZERO, ZERO), []
    for i in reversed(range(count)):
        joint, parent = joints[i], robot.parents[i]
        armature, still = robot.armature[joint.columns].tolist(), [0.0] * len(joint.axes)
        step = inward_step(joint, armature, still, inertias[i], nothing, nothing)
        found.append(hinge_rcond(joint, armature, step[0], MassSpread.of_body(carried[i])))
        if parent >= 0:
            inertias[parent] = inertias[parent] + step[1]
            moved = carried[i].moved(joint.pose).moved(joint.placement)
            carried[parent] = carried[parent] + moved
    expected = factor_tree(composite_mass_matrix(robot, q.tolist())).rcond
    assert 0.0 < expected < 0.9
    # what lies along an axis counts as well; sliding moves the mass alone
    assert 0.2 * expected < min(found) <= (1.0 + 1e-12) * expected
    if kinds == ('prismatic',):
        assert min(found) == pytest.approx(expected, rel=1e-12)
