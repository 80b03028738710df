# SPDX-License-Identifier: Apache-2.0
"""Efforts of reference speeds: the rows turn, C is the skew one, both engines agree."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.constraint_cases import all_cases
from support.wheeled_robots import wheeled_robot

import kane_dynamics as kd
from kane_dynamics.constraints.constraint_set import ConstraintSet

CASES = all_cases()
STEP = 1e-4  # central differences: errors of STEP^2 and of 1e-16 / STEP


def binds_accelerations_only(case):
    rows = case.constraint.rows(case.robot, case.q.tolist(), case.v.tolist(), case.t)
    return any(row.integrated for row in rows)


@pytest.mark.parametrize('name', sorted(CASES))
def test_turning_rate_is_the_derivative_of_the_rows_along_the_motion(name):
    case = CASES[name]
    several = ConstraintSet(case.robot, (case.constraint,))
    if binds_accelerations_only(case):
        with pytest.raises(kd.exceptions.ConstraintError, match='binds accelerations only'):
            _ = several.turning_rate
        return
    x = np.random.default_rng(7).uniform(-1.0, 1.0, case.robot.nv)
    found = several.turning_rate(case.q, case.v, x, case.t).full()[:, 0]

    def carried(h):
        q = kd.integrate(case.robot, case.q, case.v, h).tolist()
        return several.rows(q, case.v.tolist(), case.t + h).matrix @ x

    expected = (carried(STEP) - carried(-STEP)) / (2.0 * STEP)
    assert_allclose(found, expected, rtol=0, atol=1e-6 * (1.0 + np.abs(expected).max()))


@pytest.mark.parametrize('name', sorted(CASES))
def test_rows_of_the_speeds_themselves(name):
    """What v asks of itself: d/dt b0 - (dA/dt) v is b."""
    case = CASES[name]
    if binds_accelerations_only(case):
        return
    several = ConstraintSet(case.robot, (case.constraint,))
    q, v = case.q.tolist(), case.v.tolist()
    turn = several.turning_rate(q, v, v, case.t).full()[:, 0]
    sides = [
        several.rows(kd.integrate(case.robot, q, v, h).tolist(), v, case.t + h).velocity
        for h in (-STEP, STEP)
    ]
    ((before, after),) = pairwise(sides)
    expected = (np.array(after) - np.array(before)) / (2.0 * STEP) - turn
    found = several.rows(q, v, case.t).acceleration
    assert_allclose(found, expected, rtol=0, atol=1e-6 * (1.0 + np.abs(expected).max()))


@pytest.fixture(scope='module')
def machine():
    robot, constraints, actuated, q, v, a = wheeled_robot('drive_with_arm')
    engines = kd.dynamics(robot, constraints), kd.compile(robot, constraints)
    x = v + np.random.default_rng(3).normal(0.0, 0.5, robot.nv)
    return engines, tuple(actuated), (q, v, a, x)


@pytest.mark.parametrize('terms', [('inertia', 'coriolis', 'gravity', 'friction'), ('coriolis',)])
@pytest.mark.parametrize('completed', [True, False])
def test_both_engines_give_the_same(machine, terms, completed):
    (reference, fast), actuated, (q, v, a, x) = machine
    known = actuated if completed else None
    if not completed:
        found = fast.constrained_inverse_dynamics(q, v, a, actuated, None, actuated, reference=x)
        x, a = found.velocity, found.acceleration
    given = q, v, a, actuated, None, known
    slow = reference.constrained_inverse_dynamics(*given, terms=terms, reference=x)
    quick = fast.constrained_inverse_dynamics(*given, terms=terms, reference=x)
    scale = 1.0 + np.abs(slow.numbers).max()
    assert_allclose(quick.numbers, slow.numbers, rtol=0, atol=1e-12 * scale)
    assert fast.fallback_count == 0
    many = [np.tile(u, (3, 1)) for u in (q, v, a)]
    for engine in (reference, fast):
        rows = engine.constrained_inverse_dynamics(
            *many, actuated, None, known, terms=terms, reference=np.tile(x, (3, 1))
        )
        assert_allclose(rows.numbers, np.tile(slow.numbers, (3, 1)), rtol=0, atol=1e-12 * scale)


def test_the_speeds_themselves_as_reference_change_nothing(machine):
    engines, actuated, (q, v, a, _) = machine
    for engine in engines:
        given = q, v, a, actuated, None, actuated
        plain = engine.constrained_inverse_dynamics(*given)
        aimed = engine.constrained_inverse_dynamics(*given, reference=v)
        assert_allclose(aimed.numbers, plain.numbers, rtol=0, atol=1e-11)


def test_what_is_wrong_is_an_error(machine):
    engines, actuated, (q, v, a, x) = machine
    for engine in engines:
        call = engine.constrained_inverse_dynamics
        with pytest.raises(kd.exceptions.InvalidInputError, match='reference'):
            call(q, v, a, actuated, None, actuated, reference=x[:-1])
        with pytest.raises(kd.exceptions.KaneDynamicsError, match='constraints|ask for'):
            call(q, v, a, actuated, reference=x)  # not on the rows, and all is said to be known


def test_wrenches_are_made_up_for():
    robot, constraints, actuated, q, v, a = wheeled_robot('drive_with_arm')
    link, wrench = robot.bodies[-1].name, np.arange(1.0, 7.0)
    given = robot, q, v, a, constraints, actuated, None, actuated
    free = kd.constrained_inverse_dynamics(*given, reference=v)
    held = kd.constrained_inverse_dynamics(*given, reference=v, external_wrenches={link: wrench})
    plain = kd.constrained_inverse_dynamics(*given, external_wrenches={link: wrench})
    assert_allclose(held.effort, plain.effort, atol=1e-11)
    assert np.abs(held.effort - free.effort).max() > 0.1


def test_the_error_of_speeds_gains_the_power_of_the_efforts_alone(machine):
    """d/dt (s'Ms/2) = s'(tau - tau_x) - s'(D s + F (sign v - sign x)), with wheels."""
    (reference, fast), actuated, (q, v, a, x) = machine
    robot, rng = reference.robot, np.random.default_rng(11)
    found = fast.constrained_inverse_dynamics(q, v, a, actuated, None, actuated, reference=x)
    x, rate = found.velocity, found.acceleration
    more = np.zeros(robot.nv)
    columns = [robot.velocity_index(name) for name in actuated]
    more[columns] = rng.uniform(-1.0, 1.0, len(columns))
    vdot = fast.acceleration(q, v, found.effort + more)

    def energy(h):
        s = v - x + h * (vdot - rate)
        return 0.5 * s @ fast.mass_matrix(kd.integrate(robot, q, v, h)) @ s

    power = (energy(STEP) - energy(-STEP)) / (2.0 * STEP)
    s = v - x
    drag = fast.friction_force(v) - fast.friction_force(x)
    assert s @ drag >= 0.0
    assert_allclose(power, s @ more - s @ drag, rtol=0, atol=1e-6)
    assert abs(s @ more) > 1e-2
