# SPDX-License-Identifier: Apache-2.0
"""Twists that follow their command, against an ODE solver; accelerometers, against kinematics."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from kane_dynamics.analysis.base_motion import (
    DriveResponse,
    moving,
    sensed_acceleration,
)
from kane_dynamics.exceptions import InvalidInputError

INF = np.inf
LAGS = st.sampled_from([0.0, 0.01, 0.1, 1.0])
LIMITS = st.tuples(*[st.sampled_from([0.3, 1.0, 2.5, INF])] * 3)
TWISTS = st.tuples(*[st.floats(-3.0, 3.0)] * 3).map(np.array)
TIMES = st.floats(0.0, 2.0)


def drives(lag, limit):
    """Return a response; one without lag needs limits."""
    limit = np.array(limit)
    return DriveResponse(lag, limit if lag else np.minimum(limit, 5.0))


@given(LAGS, LIMITS, TWISTS, TWISTS, TIMES, TIMES)
@settings(deadline=None, max_examples=200)
def test_two_times_one_after_the_other_are_their_sum(lag, limit, twist, command, one, other):
    drive = drives(lag, limit)
    between = drive.after(twist, command, one).twist
    whole = drive.after(twist, command, one + other)
    parts = drive.after(between, command, other)
    assert_allclose(parts.twist, whole.twist, atol=1e-12)
    if lag:  # without one the acceleration jumps to zero at the end of the ramp
        # what is left of the gap, of order 1, is divided by the lag
        assert_allclose(parts.acceleration, whole.acceleration, atol=1e-11 / lag)


@pytest.mark.parametrize('limit', [(INF, 1.0, 0.4), (2.0, 0.5, INF)])
def test_the_rate_is_that_of_the_equation(limit):
    lag, command = 0.2, np.array([1.5, -1.0, 0.8])

    def rate(t, twist):
        return np.clip((command - twist) / lag, -np.array(limit), limit)

    drive, start = DriveResponse(lag, limit), np.array([0.0, 0.6, -0.5])
    solved = solve_ivp(rate, (0.0, 2.5), start, rtol=1e-10, atol=1e-12, dense_output=True)
    for t in np.linspace(0.0, 2.5, 26):
        motion = drive.after(start, command, t)
        assert_allclose(motion.twist, solved.sol(t), atol=1e-8)  # of its steps across the kink
        expected = moving(motion.twist, rate(t, motion.twist)).acceleration
        assert_allclose(motion.acceleration, expected, atol=1e-12)


@given(LAGS, LIMITS, TWISTS, TWISTS, TIMES)
@settings(deadline=None, max_examples=50)
def test_what_is_covered_is_the_integral_of_the_twist(lag, limit, twist, command, time):
    drive, steps = drives(lag, limit), 4000
    middles = (np.arange(steps) + 0.5) * time / steps
    ones = np.ones((steps, 1))
    sampled = drive.after(ones * twist, ones * command, middles).twist.mean(axis=0) * time
    # midpoints of steps of 0.5 ms; rates reach 600 / s^2 where a lag of 10 ms takes up 6 m/s
    assert_allclose(drive.covered(twist, command, time), sampled, rtol=0, atol=1e-4)


def test_a_ramp_without_lag_ends_at_its_command():
    drive = DriveResponse(0.0, (1.0, 2.0, 4.0))
    half = drive.after(np.zeros(3), [1.0, -1.0, 0.0], 0.25)
    assert_allclose(half.twist, [0.25, -0.5, 0.0])
    assert_allclose(half.acceleration, [1.0, -2.0, 0.0])
    done = drive.after(np.zeros(3), [1.0, -1.0, 0.0], 3.0)
    assert_allclose(done.twist, [1.0, -1.0, 0.0])
    assert not done.acceleration.any()


def place(t):
    """Return position and yaw of a frame that moves in the plane, and its twist in itself."""
    x, y, yaw = np.sin(1.1 * t), 0.4 * t**2, 0.7 * t + 0.3 * np.cos(t)
    c, s = np.cos(yaw), np.sin(yaw)
    world = np.array([1.1 * np.cos(1.1 * t), 0.8 * t])
    rate = 0.7 - 0.3 * np.sin(t)
    return np.array([x, y]), yaw, np.array([*(np.array([[c, s], [-s, c]]) @ world), rate])


def test_inertial_accelerations_from_the_rate_of_a_twist():
    t, h = 0.8, 1e-4
    position, yaw, twist = place(t)
    rate = (place(t + h)[2] - place(t - h)[2]) / (2.0 * h)
    world = (place(t + h)[0] - 2.0 * position + place(t - h)[0]) / h**2
    c, s = np.cos(yaw), np.sin(yaw)
    found = moving(twist, rate).acceleration
    assert_allclose(found[:2], np.array([[c, s], [-s, c]]) @ world, atol=1e-6)  # h^2, eps/h^2
    assert found[2] == rate[2]


def test_an_accelerometer_off_the_origin_shows_that_of_the_frame():
    t, h, arm = 0.8, 1e-4, np.array([0.3, -0.2])
    gravity = np.array([-0.9, 0.5, -9.7])  # of a slope, in world axes
    tilt = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]])  # sensor to frame

    def turned(t):
        c, s = np.cos(place(t)[1]), np.sin(place(t)[1])
        return np.array([[c, -s], [s, c]])

    def sensor(t):
        return place(t)[0] + turned(t) @ arm

    world = (sensor(t + h) - 2.0 * sensor(t) + sensor(t - h)) / h**2
    to_world = np.eye(3)
    to_world[:2, :2] = turned(t)
    force = (to_world @ tilt).T @ (np.append(world, 0.0) - gravity)
    twist = place(t)[2]
    rate = (place(t + h)[2] - place(t - h)[2]) / (2.0 * h)
    level = turned(t).T @ gravity[:2]
    position = np.append(arm, 0.7)
    found = sensed_acceleration(force, tilt, position, twist[2], rate[2], level)
    assert_allclose(found, moving(twist, rate).acceleration, atol=1e-6)


@pytest.mark.parametrize(
    ('make', 'message'),
    [
        (lambda: DriveResponse(-0.1), 'time_constant'),
        (lambda: DriveResponse(0.1, (1.0, 0.0, 1.0)), 'three numbers > 0'),
        (lambda: DriveResponse(0.1, (1.0, np.nan, 1.0)), 'three numbers > 0'),
        (lambda: DriveResponse(0.0), 'needs a time_constant'),
        (lambda: DriveResponse(0.1).after([0.0, 0.0], np.zeros(3), 0.1), 'twist'),
        (lambda: DriveResponse(0.1).after(np.zeros(3), [0.0, np.nan, 0.0], 0.1), 'command'),
        (lambda: DriveResponse(0.1).after(np.zeros(3), np.zeros(3), -0.1), 'time'),
        (lambda: sensed_acceleration(np.zeros(3), np.eye(2), np.zeros(3), 0, 0), 'rotation'),
    ],
)
def test_what_is_no_drive_or_motion(make, message):
    with pytest.raises(InvalidInputError, match=message):
        make()
