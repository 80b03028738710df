# SPDX-License-Identifier: Apache-2.0
"""Rollouts in vector lanes: neighbours, chunks, cores, and steps that the reference takes."""

import os

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from rollout_cases import error, fast, robot_of, states, with_law

import kane_dynamics as kd
from kane_dynamics.compiler.llvm.native import vector_lanes
from kane_dynamics.exceptions import InconsistentConstraintsError

SAME = 1e-10  # of both engines, see test_rollouts_motion.py
COUNT = 21


@pytest.fixture(scope='module')
def sleds():
    """Return arguments of rollouts that differ in everything, and their result."""
    q, v = states('sled', COUNT)
    rng = np.random.default_rng(1)
    rows = {
        'effort': rng.normal(size=(COUNT, 5, 5)),
        'gains': rng.uniform(0.0, 2.0, (COUNT, 2)),
        'gravity': rng.normal(size=(COUNT, 3)),
    }
    result = kd.rollout(with_law('sled'), q, v, 0.05, every=2, **rows)
    assert vector_lanes() * 2 < COUNT  # more than one group, the last one not full
    return q, v, rows, result


def test_any_rollouts_alone_give_the_same_bits(sleds):
    q, v, rows, result = sleds
    for chosen in ([3], [20, 0, 7], list(range(1, 18))):
        own = {name: x[chosen] for name, x in rows.items()}
        found = kd.rollout(with_law('sled'), q[chosen], v[chosen], 0.05, every=2, **own)
        assert_array_equal(found.q, result.q[chosen])
        assert_array_equal(found.v, result.v[chosen])


def test_chunks_give_the_same_bits():
    q, v = states('arm', 200)
    whole = kd.rollout(fast('arm'), q, v, 0.02, reduce=lambda t, q, v: q[:, -1])
    sizes = []

    def last(times, q, v):
        sizes.append(len(q))
        return q[:, -1]

    found = kd.rollout(fast('arm'), q, v, 0.02, reduce=last, memory=1.0)
    assert sizes == [64, 64, 64, 8]
    assert_array_equal(found.reduced, whole.reduced)


@pytest.mark.skipif(
    not hasattr(os, 'sched_setaffinity') or len(os.sched_getaffinity(0)) < 2,
    reason='one core',
)
def test_cores_give_the_same_bits(sleds):
    q, v, rows, result = sleds
    cores = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(cores)})
        found = kd.rollout(with_law('sled'), q, v, 0.05, every=2, **rows)
    finally:
        os.sched_setaffinity(0, cores)
    assert_array_equal(found.q, result.q)
    assert_array_equal(found.v, result.v)


def test_a_long_motion_takes_many_calls():
    # machine code takes 2048 steps at once
    q, v = states('arm', 2)
    found = kd.rollout(fast('arm'), q, v, 5.0, every=1000)
    assert_array_equal(found.steps, 5000)
    run = fast('arm').simulate(q[1], v[1], 5.0)
    # a pendulum of two links is chaotic: roundoff grows by some 1e3 in five seconds
    assert error(found.q[1], run.q[::1000]) < 1e-9


def ill_in_the_midst():
    """Return the wrist's states; those of rollout 2 meet dependent rows after some steps."""
    robot, constraints = robot_of('gear')
    q = np.tile([0.3, 0.2, 0.1, 0.6], (COUNT, 1))
    q[:, 3] += np.linspace(0.0, 1.0, COUNT)
    v = np.tile([0.5, -0.5, 0.0, 0.8], (COUNT, 1))
    q[2, 2] = 0.5
    return robot, constraints, q, v


@pytest.mark.parametrize('integrator', ['rk4', 'semi_implicit', 'midpoint'])
def test_ill_lanes_in_the_midst_of_good_ones(integrator):
    robot, constraints, q, v = ill_in_the_midst()
    how = {'integrator': integrator, 'step': 0.005}
    found = kd.rollout(fast('gear'), q, v, 0.03, every=1, **how)
    assert 1 <= found.fallback_count <= 7
    for k in (0, 2, 3, 20):
        expected = kd.Simulation(robot, constraints, **how)
        expected.reset(q[k], v[k])
        for done in range(found.steps[k]):
            assert error(found.q[k, done], expected.q) < SAME
            assert error(found.v[k, done], expected.v) < SAME
            expected.step(np.zeros(4))
        assert (found.steps[k] < 6) == (k in found.failures)
        if k in found.failures:  # the reference has no next step either
            with pytest.raises(type(found.failures[k])):
                expected.step(np.zeros(4))
    assert set(found.failures) <= {2}
    others = [k for k in range(COUNT) if k != 2]
    assert_array_equal(found.steps[others], 6)
    alone = kd.rollout(fast('gear'), q[others], v[others], 0.03, every=1, **how)
    assert alone.fallback_count == 0
    assert_array_equal(alone.q, found.q[others])


