# SPDX-License-Identifier: Apache-2.0
"""What is seen and rewarded; nothing is compiled."""

import numpy as np
from numpy.testing import assert_allclose

import kane_dynamics as kd
from kane_dynamics.learning.reading import (
    ALIGNED,
    ANGLE,
    BONUS,
    BOUND,
    CLOSE,
    EFFORT,
    PENALTY,
    blank_states,
    read,
    rewards,
)
from kane_dynamics.robot.resources import share_directory

HAND = 'tool_link'
ROBOT = kd.load_urdf(share_directory() / 'robots' / 'nonholonomic.urdf', base='planar')
ARM = np.arange(5, 10)


def scenes(rng, count):
    """Return scenes in which nothing is at zero, and what is seen of them."""
    scene = blank_states(count)
    scene.q, scene.v = rng.uniform(-1.0, 1.0, (2, count, ROBOT.nq))
    goal = rng.normal(size=(count, 7))
    goal[:, 3:] /= np.linalg.norm(goal[:, 3:], axis=1, keepdims=True)
    scene.goal = goal
    return seen(scene)


def seen(scene):
    read(scene, hands(scene), ARM)
    return scene


def hands(scene):
    return kd.dynamics(ROBOT, frames=(HAND,)).frame_poses(scene.q)[:, 0]


def test_the_way_to_the_goal_is_seen_from_the_base(rng):
    """Against poses of single states and rotation matrices, written the long way."""
    robot, scene = ROBOT, scenes(rng, 5)
    for k in range(5):
        x_WH = kd.forward_kinematics(robot, scene.q[k]).pose(HAND)
        x_WG = kd.Pose.from_rotation_and_position(scene.goal[k, 3:], scene.goal[k, :3])
        c, s = np.cos(scene.q[k, 2]), np.sin(scene.q[k, 2])
        R_BW = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
        way = R_BW @ (x_WG.position() - x_WH.position())
        R_HG = R_BW @ x_WG.rotation_matrix() @ x_WH.rotation_matrix().T @ R_BW.T
        of_this = scene.observation[k]
        assert_allclose(of_this[:3], way, atol=1e-6)  # float32
        axis, angle = of_this[3:6] / np.linalg.norm(of_this[3:6]), np.linalg.norm(of_this[3:6])
        assert_allclose(R_HG @ axis, axis, atol=1e-5)
        assert_allclose(np.trace(R_HG), 1.0 + 2.0 * np.cos(angle), atol=1e-5)
        sines = [R_HG[2, 1] - R_HG[1, 2], R_HG[0, 2] - R_HG[2, 0], R_HG[1, 0] - R_HG[0, 1]]
        assert_allclose(sines, 2.0 * np.sin(angle) * axis, atol=1e-5)
        assert_allclose(scene.distance[k], np.linalg.norm(way), atol=1e-12)
        assert_allclose(scene.angle[k], angle, atol=1e-6)
        assert_allclose(of_this[6], c * scene.v[k, 0] + s * scene.v[k, 1], atol=1e-6)
        assert_allclose(of_this[7:], [scene.v[k, 2], *scene.q[k, 5:], *scene.v[k, 5:]], atol=1e-6)


def test_where_it_happens_is_not_seen(rng):
    """A scene that is turned about the vertical and moved along the floor looks the same."""
    scene = scenes(rng, 4)
    turn, c, s = 0.9, np.cos(0.9), np.sin(0.9)
    R = np.array([[c, -s], [s, c]])
    q, v, goal = (x.copy() for x in (scene.q, scene.v, scene.goal))
    q[:, :2], v[:, :2] = q[:, :2] @ R.T + [2.0, -1.0], v[:, :2] @ R.T
    q[:, 2] += turn
    goal[:, :2] = goal[:, :2] @ R.T + [2.0, -1.0]
    w, z = np.cos(0.5 * turn), np.sin(0.5 * turn)
    a, b, d, e = scene.goal[:, 3:].T
    goal[:, 3:] = np.stack([w * a - z * e, w * b - z * d, w * d + z * b, w * e + z * a], axis=1)
    moved = scene.copy()
    moved.q, moved.v, moved.goal = q, v, goal
    assert_allclose(seen(moved).observation, scene.observation, atol=1e-5)  # float32


def test_what_is_rewarded(rng):
    """The way made good, less time and speeds; a bonus at the goal, a penalty beyond bounds."""
    before, after = blank_states(6), blank_states(6)
    before.distance, before.angle = 1.0, 0.8
    distance = np.array([0.7, CLOSE - 0.01, CLOSE - 0.01, CLOSE + 0.01, BOUND + 0.1, 0.02])
    angle = np.array([0.5, ALIGNED - 0.01, ALIGNED + 0.01, 0.0, 0.1, 0.1])
    # the hand at the origin of the world, the goal so far along x and turned so much about x
    after.goal[:, 0] = distance
    after.goal[:, 3], after.goal[:, 4] = np.cos(angle / 2.0), np.sin(angle / 2.0)
    read(after, np.tile([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], (6, 1)), ARM)
    assert_allclose([after.distance, after.angle], [distance, angle], atol=1e-12)
    actions = rng.uniform(-1.0, 1.0, (6, 7))
    lost = np.array([False, False, False, False, False, True])
    reward, ended = rewards(before, after, actions, lost)
    assert after.success.tolist() == [False, True, False, False, False, True]
    assert ended.tolist() == [False, True, False, False, True, True]
    made_good = (1.0 - distance) + ANGLE * (0.8 - angle)
    spent = EFFORT * (1.0 + (actions**2).sum(axis=1) / 7.0)
    extra = [0.0, BONUS, 0.0, 0.0, -PENALTY, -PENALTY]
    assert_allclose(reward, made_good - spent + extra, atol=1e-12)
