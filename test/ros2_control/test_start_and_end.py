# SPDX-License-Identifier: Apache-2.0
"""Nothing falls before its controller is there, in any order of starts, nor after it is gone."""

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')
pytest.importorskip('controller_manager_msgs', reason='ros2_control is not sourced')

from bed import missing
from start_bed import ALL_JOINTS, ARM, QUIET, StartBed

MOST = 0.005  # [rad]
TIMEOUT = 0.5  # [s] timeout.command of kane_simulator
LATE = 0.3  # [s] a message, a period and a machine that is busy
FORWARD = 'hardware', 'manager', 'controllers', 'node'
BACKWARD = FORWARD[::-1]
ROBOT_LAST = 'node', 'manager', 'controllers', 'hardware'


@pytest.fixture
def started(tmp_path):
    """Return a function that starts all parts in an order."""
    if lacking := missing():
        pytest.skip(lacking)
    beds = []

    def start(order, controller=ALL_JOINTS, **given):
        beds.append(StartBed(tmp_path, controller, **given))
        for part in order:
            beds[-1].begin(part)
        beds[-1].complete()
        return beds[-1]

    yield start
    for bed in beds:
        bed.close()


@pytest.mark.parametrize('order', [BACKWARD, ROBOT_LAST], ids='-'.join)
def test_a_robot_whose_efforts_come_from_a_node_stays_where_it_is(started, order):
    bed = started(order, cold=order == BACKWARD)
    assert bed.robot.way() < MOST
    assert np.abs(bed.robot.effort[-1]).max() > 5.0  # the arm's weight, on arm_2_joint


def test_an_arm_under_a_trajectory_controller_stands_until_its_first_goal(started):
    bed = started(ROBOT_LAST, ARM)
    assert bed.robot.way() == 0.0
    assert not bed.robot.effort[-1].any()


def test_a_manager_that_is_killed_leaves_a_robot_that_stands(started):
    bed = started(FORWARD)
    now = bed.kill('manager', 2.0)
    assert bed.robot.last(lambda v, u: u.any(), now) < TIMEOUT + LATE
    assert bed.robot.last(lambda v, u: v.any(), now) < TIMEOUT + LATE
    assert bed.robot.way(now) < MOST


def test_a_hardware_that_is_killed_gets_no_efforts_and_comes_back_on_its_brakes(started):
    bed = started(FORWARD)
    now = bed.kill('hardware', 2.0)
    assert bed.commands.last(lambda v, u: u.any(), now) < TIMEOUT + LATE
    again = len(bed.robot.times)
    bed.begin('hardware')
    bed.until(lambda: bed.robot.effort[-1].any())
    bed.spin(1.0)
    assert np.abs(np.diff(bed.robot.position[again:], axis=0)).max() < MOST
    assert np.abs(bed.robot.velocity[-1]).max() < QUIET


def test_efforts_of_a_node_that_is_killed_stay_until_its_controller_is_deactivated(started):
    """What forward_command_controller does; the launch file ends all for that reason."""
    bed = started(FORWARD)
    now = bed.kill('node', 2.0 * TIMEOUT)
    assert bed.commands.last(lambda v, u: u.any(), now) > TIMEOUT
    assert bed.robot.way(now) < MOST  # constant efforts hold what stands
