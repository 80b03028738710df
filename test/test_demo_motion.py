# SPDX-License-Identifier: Apache-2.0
"""The motion of the demonstration suits any robot: limits of joints, of wheels, of steering."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from support.base_robots import Spot, robot_on, steering_of
from support.base_urdf import BASES, urdf

import kane_dynamics as kd
from kane_dynamics.demo.motion import OF_LIMIT, demo_motion

DURATION = 6.0
LIFT = 'lift_joint'  # of the made-up bases: from 0 to 1 m, 5 m/s


def moved(text, motors, start=None, base=None, **block):
    """Return robot, base on wheels and motion of a URDF."""
    robot = kd.load_urdf(text, base='fixed' if base is None else 'planar')
    wheels = kd.bases.wheeled_base(robot, {'kind': base, **block}) if block else None
    rows = () if wheels is None else (*wheels.constraints, *wheels.assumed)
    return robot, wheels, demo_motion(robot, rows, motors, start or {}, DURATION, wheels)


SIDES = {'left': ['fl_wheel', 'rl_wheel'], 'right': ['fr_wheel', 'rr_wheel']}
NAMES = tuple(name for side in SIDES.values() for name in side)


@pytest.mark.parametrize('at', [0.05, 0.5, 0.98])
def test_joints_stay_within_their_limits(at):
    robot, _, motion = moved(urdf({}), (LIFT,), {LIFT: at})
    way = motion.position(motion.times)[:, 0]
    assert way[0] == pytest.approx(at)
    assert np.ptp(way) > 0.01  # it moves
    assert 0.0 < way.min() < way.max() < 1.0
    assert np.abs(motion.velocity(motion.times)).max() <= 0.5 * 5.0
    ends = motion.velocity([0.0, DURATION])
    np.testing.assert_allclose(ends, 0.0, atol=1e-12)


def test_a_joint_at_its_limit_stands_still():
    _, _, motion = moved(urdf({}), (LIFT,), {LIFT: 0.0})
    np.testing.assert_allclose(motion.velocity(motion.times), 0.0, atol=1e-12)


def test_an_arm_without_a_base_has_no_path():
    _, _, motion = moved(urdf({}), (LIFT,), {LIFT: 0.5})
    assert not motion.base.any()
    assert not motion.twist(motion.times).any()


def test_wheels_turn_at_half_their_speed_at_most():
    text = BASES['skid_steer'][0].replace('velocity="5"', 'velocity="2"')  # rad/s, radius 0.1 m
    _, _, motion = moved(text, NAMES, base='skid_steer', **SIDES)
    fastest = np.abs(motion.velocity(motion.times)).max()
    assert 0.5 * OF_LIMIT * 2.0 < fastest <= OF_LIMIT * 2.0 + 1e-12  # roundoff
    quick, _, free = moved(BASES['skid_steer'][0], NAMES, base='skid_steer', **SIDES)
    assert np.abs(free.velocity(free.times)).max() > fastest


def test_wheels_roll_along_the_path():
    robot, base, motion = moved(BASES['skid_steer'][0], NAMES, base='skid_steer', **SIDES)
    t = np.array([1.7, 2.9])
    rates = base.wheel_rates(motion.twist(t)).by_joint
    for k, name in enumerate(NAMES):
        np.testing.assert_allclose(motion.velocity(t)[:, k], rates[name], atol=1e-9)


@pytest.mark.parametrize('ahead', [0.0, 0.05, -0.3])
def test_base_and_wheels_obey_the_rows_wherever_the_axle_is(ahead):
    robot = robot_on([Spot('left', ahead, 0.2), Spot('right', ahead, -0.2)], arm=1)
    wheels = kd.bases.differential(robot, ['left'], ['right'])
    motion = demo_motion(robot, wheels.constraints, ('left', 'right'), {}, DURATION, wheels)
    t = motion.times[1:-1:50]
    yaw = CubicSpline(motion.times, motion.base[:, 2])(t)
    rates = CubicSpline(motion.times, motion.base).derivative()(t)
    speeds = np.zeros((len(t), robot.nv))
    speeds[:, :3] = rates
    speeds[:, [robot.velocity_index(name) for name in ('left', 'right')]] = motion.velocity(t)
    for angle, v in zip(yaw, speeds, strict=True):
        q = robot.neutral()
        q[2] = angle
        rows = kd.dynamics(robot, wheels.constraints).constraint_rows(q, v)
        np.testing.assert_allclose(rows.matrix @ v, 0.0, atol=1e-6)  # of the spline's rates
    assert np.abs(motion.twist(t)[:, 1]).max() == pytest.approx(
        np.abs(ahead * motion.twist(t)[:, 2]).max()
    )


def test_a_base_that_may_move_sideways_does_not():
    text, parameters, wheels, _ = BASES['mecanum']
    block = {'wheels': list(wheels), 'roller_angles': parameters['base.roller_angles']}
    _, base, motion = moved(text, wheels, base='mecanum', **block)
    t = motion.times[1:-1:50]
    np.testing.assert_allclose(motion.twist(t)[:, 1], 0.0, atol=1e-12)
    rates = base.wheel_rates(motion.twist(t)).by_joint
    for k, name in enumerate(wheels):
        np.testing.assert_allclose(motion.velocity(t)[:, k], rates[name], atol=1e-9)


@pytest.mark.parametrize('limit', [np.inf, 0.3, 0.02])
def test_a_car_drives_no_sharper_than_it_steers(limit):
    spots = [Spot('rl', -0.5, 0.2), Spot('rr', -0.5, -0.2)]
    spots += [Spot('fl', 0.5, 0.2, steered=True), Spot('fr', 0.5, -0.2, steered=True)]
    robot = robot_on(spots, arm=1, limit=limit)
    car = kd.bases.ackermann(robot, ['rl', 'rr'], steering_of(spots))
    motion = demo_motion(robot, car.constraints, ('arm_1',), {}, DURATION, car)
    twists = motion.twist(motion.times[1:-1:50])
    assert twists[:, 0].max() > 0.3
    assert car.steering_angles(twists).reached.all()
    turns = bool(np.abs(twists[:, 2]).max() > 0.0)
    assert turns == (limit > 0.1)  # with 0.02 rad it drives straight on


def test_a_base_that_is_steered_by_efforts_drives_straight():
    spots = [Spot('rl', -0.5, 0.2), Spot('rr', -0.5, -0.2)]
    spots += [Spot('fl', 0.5, 0.2, steered=True), Spot('fr', 0.5, -0.2, steered=True)]
    robot = robot_on(spots, arm=1)
    car = kd.bases.ackermann(robot, ['rl', 'rr'], steering_of(spots))
    motors = ('rl', 'rr', *car.steering, 'arm_1')
    motion = demo_motion(robot, car.constraints, motors, {}, DURATION, car)
    t = motion.times[1:-1:50]
    assert motion.twist(t)[:, 0].max() > 0.3
    np.testing.assert_allclose(motion.twist(t)[:, 1:], 0.0, atol=1e-12)
    rates, found = car.wheel_rates(motion.twist(t)).by_joint, motion.velocity(t)
    for k, name in enumerate(motors[:2]):
        np.testing.assert_allclose(found[:, k], rates[name], atol=1e-9)
    np.testing.assert_allclose(found[:, 2:4], 0.0, atol=1e-12)  # of the steering
    assert np.abs(found[:, 4]).max() > 0.01


def test_drives_of_velocities_need_no_wheel_speeds():
    _, _, motion = moved(BASES['skid_steer'][0], (LIFT,), {LIFT: 0.5}, 'skid_steer', **SIDES)
    assert motion.names == (LIFT,)
    assert np.ptp(motion.position(motion.times)) > 0.01
    assert motion.base.any()