def test_payloads_of_each():
    robot, constraints = robot_of('sled')
    frame = robot.bodies[-1].name
    fast_one = with_law('sled', (frame,))
    q, v = states('sled', 4)
    mass = np.array([0.0, 1.0, 2.0, 0.5])
    com = np.array([[0.1, 0.0, 0.0], [0.0, 0.2, 0.1], [-0.1, 0.1, 0.0], [0.0, 0.0, 0.3]])
    inertia = np.array([np.diag([0.2, 0.3, 0.4]) * k for k in (0, 1, 2, 0.5)])
    load = {'mass': mass, 'center_of_mass': com, 'inertia': inertia}
    gravity = np.array([0.5, 0.0, -9.0])
    found = kd.rollout(fast_one, q, v, 0.02, payloads={frame: load}, gravity=gravity)
    for k in range(4):
        own = robot.with_gravity(gravity).with_payload(frame, mass[k], com[k], inertia[k])
        effort = lambda t, q, v: fast_one.effort(t, q, v, np.array(fast_one.gains))  # noqa: E731
        run = kd.simulate(own, q[k], v[k], 0.02, constraints=constraints, effort=effort)
        assert error(found.q[k], run.q[-1]) < SAME
        assert error(found.v[k], run.v[-1]) < SAME
    assert np.abs(np.diff(found.v[:, -1])).min() > 0.0
    slow = kd.dynamics(robot, constraints)
    heavy = kd.rollout(slow, q[1], v[1], 0.005, payloads={frame: {'mass': 2.0}})
    light = kd.rollout(slow, q[1], v[1], 0.005)
    assert np.abs(heavy.v - light.v).max() > 0.0


def test_what_the_robot_carries_already_stays():
    frame = robot_of('sled')[0].bodies[-1].name
    fast_one, (q, v) = with_law('sled', (frame,)), states('sled', 2)
    bare = kd.rollout(fast_one, q, v, 0.01)
    try:
        fast_one.set_payload(frame, 1.5, (0.0, 0.1, 0.0))
        carried = kd.rollout(fast_one, q, v, 0.01)
        replaced = kd.rollout(fast_one, q, v, 0.01, payloads={frame: {'mass': [0.0, 0.0]}})
    finally:
        fast_one.set_payload(frame, 0.0)
    load = {'mass': 1.5, 'center_of_mass': [0.0, 0.1, 0.0]}
    given = kd.rollout(fast_one, q, v, 0.01, payloads={frame: load})
    assert error(given.v, carried.v) < 1e-14
    assert error(replaced.v, bare.v) < 1e-14
    assert np.abs(carried.v - bare.v).max() > 1e-6


def test_a_start_off_the_constraints_is_moved_onto_them():
    q, v = states('linkage', 3)
    q[1] += 0.3  # too far for the two Newton steps of machine code
    q[2] += 1e-4
    found = kd.rollout(fast('linkage'), q, v, 0.0)
    assert found.fallback_count == 1
    for k in range(3):
        expected = kd.simulation.project(*robot_of('linkage'), q[k], v[k], 0.0)
        assert error(found.q[k], expected[0]) < SAME
        assert error(found.v[k], expected[1]) < SAME


def test_a_start_without_an_answer_fails_alone():
    robot = robot_of('arm')[0]
    rows = kd.constraints.pfaffian(
        robot, lambda q, t: [[1.0, 0.0], [1.0, 0.0 * q[0]]], lambda q, t: [0.0, q[1]], label='two'
    )
    q, v = np.zeros((3, 2)), np.zeros((3, 2))
    q[1, 1] = 1.0  # the rows contradict each other
    found = kd.rollout(kd.dynamics(robot, [rows]), q, v, 0.0)
    assert list(found.failures) == [1]
    assert isinstance(found.failures[1], InconsistentConstraintsError)
    assert np.isnan(found.q[1]).all() and np.isfinite(found.q[[0, 2]]).all()


def test_steps_are_done_when_there_are_none():
    q, v = states('arm', 3)
    found = kd.rollout(fast('arm'), q, v, 0.0, every=1)
    assert_array_equal(found.q[:, 0], q)
    assert_array_equal(found.times, [0.0])
    assert_array_equal(found.steps, 0)
