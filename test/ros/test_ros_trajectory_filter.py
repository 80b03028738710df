# SPDX-License-Identifier: Apache-2.0
"""Trajectory messages with efforts, and the base meanwhile, without ROS."""

import threading
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from ros_models import FakeClock, from_preset, joint_state, odometry, path, point, time_message
from test_ros_velocity_base import command

from kane_dynamics.control import trajectory_efforts as planned_efforts
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.control.state_inputs import MeasuredState
from kane_dynamics.control.trajectory_efforts import PlannedEfforts, check_still_to_come
from kane_dynamics.control.trajectory_filter import (
    STATE_WAIT,
    Preparation,
    TrajectoryCount,
    TrajectoryFilter,
    TrajectoryRequest,
)
from kane_dynamics.exceptions import InvalidInputError, KaneDynamicsError, NameNotFoundError
from kane_dynamics.messages.inputs import InputMonitor
from kane_dynamics.robot_config.parameters.tables import TrajectoryFeedforwardParameters
from kane_dynamics.robot_config.robot_source import model_of_file

ARM = tuple(f'arm_{i}_joint' for i in range(1, 6))
PLAIN = {'interpolation_tolerance': 0.0, 'ramp_time': 0.0, 'base_response_time': 0.2}
AGES = {'cmd_vel': 0.5, 'odom': 0.25, 'joint_states': 0.1}
MODEL = model_of_file('nonholonomic', table=TrajectoryFeedforwardParameters)
POSTURE = np.array([0.1, 0.5, -0.4, 0.2, 0.3])


class Rig:
    """A filter, its measured state, and a clock that tests set."""

    def __init__(self, **changes):
        self.clock = FakeClock()
        self.parameters = from_preset(
            'nonholonomic', TrajectoryFeedforwardParameters, **{**PLAIN, **changes}
        )
        self.dynamics = Dynamics(MODEL)
        self.filter = TrajectoryFilter(self.dynamics, self.parameters, self.guard, point)
        self.state = MeasuredState(MODEL, self.parameters, self.guard)
        self.measure()

    def guard(self, name):
        clock = self.clock
        return InputMonitor(name, AGES[name], lambda: clock.node, steady=lambda: clock.wall)

    def measure(self, speed=0.0):
        names = list(MODEL.joints)
        position = [0.0, 0.0, *POSTURE]
        given = joint_state(names, self.clock.node, position=position, velocity=[0.0] * len(names))
        assert self.state.joints.take(given)
        assert self.state.odom.take(odometry(stamp=self.clock.node, twist=(speed, 0.0, 0.0)))
        self.state.assemble()
        self.filter.base.see(self.state.odom)

    def fill(self, message, **more):
        now = self.clock.node
        return self.filter.begin(message, self.state, now, **more).filled(now)

    def efforts(self, plan, time, motion=None):
        """Return what the arm needs, from the law itself."""
        efforts = PlannedEfforts(self.dynamics, self.parameters).along(ARM, self.state.q, plan)
        return efforts(time, *(motion or (POSTURE, np.zeros(5), np.zeros(5))))


class Steady:
    """A base that accelerates along x for ever."""

    def __init__(self, rate):
        self.rate = rate

    def at(self, time):
        return np.zeros(3), np.zeros(3), np.array([self.rate, 0.0, 0.0])


def held(names=ARM, others=(), stamp=0):
    """Return a trajectory that stays where the arm is, for a second."""
    row = [*POSTURE, *others]
    points = [point(row, [0.0] * len(row), time=t) for t in (0.0, 1.0)]
    return path(names, points, stamp)


def test_efforts_are_written_into_the_message():
    rig, message = Rig(), held()
    message.header.frame_id = 'anything'
    filled = rig.fill(message)
    assert message.joint_names == list(ARM)
    assert_allclose(message.points[0].effort, rig.efforts(None, 0.0), atol=1e-9)
    assert_allclose(message.points[0].positions, POSTURE)
    assert list(message.points[0].accelerations) == []
    assert message.header.frame_id == 'anything'
    assert filled.clamped == ()


def test_without_an_effort_interface_there_are_no_efforts():
    message = held()
    Rig(effort_interface=False, min_point_rate=5.0).fill(message)
    assert len(message.points) == 6
    assert not any(len(one.effort) for one in message.points)


