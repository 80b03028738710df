# SPDX-License-Identifier: Apache-2.0
"""The momentum observer against known answers (D1) and closed forms."""

import itertools
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.machines import differential_drive, inertia, prismatic, revolute
from support.striking import arm

import kane_dynamics as kd
from kane_dynamics.analysis.momentum_observer import RULES, MomentumObserver
from kane_dynamics.exceptions import InvalidInputError, UnreachableAccelerationError

EXTERNAL, GAINS = np.array([2.0, -0.7]), np.array([25.0, 40.0])
PRINTED = {
    'exact': (1.835830003, -0.6871790528),
    'implicit': (1.825592546, -0.68507514),
    'explicit': (1.846110049, -0.6891734669),
}


@cache
def cart_with_arm():
    """Return a base on two wheels with an arm."""
    robot = differential_drive(arm=True)
    rows = [kd.constraints.differential_drive(robot, 'left', 'right', 0.0975)]
    return kd.compile(robot, rows)


def held_arm(external):
    """Return the arm under gravity, and the state and efforts that hold it against a push."""
    robot = arm().with_gravity((0, -9.81, 0))
    q = np.array([0.3, 0.7])
    return kd.compile(robot), q, np.zeros(2), kd.gravity_force(robot, q) - external


@pytest.mark.parametrize('rule', RULES)
def test_a_step_gives_the_printed_digits(rule):
    dynamics, q, v, tau = held_arm(EXTERNAL)
    observer = MomentumObserver(dynamics, GAINS, rule=rule)
    for _ in range(51):  # 50 steps of 2 ms
        found = observer.update(q, v, tau, 0.002)
    assert_allclose(found, PRINTED[rule], rtol=1e-9)


def first_joint(pushes, step):
    """Return what is seen of pushes on the first joint, given at the ends of steps."""
    dynamics, q, v, hold = held_arm(np.zeros(2))
    observer = MomentumObserver(dynamics, 25.0)
    return np.array([observer.update(q, v, hold - (push, 0), step)[0] for push in pushes])


def extrapolated(response, count):
    """Return a response without the error of steps, h^2: means of straight lines are held."""
    return (4.0 * response(2 * count) - response(count)) / 3.0


def test_a_ramp_gives_the_printed_digits():
    def after(count):
        return first_joint(3.0 * np.linspace(0.0, 0.1, count + 1), 0.1 / count)[-1]

    assert_allclose(extrapolated(after, 100), 0.1898501998, rtol=3e-9)


def test_a_sine_gives_the_printed_gain_and_phase():
    def answer(count):
        angle = 2.0 * np.pi * np.arange(3 * count + 1) / count
        wave = np.exp(1j * angle)[-count:]
        seen = first_joint(np.sin(angle), 2.0 * np.pi / 12.0 / count)[-count:]
        return 2j * np.mean(seen * wave.conj())  # exp(-26) of the start is left

    found = extrapolated(answer, 200)
    assert_allclose(np.abs(found), 0.9015230575, rtol=1e-7)  # h^4
    assert_allclose(np.angle(found), -0.4475199752, rtol=1e-7)


def test_thresholds_are_crossed_at_the_printed_times():
    h = 1e-4
    step = first_joint(np.full(1300, 2.0), h)
    crossed = [h * np.interp(bound, step, np.arange(1300)) for bound in (0.5, 0.95 * 2.0)]
    assert_allclose(crossed, [0.0115072829, 0.1198292909], atol=1e-7)  # chords: K h^2 / 8


def test_a_moving_arm_is_seen_through():
    """Whatever M(q) does, r lags behind the push as a lag of first order."""
    robot = arm(damping=0.3).with_gravity((0, -9.81, 0))
    dynamics = kd.compile(robot)
    observer = MomentumObserver(dynamics, GAINS)
    q, v, h = np.array([0.3, 0.7]), np.array([2.0, -3.5]), 2e-4
    motor = np.array([6.0, 1.0])
    motion = dynamics.simulate(q, v, 0.1, effort=motor + EXTERNAL, step=h)
    assert np.ptp(motion.q, axis=0).min() > 0.05
    for state in zip(motion.q, motion.v, strict=True):
        found = observer.update(*state, motor, h)
    # trapezoids: h^2 / 12 of second derivatives of some 1e4 N m/s^2
    assert_allclose(found, EXTERNAL * -np.expm1(-GAINS * 0.1), atol=2e-5)


