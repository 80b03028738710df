# SPDX-License-Identifier: Apache-2.0
"""Newton-Euler by moments of mass against (19)-(30), and what joints do not move of masses."""

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.machines import X, Y, Z, at, inertia, revolute, turned

import kane_dynamics as kd
from kane_dynamics.algebra.dual_quaternion import wrench_from_vector
from kane_dynamics.algebra.inertia import UPPER
from kane_dynamics.algorithms.newton_euler import TERMS, newton_euler, required_effort
from kane_dynamics.algorithms.newton_euler_by_moments import (
    lumped_moments,
    moved,
    newton_euler_by_moments,
    pseudo_inertia,
)
from kane_dynamics.robot.canonical_frames import canonical_frames
from kane_dynamics.robot.motion import integrate_coordinates
from kane_dynamics.robot.state import with_loads
from studies.random_robots import random_inertia, random_pose, random_tree

BASES = 'fixed', 'planar', 'floating'


def state_of(robot, rng):
    """Return q, v, a as lists."""
    q = integrate_coordinates(robot, robot.neutral(), rng.uniform(-1.0, 1.0, robot.nv), 1.0)
    return np.asarray(q).tolist(), *rng.uniform(-2.0, 2.0, (2, robot.nv)).tolist()


@pytest.mark.parametrize('base', BASES)
@pytest.mark.parametrize('seed', range(4))
@pytest.mark.parametrize('canonical', [False, True])
def test_efforts_of_all_joint_kinds(base, seed, canonical):
    rng = np.random.default_rng(seed)
    robot = random_tree(rng, base)
    if canonical:
        robot, _ = canonical_frames(robot)
    state = state_of(robot, rng)
    expected = newton_euler(robot, *state)
    # a chain of 14 products, each of a few roundings
    assert_allclose(
        newton_euler_by_moments(robot, *state), expected, atol=1e-13 * np.abs(expected).max()
    )


@pytest.mark.parametrize('base', BASES)
def test_each_term_alone(base, rng):
    robot = random_tree(rng, base)
    q, v, a = state_of(robot, rng)
    for switches in np.eye(len(TERMS)).tolist():
        expected, found = (
            required_effort(robot, q, v, a, None, switches, tree)
            for tree in (newton_euler, newton_euler_by_moments)
        )
        assert np.abs(expected).max() > 0.0
        assert_allclose(found, expected, atol=1e-13 * np.abs(expected).max())


def test_wrenches_on_bodies(rng):
    robot = random_tree(rng, 'floating')
    state = state_of(robot, rng)
    given = {i: wrench_from_vector(rng.normal(size=6)) for i in range(len(robot.bodies))}
    expected = newton_euler(robot, *state, gravity=0.0, external=given)
    found = newton_euler_by_moments(robot, *state, gravity=0.0, external=given)
    assert_allclose(found, expected, atol=1e-13 * np.abs(expected).max())


@pytest.mark.parametrize('ratio', [1e-9, 1e9])
def test_mass_ratios(ratio):
    # each effort by itself: that of the light link does not drown in what was lumped
    bodies = [
        kd.Body(
            f'link{i}',
            f'link{i - 1}' if i else '',
            revolute(f'joint{i}', axis),
            turned(X, 0.3 + i, (0.2, -0.1, 0.3)),
            inertia(mass, (0.1, 0.2, -0.3), (0.1 * mass, 0.12 * mass, 0.15 * mass)),
        )
        for i, (axis, mass) in enumerate(zip((Z, Y, X, Z), (1.0, ratio, 1.0, ratio), strict=True))
    ]
    robot = kd.Robot('uneven', bodies)
    state = [0.3, -0.5, 0.7, 0.2], [1.0, -2.0, 0.5, 1.5], [0.4, 2.0, -1.0, 0.3]
    assert_allclose(
        newton_euler_by_moments(robot, *state), newton_euler(robot, *state), rtol=1e-13
    )