def test_a_commanded_base_follows_its_command():
    rig, message = Rig(base_motion_source='commanded'), held()
    assert rig.filter.base.take(command(0.6, stamp=rig.clock.node))
    rig.fill(message)
    # a lag of 0.2 s takes up 0.6 m/s with 3 m/s^2, and a second later with 3 / e^5
    for one, rate in zip(message.points, (3.0, 3.0 * np.exp(-5.0)), strict=True):
        assert_allclose(one.effort, rig.efforts(Steady(rate), 0.0), rtol=0, atol=1e-6)


def test_a_command_that_is_old_stops_the_base():
    rig, message = Rig(base_motion_source='commanded'), held()
    assert rig.filter.base.take(command(0.6, stamp=rig.clock.node))
    rig.clock.forward(0.6)
    rig.measure(speed=0.6)
    rig.fill(message)
    assert_allclose(message.points[0].effort, rig.efforts(Steady(-3.0), 0.0), rtol=0, atol=1e-6)


def test_without_odometry_a_commanded_base_is_where_its_drives_should_be():
    rig, message = Rig(base_motion_source='commanded'), held()
    assert rig.filter.base.take(command(0.6, stamp=rig.clock.node))
    rig.clock.forward(0.4)  # longer than odometry lasts
    rig.fill(message)
    rate = 3.0 * np.exp(-2.0)
    assert_allclose(message.points[0].effort, rig.efforts(Steady(rate), 0.0), rtol=0, atol=1e-6)


def test_a_measured_base_goes_on_as_it_was_seen():
    rig, message = Rig(base_motion_source='measured'), held()
    for k in range(1, 101):  # 0.4 m/s^2 for a second
        rig.clock.forward(0.01)
        rig.measure(0.004 * k)
    rig.fill(message)
    assert_allclose(message.points[0].effort, rig.efforts(Steady(0.4), 0.0), rtol=0, atol=0.05)
    assert_allclose(message.points[1].effort, rig.efforts(None, 0.0), rtol=0, atol=0.05)
    rig.clock.forward(0.3)
    with pytest.raises(InvalidInputError, match='odom: stale'):
        rig.fill(held())


def test_a_stamp_shifts_the_base_and_not_the_trajectory():
    rig = Rig(base_motion_source='commanded')
    assert rig.filter.base.take(command(0.6, stamp=rig.clock.node))
    message = held(stamp=rig.clock.node + 200_000_000)
    rig.fill(message)
    rate = 3.0 * np.exp(-1.0)
    assert_allclose(message.points[0].effort, rig.efforts(Steady(rate), 0.0), rtol=0, atol=1e-6)
    begun = held(stamp=rig.clock.node - 500_000_000)  # joins midway: no ramp, no point put before
    rig.filter.configure(from_preset('nonholonomic', TrajectoryFeedforwardParameters))
    rig.fill(begun)
    assert begun.points[0].time_from_start.nanosec == 0
    with pytest.raises(InvalidInputError, match='the trajectory ended 0.500 s ago'):
        rig.fill(held(stamp=rig.clock.node - 1_500_000_000))


BASE = ('world/x', 'world/y', 'world/theta')


def test_a_planned_base_among_the_joints():
    rig = Rig(base_motion_source='planned')
    rows = [[*POSTURE, x, 0.0, 0.0] for x in (0.0, 0.5)]
    rates = [[0.0] * 5 + [x, 0.0, 0.0] for x in (0.0, 1.0)]
    gains = [[0.0] * 5 + [1.0, 0.0, 0.0]] * 2
    points = [point(*x, time=t) for *x, t in zip(rows, rates, gains, (0.0, 1.0), strict=True)]
    message = path((*ARM, *BASE), points)
    rig.fill(message)
    assert message.joint_names == list(ARM)
    assert_allclose(message.points[0].effort, rig.efforts(Steady(1.0), 0.0), rtol=0, atol=1e-6)


def multi_dof(rate=0.0):
    def one(time, x, speed):
        turn = SimpleNamespace(x=0.0, y=0.0, z=0.0, w=1.0)
        place = SimpleNamespace(x=x, y=0.0, z=0.0)
        twists = [
            SimpleNamespace(
                linear=SimpleNamespace(x=v, y=0.0, z=0.0),
                angular=SimpleNamespace(x=0.0, y=0.0, z=0.0),
            )
            for v in (speed, rate)
        ]
        return SimpleNamespace(
            transforms=[SimpleNamespace(translation=place, rotation=turn)],
            velocities=twists[:1],
            accelerations=twists[1:],
            time_from_start=time_message(time * 10**9),
        )

    points = [one(0, 0.0, 0.0), one(1, 0.5 * rate, rate)]
    return SimpleNamespace(joint_names=['world'], points=points)


