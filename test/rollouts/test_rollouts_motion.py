# SPDX-License-Identifier: Apache-2.0
"""Rollouts against simulations one by one."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from rollout_cases import error, fast, law, robot_of, states, with_law

import kane_dynamics as kd
from kane_dynamics.simulation.integrators import INTEGRATORS

SAME = 1e-10  # of both engines, which add up in other orders; see test_compiler_steps.py
STEP = 0.005
COUNT = 11  # no whole number of vectors


def simulated(name, q, v, steps, integrator='rk4', projection=True, effort=None, robot=None):
    """Return states of a simulation by the reference."""
    own, constraints = robot_of(name)
    how = {'constraints': constraints, 'step': STEP, 'integrator': integrator}
    robot = robot or own
    return kd.simulate(robot, q, v, steps * STEP, effort=effort, projection=projection, **how)


def engines(name):
    return {'reference': kd.dynamics(*robot_of(name)), 'compiled': fast(name)}


# each integrator on two robots, and each robot: every step alone is in test_compiler_steps.py
QUICK = {
    *((name, integrator) for name in ('arm', 'sled') for integrator in INTEGRATORS),
    *(('drive', 'semi_implicit'), ('linkage', 'rk4'), ('linkage', 'midpoint')),
    ('floating', 'midpoint'),
}
ALL = [
    pytest.param(*pair, marks=() if pair in QUICK else pytest.mark.thorough)
    for pair in itertools.product(['arm', 'sled', 'drive', 'linkage', 'floating'], INTEGRATORS)
]


@pytest.mark.parametrize('engine', ['reference', 'compiled'])
@pytest.mark.parametrize(('name', 'integrator'), ALL)
def test_as_simulated(name, integrator, engine):
    dynamics = engines(name)[engine]
    count = COUNT if engine == 'compiled' else 2
    q, v = states(name, count)
    effort = np.linspace(0.3, -0.4, dynamics.robot.nv)
    how = {'effort': effort, 'step': STEP, 'integrator': integrator}
    found = kd.rollout(dynamics, q, v, 6 * STEP, every=2, **how)
    assert found.q.shape == (count, 4, dynamics.robot.nq)
    for k in range(count):
        expected = simulated(name, q[k], v[k], 6, integrator, effort=effort)
        assert error(found.q[k], expected.q[::2]) < SAME
        assert error(found.v[k], expected.v[::2]) < SAME
        assert_array_equal(found.times, expected.time[::2])
    assert_array_equal(found.steps, [6] * count)
    assert found.fallback_count == 0 and not found.failures


def test_without_projection():
    q, v = states('sled', 3)
    found = kd.rollout(fast('sled'), q, v, 4 * STEP, step=STEP, projection=False)
    for k in range(3):
        expected = simulated('sled', q[k], v[k], 4, projection=False)
        assert error(found.v[k], expected.v[-1]) < SAME


@pytest.mark.parametrize('engine', ['reference', 'compiled'])
def test_pieces_of_efforts(engine):
    dynamics, (q, v) = engines('sled')[engine], states('sled', 3)
    pieces = np.random.default_rng(0).normal(size=(3, 2, dynamics.robot.nv))
    found = kd.rollout(dynamics, q, v, 6 * STEP, effort=pieces, step=STEP)
    for k in range(3):
        rows = np.repeat(pieces[k], 3, axis=0)
        expected = simulated('sled', q[k], v[k], 6, effort=rows)
        assert error(found.q[k], expected.q[-1]) < SAME
    one_each = kd.rollout(dynamics, q, v, 3 * STEP, effort=pieces[:, 0], step=STEP)
    halves = kd.rollout(dynamics, q, v, 3 * STEP, effort=pieces[:, :1], step=STEP)
    assert_array_equal(one_each.q, halves.q)


def test_gains_of_each():
    dynamics, (q, v) = with_law('sled'), states('sled', 3)
    gains = np.array([[0.5, 0.1], [2.0, 0.0], [-1.0, 0.7]])
    found = kd.rollout(dynamics, q, v, 6 * STEP, gains=gains, step=STEP)
    for k in range(3):
        expected = simulated(
            'sled', q[k], v[k], 6, effort=lambda t, q, v, k=k: law(t, q, v, gains[k])
        )
        assert error(found.v[k], expected.v[-1]) < SAME
    plain = kd.rollout(dynamics, q, v, 6 * STEP, step=STEP)
    assert error(plain.v[0], found.v[0]) < SAME
    for_all = kd.rollout(dynamics, q, v, 6 * STEP, gains=gains[1], step=STEP)
    assert error(for_all.v[1], found.v[1]) < SAME
    assert error(dynamics.simulate(q[0], v[0], 6 * STEP, step=STEP).v[-1], plain.v[0]) < SAME


def test_gravity_of_each():
    q, v = states('arm', 3)
    gravity = np.array([[0.0, 0.0, -9.81], [1.0, -2.0, 3.0], [0.0, 0.0, 0.0]])
    found = kd.rollout(fast('arm'), q, v, 6 * STEP, gravity=gravity, step=STEP)
    for k in range(3):
        robot = robot_of('arm')[0].with_gravity(gravity[k])
        assert error(found.q[k], simulated('arm', q[k], v[k], 6, robot=robot).q[-1]) < SAME
    assert_array_equal(fast('arm').robot.gravity, robot_of('arm')[0].gravity)


def test_no_rollouts():
    found = kd.rollout(fast('arm'), np.zeros((0, 2)), np.zeros(2), 0.01)
    assert found.q.shape == (0, 2) and found.steps.shape == (0,)
    reduced = kd.rollout(
        fast('arm'), np.zeros((0, 2)), np.zeros(2), 0.01, reduce=lambda t, q, v: q.max(axis=1)
    )
    assert reduced.reduced.shape == (0, 2)


def test_one_state_for_all():
    q, v = states('arm', 1)
    efforts = np.random.default_rng(2).normal(size=(5, 2))
    found = kd.rollout(fast('arm'), q[0], v[0], 0.01, effort=efforts)
    assert found.q.shape == (5, 2)
    expected = kd.rollout(
        fast('arm'), np.repeat(q, 5, 0), np.repeat(v, 5, 0), 0.01, effort=efforts
    )
    assert_array_equal(found.q, expected.q)
    assert np.abs(np.diff(found.q[:, 0])).min() > 0.0


def test_states_that_are_not_finite():
    q, v = states('sled', 4)
    q[1, 2], v[2, 0] = np.nan, np.inf
    found = kd.rollout(fast('sled'), q, v, 0.01, every=5)
    assert np.isnan(found.q[1:3]).all() and np.isnan(found.v[1:3]).all()
    assert_array_equal(found.steps, [10, 0, 0, 10])
    assert not found.failures
    alone = kd.rollout(fast('sled'), q[[0, 3]], v[[0, 3]], 0.01, every=5)
    assert_array_equal(found.q[[0, 3]], alone.q)


def test_reduced():
    q, v = states('sled', 5)
    seen = []

    def farthest(times, q, v):
        seen.append((len(times), q.shape, v.shape))
        return np.abs(q[..., 0]).max(axis=1)

    found = kd.rollout(fast('sled'), q, v, 0.01, reduce=farthest)
    every = kd.rollout(fast('sled'), q, v, 0.01, every=1)
    assert found.q is None and found.v is None
    assert seen == [(11, (5, 11, 5), (5, 11, 5))]
    assert_array_equal(found.reduced, np.abs(every.q[..., 0]).max(axis=1))
    sparse = kd.rollout(fast('sled'), q, v, 0.01, reduce=lambda t, q, v: q[:, :, 0], every=5)
    assert_array_equal(sparse.reduced, every.q[:, ::5, 0])


def test_progress():
    q, v = states('arm', 5)
    told = []
    kd.rollout(fast('arm'), q, v, 0.01, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (50, 50)
    assert told == sorted(told)


def test_nothing_is_written_to():
    q, v = states('sled', 3)
    effort = np.ones((3, 5))
    copies = [x.copy() for x in (q, v, effort)]
    kd.rollout(fast('sled'), q, v, 0.01, effort=effort)
    for array, copy in zip((q, v, effort), copies, strict=True):
        assert_array_equal(array, copy)
