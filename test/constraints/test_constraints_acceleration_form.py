# SPDX-License-Identifier: Apache-2.0
"""Rows that bind accelerations only: servo constraints A(q, v, t) vdot = b(q, v, t)."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.constraint_cases import Case, rheonomic_rows, rows_at
from support.machines import planar_2r
from support.trees import tree_and_state

import kane_dynamics as kd
from kane_dynamics.constraints.traced_rows import acceleration_form
from kane_dynamics.exceptions import ConstraintError


def test_rows_are_those_of_the_user():
    robot, q, v, _ = tree_and_state(1, 'planar')
    A, b = rheonomic_rows(robot)
    servo = acceleration_form(
        robot, lambda q, v, t: np.array(A(q, t)) * v, lambda q, v, t: b(v, t), 'servo'
    )
    rows = rows_at(Case(robot, servo, q, v, 0.3))
    matrix = np.array(A(q, 0.3)) * v
    assert_allclose(rows.matrix, matrix, rtol=0, atol=1e-14)
    assert_allclose(rows.acceleration, b(v, 0.3), rtol=0, atol=1e-14)
    assert_allclose(rows.velocity, matrix @ v, rtol=0, atol=1e-13)
    assert rows.labels == ('servo/0', 'servo/1') and rows.positions == (None, None)


def test_its_multiplier_is_the_motor_torque():
    """A servo that wants -4 q1 - v1 of joint 1; joint 2 swings freely."""
    robot, q, v = planar_2r(), np.array([0.4, -0.7]), np.array([0.8, -0.3])
    servo = acceleration_form(
        robot, lambda q, v, t: [1.0, 0.0], lambda q, v, t: -4.0 * q[0] - v[0]
    )
    motion = kd.forward_dynamics(robot, q, v, np.zeros(2), (servo,))
    assert motion.acceleration[0] == pytest.approx(-4.0 * 0.4 - 0.8, rel=1e-13)
    torque = kd.inverse_dynamics(robot, q, v, motion.acceleration)
    assert_allclose(torque, [motion.multipliers[0], 0.0], rtol=1e-12, atol=1e-13)


def test_a_law_in_time():
    """vdot = 2 sin 2t on joint 1 from rest: v = 1 - cos 2t and q = t - sin(2t)/2."""
    robot = planar_2r()
    servo = acceleration_form(
        robot, lambda q, v, t: np.eye(2)[0], lambda q, v, t: 2.0 * np.sin(2.0 * t)
    )
    path = kd.simulate(robot, [0, 0.3], [0, 0], 1.0, constraints=(servo,), step=0.01)
    # for b(t) Runge-Kutta is Simpson's rule: 2^5 h^4/2880
    t = path.time
    assert_allclose(path.v[:, 0], 1.0 - np.cos(2.0 * t), rtol=0, atol=1e-9)
    assert_allclose(path.q[:, 0], t - 0.5 * np.sin(2.0 * t), rtol=0, atol=1e-9)


@pytest.mark.parametrize('compiled', [False, True])
def test_a_semi_implicit_step_follows_it(compiled):
    """Speeds move by h b(q, v, t + h/2): the sum of 2 h sin 2t_k, step by step."""
    robot = planar_2r()
    servo = acceleration_form(
        robot, lambda q, v, t: np.eye(2)[0], lambda q, v, t: 2.0 * np.sin(2.0 * t)
    )
    engine = kd.compile(robot, [servo]).engine('semi_implicit') if compiled else None
    simulation = kd.Simulation(robot, (servo,), 0.01, 'semi_implicit', engine=engine)
    simulation.step(np.zeros(2), 100)
    expected = 0.01 * np.sum(2.0 * np.sin(2.0 * 0.01 * (np.arange(100) + 0.5)))
    assert simulation.v[0] == pytest.approx(expected, rel=1e-12)


def test_no_speed_violates_it():
    robot = planar_2r()
    servo = acceleration_form(robot, lambda q, v, t: np.eye(2), lambda q, v, t: [1.0, 2.0])
    q, v = np.array([0.1, 0.2]), np.array([3.0, -4.0])
    _, projected = kd.simulation.project(robot, (servo,), q, v, 0.0)
    assert_allclose(projected, v, rtol=1e-15)


@pytest.mark.parametrize(
    ('A', 'b', 'message'),
    [
        (lambda q, v, t: v[:1], lambda q, v, t: 1.0, r'need A of shape \(1, 2\).*got \(1, 1\)'),
        (lambda q, v, t: v, lambda q, v, t: [1.0, t], r'b of shape \(1,\), got.*\(2,\)'),
        (lambda q, v, t: v, lambda q, v, t: [[1.0]], r'got \(1, 2\) and \(1, 1\)'),
        (lambda q, v, t: np.sign(v), lambda q, v, t: 1.0, 'A cannot be traced'),
        (lambda q, v, t: v, lambda q, v, t: float(t), 'b cannot be traced'),
        (lambda q, v, t: 0.0 * q, lambda q, v, t: t, 'does not depend on any speed'),
    ],
)
def test_functions_that_are_no_acceleration_form(A, b, message):
    with pytest.raises(ConstraintError, match=f'servo.*{message}'):
        acceleration_form(planar_2r(), A, b, 'servo')