def test_a_planned_base_beside_the_joints():
    rig, message = Rig(base_motion_source='planned'), held()
    rig.fill(message, multi_dof=multi_dof(1.5))
    assert_allclose(message.points[0].effort, rig.efforts(Steady(1.5), 0.0), rtol=0, atol=1e-6)
    twice = held((*ARM, *BASE), (0.0, 0.0, 0.0))
    with pytest.raises(InvalidInputError, match='moves the base twice'):
        rig.fill(twice, multi_dof=multi_dof())


@pytest.mark.parametrize(
    ('message', 'changes', 'error', 'text'),
    [
        (path(ARM, []), {}, InvalidInputError, 'has no point'),
        (held(ARM[:4]), {}, InvalidInputError, '5 values for 4 names'),
        (held((*ARM[:4], 'wheel_left_joint')), {}, NameNotFoundError, 'wheel_left_joint'),
        (held(('arm_1_joint', *ARM[:4])), {}, InvalidInputError, 'each once'),
        (path(ARM, [point([np.nan] * 5)]), {}, InvalidInputError, 'finite'),
        (
            held((*ARM, *BASE), (0, 0, 0)),
            {},
            InvalidInputError,
            "'rest', and the trajectory moves",
        ),
        (
            held(),
            {'base_motion_source': 'planned'},
            InvalidInputError,
            'does not say how it moves',
        ),
    ],
)
def test_what_is_refused_stays_as_it_was(message, changes, error, text):
    before = repr(message)
    with pytest.raises(error, match=text):
        Rig(**changes).fill(message)
    assert repr(message) == before


def test_commands_that_are_refused():
    rig = Rig()
    assert not rig.filter.base.take(command(np.nan))
    assert rig.filter.base.guard.rejected == {'nan': 1}
    rig.filter.base.reset()
    with pytest.raises(KaneDynamicsError, match='nobody'):
        rig.filter.configure(
            from_preset(
                'nonholonomic',
                TrajectoryFeedforwardParameters,
                gravity_compensated_joints=('nobody',),
            )
        )


def test_the_count():
    rig, count = Rig(effort_limit_scale=0.01), TrajectoryCount()
    text = count.took(rig.fill(held()))
    assert 'clamped:' in text
    assert (count.passed, count.reason) == (1, '')
    assert '2 points in, 2 out, 1.000 s' in count.newest
    assert count.refuses(InvalidInputError('x')) == count.reason == 'trajectory refused: x'
    assert count.refused == 1


# retiming


def waved(stamp=0):
    """Return a trajectory that moves two joints."""
    rows = [POSTURE, POSTURE + [0.05, 0.0, 0.04, 0.0, 0.0]]
    points = [point(row, [0.0] * 5, time=t) for row, t in zip(rows, (0.0, 1.0), strict=True)]
    return path(ARM, points, stamp)


def test_what_is_retimed_is_found_beside_and_goes_on_where_nothing_has_moved(monkeypatch):
    rig, message, ready = Rig(retime=True), waved(), threading.Event()

    def retimed(dynamics, points, q):
        assert ready.wait(60.0)
        return replace(points, times=0.5 * points.times, velocities=2.0 * points.velocities)

    monkeypatch.setattr(planned_efforts, 'retimed_points', retimed)
    before = repr(message)
    preparation = rig.filter.begin(message, rig.state, rig.clock.node)
    assert not preparation.done()
    assert repr(message) == before
    ready.set()
    rig.clock.forward(0.05)
    rig.measure(speed=0.0)
    filled = preparation.filled(rig.clock.node)
    assert len(message.points) == len(filled.points.times) >= 2
    assert filled.points.times[-1] == pytest.approx(0.501)  # and the point that holds
    place = rig.state.odom.q[0]
    rig.state.odom.q[0] = place + 0.05
    with pytest.raises(InvalidInputError, match='base_x has moved by 0.05 while the trajectory'):
        preparation.filled(rig.clock.node)
    rig.state.odom.q[0] = place
    rig.state.joints.values['position'][3] += 0.1
    with pytest.raises(InvalidInputError, match='arm_2_joint has moved by 0.1 while'):
        preparation.filled(rig.clock.node)


