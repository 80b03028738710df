# SPDX-License-Identifier: Apache-2.0
"""Points of retimed motions: rates of coordinates, efforts of the robot, pairs at their jumps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kane_dynamics as kd
from kane_dynamics.trajectories.effort_points import GAP
from kane_dynamics.trajectories.path_limits import PathLimits
from kane_dynamics.trajectories.paths import SplinePath
from kane_dynamics.trajectories.retiming import FULL, Retimed
from kane_dynamics.trajectories.speed_profile import SpeedProfile

DRIVES_AND_BRAKES = SpeedProfile(np.array([0.0, 0.2, 0.5, 1.0]), np.array([0.0, 0.4, 1.0, 0.0]))
SWITCH, LASTS = 1.0, 2.0


@pytest.fixture(scope='module')
def limits():
    """Return an arm on a path that bends."""
    robot = kd.serial_chain(2)
    path = SplinePath([[0.0, 0.3], [0.9, -0.4], [0.5, 0.8], [1.2, 1.0]], [0.0, 0.2, 0.7, 1.0])
    return PathLimits(kd.compile(robot), path, robot.velocity_names, None, FULL)


@pytest.fixture(scope='module')
def motion(limits):
    """Return a motion at u = 1, then -1."""
    return Retimed(limits, DRIVES_AND_BRAKES, {}, 1.0)


def beside_the_switch():
    """Return times that are no end and not the switch."""
    times = np.linspace(0.0, LASTS, 41)[1:-1]
    return times[np.abs(times - SWITCH) > 0.01]


def test_speeds_and_accelerations_are_rates(motion):
    times, step = beside_the_switch(), 1e-5
    _, v, a = motion.at(times)
    after, before = motion.at(times + step), motion.at(times - step)
    assert_allclose((after[0] - before[0]) / (2 * step), v, rtol=0, atol=1e-7)
    assert_allclose((after[1] - before[1]) / (2 * step), a, rtol=0, atol=1e-6)


def test_efforts_are_those_of_the_motion(limits, motion):
    times = beside_the_switch()
    expected = limits.dynamics.inverse_dynamics(*motion.at(times))
    assert_allclose(motion.efforts(times), expected, rtol=0, atol=1e-9)


def test_points_are_even_but_where_efforts_jump(motion):
    found = motion.motion(step=0.1)
    even = np.delete(np.linspace(0.0, LASTS, 21), 10)
    assert_allclose(found.times, np.sort(np.r_[even, SWITCH - GAP / 2, SWITCH + GAP / 2]))
    for x, y in zip((found.positions, found.velocities), motion.at(found.times), strict=False):
        assert_allclose(x, y, rtol=0, atol=1e-15)


@pytest.mark.parametrize('last', [0.5 * GAP, 1.5 * GAP])
def test_efforts_that_jump_just_before_the_end_have_no_points_beyond_it(limits, last):
    rest = 0.5 * 0.1 * last  # where it brakes from 0.1
    grid, squares = np.array([0.0, 0.5, 1.0 - rest, 1.0]), np.array([0.0, 1.0, 0.01, 0.0])
    found = Retimed(limits, SpeedProfile(grid, squares), {}, 1.0)
    assert found.duration - found.profile.times[-2] == pytest.approx(last)
    times = found.motion(step=0.1).times
    assert times[-1] == found.duration
    assert np.diff(times).min() > 0.4 * GAP
    pairs = np.diff(times) < 1.01 * GAP
    assert pairs.sum() == (1 if last < GAP else 3)  # the switch; the last jump, and from it on


@pytest.mark.parametrize('error', [0.3, 0.03])
def test_lines_between_points_are_near_efforts(motion, error):
    found = motion.points(step=0.5, error=error)
    assert (np.diff(found.times) > 0.0).all()
    assert len(found.times) < 400
    moments = np.linspace(0.0, LASTS, 4001)
    moments = moments[np.abs(moments - SWITCH) > GAP]
    lines = np.array([np.interp(moments, found.times, x) for x in found.efforts.T]).T
    off = np.abs(lines - motion.efforts(moments)).max()
    assert 0.2 * error < off <= error
    assert_allclose(found.efforts[:-1], motion.efforts(found.times[:-1]), rtol=0, atol=1e-12)


def test_the_last_point_is_the_robot_at_rest_a_gap_later(limits, motion):
    found, end = motion.points(), limits.path.at(np.ones(1)).q[0]
    assert_allclose(found.times[-2:], [LASTS, LASTS + GAP], rtol=1e-12)
    assert_allclose(found.positions[-2:], [end, end], rtol=0, atol=1e-12)
    assert not found.velocities[-1].any()
    assert not found.accelerations[-1].any()
    assert_allclose(found.efforts[-1], limits.dynamics.gravity_force(end), rtol=0, atol=1e-9)
