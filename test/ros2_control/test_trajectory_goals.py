# SPDX-License-Identifier: Apache-2.0
"""Goals through kane_trajectory_feedforward to a real joint_trajectory_controller."""

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')
pytest.importorskip('control_msgs', reason='source a ROS 2 with ros2_control')

from action_msgs.msg import GoalStatus
from arm_goals import Goals, arm_of
from bed import missing
from trajectories import events, jump_and_gravity
from trajectory_bed import TrajectoryBed

pytestmark = [pytest.mark.ros, pytest.mark.skipif(bool(missing()), reason=missing())]
GOALS = 5
PACE = 0.2  # of simulated time: what else the machine does is not judged
ERROR = 5e-3  # [rad or m], of which the period by which the controller looks ahead is the most


@pytest.fixture
def moving(tmp_path):
    """Return a held arm, and what draws its goals."""
    arm = arm_of('nonholonomic', tmp_path)
    bed, goals = TrajectoryBed(tmp_path, arm, PACE), Goals(arm, 1)
    bed.home()  # it has sagged
    yield bed, goals
    bed.close()


def test_random_goals_succeed_within_5_mrad(moving):
    bed, goals = moving
    for _ in range(GOALS):
        succeeded, reason, track = bed.move(goals.draw())
        assert succeeded, reason
        assert track.worst < (1.0 if bed.hurried else 4.0) * ERROR


def test_no_event_lets_efforts_jump_above_those_of_gravity(moving):
    bed, goals = moving
    ends = {}
    for event, ended, track in events(bed, goals):
        ends[event] = ended
        ((jump, gravity),) = jump_and_gravity(bed.arm, goals, track)
        assert jump < gravity, event
    assert ends['cancelled'][0] == GoalStatus.STATUS_CANCELED
    assert ends['preempted'][1] == 'Current goal preempted by new incoming action.'
    assert ends['pushed'][:2] == (GoalStatus.STATUS_ABORTED, -4)  # PATH_TOLERANCE_VIOLATED
    moved, refused = ends['without joint_states']
    assert moved[0] == GoalStatus.STATUS_SUCCEEDED, moved  # its efforts were planned before
    assert refused[:2] == (GoalStatus.STATUS_ABORTED, -1)
    assert refused[2].startswith('joint_states: stale, ')
