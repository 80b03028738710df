# SPDX-License-Identifier: Apache-2.0
"""Derivatives of inverse and forward dynamics against differences of order 8."""

import functools

import numpy as np
import pytest
from kernel_cases import CASES, DEAD_CENTRE, error
from support.calculus import along, derivative, tangent_gradient

import kane_dynamics as kd
from kane_dynamics.exceptions import InvalidInputError

# Differences over 8e-3: truncation (h/T)^8/630 for motions of times T of 0.1 s, roundoff of the
# solves 1e-14/h.
DIFFERENCES = 1e-8


@functools.cache
def compiled(name):
    """Return a case and its compiled robot with derivatives."""
    case = CASES[name]()
    return case, kd.compile(case.robot, case.constraints, derivatives=True, cache=False)


def away_from_rest(case, rng):
    """Return q, v, x with no speed near zero, where Coulomb friction jumps."""
    q, _, x = case.state(rng)
    v = rng.uniform(0.2, 1.0, case.robot.nv) * rng.choice([-1.0, 1.0], case.robot.nv)
    return q, v, x


def by_differences(case, function, q, v, x):
    """Return the derivatives of function(q, v, x) along q, v and x."""
    unit = np.eye(case.robot.nv)
    dq = tangent_gradient(case.robot, q, lambda at: function(at, v, x)).T
    dv = np.array([derivative(lambda s, e=e: function(q, v + s * e, x)) for e in unit]).T
    dx = np.array([derivative(lambda s, e=e: function(q, v, x + s * e)) for e in unit]).T
    return dq, dv, dx


@pytest.mark.parametrize('name', ['sled', 'linkage', 'planar_tree'])
class TestAgainstDifferences:
    """Rows are outputs; columns are the tangent of q, v, and a or tau."""

    def test_inverse_dynamics(self, name, rng):
        case, fast = compiled(name)
        state = away_from_rest(case, rng)
        got = fast.inverse_dynamics_derivatives(*state)
        expected = by_differences(case, functools.partial(kd.inverse_dynamics, case.robot), *state)
        for part, known in zip((got.dq, got.dv, got.dx), expected, strict=True):
            assert error(part, known) < DIFFERENCES

    def test_forward_dynamics(self, name, rng):
        # the rows that are kept, at states off the constraints too
        case, fast = compiled(name)
        state = away_from_rest(case, rng)
        got = fast.forward_dynamics_derivatives(*state)
        expected = by_differences(case, fast.acceleration, *state)
        for part, known in zip((got.dq, got.dv, got.dx), expected, strict=True):
            assert error(part, known) < DIFFERENCES


def test_one_undoes_the_other(rng):
    # without constraints vdot(q, v, tau(q, v, a)) = a
    case, fast = compiled('planar_tree')
    q, v, a = away_from_rest(case, rng)
    inverse = fast.inverse_dynamics_derivatives(q, v, a)
    forward = fast.forward_dynamics_derivatives(q, v, fast.inverse_dynamics(q, v, a))
    assert error(forward.dx @ inverse.dx, np.eye(len(v))) < 1e-11
    assert error(forward.dx @ inverse.dq, -forward.dq) < 1e-10
    assert error(forward.dx @ inverse.dv, -forward.dv) < 1e-10


def test_time_dependent_constraint(rng):
    case = CASES['planar_2r']()
    law = kd.constraints.pfaffian(
        case.robot, lambda q, t: [1.0 + t, np.sin(q[0])], lambda q, t: np.cos(2.0 * t) * q[1]
    )
    fast = kd.compile(case.robot, (law,), derivatives=True, cache=False)
    q, v, tau = away_from_rest(case, rng)
    got = fast.forward_dynamics_derivatives(q, v, tau, 0.4)

    def acceleration(q, v, tau):
        return kd.forward_dynamics(case.robot, q, v, tau, (law,), time=0.4).acceleration

    for part, known in zip(
        (got.dq, got.dv, got.dx), by_differences(case, acceleration, q, v, tau), strict=True
    ):
        assert error(part, known) < DIFFERENCES
    # A dvdot = 0 along efforts: they cannot break the constraint
    assert np.abs(np.array([1.4, np.sin(q[0])]) @ got.dx).max() < 1e-12


def test_pendulum_by_hand():
    # I a + m g c sin q + D v = tau
    joint = kd.Joint('hinge', kd.Revolute((0, 1, 0)), damping=0.3, armature=0.1)
    load = kd.Inertia(2.0, (0, 0, -0.5), np.diag([0.0, 0.05, 0.05]))
    robot = kd.Robot('pendulum', [kd.Body('rod', '', joint, inertia=load)])
    fast = kd.compile(robot, derivatives=True, cache=False)
    inertia, weight = 0.05 + 2.0 * 0.25 + 0.1, 2.0 * 9.81 * 0.5
    inverse = fast.inverse_dynamics_derivatives([0.7], [1.1], [0.2])
    assert inverse.dq[0, 0] == pytest.approx(weight * np.cos(0.7), rel=1e-14)
    assert inverse.dv[0, 0] == pytest.approx(0.3, rel=1e-14)
    assert inverse.dx[0, 0] == pytest.approx(inertia, rel=1e-14)
    forward = fast.forward_dynamics_derivatives([0.7], [1.1], [0.2])
    assert forward.dq[0, 0] == pytest.approx(-weight * np.cos(0.7) / inertia, rel=1e-14)
    assert forward.dv[0, 0] == pytest.approx(-0.3 / inertia, rel=1e-14)
    assert forward.dx[0, 0] == pytest.approx(1.0 / inertia, rel=1e-14)


def test_errors(pair, rng):
    case, plain = pair('sled')
    q, v, a = case.state(rng)
    for function in (plain.inverse_dynamics_derivatives, plain.forward_dynamics_derivatives):
        with pytest.raises(InvalidInputError, match='compile with derivatives=True'):
            function(q, v, a)
    _, fast = compiled('sled')
    for function in (fast.inverse_dynamics_derivatives, fast.forward_dynamics_derivatives):
        with pytest.raises(InvalidInputError, match='q: need shape'):
            function(q[:3], v, a)


def test_rows_of_several_states_are_refused(pair, rng):
    """Regression: rows of several states were cut up as if they were one matrix."""
    q, v, a = pair('sled')[0].state(rng)
    _, fast = compiled('sled')
    for function in (fast.inverse_dynamics_derivatives, fast.forward_dynamics_derivatives):
        with pytest.raises(InvalidInputError, match='one state|need shape'):
            function(np.tile(q, (5, 1)), v, a)


def test_no_derivative_where_rows_coincide():
    _, fast = compiled('dead_centre')
    with pytest.raises(InvalidInputError, match='rows are dependent at this state'):
        fast.forward_dynamics_derivatives(*DEAD_CENTRE, np.ones(4))
    fast.inverse_dynamics_derivatives(*DEAD_CENTRE, np.ones(4))


def test_along_moves_quaternions_by_the_tangent(rng):
    # what "along the tangent of q" means in these tests is what kd.integrate does
    case, _ = compiled('planar_tree')
    q, v, _ = away_from_rest(case, rng)
    assert error(along(case.robot, q, v)(0.3), kd.integrate(case.robot, q, v, 0.3)) == 0.0
