# SPDX-License-Identifier: Apache-2.0
"""The task behind the environments: what is drawn, seen, rewarded, and how the robot moves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kane_dynamics as kd
from kane_dynamics.learning import reach_task as module
from kane_dynamics.learning.reach_task import (
    DRY,
    HAND,
    PAYLOAD,
    PERIOD,
    VISCOUS,
    WHEELS,
    reach_task,
)
from kane_dynamics.learning.reading import (
    BONUS,
    BOUND,
    CLOSE,
    EFFORT,
    PENALTY,
    blank_states,
    rewards,
)


@pytest.fixture(scope='module')
def task():
    return reach_task()


def scenes(task, count, seed=0):
    drawn = blank_states(count)
    for i in range(count):
        drawn[i] = task.draw(np.random.default_rng([seed, i]))[0]
    return drawn


def changed(task, scene, **fields):
    """Return a copy of scenes with other values, and what is seen of it."""
    other = scene.copy()
    for name, value in fields.items():
        other[name] = value
    task.read(other)
    return other


def run(task, scene, actions, periods):
    for _ in range(periods):
        scene, lost = task.after(scene, actions)
        assert not lost.any()
    return scene


def test_draws_are_within_what_is_told_and_differ(task):
    scene, robot = scenes(task, 60), task.robot
    for drawn, most in (
        (scene.payload_mass, PAYLOAD),
        (scene.viscous_friction, VISCOUS),
        (scene.dry_friction, DRY),
    ):
        parts = drawn / most
        assert (parts >= 0.0).all() and (parts <= 1.0).all()
        assert parts.std(axis=0).min() > 0.2  # 0.29 of even draws
    assert len({row.tobytes() for row in scene.goal}) == 60
    # a goal is a pose that the hand has somewhere: above the floor, not in the base
    assert scene.goal[:, 2].min() > module.LOWEST
    assert_allclose(np.linalg.norm(scene.goal[:, 3:], axis=1), 1.0, atol=1e-12)
    arm = slice(5, None)
    assert (scene.q[:, arm] > robot.lower[arm]).all() and (
        scene.q[:, arm] < robot.upper[arm]
    ).all()


def test_wheels_roll_exactly_whatever_they_do(task, rng):
    scene = scenes(task, 6)
    start = scene.q
    for _ in range(20):
        scene, _ = task.after(scene, rng.uniform(-1.0, 1.0, (6, 7)))
    assert np.hypot(*(scene.q - start).T[:2]).max() > 0.1  # they did drive [m]
    rolling = kd.constraints.differential_drive(task.robot, *WHEELS)
    d = kd.dynamics(task.robot, (rolling,))
    for q, v in zip(scene.q, scene.v, strict=True):
        # [m/s], roundoff of the projection
        assert_allclose(d.constraint_rows(q, v).matrix @ v, 0.0, atol=1e-12)


def test_payload_and_friction_change_the_motion(task):
    scene = scenes(task, 1)
    scene.q[0, 5:] = [0.0, 1.2, 0.0, 0.0, 0.0]  # stretched out
    stiff = np.array([[0.0], [0.0], [1.0]])
    friction = {'viscous_friction': stiff * VISCOUS, 'dry_friction': stiff * DRY}
    rubbed = changed(task, scene[[0, 0, 0]], payload_mass=[0.0, 1.0, 0.0], **friction)
    held = run(task, rubbed, np.zeros((3, 7)), 10)
    shoulder = task.robot.velocity_index('arm_2_joint')
    # drives hold the arm against gravity, but for the payload that they know nothing of
    assert abs(held.q[0, shoulder] - scene.q[0, shoulder]) < 1e-3
    assert held.q[1, shoulder] - scene.q[0, shoulder] > 0.01
    ahead = np.zeros((3, 7))
    ahead[:, :2] = 0.2
    driven = run(task, rubbed, ahead, 10)
    assert driven.q[2, 0] < driven.q[0, 0] - 0.005  # [m]


def test_drives_reach_their_speeds_and_stop_at_the_ends_of_joints(task):
    ideal = {'viscous_friction': 0.0, 'dry_friction': 0.0, 'payload_mass': 0.0}
    scene = changed(task, scenes(task, 1), **ideal)
    actions = np.array([[0.3, 0.3, 0.0, 0.0, 0.0, 0.0, 0.0]])
    driven = run(task, scene, actions, 20)
    # damping of the URDF, 0.1 N m s/rad, against a gain of 5
    assert_allclose(driven.v[0, 3:5], 0.3 * 15.0 * 5.0 / 5.1, rtol=0.01)
    up = run(task, scene, np.array([[0.0, 0.0, 1.0, 0.0, 0.0, 1.0, -1.0]]), 60)
    robot = task.robot
    for name, end in (('arm_1', robot.upper), ('arm_4', robot.upper), ('arm_5', robot.lower)):
        place = robot.coordinate_index(f'{name}_joint')
        assert_allclose(up.q[0, place], end[place], atol=0.05)


def test_rewards_of_a_way_add_up(task, rng):
    """Whatever the way: what was made good, less time and speeds."""
    scene = scenes(task, 4)
    first = before = scene
    total, cost = np.zeros(4), 0.0
    for _ in range(8):
        actions = rng.uniform(-1.0, 1.0, (4, 7))
        after, lost = task.after(before, actions)
        reward, ended = rewards(before, after, actions, lost)
        assert not ended.any()
        total, cost = total + reward, cost + EFFORT * (1.0 + (actions**2).mean(axis=1))
        before = after
    made_good = first.distance - before.distance + 0.2 * (first.angle - before.angle)
    assert_allclose(total + cost, made_good, atol=1e-12)


def test_an_episode_ends_at_the_goal_and_beyond_all_bounds(task):
    scene = changed(task, scenes(task, 4), payload_mass=0.0)
    still = np.zeros((4, 7))
    there = kd.dynamics(task.robot, frames=(HAND,)).frame_poses(scene.q)[:, 0]
    goal = scene.goal.copy()
    goal[0] = there[0]
    goal[1] = there[1] + [0.0, 0.0, CLOSE + 0.02, 0.0, 0.0, 0.0, 0.0]  # just not there
    goal[2, 0] = BOUND + 3.0
    v = scene.v.copy()
    v[3, 5] = 300.0  # [rad/s] of the turret: it will not be braked in time
    before = changed(task, scene, goal=goal, v=v)
    after, lost = task.after(before, still)
    reward, ended = rewards(before, after, still, lost)
    assert lost.tolist() == [False, False, False, True]
    assert ended.tolist() == [True, False, True, True]
    assert_allclose(reward[:3], [BONUS, 0.0, -PENALTY], atol=0.05)
    assert reward[3] < -0.9 * PENALTY
    assert np.isfinite(after.observation).all()
    assert (np.abs(after.observation) <= task.bounds).all()


def test_a_period_is_a_whole_number_of_steps():
    assert_allclose(PERIOD / module.STEP, round(PERIOD / module.STEP), rtol=1e-12)
