# SPDX-License-Identifier: Apache-2.0
"""Computed torque of a frame: what the frame does by forward dynamics, and in closed loop."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from support.trees import random_state
from support.wheeled_robots import wheeled_robot

import kane_dynamics as kd
from kane_dynamics.control.frame_tracking import FrameMotion, FrameTracking
from kane_dynamics.exceptions import InvalidInputError, NameNotFoundError

K = np.array([30.0, 20.0, 50.0, 80.0, 40.0, 60.0])
B = np.array([3.0, 2.0, 4.0, 9.0, 6.0, 5.0])


def pose_of(robot, frame, q):
    found = kd.forward_kinematics(robot, q).pose(frame)
    return np.r_[found.position(), found.rotation.components]


def twist_of(robot, frame, q, v):
    """Return (omega, v) of a frame in world axes."""
    kinematics = kd.forward_kinematics(robot, q)
    twist, R = kinematics.jacobian(frame) @ v, kinematics.pose(frame).rotation_matrix()
    return np.r_[R @ twist[:3], R @ twist[3:]]


def moved(pose, turn, way):
    """Return a pose that is turned and shifted in world axes."""
    w, x, y, z = pose[3:]
    x, y, z, w = (Rotation.from_rotvec(turn) * Rotation.from_quat([x, y, z, w])).as_quat()
    return np.r_[pose[:3] + way, w, x, y, z]


def rate_of(robot, frame, q, v, a, h=1e-6):
    """Return the rate of the twist of a frame, by differences along the motion."""
    ends = [
        twist_of(robot, frame, kd.integrate(robot, q, v + 0.5 * s * a, s), v + s * a)
        for s in (h, -h)
    ]
    return (ends[0] - ends[1]) / (2.0 * h)


def arm(seed, joints=8):
    robot = kd.serial_chain(joints, seed)
    q, v, _ = random_state(robot, np.random.default_rng(seed))
    return robot, (), robot.velocity_names, q, v


def on_wheels(seed):
    robot, constraints, actuated, q, v, _ = wheeled_robot('nonholonomic', seed)
    return robot, constraints, actuated, q, v


@pytest.mark.parametrize('seed', range(3))
@pytest.mark.parametrize('machine', [arm, on_wheels])
def test_the_frame_accelerates_as_its_error_asks(machine, seed):
    robot, constraints, actuated, q, v = machine(seed)
    hand, rng = robot.bodies[-1].name, np.random.default_rng(seed)
    asked, twist = rng.normal(size=(2, 6))
    turn, way = 0.4 * rng.normal(size=(2, 3))
    law = FrameTracking(kd.dynamics(robot, constraints), hand, actuated, K, B, robot.neutral())
    motion = FrameMotion(moved(pose_of(robot, hand, q), turn, way), twist, asked)
    effort, missed = law.effort(q, v, motion)
    assert_allclose(missed, 0.0, atol=1e-9)
    a = kd.forward_dynamics(robot, q, v, effort.effort, constraints).acceleration
    assert_allclose(a, effort.acceleration, rtol=1e-9, atol=1e-9)
    expected = asked + K * np.r_[turn, way] + B * (twist - twist_of(robot, hand, q, v))
    assert_allclose(rate_of(robot, hand, q, v, a), expected, rtol=0, atol=2e-6)


def test_the_rest_of_the_robot_is_nearest_to_its_posture():
    robot, constraints, actuated, q, v = arm(4)
    hand, posture = robot.bodies[-1].name, q + 0.1
    law = FrameTracking(kd.dynamics(robot), hand, actuated, K, B, posture, 25.0, 10.0)
    motion = FrameMotion(pose_of(robot, hand, q), twist_of(robot, hand, q, v))
    a = law.effort(q, v, motion)[0].acceleration
    wanted = 25.0 * (posture - q) - 10.0 * v
    J = kd.forward_kinematics(robot, q).jacobian(hand)
    # what is left is a force on the hand: no motion that keeps the hand would come nearer
    left = kd.mass_matrix(robot, q) @ (a - wanted)
    free = np.linalg.svd(J)[2][6:]
    assert_allclose(free @ left, 0.0, atol=1e-8)
    assert np.abs(left).max() > 1e-3


def test_a_base_that_others_drive_moves_as_it_does():
    robot, constraints, actuated, q, v = on_wheels(2)
    hand = robot.bodies[-1].name
    law = FrameTracking(kd.dynamics(robot, constraints), hand, actuated, K, B, robot.neutral())
    motion = FrameMotion(moved(pose_of(robot, hand, q), np.zeros(3), [0.01, 0.0, 0.02]))
    own = law.effort(q, v, motion)[0].acceleration
    heading = np.array([np.cos(q[2]), np.sin(q[2]), 0.0])
    along = v[2] * np.array([-np.sin(q[2]), np.cos(q[2]), 0.0]) * (heading @ v[:3])
    base = 0.7 * heading + along + np.array([0.0, 0.0, 0.3])  # no side slip
    effort, missed = law.effort(q, v, motion, base=base)
    assert_allclose(effort.acceleration[:3], base, atol=1e-9)
    assert np.abs(own[:3] - base).max() > 0.1
    assert np.abs(missed).max() > 1e-3  # five joints cannot do all of six axes


def test_an_axis_without_gains_is_free():
    robot, constraints, actuated, q, v = on_wheels(5)
    hand, rng = robot.bodies[-1].name, np.random.default_rng(5)
    way = np.repeat([0.0, 1.0], 3)
    law = FrameTracking(
        kd.dynamics(robot, constraints), hand, actuated, way * K, way * B, robot.neutral()
    )
    asked = rng.normal(size=6)
    motion = FrameMotion(pose_of(robot, hand, q), acceleration=asked)
    effort, missed = law.effort(q, v, motion)
    found = rate_of(robot, hand, q, v, effort.acceleration)
    expected = asked - B * twist_of(robot, hand, q, v)
    assert_allclose(found[3:], expected[3:], rtol=0, atol=2e-6)
    assert np.abs(found - expected)[:3].max() > 0.1
    assert_allclose(missed, 0.0, atol=1e-9)


def test_what_is_wrong_is_an_error():
    robot, constraints, actuated, q, v = arm(1)
    engine, hand = kd.dynamics(robot), robot.bodies[-1].name
    right = engine, hand, actuated, K, B, q
    with pytest.raises(NameNotFoundError, match='elbow'):
        FrameTracking(engine, 'elbow', actuated, K, B, q)
    with pytest.raises(NameNotFoundError, match='elbow'):
        FrameTracking(engine, hand, ['elbow'], K, B, q)
    with pytest.raises(InvalidInputError, match='stiffness: need numbers >= 0'):
        FrameTracking(engine, hand, actuated, -K, B, q)
    with pytest.raises(InvalidInputError, match='damping'):
        FrameTracking(engine, hand, actuated, K, B[:3], q)
    with pytest.raises(InvalidInputError, match='posture_damping'):
        FrameTracking(*right, 1.0, -1.0)
    with pytest.raises(InvalidInputError, match='q: need shape'):
        FrameTracking(engine, hand, actuated, K, B, q[:-1])
    law = FrameTracking(*right)
    pose = pose_of(robot, hand, q)
    for wrong, word in (
        (FrameMotion(pose[:-1]), 'pose'),
        (FrameMotion(pose, np.full(6, np.nan)), 'twist'),
        (FrameMotion(pose, acceleration=np.zeros(5)), 'acceleration'),
    ):
        with pytest.raises(InvalidInputError, match=word):
            law.effort(q, v, wrong)
    with pytest.raises(InvalidInputError, match='base'):
        law.effort(q, v, FrameMotion(pose), base=[0.0, 0.0])
