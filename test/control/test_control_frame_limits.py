# SPDX-License-Identifier: Apache-2.0
"""A frame whose target no pose reaches: efforts, speeds and where it comes to rest."""

import re
from functools import cache

import numpy as np
import pytest
from support.wheeled_robots import installed

import kane_dynamics as kd
from kane_dynamics.algebra.pose import rotation_vector
from kane_dynamics.algebra.quaternions import vec3
from kane_dynamics.analysis.frame_task import frame_task
from kane_dynamics.control.task_space_tracking import FrameMotion, FrameTracking
from kane_dynamics.robot.state import as_pose

HAND = 'link7'
START = np.array([0.1, 0.2, 0.1, 1.0, 0.1, 0.8, 0.1])
GAINS = {
    'computed_torque': ((100.0,) * 6, (20.0,) * 6),
    'slotine_li': ((10.0,) * 6, (0.02,) * 3 + (20.0,) * 3),
}
PERIOD = 0.004


@cache
def arm():
    """Return an arm of seven joints without damping and friction, which would help to brake."""
    text = re.sub(r'<dynamics[^>]*/>', '', installed('xarm7').read_text())
    return kd.compile(kd.load_urdf(text))


def shifted(way):
    start = kd.forward_kinematics(arm().robot, START).pose(HAND)
    return np.r_[start.position() + way, start.rotation.components]


def followed(law, target, time=4.0):
    """Return efforts and speeds as parts of their limits, the last answer and state."""
    fast = arm()
    robot = fast.robot
    control = FrameTracking(fast, HAND, robot.velocity_names, *GAINS[law], START, law=law)
    q, v, used = START, np.zeros(robot.nv), []
    for _ in range(round(time / PERIOD)):
        found = control.effort(q, v, FrameMotion(target))
        parts = found.result.effort / robot.effort_limit, v / robot.velocity_limit
        used.append([np.abs(part).max() for part in parts])
        q, v = fast.step(q, v, found.result.effort, PERIOD)
    return np.array(used), found, q


def far(seed):
    way = np.random.default_rng(seed).normal(size=3)
    return shifted(2.0 * way / np.linalg.norm(way))


def check_bounded(law, seed, time=4.0):
    used, found, q = followed(law, far(seed), time)
    assert used[:, 0].max() <= 1.0
    assert used[:, 1].max() <= 1.0
    return used, found, q


@pytest.mark.parametrize('seed', range(3))
@pytest.mark.parametrize('law', GAINS)
def test_a_target_out_of_reach_asks_for_no_more_than_the_limits(law, seed):
    """Two metres away: 45 kN m before."""
    check_bounded(law, seed, 1.5)


@pytest.mark.thorough
@pytest.mark.parametrize('law', GAINS)
def test_no_target_asks_for_more_than_the_limits(law):
    for seed in range(100):
        check_bounded(law, seed)


def error_of(task, target):
    """Return the rotation vector and the way to a wanted pose [rad, m]."""
    turned = target.rotation * task.pose.rotation.conjugate()
    return np.r_[vec3(rotation_vector(turned)), target.position() - task.pose.position()]


@pytest.mark.parametrize('law', GAINS)
def test_a_target_out_of_reach_is_named_where_the_gradient_of_its_error_ends(law):
    target = shifted([2.0, 0.0, 0.0])
    used, found, q = followed(law, target)
    assert found.out_of_reach
    assert found.share < 0.1
    assert used[-100:, 1].max() < 0.1  # it hovers
    task = frame_task(arm(), HAND, q, np.zeros(7), False)
    error = error_of(task, as_pose('target', target))
    assert np.linalg.norm(error[3:]) > 1.0
    start = frame_task(arm(), HAND, START, np.zeros(7), False)
    before = error_of(start, as_pose('target', target))
    slopes = [
        np.linalg.norm(t.jacobian[3:].T @ e[3:]) for t, e in ((task, error), (start, before))
    ]
    assert slopes[0] < 0.3 * slopes[1]
    assert np.linalg.norm(error) < np.linalg.norm(before)


def test_a_target_in_reach_is_reached_through_the_limits():
    used, found, _ = followed('computed_torque', shifted([-0.2, 0.2, 0.1]))
    assert used.max() <= 1.0
    assert found.share == 1.0
    assert not found.out_of_reach
    assert np.abs(found.error).max() < 1e-4


@pytest.mark.parametrize('law', GAINS)
def test_nothing_jumps_where_a_limit_begins_to_bind(law):
    """A jump would be as large over half of the way."""
    fast = arm()
    control = FrameTracking(fast, HAND, fast.robot.velocity_names, *GAINS[law], START, law=law)
    ways = np.linspace(0.0, 0.4, 401)
    found = [
        control.effort(START, np.zeros(7), FrameMotion(shifted([0.0, 0.0, way]))) for way in ways
    ]
    efforts, shares = np.array([x.result.effort for x in found]), [x.share for x in found]
    assert shares[0] == 1.0
    assert shares[-1] < 1.0
    coarse = np.abs(np.diff(efforts[::2], axis=0)).max()
    assert np.abs(np.diff(efforts, axis=0)).max() < 0.6 * coarse
