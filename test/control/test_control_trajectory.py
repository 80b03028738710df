# SPDX-License-Identifier: Apache-2.0
"""Trajectories: splines through points, against SciPy's and against their laws."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import BPoly

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.trajectories.joint_trajectory import UNNAMED, JointTrajectory, Setpoint, braking


def points_of(rng, count=6, joints=3):
    times = np.cumsum(rng.uniform(0.1, 1.0, count))
    return times, rng.uniform(-1.0, 1.0, (3, count, joints))


@pytest.mark.parametrize('fields', [1, 2, 3])
def test_splines_are_scipys_hermite_splines(rng, fields):
    times, values = points_of(rng)
    trajectory = JointTrajectory(UNNAMED, times, *values[:fields])
    oracle = BPoly.from_derivatives(times, np.moveaxis(values[:fields], 0, 1))
    for t in rng.uniform(times[0], times[-1], 50):
        # both come from one set of numbers of order 1; second derivatives grow with 1 / h^2
        assert_allclose(trajectory.at(t), [oracle(t, k) for k in range(3)], atol=1e-10)


@pytest.mark.parametrize('fields', [1, 2, 3])
def test_every_point_is_passed_with_what_it_gives(rng, fields):
    times, values = points_of(rng)
    trajectory = JointTrajectory(UNNAMED, times, *values[:fields])
    for i in range(len(times) - 1):
        assert_allclose(trajectory.at(times[i])[:fields], values[:fields, i], atol=1e-10)


def test_straight_lines_without_velocities():
    trajectory = JointTrajectory(UNNAMED, [0.0, 1.0, 3.0], [[0.0], [1.0], [0.0]])
    assert_allclose(np.ravel(trajectory.at(0.25)), [0.25, 1.0, 0.0])
    assert_allclose(np.ravel(trajectory.at(2.0)), [0.5, -0.5, 0.0])


def test_rest_before_and_after(rng):
    times, values = points_of(rng)
    trajectory = JointTrajectory(UNNAMED, times, *values)
    rest = np.zeros((2, 3))
    for t, i in ((times[0] - 1.0, 0), (times[-1] + 1e-9, -1), (times[-1] + 100.0, -1)):
        assert_allclose(trajectory.at(t), [values[0, i], *rest])
    assert (trajectory.start, trajectory.end) == (times[0], times[-1])


def test_one_point_is_a_place_to_rest():
    assert_allclose(
        np.ravel(JointTrajectory(UNNAMED, [1.0], [[2.0]], [[3.0]]).at(1.0)), [2.0, 0.0, 0.0]
    )


def test_braking_has_constant_deceleration(rng):
    p, v = rng.uniform(-1.0, 1.0, (2, 4))
    motion = braking(p, v, 0.4)
    for t in (0.0, 0.1, 0.39):
        expected = [p + v * t - v * t**2 / 0.8, v * (1.0 - t / 0.4), -v / 0.4]
        assert_allclose(motion.at(t), expected, atol=1e-12)
    assert_allclose(motion.at(5.0), [p + 0.2 * v, 0.0 * v, 0.0 * v])


def test_setpoint_does_not_depend_on_time():
    setpoint = Setpoint(*np.eye(3))
    assert_allclose(setpoint.at(-1.0), setpoint.at(1e9))


@pytest.mark.parametrize(
    ('arguments', 'words'),
    [
        (([], np.zeros((0, 1))), 'at least one'),
        (([0.0, 0.0], [[0.0], [1.0]]), 'increase'),
        (([1.0, 0.0], [[0.0], [1.0]]), 'increase'),
        (([0.0, np.inf], [[0.0], [1.0]]), 'finite'),
        (([0.0, 1.0], [[0.0], [np.nan]]), 'positions: need finite numbers'),
        (([0.0, 1.0], [[0.0]]), 'shape'),
        (([0.0, 1.0], [0.0, 1.0]), 'shape'),
        (([0.0, 1.0], [[0.0], [1.0]], [[0.0, 1.0]] * 2), 'velocities: need shape'),
        (([0.0, 1.0], [[0.0], [1.0]], None, [[0.0], [1.0]]), 'needs velocities'),
    ],
)
def test_what_is_no_trajectory(arguments, words):
    with pytest.raises(InvalidInputError, match=words):
        JointTrajectory(UNNAMED, *arguments)
