# SPDX-License-Identifier: Apache-2.0
"""Wrench, impedance and motion of a frame by both engines, and near a singular pose."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.trees import random_state
from support.wheeled_robots import wheeled_robot

import kane_dynamics as kd
from kane_dynamics.control.wrench_control import WrenchControl, WrenchTarget
from kane_dynamics.exceptions import InvalidInputError, UnreachableAccelerationError

SAME = 1e-10
MODES = (
    ['motion'] * 6,
    ['wrench'] * 6,
    ['motion', 'free', 'motion', 'impedance', 'wrench', 'free'],
    ['free'] * 6,
)


def on_wheels(seed):
    robot, constraints, actuated, q, v, _ = wheeled_robot('nonholonomic', seed)
    return robot, constraints, actuated, q, v


def chain(joints):
    def machine(seed):
        robot = kd.serial_chain(joints, 3)
        q, v, _ = random_state(robot, np.random.default_rng(seed))
        return robot, (), robot.velocity_names, q, v

    return machine


def target_of(rng):
    pose = rng.normal(size=7)
    return WrenchTarget(pose, rng.normal(size=6), rng.normal(size=6), 5.0 * rng.normal(size=6))


@pytest.mark.parametrize('axes', ['world', 'frame'])
@pytest.mark.parametrize('machine', [on_wheels, chain(8), chain(4)])
def test_engines_agree(machine, axes):
    """In general position, where the task asks more than the robot has, and with zero gains."""
    robot, constraints, actuated, q, v = machine(1)
    engines = kd.dynamics(robot, constraints), kd.compile(robot, constraints, cache=False)
    rng, names = np.random.default_rng(5), robot.joint_names[-2:]
    least = dict.fromkeys(names, 0.3)
    for modes in MODES:
        for scale, period in ((1.0, 0.0), (1.0, 0.01), (0.0, 0.0)):
            gains = scale * rng.uniform(1.0, 50.0, 6), scale * rng.uniform(1.0, 9.0, 6)
            options = {'posture': least, 'period': period, 'axes': axes}
            options['limits'] = np.full(robot.nv, np.inf)
            target, state = (
                target_of(rng),
                (q, v + 0.1 * rng.normal(size=robot.nv) * (not constraints)),
            )
            expected, found = (
                WrenchControl(d, robot.bodies[-1].name, actuated, modes, *gains, **options).effort(
                    *state, target, nearest_motion=True
                )
                for d in engines
            )
            size = 1.0 + np.abs(expected.effort).max()
            for name in ('effort', 'multipliers', 'acceleration'):
                ours, theirs = getattr(found, name), getattr(expected, name)
                assert_allclose(ours, theirs, rtol=0, atol=SAME * size, err_msg=name)


def test_limits_bind_in_both_engines_alike():
    robot, constraints, actuated, q, v = on_wheels(1)
    engines = kd.dynamics(robot, constraints), kd.compile(robot, constraints, cache=False)
    target = target_of(np.random.default_rng(2))
    hand, gains = robot.bodies[-1].name, ([30.0] * 6, [5.0] * 6)
    laws = [
        WrenchControl(d, hand, actuated, MODES[0], *gains, limits=np.full(robot.nv, 2.0))
        for d in engines
    ]
    engines[1].prepare_frame(laws[1]._law)
    prepared = set(engines[1]._kernels._kernels)
    for law in laws:
        with pytest.raises(UnreachableAccelerationError, match='the wanted acceleration'):
            law.effort(q, v, target)
    expected, found = (law.effort(q, v, target, nearest_motion=True) for law in laws)
    assert found.binding == expected.binding != ()
    assert_allclose(found.effort, expected.effort, rtol=0, atol=1e-7)
    assert set(engines[1]._kernels._kernels) == prepared  # nothing waits for a compiler now


def test_what_is_not_finite_is_refused_by_both_engines():
    robot, constraints, actuated, q, v = on_wheels(1)
    for d in (kd.dynamics(robot, constraints), kd.compile(robot, constraints, cache=False)):
        law = WrenchControl(d, robot.bodies[-1].name, actuated, MODES[1], [1.0] * 6, [1.0] * 6)
        for state in ((np.nan * q, v), (q, np.nan * v), (q[1:], v)):
            with pytest.raises(InvalidInputError):
                law.effort(*state, WrenchTarget())


def test_no_motor_moves_a_robot_that_floats():
    """Where nothing gives the force, the law says so, or moves as nearly as it can."""
    robot, q = kd.serial_chain(3, 1), np.array([0.2, 0.5, -0.3])
    for d in (kd.dynamics(robot), kd.compile(robot, (), cache=False)):
        hand, modes = robot.bodies[-1].name, ['free'] * 6
        law = WrenchControl(d, hand, robot.velocity_names[1:], modes, [0.0] * 6, [0.0] * 6)
        with pytest.raises(UnreachableAccelerationError, match='no actuator or constraint'):
            law.effort(q, 0.0 * q, WrenchTarget())
        near = law.effort(q, 0.0 * q, WrenchTarget(), nearest_motion=True)
        moved = kd.forward_dynamics(robot, q, 0.0 * q, near.effort).acceleration
        assert_allclose(moved, near.acceleration, rtol=0, atol=1e-8)
        assert near.effort[0] == 0.0