def test_forces_of_wheels_are_left_out():
    """A push on a base that rolls is felt at the wheels as Z' of it, whatever lambda is."""
    dynamics = cart_with_arm()
    robot = dynamics.robot
    names = [n for n in robot.velocity_names if not n.startswith('base')]
    observer = MomentumObserver(dynamics, 40.0, names)
    q = robot.neutral()
    q[:3] = 0.3, -0.2, 0.9
    v = dynamics.consistent_velocity(q, np.arange(robot.nv), names)
    motor, push = np.zeros(robot.nv), np.zeros(robot.nv)
    motor[observer.speeds.indices] = 0.2
    push[:3] = 3.0, -1.0, 0.4
    motion = dynamics.simulate(q, v, 0.25, effort=motor + push, step=5e-4)
    assert np.ptp(motion.q[:, 2]) > 0.05  # it turns: Z moves
    felt = np.array([observer.speeds.directions(q).T @ push for q in motion.q])
    assert np.ptp(felt[:, 0]) > 0.005
    lag = np.zeros(len(names))
    for before, after in itertools.pairwise(felt):
        lag += -np.expm1(-40.0 * 5e-4) * (0.5 * (before + after) - lag)
    for state in zip(motion.q, motion.v, strict=True):
        found = observer.update(*state, motor, 5e-4)
    assert_allclose(found, lag, atol=2e-5)  # steps of 0.5 ms


def test_arms_are_observed_apart_from_the_base_that_carries_them():
    """Rows do not touch the arm: no effort of wheels is needed, the base may do anything."""
    dynamics = cart_with_arm()
    robot = dynamics.robot
    observer = MomentumObserver(dynamics, 60.0, ['shoulder', 'elbow'])
    assert not observer.speeds.follow
    q = robot.neutral()
    known = [n for n in robot.velocity_names if not n.startswith('base')]
    v = dynamics.consistent_velocity(q, np.full(robot.nv, 0.8), known)
    tau = np.zeros(robot.nv)
    tau[robot.velocity_index(known[0])] = 0.7
    push = np.zeros(robot.nv)
    push[observer.speeds.indices] = 1.5
    motion = dynamics.simulate(q, v, 0.3, effort=tau + push, step=1e-3)
    for state in zip(motion.q, motion.v, strict=True):
        found = observer.update(*state, np.zeros(robot.nv), 1e-3)
    assert_allclose(found, 1.5, atol=1e-3)  # steps of 1 ms


def test_noise_of_the_residual_is_as_the_covariance_says():
    dynamics, q, _, tau = held_arm(np.zeros(2))
    observer, rng = MomentumObserver(dynamics, GAINS), np.random.default_rng(3)
    seen = [
        observer.update(q, rng.normal(0, 0.01, 2), tau + rng.normal(0, 0.2, 2), 0.01)
        for _ in range(3000)
    ]
    told = observer.covariance(0.01, 0.2)
    # 3000 samples, correlated over some four: 5 % of each entry
    assert_allclose(np.cov(np.array(seen[50:]).T), told, rtol=0.15)


def test_what_is_wrong_is_refused():
    dynamics, q, v, tau = held_arm(EXTERNAL)
    with pytest.raises(InvalidInputError, match='gains .* must be > 0'):
        MomentumObserver(dynamics, (0.0, 1.0))
    with pytest.raises(InvalidInputError, match='rule must be one of'):
        MomentumObserver(dynamics, 1.0, rule='euler')
    with pytest.raises(InvalidInputError, match='gain times step < 2'):
        MomentumObserver(dynamics, 25.0, rule='explicit').update(q, v, tau, 0.08)
    with pytest.raises(InvalidInputError, match='step'):
        MomentumObserver(dynamics, 25.0).update(q, v, tau, 0.0)
    with pytest.raises(InvalidInputError, match='two samples'):
        MomentumObserver(dynamics, 25.0).covariance(0.1, 0.1)
    with pytest.raises(InvalidInputError, match='name some of'):
        MomentumObserver(dynamics, 25.0, [])
    robot = differential_drive()
    rows = [kd.constraints.differential_drive(robot, 'left', 'right', 0.0975)]
    with pytest.raises(UnreachableAccelerationError):
        MomentumObserver(kd.dynamics(robot, rows), 25.0, [robot.velocity_names[3]])


