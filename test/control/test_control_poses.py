# SPDX-License-Identifier: Apache-2.0
"""A `kd.Pose` is accepted wherever a pose is."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import kane_dynamics as kd
from kane_dynamics.control.task_space_tracking import FrameMotion
from kane_dynamics.control.wrench_control import WrenchTarget
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.state import as_pose
from kane_dynamics.simulation.haptics import VirtualCoupler

NUMBERS = np.array([0.3, -0.2, 0.5, 0.5, 0.5, -0.5, 0.5])
POSE = kd.Pose.from_rotation_and_position(NUMBERS[3:].tolist(), NUMBERS[:3].tolist())


def test_motions_and_targets_take_a_pose():
    assert_array_equal(FrameMotion(POSE).numbers(), FrameMotion(NUMBERS).numbers())
    target = as_pose('pose', WrenchTarget(POSE).pose)
    assert_array_equal(target.rotation_matrix(), as_pose('pose', NUMBERS).rotation_matrix())
    assert target.position().tolist() == NUMBERS[:3].tolist()


def test_couplers_take_a_pose():
    coupler = VirtualCoupler(np.ones(6), np.ones(6))
    still, device = np.zeros(6), NUMBERS + (0.1, 0, 0, 0, 0, 0, 0)
    found = [coupler.wrenches(one, still, device, still).on_frame for one in (POSE, NUMBERS)]
    assert_array_equal(*found)
    assert found[0].any()


@pytest.mark.parametrize('wrong', [[0.0] * 7, [1.0] * 6, 'here'])
def test_what_is_no_pose_is_refused(wrong):
    for use in (WrenchTarget, lambda x: FrameMotion(x).numbers()):
        with pytest.raises(InvalidInputError, match='pose'):
            use(wrong)
