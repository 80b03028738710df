# SPDX-License-Identifier: Apache-2.0
"""Efforts between points: the motion stays, the error of lines is as small as wanted."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.trajectories import effort_points
from kane_dynamics.trajectories.effort_points import (
    GAP,
    clip_efforts,
    line_error,
    starting_from,
    with_efforts,
    with_ramp,
)
from kane_dynamics.trajectories.joint_trajectory import JointTrajectory

NAMES = ('a', 'b')
ORDERS = ('linear', 'cubic', 'quintic')


def points(order, seed=1, count=5):
    """Return a random trajectory that ends at rest."""
    rng = np.random.default_rng(seed)
    times = np.append(0.0, np.cumsum(rng.uniform(0.3, 1.0, count - 1)))
    rows = rng.uniform(-1.0, 1.0, (3, count, 2))
    rows[1:, -1] = 0.0
    return JointTrajectory(NAMES, times, *rows[: ORDERS.index(order) + 1])


def effort(time, position, velocity, acceleration):
    """Return what two coupled pendulums might need, on a base that swings."""
    inertia = np.array([[3.0, 0.4], [0.4, 1.0]])
    gravity = [9.0, 4.0] * np.sin(position)
    return inertia @ acceleration + 0.3 * velocity * velocity[::-1] + gravity + np.cos(3.0 * time)


@pytest.mark.parametrize('order', ORDERS)
def test_the_motion_stays(order):
    given = points(order)
    found = with_efforts(given, effort, error=0.05, rate=7.0)
    assert len(found.times) > 2 * len(given.times)
    gaps = np.diff(found.times) < 1.5 * GAP
    for time in np.linspace(0.0, given.times[-1], 301, endpoint=False):
        k = np.searchsorted(found.times, time) - 1
        if k >= 0 and gaps[k]:
            continue  # in a gap a spline has one acceleration, or speed, and the given one two
        want, got = given.at(time), found.at(time)
        assert_allclose(got[0], want[0], rtol=0, atol=1e-12)
        assert_allclose(got[1], want[1], rtol=0, atol=1e-9)
        assert_allclose(got[2], want[2], rtol=0, atol=1e-6)  # divided by a step of ms, twice


@pytest.mark.parametrize('order', ORDERS)
@pytest.mark.parametrize('error', [0.2, 0.05])
def test_lines_between_points_are_as_near_as_wanted(order, error):
    given = points(order, seed=2)
    sparse = with_efforts(given, effort)
    assert line_error(sparse, effort).max() > 2.0 * error
    found = with_efforts(given, effort, error=error)
    assert line_error(found, effort).max() <= error
    closer = with_efforts(given, effort, error=0.1 * error)
    assert len(closer.times) > len(found.times)


def test_a_rate_alone():
    given = points('quintic')
    found = with_efforts(given, effort, rate=20.0)
    assert np.diff(found.times).max() <= 0.05 + 1e-12
    assert set(given.times) <= set(found.times)
    assert len(found.times) <= 20.0 * given.times[-1] + len(given.times)
    wanted = [effort(t, *given.at(t)) for t in found.times]
    assert_allclose(found.efforts[:-1], wanted[:-1], rtol=0, atol=1e-12)  # the last one holds


def test_where_the_acceleration_jumps_two_points_stand():
    given = points('cubic')
    found = with_efforts(given, effort)
    pairs = np.nonzero(np.diff(found.times) <= GAP * (1 + 1e-9))[0]
    assert_allclose(found.times[pairs], given.times[1:])
    sides = [found.efforts[pairs + side] for side in (0, 1)]
    knots = given.times[1:-1]
    below, above = ([effort(t, *given.at(t + side)) for t in knots] for side in (-1e-9, 1e-9))
    assert_allclose(sides[0][:-1], below, rtol=0, atol=1e-6)  # 1 ns beside the point
    assert_allclose(sides[1][:-1], above, rtol=0, atol=0.5)  # a gap after it


def test_between_points_close_together_the_second_of_a_pair_stands_halfway():
    times = [0.0, 1.0, 1.0 + GAP, 2.0]
    given = JointTrajectory(NAMES, times, *np.random.default_rng(3).uniform(-1, 1, (2, 4, 2)))
    found = with_efforts(given, effort)
    assert_allclose(found.times[2] - 1.0, 0.5 * GAP)


@pytest.mark.parametrize('order', ORDERS)
def test_the_last_effort_holds_the_robot(order):
    given = points(order)
    found = with_efforts(given, effort, error=0.2)
    last, rest = given.positions[-1], np.zeros(2)
    assert_allclose(found.efforts[-1], effort(given.times[-1], last, rest, rest), atol=1e-12)
    assert_allclose(found.positions[-1], last)
    assert found.times[-1] - given.times[-1] <= GAP * (1 + 1e-9)


def test_a_setpoint_is_held():
    one = JointTrajectory(NAMES, [0.0], [[0.3, -0.2]])
    found = with_efforts(one, effort, error=0.1, rate=10.0)
    assert_allclose(found.efforts, [effort(0.0, one.positions[0], *np.zeros((2, 2)))])


def test_a_trajectory_that_does_not_stop_keeps_its_end():
    given = JointTrajectory(NAMES, [0.0, 1.0], np.eye(2), np.ones((2, 2)))
    assert with_efforts(given, effort).times[-1] == 1.0


@pytest.mark.parametrize(
    ('change', 'message'),
    [({'error': 0.0}, 'error'), ({'error': np.nan}, 'error'), ({'rate': -1.0}, 'rate')],
)
def test_what_is_no_spacing(change, message):
    with pytest.raises(InvalidInputError, match=message):
        with_efforts(points('cubic'), effort, **change)


@pytest.mark.parametrize(('error', 'rate'), [(1e-3, 0.0), (np.inf, 500.0)])
def test_a_trajectory_of_years_is_refused(error, rate, monkeypatch):
    monkeypatch.setattr(effort_points, 'MOST', 1000)
    years = JointTrajectory(('a',), [0.0, 2.0**31], [[0.0], [1.0]])
    with pytest.raises(InvalidInputError, match='at most 1000 efforts of a trajectory'):
        with_efforts(years, lambda t, q, v, a: np.sin(t + q), error=error, rate=rate)


def test_what_begins_late_and_takes_whole_periods_has_one_point_each(monkeypatch):
    monkeypatch.setattr(effort_points, 'MOST', 1000)
    late = JointTrajectory(('a',), [100.0, 100.3], [[0.0], [1.0]])
    found = with_efforts(late, lambda t, q, v, a: q, rate=10.0)
    assert_allclose(found.times, [100.0, 100.1, 100.2, 100.3], rtol=1e-12)


def test_efforts_that_are_no_numbers():
    with pytest.raises(InvalidInputError, match='efforts: need finite numbers'):
        with_efforts(points('cubic'), lambda t, *motion: np.full(2, np.nan))


def test_a_trajectory_begins_where_the_robot_is():
    given = points('quintic')
    later = JointTrajectory(
        NAMES, given.times + 0.5, given.positions, given.velocities, given.accelerations
    )
    here, speed = np.array([0.1, 0.2]), np.array([0.3, -0.1])
    found = starting_from(later, here, speed)
    for got, want in zip(found.at(0.0), (here, speed, np.zeros(2)), strict=True):
        assert_allclose(got, want, atol=1e-12)
    assert_allclose(found.positions[1:], later.positions)
    assert starting_from(given, here, speed) is given


@pytest.mark.parametrize('order', ORDERS)
def test_a_ramp_leaves_out_what_comes_before(order):
    whole = with_efforts(points(order), effort, error=0.1)
    found = with_ramp(whole, 0.2)
    assert found.times[0] == 0.2
    assert_allclose(found.times[1:], whole.times[whole.times > 0.2])
    for time in np.linspace(0.2, whole.times[-1], 57):
        assert_allclose(found.at(time)[0], whole.at(time)[0], atol=1e-12)
    lines = [np.interp(0.2, whole.times, column) for column in whole.efforts.T]
    assert_allclose(found.efforts[0], lines)
    assert with_ramp(found, 0.1) is found
    assert with_ramp(points(order), 0.2).efforts is None
    with pytest.raises(InvalidInputError, match='the ramp takes 100 s, the trajectory only'):
        with_ramp(whole, 100.0)
    with pytest.raises(InvalidInputError, match='duration of the ramp'):
        with_ramp(whole, -0.1)


def test_efforts_are_clamped_and_the_worst_are_told():
    whole = with_efforts(points('cubic'), effort, error=0.1)
    limit = np.array([0.5 * np.abs(whole.efforts[:, 0]).max(), np.inf])
    found, over = clip_efforts(whole, limit)
    assert np.abs(found.efforts[:, 0]).max() == limit[0]
    assert_allclose(found.efforts[:, 1], whole.efforts[:, 1])
    (worst,) = over
    assert (worst.joint, worst.limit) == ('a', limit[0])
    assert abs(worst.effort) == np.abs(whole.efforts[:, 0]).max()
    assert whole.efforts[list(whole.times).index(worst.time), 0] == worst.effort
    assert "'a' needs" in str(worst)


def test_what_needs_efforts():
    for function in (lambda p: clip_efforts(p, np.ones(2)), lambda p: line_error(p, effort)):
        with pytest.raises(InvalidInputError, match='have no efforts'):
            function(points('cubic'))