def conveyor(speed):
    """Return a cart that a wheel drives along a belt, which itself runs at speed(t)."""
    body, wheel = inertia(3.0), inertia(0.5, (0, 0, 0), (0.02, 0.02, 0.02))
    bodies = [
        kd.Body('cart', '', prismatic('x'), inertia=body),
        kd.Body('wheel', 'cart', revolute('w', (0, 1, 0)), inertia=wheel),
    ]
    robot = kd.Robot('conveyor', bodies)
    rolls = kd.constraints.pfaffian(robot, lambda q, t: [1.0, -0.1], lambda q, t: speed(t))
    return robot, [rolls], ['w']


def crank_and_slider(speed):
    """Return a crank whose slider is at cos(crank), moved by time: no lever arm at neutral."""
    bodies = [
        kd.Body(
            'crank', '', revolute('w', (0, 1, 0)), inertia=inertia(1.0, (0, 0, 0), (0.3,) * 3)
        ),
        kd.Body('slider', '', prismatic('x'), inertia=inertia(2.0)),
    ]
    robot = kd.Robot('crank', bodies)
    rows = kd.constraints.holonomic(robot, lambda q, t: q[1] + 1.0 - np.cos(q[0]) - speed(t))
    return robot, [rows], ['w']


def turning_row(speed):
    """Return two sliders held to a direction that time turns."""
    bodies = [
        kd.Body('a', '', prismatic('x'), inertia=inertia(1.0)),
        kd.Body('b', 'a', prismatic('w', (0, 1, 0)), inertia=inertia(2.0)),
    ]
    robot = kd.Robot('cross', bodies)
    rows = kd.constraints.pfaffian(
        robot, lambda q, t: [1.0, np.sin(3.0 * t)], lambda q, t: speed(t)
    )
    return robot, [rows], ['w']


DRIVEN = (conveyor, crank_and_slider, turning_row)


@pytest.mark.parametrize('system', DRIVEN)
@pytest.mark.parametrize('rate', [0.0, 0.3])
@pytest.mark.parametrize('push', [0.0, 0.4])
def test_rows_that_depend_on_time_or_vanish_at_neutral_are_no_external_effort(system, rate, push):
    robot, rows, names = system(lambda t: rate * (1.0 + t) - rate * (system is crank_and_slider))
    dynamics = kd.dynamics(robot, rows)
    k = robot.velocity_index('w')
    v = dynamics.consistent_velocity(robot.neutral(), np.eye(robot.nv)[k] * 0.5, names)
    motor = 0.3 * np.eye(robot.nv)[k]
    external = push * np.eye(robot.nv)[k]
    h = 2e-3
    motion = dynamics.simulate(
        robot.neutral(), v, 0.2, effort=motor + external, step=h, integrator='rk4'
    )
    observer = MomentumObserver(dynamics, 30.0, names)
    for state in zip(motion.q, motion.v, strict=True):
        found = observer.update(*state, motor, h)
    assert observer.speeds.follow
    assert_allclose(found, push * -np.expm1(-30.0 * 0.2), atol=2e-5)
    measured = motion.v[-1] * np.eye(robot.nv)[k]  # the other speed is not measured
    t = motion.time[-1]
    assert_allclose(observer.speeds.motion(motion.q[-1], measured, t), motion.v[-1], atol=1e-6)
    Z = observer.speeds.directions(motion.q[-1], time=t)
    A = dynamics.constraint_rows(motion.q[-1], motion.v[-1], t).matrix
    assert_allclose(A @ Z, 0.0, atol=1e-12)


def test_a_second_start_has_its_own_time():
    robot, rows, names = turning_row(lambda t: 0.2)
    dynamics = kd.dynamics(robot, rows)
    observer = MomentumObserver(dynamics, 30.0, names)
    q = robot.neutral()
    v, a = np.zeros(2), np.zeros(2)
    observer.reset(0.7)
    k = robot.velocity_index('w')
    for i in range(200):
        t = 0.7 + 1e-3 * i
        v = dynamics.consistent_velocity(q, np.eye(2)[k] * 0.5, names, t)
        a = dynamics.consistent_acceleration(q, v, np.zeros(2), names, t)
        # efforts on both speeds that make this motion without multipliers
        found = observer.update(q, v, dynamics.inverse_dynamics(q, v, a), 1e-3)
        q = kd.integrate(robot, q, v, 1e-3)
    assert_allclose(found, 0.0, atol=1e-4)
    with pytest.raises(InvalidInputError, match='time'):
        observer.reset(np.nan)
