# SPDX-License-Identifier: Apache-2.0
"""Trajectories on ~/reference: interpolated in time, never a jump. No ROS needed."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from ros_models import FakeClock, model_of, path, point

from kane_dynamics.control.effort_controller import SpeedScalingInput
from kane_dynamics.control.reference import Motors, ReferenceTracker
from kane_dynamics.messages.inputs import InputMonitor

ARM, WHEEL = 'arm_2_joint', 'wheel_left_joint'
TIMEOUT = 0.5


@pytest.fixture(scope='module')
def model():
    return model_of('nonholonomic')


@pytest.fixture(scope='module')
def holonomic():
    return model_of('holonomic')


class Loop:
    """A follower with a clock, whose robot does what is wanted."""

    def __init__(self, model, sim_time=False):
        self.clock = FakeClock()
        guard = InputMonitor(
            'reference',
            TIMEOUT,
            lambda: self.clock.node,
            lambda: sim_time,
            lambda: self.clock.wall,
        )
        self.follower = ReferenceTracker(Motors(model), guard)
        self.follower.reference.start_tolerance = 0.2
        self.model = model
        self.q, self.v = model.robot.neutral(), np.zeros(model.robot.nv)
        self.follower.measure(self.q, self.v)

    def send(self, names, points, age=None):
        stamp = 0 if age is None else self.clock.node - round(age * 1e9)
        return self.follower.reference.take(path(names, points, stamp))

    def wanted(self):
        """Return the present reference as name to (position, velocity, acceleration)."""
        reference = self.follower.follow(self.clock.node)
        if reference is None:
            return None
        self.q[reference.q_index] = reference.position
        self.v[reference.v_index] = reference.velocity
        self.follower.measure(self.q, self.v)
        values = (reference.position, reference.velocity, reference.acceleration)
        names = [self.model.motors[i] for i in reference.motor]
        return dict(zip(names, np.array(values).T, strict=True))

    def rejected(self):
        return self.follower.reference.guard.rejected


def ramp(rate=0.3, count=51, period=0.1, first=0.0, **fields):
    """Return points of a motion at constant speed."""
    times = first + period * np.arange(count)
    return [point([rate * (t - first)], time=t, **fields) for t in times]


@pytest.mark.parametrize('velocities', [(), (0.3,)])
@pytest.mark.parametrize('first', [0.0, 0.05])
def test_a_ramp_of_51_points_moves_at_its_speed_and_never_jumps(model, velocities, first):
    loop = Loop(model)
    assert loop.send([ARM], ramp(first=first, velocities=velocities))
    positions, period = [0.0], 0.004
    while (wanted := loop.wanted()) is not None:
        positions.append(wanted[ARM][0])
        assert abs(wanted[ARM][1]) <= 0.3 + 1e-9
        loop.clock.forward(period)
    assert np.max(np.abs(np.diff(positions))) <= 0.3 * period + 1e-9
    assert_allclose(positions[-1], 0.3 * 5.0)
    # 5 s on the way, and the time limit of the reference at its end
    assert_allclose(len(positions) * period, first + 5.0 + TIMEOUT, atol=3 * period)


def test_the_end_is_held_at_rest(model):
    loop = Loop(model)
    assert loop.send([ARM], ramp(velocities=[0.3], count=3))
    loop.clock.forward(0.2 + 0.5 * TIMEOUT)
    assert_allclose(loop.wanted()[ARM], [0.06, 0.0, 0.0])
    loop.clock.forward(TIMEOUT)
    assert loop.wanted() is None
    assert 'stale' in loop.follower.reference.problem()


def test_a_first_point_ahead_is_reached_from_the_present_motion(model):
    loop = Loop(model)
    loop.q[model.q_index((ARM,))], loop.v[model.v_index((ARM,))] = 0.4, -0.2
    loop.follower.measure(loop.q, loop.v)
    assert loop.send([ARM], [point([1.0], [0.0], [0.0], time=2.0)])
    assert_allclose(loop.wanted()[ARM], [0.4, -0.2, 0.0], atol=1e-12)
    loop.clock.forward(2.0)
    assert_allclose(loop.wanted()[ARM], [1.0, 0.0, 0.0], atol=1e-12)


def test_a_new_trajectory_continues_the_one_before(model):
    loop = Loop(model)
    assert loop.send([ARM], ramp(velocities=[0.3]))
    loop.clock.forward(1.03)
    before = loop.wanted()[ARM]
    assert loop.send([ARM], [point([0.0], [0.0], time=1.0)])
    assert_allclose(loop.wanted()[ARM][:2], before[:2], atol=1e-12)


def test_a_stamp_in_the_past_joins_midway_if_the_robot_is_there(model):
    loop = Loop(model)
    assert not loop.send([ARM], ramp(), age=2.0)  # there it would be at 0.6 rad
    assert loop.rejected() == {'jump': 1}
    assert ARM in loop.follower.reference.guard.last_reason
    loop.q[model.q_index((ARM,))] = 0.55
    loop.follower.measure(loop.q, loop.v)
    assert loop.send([ARM], ramp(), age=2.0)
    assert_allclose(loop.wanted()[ARM], [0.6, 0.3, 0.0], atol=1e-12)


def test_a_start_away_from_the_robot_is_refused(model):
    loop = Loop(model)
    assert not loop.send([ARM], [point([1.0], time=0.0), point([1.1], time=1.0)])
    assert 'time_from_start' in loop.follower.reference.guard.last_reason
    assert loop.wanted() is None


@pytest.mark.parametrize(
    ('points', 'kind'),
    [
        ([point([0.0], time=0.2), point([0.1], time=0.1)], 'order'),
        ([point([0.0], time=0.1), point([0.1], time=0.1)], 'order'),
        ([point([0.0], time=-0.1), point([0.1], time=0.1)], 'order'),
        ([point([0.0], time=0.1), point([np.nan], time=0.2)], 'nan'),
        ([point([0.0], [0.0], time=0.1), point([0.1], [1e160], time=0.2)], 'range'),
        ([point([0.0], [0.0], time=0.1), point([0.1], time=0.2)], 'short'),
        ([point([0.0], time=0.1), point([0.1, 0.2], time=0.2)], 'short'),
        ([point([], [0.0], time=0.1), point([], [0.1], time=0.2)], 'short'),
        ([point([0.0], [], [0.0], time=0.1), point([0.1], [], [0.0], time=0.2)], 'short'),
        ([], 'short'),
    ],
)
def test_malformed_trajectories_are_refused_and_counted(model, points, kind):
    loop = Loop(model)
    assert not loop.send([ARM], points)
    assert loop.rejected() == {kind: 1}
    assert loop.wanted() is None


@pytest.mark.parametrize('age', [5.6, -0.6])
def test_trajectories_that_are_over_or_far_ahead_are_refused(model, age):
    loop = Loop(model)
    assert not loop.send([ARM], ramp(), age=age)
    assert loop.rejected() == {'stale': 1}


def test_a_refused_trajectory_leaves_the_one_before(model):
    loop = Loop(model)
    assert loop.send([ARM], ramp())
    assert not loop.send([ARM], [point([9.0], time=0.0), point([9.0], time=1.0)])
    loop.clock.forward(1.0)
    assert_allclose(loop.wanted()[ARM][0], 0.3)


def test_no_trajectory_without_a_measured_state(model):
    loop = Loop(model)
    loop.follower.halt()
    assert not loop.send([ARM], ramp())
    assert loop.rejected() == {'stale': 1}


def test_a_setpoint_counts_at_once_and_unchanged(model):
    loop = Loop(model)
    assert loop.send([ARM], [point([1.0], [2.0], [3.0])])
    for _ in range(3):
        assert_allclose(loop.wanted()[ARM], [1.0, 2.0, 3.0])
        loop.clock.forward(0.1)


def test_a_long_trajectory_outlives_slow_simulated_time(model):
    loop = Loop(model, sim_time=True)
    assert loop.send([ARM], ramp())
    loop.clock.wall += 60 * 10**9
    assert loop.wanted() is not None


def test_the_heading_turns_the_short_way(holonomic):
    loop = Loop(holonomic)
    loop.q[2] = 3.1
    loop.follower.measure(loop.q, loop.v)
    assert loop.send(['base_yaw'], [point([-3.1], time=1.0)])
    loop.clock.forward(0.5)
    position, rate, _ = loop.wanted()['base_yaw']
    assert_allclose(abs(rate), 2 * np.pi - 6.2, atol=1e-9)
    assert abs(np.cos(position) + 1.0) < 1e-3


# brake and hold


def held(loop, stiff=None):
    """Return the hold of all motors, as name to (position, velocity, acceleration)."""
    n = len(loop.model.motors)
    stiff = np.ones(n, dtype=bool) if stiff is None else stiff
    reference = loop.follower.track_or_hold(loop.clock.node, 0.5, stiff)
    values = (reference.position, reference.velocity, reference.acceleration)
    names = [loop.model.motors[i] for i in reference.motor]
    return dict(zip(names, np.array(values).T, strict=True))


def test_motors_that_the_reference_does_not_name_are_held(model):
    loop = Loop(model)
    loop.v[model.v_index((WHEEL,))] = 2.0
    loop.follower.measure(loop.q, loop.v)
    assert set(held(loop)) == set(model.motors)
    assert loop.send([ARM], ramp(first=0.1))
    for _ in range(2):  # they brake on while the arm begins to move
        loop.clock.forward(0.6)
        loop.q[model.q_index((WHEEL,))] = 0.4
        loop.v[model.v_index((WHEEL,))] = 0.0
        loop.follower.measure(loop.q, loop.v)
        both = held(loop)
        assert set(both) == set(model.motors)
    assert_allclose(both[ARM], [0.33, 0.3, 0.0], atol=1e-12)
    assert_allclose(both[WHEEL][1:], 0.0)
    before = both[WHEEL][0]
    loop.clock.forward(4.0)  # the trajectory is over: the arm rests, the wheel is held as before
    both = held(loop)
    assert_allclose(both[ARM], [1.5, 0.0, 0.0], atol=1e-12)
    assert_allclose(both[WHEEL], [before, 0.0, 0.0], atol=1e-12)
    assert len(loop.follower.held) == len(model.motors) - 1
    loop.clock.forward(TIMEOUT)
    assert_allclose(held(loop)[ARM], [1.5, 0.0, 0.0], atol=1e-12)
    assert len(loop.follower.held) == len(model.motors)


def test_hold_brakes_from_the_measured_speed_and_stays(model):
    loop = Loop(model)
    loop.v[model.v_index((WHEEL,))] = 2.0
    loop.follower.measure(loop.q, loop.v)
    assert_allclose(held(loop)[WHEEL], [0.0, 2.0, -4.0])
    loop.clock.forward(0.25)
    assert_allclose(held(loop)[WHEEL], [0.375, 1.0, -4.0])
    loop.clock.forward(10.0)
    assert_allclose(held(loop)[WHEEL], [0.5, 0.0, 0.0])


def test_hold_keeps_the_place_where_the_reference_rested(model):
    loop = Loop(model)
    assert loop.send([ARM], ramp(count=3))
    loop.clock.forward(0.3)
    assert loop.wanted()
    loop.q[model.q_index((ARM,))] = 0.05  # it sags a little
    loop.follower.measure(loop.q, loop.v)
    assert_allclose(held(loop)[ARM], [0.06, 0.0, 0.0])


def test_hold_gives_no_place_to_motors_without_a_gain(model):
    loop = Loop(model)
    stiff = np.array([name != ARM for name in model.motors])
    held(loop, stiff)
    loop.q[model.q_index((ARM, WHEEL))] = 0.3, 0.1
    loop.follower.measure(loop.q, loop.v)
    hold = held(loop, stiff)
    assert (hold[ARM][0], hold[WHEEL][0]) == (0.3, 0.0)


def test_a_trajectory_begins_from_the_hold(model):
    loop = Loop(model)
    held(loop)
    loop.q[model.q_index((ARM,))] = -0.02
    loop.follower.measure(loop.q, loop.v)
    held(loop)
    assert loop.send([ARM], [point([1.0], time=1.0)])
    assert_allclose(loop.wanted()[ARM][0], 0.0, atol=1e-12)


# pace


def test_a_trajectory_is_played_slower(model):
    loop, pace = Loop(model), [1.0]
    loop.follower.reference.scaling = lambda: pace[0]
    loop.follower.reference.ramp = 0.2
    assert loop.send([ARM], [point([1.0], [0.0], [0.0], time=2.0)], age=0.0)
    values = [loop.wanted()[ARM]]
    while True:
        pace[0] = 0.5 if len(values) > 100 else 1.0
        loop.clock.forward(0.01)
        wanted = loop.wanted()
        if wanted is None:
            break
        values.append(wanted[ARM])
    p, v, a = np.array(values).T
    # half of a step of the acceleration; a ramp of 0.2 s steps it by 5 v
    assert_allclose(np.diff(p) / 0.01, 0.5 * (v[1:] + v[:-1]), rtol=0, atol=0.02)
    # beside the ends of the ramp and that of the motion, where accelerations step
    off = np.abs(np.diff(v) / 0.01 - 0.5 * (a[1:] + a[:-1])) > 0.05
    assert np.count_nonzero(off) <= 3
    # 1 s at full pace, 0.1 s on the ramp, where 0.075 s are played, the rest half as fast
    arrived = 0.01 * np.argmax(p >= 1.0 - 1e-12)
    assert arrived == pytest.approx(1.0 + 0.1 + 2.0 * (2.0 - 1.075), abs=0.015)
    # by its stamp it was old before; its age counts from where it ends
    assert 0.01 * len(values) == pytest.approx(arrived + TIMEOUT, abs=0.03)


def test_a_trajectory_stands_at_pace_zero_and_goes_on(model):
    loop, pace = Loop(model), [1.0]
    loop.follower.reference.scaling = lambda: pace[0]
    assert loop.send([ARM], [point([1.0], time=2.0)], age=0.0)
    loop.clock.forward(0.5)
    loop.wanted()
    pace[0] = 0.0
    for _ in range(100):
        loop.clock.forward(0.1)
        position, velocity, acceleration = loop.wanted()[ARM]
    assert 0.25 < position < 0.5
    assert velocity == acceleration == 0.0
    pace[0] = 1.0
    for _ in range(16):
        loop.clock.forward(0.1)
        last = loop.wanted()
    assert last[ARM][0] == pytest.approx(1.0)
    loop.clock.forward(TIMEOUT + 0.1)
    assert loop.wanted() is None


def test_setpoints_have_no_pace(model):
    loop = Loop(model)
    loop.follower.reference.scaling = lambda: 0.2
    assert loop.send([ARM], [point([0.3], [0.4], [0.5])])
    assert loop.wanted()[ARM].tolist() == [0.3, 0.4, 0.5]


def test_pace_counts_as_long_as_it_is_fresh():
    clock = FakeClock()
    pace = SpeedScalingInput(
        InputMonitor('speed_scaling_factor', 0.5, lambda: clock.node, steady=lambda: clock.wall)
    )
    assert pace.value() == 1.0
    assert pace.take(SimpleNamespace(data=0.3))
    assert pace.value() == 0.3
    for wrong in (np.nan, 1.5, -0.1, np.inf):
        assert not pace.take(SimpleNamespace(data=wrong))
    assert pace.value() == 0.3
    assert pace.guard.rejected == {'range': 4}
    clock.forward(0.6)
    assert pace.value() == 1.0