def test_what_cannot_be_retimed_is_told_at_once():
    rig = Rig(retime=True)
    rig.measure(speed=0.3)
    with pytest.raises(InvalidInputError, match='base at rest: base_x moves at 0.3, at most 0.02'):
        rig.filter.begin(waved(), rig.state, rig.clock.node)
    wheels = path(('wheel_left_joint', *ARM[1:]), waved().points)
    with pytest.raises(NameNotFoundError, match='wheel_left_joint'):
        rig.filter.begin(wheels, rig.state, rig.clock.node)


def test_a_start_that_passes_while_retiming_is_an_error():
    check_still_to_come(0, 5)
    check_still_to_come(7, 5)
    with pytest.raises(InvalidInputError, match='was to begin 0.500 s ago, while it was retimed'):
        check_still_to_come(10**9, 1_500_000_000)


def test_what_takes_long_is_not_waited_for():
    go_on, found = threading.Event(), object()

    def find(stopped):
        go_on.wait()
        return found

    slow = Preparation(find, lambda found, now: (found, now), 0.01)
    assert not slow.done()
    go_on.set()
    assert slow.filled(7) == (found, 7)
    quick = Preparation(find, lambda found, now: (found, now), 10.0)
    assert quick.done()


def test_what_nobody_wants_any_more_ends_before_it_is_filled():
    rig, message = Rig(min_point_rate=100.0), waved()
    message.points[-1].time_from_start.sec = 600  # half a minute of work
    preparation = rig.filter.begin(message, rig.state, rig.clock.node)
    assert not preparation.done()
    preparation.stop()
    with pytest.raises(InvalidInputError, match='is given up while its efforts are found'):
        preparation.filled(rig.clock.node)
    assert len(message.points) == 2


# a measured state that is missing for a while


class Waiting:
    """A request whose state, efforts and clock a test sets."""

    def __init__(self, monkeypatch):
        self.now, self.problem, self.begun, self.filling = 0.0, '', 0, False
        monkeypatch.setattr('kane_dynamics.control.trajectory_filter.monotonic', lambda: self.now)
        self.request = TrajectoryRequest(self.begin, lambda: self.problem)

    def begin(self):
        self.begun += 1
        return SimpleNamespace(
            done=lambda: not self.filling, filled=lambda time: time, stop=lambda: None
        )

    def done(self, after, problem):
        self.now, self.problem = self.now + after, problem
        return self.request.done()


def test_a_short_gap_of_the_state_is_waited_for(monkeypatch):
    waiting = Waiting(monkeypatch)
    assert not waiting.done(0.0, 'stale')
    assert not waiting.done(0.9 * STATE_WAIT, 'stale')
    assert waiting.begun == 0
    assert waiting.done(0.05 * STATE_WAIT, '')
    assert waiting.request.filled(7) == 7
    assert waiting.begun == 1


def test_a_long_gap_refuses_with_what_is_missing(monkeypatch):
    waiting = Waiting(monkeypatch)
    assert not waiting.done(0.0, 'joint_states: stale')
    with pytest.raises(InvalidInputError, match='waits for a measured state'):
        waiting.request.filled(7)
    assert waiting.done(1.1 * STATE_WAIT, 'joint_states: stale')
    with pytest.raises(InvalidInputError, match='joint_states: stale'):
        waiting.request.filled(7)
    assert waiting.done(0.1, '')  # it stays refused
    assert waiting.begun == 0


def test_a_gap_where_the_efforts_are_found_is_waited_for_too(monkeypatch):
    waiting = Waiting(monkeypatch)
    waiting.filling = True
    assert not waiting.done(0.0, '')
    assert not waiting.done(5.0 * STATE_WAIT, '')
    waiting.filling = False
    assert not waiting.done(0.5 * STATE_WAIT, 'stale')
    assert waiting.done(0.4 * STATE_WAIT, '')
    assert (waiting.request.filled(7), waiting.begun) == (7, 1)


def test_what_no_state_mends_is_told_at_once(monkeypatch):
    def inactive():
        raise InvalidInputError('not active')

    request = TrajectoryRequest(lambda: pytest.fail('it has begun'), inactive)
    assert request.done()
    with pytest.raises(InvalidInputError, match='not active'):
        request.filled(7)


def test_a_request_that_is_stopped_waits_for_nothing(monkeypatch):
    waiting = Waiting(monkeypatch)
    assert not waiting.done(0.0, 'stale')
    waiting.request.stop()
    assert waiting.done(0.0, '')
    assert waiting.begun == 0
