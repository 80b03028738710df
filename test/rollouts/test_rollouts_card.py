# SPDX-License-Identifier: Apache-2.0
"""Rollouts on a graphics card, which the processor plays, against those of the processor."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from support import cuda
from support.machines import planar_2r, sled_with_arm

import kane_dynamics as kd
from kane_dynamics.compiler.law import Law
from kane_dynamics.exceptions import InvalidInputError

COUNT, STEP = 12, 0.01
AGREEMENT = {'float64': 1e-11, 'float32': 1e-5}  # roundoff of a dozen steps, in some units of 1


def law(t, q, v, gains):
    return [-gains[0] * v[k] - gains[1] * q[k] for k in range(5)]


@pytest.fixture(scope='module')
def sled():
    """Return a sled with an arm under its row, on the card, with a law and a payload."""
    robot = sled_with_arm()
    rows = (kd.constraints.no_side_slip(robot, -0.1),)
    return cuda.robot(robot, rows, ('upper',), law=Law.of(robot, law, (0.2, 0.1)))


@pytest.fixture
def given(rng):
    """Return starts, and efforts in three pieces."""
    q, v = rng.uniform(-0.5, 0.5, (2, 5, 5))
    return {'q': q, 'v': v, 'duration': COUNT * STEP, 'effort': rng.uniform(-2, 2, (5, 3, 5))}


def assert_same(found, expected, precision='float64'):
    assert_allclose(found.times, expected.times)
    for name in ('q', 'v'):
        numbers = getattr(expected, name)
        assert getattr(found, name).dtype == precision
        assert_allclose(getattr(found, name), numbers, rtol=0, atol=AGREEMENT[precision])
    assert_array_equal(found.steps, expected.steps)


@pytest.mark.parametrize('integrator', ['rk4', 'semi_implicit', 'midpoint'])
def test_rollouts_are_those_of_the_processor(sled, integrator, given):
    given |= {'step': STEP, 'integrator': integrator}
    found = kd.rollout(sled, **given, every=2)
    assert_same(found, kd.rollout(sled.on_cpu, **given, every=2))
    assert found.q.shape == (5, 7, 5)
    assert found.fallback_count == 0
    last = kd.rollout(sled, **given)
    assert_array_equal(last.q, found.q[:, -1])
    assert_array_equal(last.v, found.v[:, -1])
    told = []
    reduced = kd.rollout(
        sled,
        **given,
        every=2,
        reduce=lambda times, q, v: (v**2).sum((1, 2)),
        progress=lambda *numbers: told.append(numbers),
    )
    assert_allclose(reduced.reduced, (found.v**2).sum((1, 2)), rtol=1e-14)
    assert reduced.q is None
    assert told == [(5 * COUNT, 5 * COUNT)]


def test_loads_and_gains_are_of_each_rollout(sled, given, rng):
    given |= {
        'step': STEP,
        'gains': rng.uniform(0.0, 1.0, (5, 2)),
        'gravity': rng.uniform(-9.0, 9.0, (5, 3)),
        'payloads': {'upper': {'mass': rng.uniform(0.0, 2.0, 5)}},
    }
    found = kd.rollout(sled, **given)
    assert_same(found, kd.rollout(sled.on_cpu, **given))
    given['gains'] = given['gains'][0]
    assert np.abs(kd.rollout(sled, **given).v - found.v)[1:].max() > 1e-3


def test_rollouts_in_single_precision(given):
    robot = sled_with_arm()
    rows = (kd.constraints.no_side_slip(robot, -0.1),)
    gpu = cuda.robot(robot, rows, precision='float32')
    found = kd.rollout(gpu, **given, step=STEP)
    assert_same(found, kd.rollout(gpu.on_cpu, **given, step=STEP), 'float32')
    assert found.fallback_count == 0
    # beyond 1e4 the sines of single precision end: those steps are the processor's
    given['q'][1, 2] = 2e4 * np.pi
    far = kd.rollout(gpu, **given, step=STEP, every=3)
    assert far.fallback_count == COUNT
    expected = kd.rollout(gpu.on_cpu, **given, step=STEP, every=3)
    # the angle is rounded to 2^-8 after each step
    assert_allclose(far.v[1], expected.v[1], rtol=0, atol=0.05)
    assert_allclose(far.v[0], expected.v[0], rtol=0, atol=AGREEMENT['float32'])
    with pytest.raises(InvalidInputError, match="'midpoint' asks for more digits"):
        kd.rollout(gpu, **given, step=STEP, integrator='midpoint')


def test_rollouts_that_are_lost_leave_the_others_alone(sled, given):
    sound = kd.rollout(sled, **given, step=STEP)
    given['q'][2, 0], given['v'][4, 3] = np.nan, np.inf
    found = kd.rollout(sled, **given, step=STEP)
    assert_array_equal(found.steps, [COUNT, COUNT, 0, COUNT, 0])
    assert_array_equal(np.isnan(found.q).all(axis=1), found.steps == 0)
    assert_array_equal(found.q[[0, 1, 3]], sound.q[[0, 1, 3]])
    given['v'][4, 3] = 1e9  # runs away
    found = kd.rollout(sled, **given, step=STEP)
    assert list(found.failures) == [4]
    assert np.isnan(found.v[4]).all()


def test_one_effort_and_one_start_for_all():
    robot = planar_2r()
    gpu, q = cuda.robot(robot), np.array([0.3, -0.2])
    gravity = np.array([[0.0, 0.0, -9.81], [0.0, 0.0, 0.0]])
    found = kd.rollout(gpu, q, q, 0.05, effort=[0.5, 0.1], step=STEP, gravity=gravity)
    expected = kd.rollout(
        kd.dynamics(robot), q, q, 0.05, effort=[0.5, 0.1], step=STEP, gravity=gravity
    )
    assert_same(found, expected)
