# SPDX-License-Identifier: Apache-2.0
"""The demonstration goes no faster than the motors have efforts for. No ROS needed."""

import numpy as np
import pytest
from ros_models import PENDULUM_URDF, parameters
from support.base_urdf import BASES

from kane_dynamics.demo.motion import demo_motion
from kane_dynamics.robot_config.robot_source import build_model
from kane_dynamics.ros.demo.laws import OF_EFFORT, PACES, affordable_motion

DURATION = 5.3  # no motion is its own reverse, so that the sign of damping counts
DAMPING, FRICTION, LIMIT = 1.0, 2.0, 6.0  # of the wheels of a base that is sold


def limited(text, effort, damping, friction):
    """Return a URDF whose joints have these limits and losses."""
    limit = f'<limit lower="0" upper="1" effort="{effort}" velocity="20"/>'
    losses = f'<dynamics damping="{damping}" friction="{friction}"/></joint>'
    old = '<limit lower="0" upper="1" effort="100" velocity="5"/>'
    return text.replace(old, '').replace('</joint>', limit + losses)


def pendulum(effort, **values):
    """Return the pendulum with damping, and its parameters."""
    p = parameters(base_type='none', **values)
    return build_model(p, limited(PENDULUM_URDF, effort, 2.0, 0.0)), p


def largest(motion):
    """Return the largest effort of the pendulum's motion, from its equation [N m]."""
    t = np.linspace(0.0, DURATION, 25)
    q, v, a = (x(t)[:, 0] for x in (motion.position, motion.velocity, motion.acceleration))
    return np.abs((0.1 + 0.25) * a + 2.0 * v + 9.80665 * 0.5 * np.sin(q)).max()


@pytest.mark.parametrize(('room', 'taken'), [(1.001, PACES[1]), (0.999, PACES[2])])
def test_the_fastest_motion_within_the_limits_is_taken(room, taken):
    robot, _ = pendulum(0.0)
    aimed = demo_motion(robot.robot, (), ('hinge',), {}, DURATION, None, PACES[1])
    motion, overloaded = affordable_motion(
        *pendulum(room * largest(aimed) / OF_EFFORT), {}, DURATION
    )
    wanted = demo_motion(robot.robot, (), ('hinge',), {}, DURATION, None, taken)
    assert overloaded == ()
    np.testing.assert_array_equal(motion.position(wanted.times), wanted.position(wanted.times))


@pytest.mark.parametrize(('effort', 'clamped'), [(1.0, False), (0.0, True)])
def test_efforts_without_a_limit_slow_nothing(effort, clamped):
    robot, p = pendulum(effort, enforce_command_limits=clamped)
    full = demo_motion(robot.robot, (), ('hinge',), {}, DURATION)
    motion, overloaded = affordable_motion(robot, p, {}, DURATION)
    assert overloaded == ()
    np.testing.assert_array_equal(motion.position(full.times), full.position(full.times))


def test_a_motor_too_weak_to_hold_still_is_named():
    robot, p = pendulum(1.0)  # 3.5 N m of gravity at the start
    assert affordable_motion(robot, p, {'hinge': 0.8}, DURATION)[1] == ('hinge',)


def test_wheels_with_friction_and_damping_drive_slower():
    text, base, wheels, _ = BASES['mecanum']
    p = parameters(
        base_type='mecanum',
        base_frame_id='base_link',
        base_wheel_names=tuple(base['base.wheel_names']),
        base_roller_angles=tuple(base['base.roller_angles']),
        locked_joints=('lift_joint',),
    )
    robot = build_model(p, limited(text, LIMIT, DAMPING, FRICTION))
    full = demo_motion(robot.robot, robot.constraints, wheels, {}, DURATION, robot.base)
    motion, overloaded = affordable_motion(robot, p, {}, DURATION)
    needed = [FRICTION + DAMPING * np.abs(m.velocity(m.times)).max() for m in (full, motion)]
    assert overloaded == ()
    assert needed[1] < LIMIT < needed[0]
    assert 0.1 < np.ptp(motion.base[:, 0]) < np.ptp(full.base[:, 0])
