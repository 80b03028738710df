# SPDX-License-Identifier: Apache-2.0
"""Trajectories played slower: the time along them, its rates, and motions that fit together."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kane_dynamics.control.rate_limits import ScaledInstant, ScaledTime
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.trajectories.joint_trajectory import UNNAMED, JointTrajectory

RAMP = 0.5


def test_at_full_pace_nothing_changes():
    clock = ScaledTime(3.0)
    for time in (3.0, 3.1, 4.7, 4.7):
        assert clock.at(time, 1.0, RAMP) == (0.0, 1.0, 0.0)


def test_ramps_and_lags_are_as_computed_by_hand():
    clock = ScaledTime(0.0)
    # from 1 to 0.5 in 0.25 s: 0.0625 s are lost on the ramp, then half of the time
    assert clock.at(0.1, 0.5, RAMP) == pytest.approx((0.01, 0.8, -2.0))
    assert clock.at(1.25, 0.5, RAMP) == pytest.approx((0.5625, 0.5, 0.0))
    assert clock.at(1.35, 1.0, RAMP) == pytest.approx((0.6025, 0.7, 2.0))
    assert clock.at(3.0, 1.0, RAMP) == pytest.approx((0.5625 + 0.0625, 1.0, 0.0))
    assert clock.at(4.0, 0.0, RAMP) == pytest.approx((0.625 + 0.25 + 0.5, 0.0, 0.0))
    assert clock.at(3.5, 0.0, RAMP) == pytest.approx((1.375, 0.0, 0.0))  # earlier: no change
    assert clock.at(5.0, 0.0, RAMP) == pytest.approx((2.375, 0.0, 0.0))


def test_one_long_step_is_many_short_ones():
    one, many = ScaledTime(0.0), ScaledTime(0.0)
    for k in range(1, 101):
        several = many.at(0.004 * k, 0.3, RAMP)
    assert several == pytest.approx(one.at(0.4, 0.3, RAMP), abs=1e-12)


def test_velocities_and_accelerations_are_derivatives():
    path = JointTrajectory(UNNAMED, [0.0, 1.0, 2.5], [[0, 1], [1, -1], [0.5, 2]], np.zeros((3, 2)))
    clock, step, before = ScaledTime(0.0), 1e-3, None
    pace = {0: 1.0, 300: 0.4, 800: 0.9, 1500: 0.0, 2200: 0.7}
    wanted, jumps = 1.0, 0
    for k in range(5500):
        wanted = pace.get(k, wanted)
        instant = clock.at(k * step, wanted, RAMP)
        now = (*instant.motion(*path.at(k * step - instant.lag)), instant.change)
        if before is not None:
            mean = 0.5 * (now[1] + before[1])
            # half of what a step of the acceleration changes in one step of time
            assert_allclose((now[0] - before[0]) / step, mean, rtol=0, atol=2e-3)
            # accelerations step where ramps begin and end, and at the points of cubics
            slope = (now[1] - before[1]) / step
            jumps += bool(np.abs(slope - 0.5 * (now[2] + before[2])).max() > 1e-2)
        before = now
    assert jumps <= 2 * len(pace) + 2
    assert_allclose(now[0], path.at(np.inf)[0], rtol=0, atol=1e-12)


def test_motion_along_a_path():
    found = ScaledInstant(0.0, 0.5, -2.0).motion(*np.array([[1.0], [2.0], [3.0]]))
    assert_allclose(np.ravel(found), (1.0, 1.0, 0.75 - 4.0))


@pytest.mark.parametrize(('pace', 'ramp'), [(1.1, 0.5), (-0.1, 0.5), (np.nan, 0.5), (0.5, 0.0)])
def test_refused(pace, ramp):
    with pytest.raises(InvalidInputError):
        ScaledTime(0.0).at(1.0, pace, ramp)
