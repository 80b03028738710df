# SPDX-License-Identifier: Apache-2.0
"""Guards and inputs: what is too old, partial or broken never gets through. No ROS needed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from ros_models import FakeClock, joint_state, odometry

from kane_dynamics.control.state_inputs import JointStateInput, OdometryInput
from kane_dynamics.messages.conversions import PlanarFrame
from kane_dynamics.messages.inputs import InputMonitor, RejectedInput

JOINTS = ('a', 'b', 'c')
FIELDS = ('position', 'velocity')


@pytest.fixture
def clock():
    return FakeClock()


def guard_of(clock, name='topic', max_age=0.1, sim_time=False):
    return InputMonitor(name, max_age, lambda: clock.node, lambda: sim_time, lambda: clock.wall)


def full(clock, names=JOINTS, scale=1.0, age=0.0, **changes):
    values = {'position': [scale * (1 + i) for i in range(len(names))]}
    values['velocity'] = [-x for x in values['position']]
    stamp = clock.node - round(age * 1e9)
    return joint_state(names, stamp, **{**values, **changes})


def test_nothing_is_usable_before_the_first_message(clock):
    guard = guard_of(clock)
    assert not guard.fresh()
    assert 'no usable message yet' in guard.problem()
    assert guard.age() == float('inf')


def test_message_is_fresh_until_its_age_limit(clock):
    guard = guard_of(clock)
    guard.admit(clock.node)
    clock.forward(0.099)
    assert guard.fresh()
    clock.forward(0.002)
    assert not guard.fresh()
    assert 'stale' in guard.problem()


def test_age_counts_from_the_stamp_not_from_arrival(clock):
    guard = guard_of(clock)
    guard.admit(clock.node - 80_000_000)
    clock.forward(0.03)
    assert not guard.fresh()


@pytest.mark.parametrize(('offset', 'words'), [(-0.2, 'old'), (0.2, 'future')])
def test_stamp_far_from_now_is_rejected_and_hints_at_the_clock(clock, offset, words):
    with pytest.raises(RejectedInput, match=words) as caught:
        guard_of(clock).admit(clock.node + round(offset * 1e9))
    assert caught.value.kind == 'stale'
    assert 'use_sim_time' in str(caught.value)


def test_message_without_stamp_counts_from_arrival(clock):
    guard = guard_of(clock)
    guard.admit(0)
    clock.forward(0.05)
    assert guard.fresh()
    clock.forward(0.06)
    assert not guard.fresh()


def test_message_that_was_overtaken_is_rejected(clock):
    guard = guard_of(clock)
    guard.admit(clock.node)
    with pytest.raises(RejectedInput, match='older than') as caught:
        guard.admit(clock.node - 20_000_000)
    assert caught.value.kind == 'order'
    guard.admit(clock.node)  # the same stamp again is no harm


def test_a_stamp_ahead_makes_no_later_message_older(clock):
    guard = guard_of(clock, max_age=0.5)
    guard.admit(clock.node + round(0.4e9))
    assert guard.age() == 0.0
    for _ in range(3):
        clock.forward(0.05)
        guard.admit(clock.node)
    clock.forward(0.49)
    assert guard.fresh()
    clock.forward(0.02)
    assert not guard.fresh()


def test_a_trajectory_that_begins_later_ends_later(clock):
    guard = guard_of(clock, max_age=0.5)
    guard.admit(clock.node + round(0.4e9), lasts=1.0)
    clock.forward(1.8)
    assert guard.fresh()
    clock.forward(0.2)
    assert not guard.fresh()


def test_after_a_jump_back_of_time_old_messages_are_stale_and_new_ones_count(clock):
    guard = guard_of(clock)
    guard.admit(clock.node)
    clock.node = 10**9
    assert not guard.fresh()
    guard.admit(clock.node)
    assert guard.fresh()


def test_dead_source_is_noticed_although_simulated_time_stands(clock):
    guard = guard_of(clock, sim_time=True)
    guard.admit(clock.node)
    clock.wall += round(0.5e9)  # paused: simulated time stands
    assert guard.fresh()
    clock.wall += round(0.6e9)
    assert not guard.fresh()


def test_report_counts_and_forgets_only_what_was_reported(clock):
    source = JointStateInput(JOINTS, FIELDS, guard_of(clock, 'joint_states'))
    source.take(full(clock))
    source.take(full(clock, names=('a', 'b')))
    source.take(full(clock, position=[1.0, np.nan, 2.0]))
    guard = source.guard
    assert (guard.accepted, guard.rejected) == (1, {'missing': 1, 'nan': 1})
    assert guard.pop_rejections() == 2
    assert "'b'" in guard.last_reason
    assert guard.pop_rejections() == 0


def test_states_after_one_with_a_stamp_ahead_count(clock):
    joints = JointStateInput(JOINTS, FIELDS, guard_of(clock, 'joint_states'))
    parts = JointStateInput(JOINTS, FIELDS, guard_of(clock, 'joint_states'), merge=True)
    odom = OdometryInput('base_link', PlanarFrame(), guard_of(clock, 'odom'))
    for ahead in (0.09, 0.0):
        clock.forward(0.01)
        assert joints.take(full(clock, age=-ahead)) and parts.take(full(clock, age=-ahead))
        stamp = clock.node + round(ahead * 1e9)
        assert odom.take(odometry('base_link', stamp, twist=(ahead, 0.0, 0.0)))
    assert_allclose(odom.v, np.zeros(3))


def test_joint_values_by_name(clock):
    source = JointStateInput(JOINTS, FIELDS, guard_of(clock, 'joint_states'))
    assert source.take(full(clock, names=('c', 'x', 'a', 'b')))
    assert_allclose(source.values['position'], [3.0, 4.0, 1.0])
    assert_allclose(source.values['velocity'], [-3.0, -4.0, -1.0])
    assert source.problem() == ''
    assert source.stamp == clock.node


@pytest.mark.parametrize(
    'broken',
    [
        {'names': ('a', 'b')},
        {'position': [1.0]},
        {'velocity': []},
        {'velocity': [0.0, np.inf, 0.0]},
        {'age': 0.3},
    ],
)
def test_rejected_joint_states_change_nothing(clock, broken):
    source = JointStateInput(JOINTS, FIELDS, guard_of(clock, 'joint_states'))
    source.take(full(clock))
    before = {k: v.copy() for k, v in source.values.items()}
    stamp = source.stamp
    clock.forward(0.01)
    assert not source.take(full(clock, scale=7.0, **broken))
    for field in FIELDS:
        assert_allclose(source.values[field], before[field])
    assert source.stamp == stamp


def test_parts_are_merged_where_allowed(clock):
    source = JointStateInput(JOINTS, FIELDS, guard_of(clock, 'joint_states'), merge=True)
    assert source.take(full(clock, names=('a', 'b')))
    assert "['c']" in source.problem()
    assert source.take(full(clock, names=('c',), scale=5.0))
    assert source.problem() == ''
    assert_allclose(source.values['position'], [1.0, 2.0, 5.0])


def test_each_merged_part_must_be_fresh(clock):
    source = JointStateInput(JOINTS, FIELDS, guard_of(clock, 'joint_states'), merge=True)
    source.take(full(clock, names=('a', 'b')))
    source.take(full(clock, names=('c',)))
    clock.forward(0.08)
    source.take(full(clock, names=('c',)))
    clock.forward(0.04)
    assert "['a', 'b']" in source.problem()


def test_message_about_other_joints_is_no_part(clock):
    source = JointStateInput(JOINTS, FIELDS, guard_of(clock, 'joint_states'), merge=True)
    source.take(full(clock, names=('x', 'y')))
    assert "['a', 'b', 'c']" in source.problem()


def test_odometry_gives_the_root_link(clock):
    frame = PlanarFrame(0.3, 0.0, 0.0)
    source = OdometryInput('base_link', frame, guard_of(clock, 'odom', 0.25))
    message = odometry('base_link', clock.node, pose=(1.3, 2.0), twist=(0.5, 0.6, 2.0))
    assert source.take(message)
    assert_allclose(source.q, [1.0, 2.0, 0.0])
    assert_allclose(source.v, [0.5, 0.0, 2.0])  # 0.6 - 2.0 * 0.3
    assert not source.take(odometry('other', clock.node))
    assert_allclose(source.q, [1.0, 2.0, 0.0])
    clock.forward(0.26)
    assert 'stale' in source.problem()
