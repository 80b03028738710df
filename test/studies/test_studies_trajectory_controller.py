# SPDX-License-Identifier: Apache-2.0
"""The model of joint_trajectory_controller does what is stated of it, line by line."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kane_dynamics.trajectories.joint_trajectory import JointTrajectory
from studies.trajectory_controller import (
    DEFERRED,
    DROPPED,
    SPLICED,
    RejectedGoalError,
    Settings,
    State,
    TrajectoryController,
)

NAMES = ('a', 'b')
AT = np.array([0.1, -0.2])
STILL = np.zeros(2)
POINTS = JointTrajectory(
    NAMES, [0.5, 1.0], [[0.3, 0.4], [0.6, -0.1]], np.zeros((2, 2)), None, [[4.0, 2.0], [8.0, -2.0]]
)


def controller(**changes):
    return TrajectoryController(NAMES, Settings(**{'effort': True, **changes}), AT)


def both(**changes):
    return controller(position=True, **changes)


def at(of, time, position=AT, velocity=STILL):
    return of.update(time, position, velocity)


@pytest.mark.parametrize('order', [1, 2, 3])
def test_effort_is_linear_whatever_the_spline(order):
    rows = [POINTS.positions, POINTS.velocities, np.ones((2, 2))][:order]
    of = both()
    of.send(JointTrajectory(NAMES, POINTS.times, *rows, efforts=POINTS.efforts), 0.0)
    for part in (0.0, 0.25, 0.9):
        line = (1 - part) * POINTS.efforts[0] + part * POINTS.efforts[1]
        assert_allclose(at(of, 0.5 + 0.5 * part).effort, line, atol=1e-12)


def test_no_effort_counts_as_zero():
    of = both()
    of.send(JointTrajectory(NAMES, [0.5, 1.0], POINTS.positions), 0.0)
    assert_allclose(at(of, 0.7).effort, STILL)


def test_before_the_first_point_the_effort_ramps_from_the_last_command():
    of = controller(p=10.0)
    standing = at(of, 0.0, AT - 0.1).effort
    assert_allclose(standing, [1.0, 1.0])  # what the gains do: 0.1 off
    of.send(POINTS, 0.0)
    command = at(of, 0.25 - of.settings.period).effort
    feedback = 10.0 * (of._active.sample(0.25).position - AT)
    assert_allclose(command - feedback, 0.5 * (standing + POINTS.efforts[0]), atol=1e-12)


def test_from_the_desired_state_it_ramps_from_what_was_fed_forward():
    of = controller(p=10.0, from_desired=True)
    at(of, 0.0, AT - 0.1)
    of.send(POINTS, 0.0)
    assert_allclose(of._active.sample(0.25).effort, 0.5 * POINTS.efforts[0])


def test_a_first_point_at_once_steps():
    of = both()
    at(of, 0.0)
    now = JointTrajectory(NAMES, [0.0, 1.0], POINTS.positions, efforts=POINTS.efforts)
    of.send(now, 0.0)
    assert_allclose(at(of, 0.0).effort, POINTS.efforts[0])


def test_the_last_effort_is_held_and_outlives_a_cancel():
    of = both()
    of.send(POINTS, 0.0)
    assert_allclose(at(of, 1.5).effort, POINTS.efforts[-1])
    assert of.state is State.SUCCEEDED
    of.cancel(2.0)
    command = at(of, 2.1, AT)
    assert_allclose(command.effort, POINTS.efforts[-1])  # of the goal before
    assert_allclose(command.position, AT)


@pytest.mark.parametrize('end', ['activation', 'cancel', 'deactivation'])
def test_holding_feeds_nothing_forward(end):
    of = both()
    if end != 'activation':
        of.send(POINTS, 0.0)
        assert at(of, 0.6).effort.any()
        of.cancel(0.6)
    if end == 'deactivation':
        assert_allclose(of.deactivate().effort, STILL)
    assert_allclose(at(of, 0.61).effort, STILL)


def test_the_law_of_effort_alone_looks_a_period_ahead():
    of = controller(p=7.0, d=3.0, velocity_scale=2.0, period=0.01)
    of.send(POINTS, 0.0)
    v = np.array([0.2, 0.1])
    wanted = of._active.sample(0.61)
    law = 2.0 * wanted.velocity + wanted.effort
    law += 7.0 * (wanted.position - AT) + 3.0 * (wanted.velocity - v)
    command = at(of, 0.6, AT, v)
    assert_allclose(command.effort, law)
    assert command.position is None


def test_position_and_effort_are_a_period_apart_without_feedback():
    of = both(p=7.0, d=3.0, period=0.01)
    of.send(POINTS, 0.0)
    command = at(of, 0.6, AT + 1.0)
    assert_allclose(command.position, of._active.sample(0.61).position)
    assert_allclose(command.effort, of._active.sample(0.6).effort)


def test_a_controlled_stop_has_no_effort():
    of = both(deceleration=np.array([2.0, 0.5]))
    of.send(POINTS, 0.0)
    v = np.array([0.4, -0.2])
    at(of, 0.6, AT, v)
    of.cancel(0.6)
    for t in (0.0, 0.1, 0.2, 0.4):  # a stops after 0.2 s, b after 0.4 s
        t_a, t_b = min(t, 0.2), min(t, 0.4)
        moved = [0.4 * t_a - t_a**2, -0.2 * t_b + 0.25 * t_b**2]
        assert_allclose(of._active.sample(0.6 + t).position, AT + moved, atol=1e-12)
        assert_allclose(of._active.sample(0.6 + t).effort, STILL)


def test_off_the_path_nothing_is_written_then_it_holds():
    of = both(path_tolerance=0.5)
    of.send(POINTS, 0.0)
    command = at(of, 0.6, AT + 1.0)
    assert (command.position, command.effort) == (None, None)
    assert_allclose(at(of, 0.61, AT + 1.0).position, AT + 1.0)
    assert of.state is State.HOLDING


def test_without_splines_the_next_point_counts():
    of = both(splines=False)
    of.send(POINTS, 0.0)
    assert_allclose(at(of, 0.1).effort, POINTS.efforts[0])
    assert_allclose(at(of, 0.51).effort, POINTS.efforts[1])


@pytest.mark.parametrize(
    ('points', 'changes', 'stamp', 'message'),
    [
        (POINTS, {'effort': False, 'position': True}, 0.0, 'no effort interface'),
        (JointTrajectory(('c',), [1.0], [[0.0]]), {}, 0.0, 'are none of'),
        (JointTrajectory(('a',), [1.0], [[0.0]], [[1.0]]), {}, 0.0, 'is not zero'),
        (POINTS, {}, 1.0, 'is over'),
    ],
)
def test_what_is_rejected(points, changes, stamp, message):
    with pytest.raises(RejectedGoalError, match=message):
        controller(**changes).send(points, 2.5, stamp)


def test_joints_that_are_not_named_are_held_without_effort():
    of = both()
    of.send(JointTrajectory(('b',), [0.0, 1.0], [[0.0], [1.0]], efforts=[[3.0], [3.0]]), 0.0)
    command = at(of, 0.5)
    assert_allclose(command.effort, [0.0, 3.0])
    assert command.position[0] == AT[0]


LATER = JointTrajectory(NAMES, [0.2, 0.5], [[1.0, 1.0], [2.0, 2.0]], efforts=np.full((2, 2), 9.0))


@pytest.mark.parametrize('replacement', [DROPPED, DEFERRED, SPLICED])
def test_a_trajectory_for_later_while_one_runs(replacement):
    of = both(replacement=replacement)
    of.send(POINTS, 0.0)
    old = at(of, 0.6).effort
    before = of._active.sample(0.75)
    of.send(LATER, 0.6, stamp=0.8)
    during = at(of, 0.75)
    if replacement == DROPPED:  # one long line from now to the first point, at 1.0 s
        assert_allclose(during.effort, old + (9.0 - old) * 0.15 / 0.4)
    else:
        assert_allclose(during.effort, before.effort, atol=1e-12)
    assert_allclose(at(of, 1.4).effort, 9.0)


def test_splicing_bridges_with_the_old_effort():
    of = both(replacement=SPLICED)
    of.send(POINTS, 0.0)
    at(of, 0.6)
    old = of._active.sample(0.8)
    of.send(LATER, 0.6, stamp=0.8)
    assert_allclose(of._active.sample(0.8).effort, old.effort)
    assert_allclose(of._active.sample(0.9).effort, 0.5 * (old.effort + 9.0))


def test_splicing_leaves_omitted_joints_on_the_old_path_without_effort():
    of = both(replacement=SPLICED)
    of.send(POINTS, 0.0)
    at(of, 0.6)
    part = JointTrajectory(('b',), [0.2, 0.4], [[0.0], [0.5]], [[0.0], [0.0]], None, [[5], [5]])
    old = [of._active.sample(t) for t in (0.8, 1.0)]
    of.send(part, 0.6)
    for t, one in zip((0.8, 1.0), old, strict=True):
        found = of._active.sample(t)
        assert_allclose(found.position[0], one.position[0])
        assert_allclose(found.effort, [0.0, 5.0])


def test_a_stamp_that_is_partly_past_joins_mid_way_and_splicing_starts_anew():
    of = both()
    of.send(POINTS, 0.7, stamp=0.1)
    assert_allclose(
        at(of, 0.85).effort, [6.0, 0.0], atol=1e-12
    )  # halfway between its points, at 0.6 and 1.1
    of = both(replacement=SPLICED)
    of.send(LATER, 0.0)
    at(of, 0.3)
    of.send(POINTS, 0.3, stamp=0.1)
    assert_allclose(of._active.sample(0.8).effort, POINTS.efforts[0])  # half a second from now
