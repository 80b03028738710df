# SPDX-License-Identifier: Apache-2.0
"""Rows that a user gives: nonlinear in q, explicit in t, differentiated exactly."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.constraint_cases import CASES, Case, rheonomic_rows, rows_at
from support.machines import differential_drive, planar_body

import kane_dynamics as kd
from kane_dynamics.exceptions import ConstraintError


def test_rows_are_those_of_the_user():
    case = CASES['pfaffian']
    A, b = rheonomic_rows(case.robot)
    rows = rows_at(case)
    # sines of two libraries
    assert_allclose(rows.matrix, A(case.q, case.t), rtol=0, atol=1e-15)
    assert_allclose(rows.velocity, b(case.q, case.t), rtol=0, atol=1e-15)
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
        [np.sin(y) + t * np.cos(y) * vy, 2 * x * vx, 0.5 * (w * t + yaw) * np.exp(0.5 * yaw * t)]
    )
    b_rate = vx * np.cos(3 * t) - 3 * x * np.sin(3 * t)
    rows = rows_at(Case(robot, row, np.array([x, y, yaw]), np.array([vx, vy, w]), t))
    assert_allclose(rows.acceleration, [b_rate - rate @ (vx, vy, w)], rtol=0, atol=2e-15)
    assert rows.labels == ('pfaffian',)


def with_branches(function):
    """Return the same function of q and t, but none that can be traced."""
    return lambda q, t: function(q, t) if t > -1.0 else None


@pytest.mark.claim(17)
@pytest.mark.parametrize('speed', [1e-3, 1.0, 1000.0, 3000.0])
@pytest.mark.parametrize('yaw', [0.7, 1e4])
def test_same_bias_as_the_built_in_side_slip(speed, yaw):
    """Regression: differences along the motion were off by 3e-6 at 1000 rad/s and 1e-2 at 3000."""
    robot = differential_drive()
    built_in = kd.constraints.no_side_slip(robot, 0.3)

    def row(q, t):
        return [-np.sin(q[2]), np.cos(q[2]), 0.3, 0.0, 0.0]

    q, v = np.array([0.3, 0.2, yaw, 0.1, 0.4]), speed * np.array([1.0, -0.5, 0.8, 0.3, 0.2])
    exact = rows_at(Case(robot, built_in, q, v)).acceleration
    for function, error in ((row, 1e-14), (with_branches(row), 1e-11)):
        given = kd.constraints.pfaffian(robot, function, label='mine')
        assert given.exact == (error == 1e-14)
        # of |v|^2: roundoff of a few operations; and 1e-16/STEP with weights of order one
        found = rows_at(Case(robot, given, q, v)).acceleration
        assert_allclose(found, exact, rtol=0, atol=error * speed**2)


def test_functions_that_branch_are_differentiated_by_differences():
    case = CASES['pfaffian']
    A, b = rheonomic_rows(case.robot)
    given = kd.constraints.pfaffian(case.robot, with_branches(A), with_branches(b), 'user')
    assert case.constraint.exact
    assert not given.exact
    expected, found = rows_at(case), rows_at(dataclasses.replace(case, constraint=given))
    assert_allclose(found.matrix, expected.matrix, rtol=0, atol=1e-15)
    assert_allclose(found.velocity, expected.velocity, rtol=0, atol=1e-15)
    # order 8 with steps of 2e-3: roundoff 1e-16 * 10/2e-3
    assert_allclose(found.acceleration, expected.acceleration, rtol=0, atol=1e-11)


def test_fast_rows():
    # 8 Hz in time and 50 rad per rad in q
    robot = planar_body(1.0, 1.0, 0.2)
    v = np.array([0.3, 0.8, 1.0])
    expected = 50 * np.cos(35.0) + 50 * np.sin(20.0) * v[2] * v[1]

    def row(q, t):
        return [1.0, np.cos(50 * q[2]), 0.0]

    # roundoff; truncation (50 * 2e-3)^8/630 of the rate
    for function, error in ((row, 1e-12), (with_branches(row), 1e-9)):
        given = kd.constraints.pfaffian(robot, function, lambda q, t: np.sin(50 * t))
        rows = rows_at(Case(robot, given, np.array([0.0, 0.0, 0.4]), v, 0.7))
        assert_allclose(rows.acceleration, [expected], rtol=0, atol=error)


@pytest.mark.claim(28)
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


@pytest.mark.parametrize('wrong', [np.ones(5) * 1j, ['1'] * 5, np.ones(5, dtype=bool)])
def test_rows_that_are_no_real_numbers_are_refused(wrong):
    """Regression: the imaginary part was lost."""
    robot, pfaffian = differential_drive(), kd.constraints.pfaffian
    with pytest.raises(ConstraintError, match='mine: A: need real numbers'):
        pfaffian(robot, lambda q, t: wrong, label='mine')
    with pytest.raises(ConstraintError, match='mine.*: b: need real numbers'):
        pfaffian(robot, lambda q, t: np.ones(5), lambda q, t: 1j, 'mine')


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
