# SPDX-License-Identifier: Apache-2.0
"""Rows that a user gives: nonlinear in q, explicit in t, differentiated exactly."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from support.constraint_cases import CASES, Case, rheonomic_rows, rows_at
from support.machines import differential_drive, planar_body

import kane_dynamics as kd
from kane_dynamics.exceptions import ConstraintError


def test_rows_are_those_of_the_user():
    case = CASES['pfaffian']
    A, b = rheonomic_rows(case.robot)
    rows = rows_at(case)
    assert_array_equal(rows.matrix, A(case.q, case.t))
    assert_array_equal(rows.velocity, b(case.q, case.t))
    assert rows.labels == ('user/0', 'user/1')
    assert rows.positions == (None, None)


def test_derivative_against_the_analytic_one():
    # A = (t sin y, x^2, e^{0.5 yaw t}), b = x cos 3t: by hand
    robot = planar_body(1.0, 1.0, 0.2)
    row = kd.constraints.pfaffian(
        robot,
        lambda q, t: [t * np.sin(q[1]), q[0] ** 2, np.exp(0.5 * q[2] * t)],
        lambda q, t: q[0] * np.cos(3 * t),
    )
    (x, y, yaw), (vx, vy, w), t = (0.7, -0.4, 1.2), (1.1, 0.6, -0.9), 0.8
    rate = np.array(
        [
            np.sin(y) + t * np.cos(y) * vy,
            2 * x * vx,
            0.5 * (w * t + yaw) * np.exp(0.5 * yaw * t),
        ]
    )
    b_rate = vx * np.cos(3 * t) - 3 * x * np.sin(3 * t)
    rows = rows_at(Case(robot, row, np.array([x, y, yaw]), np.array([vx, vy, w]), t))
    # order 8 over a path of 1e-2: truncation 1e-16, roundoff 1e-16/1e-2
    assert_allclose(rows.acceleration, [b_rate - rate @ (vx, vy, w)], rtol=0, atol=1e-12)
    assert rows.labels == ('pfaffian',)


@pytest.mark.parametrize('speed', [1e-3, 1.0, 100.0])
def test_same_bias_as_the_built_in_side_slip(speed):
    robot = differential_drive()
    built_in = kd.constraints.no_side_slip(robot, 0.3)
    given = kd.constraints.pfaffian(
        robot, lambda q, t: [-np.sin(q[2]), np.cos(q[2]), 0.3, 0.0, 0.0], label='mine'
    )
    q, v = np.array([0.3, 0.2, 0.7, 0.1, 0.4]), speed * np.array([1.0, -0.5, 0.8, 0.3, 0.2])
    exact = rows_at(Case(robot, built_in, q, v)).acceleration
    assert_allclose(rows_at(Case(robot, given, q, v)).acceleration, exact, rtol=1e-11, atol=1e-14)


def test_fast_rows():
    # 8 Hz in time and 50 rad per rad in q: truncation (50 * 2e-3)^8/630 of the rate
    robot = planar_body(1.0, 1.0, 0.2)
    row = kd.constraints.pfaffian(
        robot, lambda q, t: [1.0, np.cos(50 * q[2]), 0.0], lambda q, t: np.sin(50 * t)
    )
    v = np.array([0.3, 0.8, 1.0])
    rows = rows_at(Case(robot, row, np.array([0.0, 0.0, 0.4]), v, 0.7))
    expected = 50 * np.cos(35.0) + 50 * np.sin(20.0) * v[2] * v[1]
    assert_allclose(rows.acceleration, [expected], rtol=0, atol=1e-9)


def test_driven_joint_follows_its_law():
    # v = b(t): the wheel is forced to turn at cos 2t; the multiplier is the motor's torque
    robot = differential_drive()
    law = kd.constraints.pfaffian(
        robot, lambda q, t: np.eye(5)[3], lambda q, t: np.cos(2 * t), 'motor'
    )
    motion = kd.forward_dynamics(robot, np.zeros(5), np.zeros(5), np.zeros(5), (law,), time=0.4)
    assert motion.acceleration[3] == pytest.approx(-2 * np.sin(0.8), abs=1e-12)
    assert motion.multipliers[0] == pytest.approx(-0.004 * 2 * np.sin(0.8), abs=1e-13)
    assert motion.labels == ('motor',)


def test_errors():
    robot, c = differential_drive(), kd.constraints
    with pytest.raises(ConstraintError, match=r'need A of shape \(1, 5\).*got \(1, 4\)'):
        c.pfaffian(robot, lambda q, t: np.ones(4))
    with pytest.raises(
        ConstraintError, match=r'mine/0.*b of shape \(2,\), got \(2, 5\) and \(3,\)'
    ):
        c.pfaffian(robot, lambda q, t: np.ones((2, 5)), lambda q, t: np.ones(3), 'mine')
    with pytest.raises(ConstraintError, match='not finite'):
        c.pfaffian(robot, lambda q, t: np.full(5, np.nan))
    late = c.pfaffian(robot, lambda q, t: np.full(5, 1.0 if t < 1.0 else np.inf), label='late')
    with pytest.raises(ConstraintError, match='late: A or b is not finite at t = 2'):
        kd.forward_dynamics(robot, np.zeros(5), np.zeros(5), np.zeros(5), (late,), time=2.0)
    shrinking = c.pfaffian(robot, lambda q, t: np.ones(5 if t < 1.0 else 4))
    with pytest.raises(ConstraintError, match='need A of shape'):
        kd.forward_dynamics(robot, np.zeros(5), np.zeros(5), np.zeros(5), (shrinking,), time=2.0)