def test_a_round_wheel_that_turns_steadily_needs_nothing():
    # c of its factors c + rate and c - rate is 3e6: roundoff of it would be 1e-10 N m
    wheel = inertia(2.0, (0, 0, 0.1), (0.3, 0.3, 0.5))
    bodies = [
        kd.Body('base', '', kd.Joint('base', kd.Free()), inertia=inertia(1.0, (0, 0, 0))),
        kd.Body('wheel', 'base', revolute('axle', Z), at(0.1, 0.2, 0.0), wheel),
    ]
    robot = kd.Robot('one_wheel', bodies, (0.0, 0.0, 0.0))
    q = robot.neutral().tolist()
    v = [1234.567, 2345.678, 12.3, 0.1, 0.2, 0.3, 77.7]
    v_rate = [0.0] * robot.nv
    assert newton_euler_by_moments(robot, q, v, v_rate)[-1] == 0.0
    v_rate[-1] = 0.1
    assert newton_euler_by_moments(robot, q, v, v_rate)[-1] == pytest.approx(0.5 * 0.1, rel=1e-15)


def test_moments_by_integration(rng):
    # masses at points: sums of dm, r dm, r r' dm
    masses, points = rng.uniform(0.5, 2.0, 6), rng.normal(size=(6, 3))
    total, com = masses.sum(), masses @ points / masses.sum()
    arms = points - com
    tensor = sum(
        m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, arms, strict=True)
    )
    moments = pseudo_inertia(kd.Inertia(total, com, tensor))
    pose = random_pose(rng)
    R, p = pose.rotation_matrix(), pose.position()
    for found, places in ((moments, points), (moved(moments, pose), points @ R.T + p)):
        assert found[3, 3] == pytest.approx(total, rel=1e-14)
        assert_allclose(found[:3, 3], masses @ places, rtol=1e-13)
        second = np.einsum('k,ki,kj->ij', masses, places, places)
        assert_allclose(found[:3, :3], second, atol=1e-13 * np.abs(second).max())


def test_what_joints_do_not_move():
    rng = np.random.default_rng(3)
    kinds = kd.Free(), kd.Revolute((0.0, 0.6, 0.8)), kd.Prismatic((1.0, 0.0, 0.0)), kd.Spherical()
    bodies = [
        kd.Body(
            f'b{i}',
            f'b{i - 1}' if i else '',
            kd.Joint(f'j{i}', kind),
            random_pose(rng),
            random_inertia(rng),
        )
        for i, kind in enumerate(kinds)
    ]
    robot = kd.Robot('kinds', bodies)
    root, turning, sliding, ball = lumped_moments(robot)
    z = np.array(kinds[1].axis)
    assert turning[3, 3] == 0.0
    assert abs(turning[:3, 3] @ z) < 1e-15
    assert abs(z @ turning[:3, :3] @ z) < 1e-15
    assert not sliding[:3, :3].any()
    assert sliding[3, 3] == bodies[2].inertia.mass
    assert (ball == pseudo_inertia(bodies[3].inertia)).all()
    # all mass of the turning body is the root's, about the point where its joint is
    assert root[3, 3] == pytest.approx(bodies[0].inertia.mass + bodies[1].inertia.mass, rel=1e-15)


def test_a_body_whose_masses_are_traced_keeps_them():
    bodies = [
        kd.Body('lower', '', revolute('one', Z), inertia=inertia(1.0, (0.1, 0, 0))),
        kd.Body('upper', 'lower', revolute('two', X), at(0.5, 0, 0), inertia(2.0, (0, 0.3, 0.1))),
        kd.Body('tip', 'upper', revolute('three', Y), at(0.4, 0, 0), inertia(0.5, (0, 0.1, 0))),
    ]
    arm = kd.Robot('arm', bodies)
    x = ca.SX.sym('x', 10)
    entries = ca.vertsplit(x)
    traced = kd.Inertia.traced(entries[0], entries[1:4], entries[4:])
    loaded = with_loads(arm, arm.gravity, {1: traced})
    state = [0.3, -0.5, 0.7], [1.0, -2.0, 0.5], [0.4, 2.0, -1.0]
    tau = ca.Function('tau', [x], [ca.vertcat(*newton_euler_by_moments(loaded, *state))])
    own = bodies[1].inertia
    numbers = [own.mass, *own.com, *own.tensor[UPPER]]
    assert_allclose(np.array(tau(numbers)).ravel(), newton_euler(arm, *state), rtol=1e-13)
