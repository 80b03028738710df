# SPDX-License-Identifier: Apache-2.0
"""Rows for velocities that enter nonlinearly: Chetaev's rule in every method and engine."""

import dataclasses
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.calculus import along, derivative
from support.constraint_cases import Case, rheonomic_rows, rows_at
from support.machines import X, Y, Z, differential_drive, inertia, planar_2r, prismatic
from support.trees import tree_and_state

import kane_dynamics as kd
from kane_dynamics.constraints.traced_rows import acceleration_form, nonlinear
from kane_dynamics.exceptions import ConstraintError, InconsistentConstraintsError
from kane_dynamics.formulations import METHODS

GRAVITY = np.array([0.4, -0.3, -9.0])


def particle(mass=1.7, gravity=GRAVITY):
    """Return a particle that moves in space: q = (x, y, z)."""
    bodies = [
        kd.Body('along_x', '', prismatic('x', X)),
        kd.Body('along_y', 'along_x', prismatic('y', Y)),
        kd.Body('particle', 'along_y', prismatic('z', Z), inertia=inertia(mass)),
    ]
    return kd.Robot('particle', bodies, gravity)


def cone(a=0.7):
    """Return phi of Appell and Hamel's machine: the velocity lies on a cone about z."""
    return lambda q, v, t: v[0] ** 2 + v[1] ** 2 - a**2 * v[2] ** 2


def curved(q, v, t):
    """Return two rows that are nonlinear in everything, quaternions among q."""
    first = v @ v * np.cos(q[0] + t) + np.sin(v[1]) * q[-1] - 3.0
    return [first, q[-2] * v[0] * v[-1] + np.exp(0.3 * v[2]) * q @ q + t**2]


@pytest.mark.parametrize('seed', range(6))
def test_derivative_along_a_motion(seed):
    """A a - b is d/ds phi(q(s), v + s a, t + s) for every a, quaternions turning with v."""
    robot, q, v, a = tree_and_state(seed, ('fixed', 'planar', 'floating')[seed % 3])
    rows = rows_at(Case(robot, nonlinear(robot, curved), q, v, 0.6))
    path = along(robot, q, v)
    slope = derivative(lambda s: curved(path(s), v + s * a, 0.6 + s), step=4e-3)
    # order 8 over a path of 1e-2: truncation 1e-13, roundoff 1e-16 * 10/4e-3
    assert_allclose(rows.matrix @ a - rows.acceleration, slope, rtol=0, atol=1e-10)
    # at velocity level a Newton step: A v - b0 = phi; numpy adds in another order
    assert_allclose(rows.matrix @ v - rows.velocity, curved(q, v, 0.6), rtol=0, atol=1e-13)
    assert rows.positions == (None, None)
    assert rows.labels == ('nonlinear/0', 'nonlinear/1')


def test_appell_and_hamel():
    robot, a, v = particle(), 0.7, np.array([0.3, -0.5, 0.9])
    v[2] = np.hypot(v[0], v[1]) / a
    motion = kd.forward_dynamics(
        robot, [0.1, 0.2, 0.3], v, np.zeros(3), (nonlinear(robot, cone(a), 'cone'),)
    )
    normal = 2.0 * v * [1.0, 1.0, -(a**2)]
    multiplier = -1.7 * normal @ GRAVITY / (normal @ normal)
    assert_allclose(motion.multipliers, [multiplier], rtol=1e-13)
    assert_allclose(motion.acceleration, GRAVITY + multiplier / 1.7 * normal, rtol=1e-13)
    assert motion.labels == ('cone',)
    assert abs(motion.constraint_force @ v) < 1e-13  # homogeneous in v: no power


def test_at_rest_the_cone_binds_nothing():
    robot = particle()
    for method in METHODS:
        motion = kd.forward_dynamics(
            robot, np.zeros(3), np.zeros(3), np.zeros(3), (nonlinear(robot, cone()),), method
        )
        assert motion.rank == 0
        assert_allclose(motion.acceleration, GRAVITY, rtol=1e-14)


def constant_speed(c):
    return lambda q, v, t: v @ v - c**2


def test_constant_speed_turns_towards_gravity():
    """
    The force is along v, and c dpsi/dt = -g sin psi for the angle psi between v and gravity.

    So tan(psi/2) falls as exp(-g t/c).
    """
    c, psi, duration = 2.0, 2.2, 0.8
    robot = particle(gravity=(0.0, 0.0, -9.0))
    rows = (nonlinear(robot, constant_speed(c)),)
    v = c * np.array([np.sin(psi), 0.0, -np.cos(psi)])
    motion = kd.forward_dynamics(robot, np.zeros(3), v, np.zeros(3), rows)
    assert_allclose(np.cross(motion.constraint_force, v), 0.0, atol=1e-13)
    path = kd.simulate(robot, np.zeros(3), v, duration, constraints=rows, step=0.01)
    end = 2.0 * np.arctan(np.tan(psi / 2) * np.exp(-9.0 * duration / c))
    # Runge-Kutta: (g h/c)^4/120 = 4e-8 for each 1/g c s, of which there are four
    assert_allclose(path.v[-1], c * np.array([np.sin(end), 0, -np.cos(end)]), rtol=0, atol=1e-7)
    assert_allclose(np.linalg.norm(path.v, axis=1), c, rtol=1e-12)


def test_rest_contradicts_a_constant_speed():
    robot = particle()
    with pytest.raises(InconsistentConstraintsError, match='speed') as error:
        kd.forward_dynamics(
            robot, np.zeros(3), np.zeros(3), np.zeros(3), (nonlinear(robot, constant_speed(2.0)),)
        )
    assert error.value.rank == 0


def test_drift_without_projection_falls_with_the_order_and_with_it_is_gone():
    def phi(q, v, t):
        return v[0] ** 2 + 0.5 * v[1] ** 2 * (1.0 + 0.3 * np.sin(q[1])) - (1.0 + t) ** 2

    robot, q = planar_2r(), np.array([0.3, 0.5])
    rows, v = (nonlinear(robot, phi),), np.array([0.0, np.sqrt(2.0 / (1.0 + 0.3 * np.sin(0.5)))])

    def drift(step, projection):
        path = kd.simulate(robot, q, v, 0.2, constraints=rows, step=step, projection=projection)
        return max(abs(phi(q, v, t)) for q, v, t in zip(path.q, path.v, path.time, strict=True))

    coarse, fine = drift(0.005, False), drift(0.0025, False)
    assert 12.0 < coarse / fine < 22.0  # order 4: 16
    assert drift(0.005, True) < 10.0 * coarse**2 + 1e-14  # Newton's step squares what is left


@pytest.mark.parametrize('seed', range(6))
def test_methods_agree(seed):
    robot, q, v, tau = tree_and_state(seed, ('fixed', 'planar', 'floating')[seed % 3])
    rows = nonlinear(robot, curved)
    servo = acceleration_form(robot, lambda q, v, t: np.cos(v + t), lambda q, v, t: q[0] * v @ v)
    gauss = kd.forward_dynamics(robot, q, v, tau, (rows, servo), time=0.4)
    assert gauss.rank == 3
    scale, force = np.abs(gauss.acceleration).max(), np.abs(gauss.constraint_force).max()
    assert gauss.residual < 1e-9 * scale
    for method in METHODS:
        other = kd.forward_dynamics(robot, q, v, tau, (rows, servo), method, time=0.4)
        # the condition of M (up to 1e4 here) times roundoff
        assert_allclose(other.acceleration, gauss.acceleration, rtol=0, atol=1e-9 * scale)
        assert_allclose(other.constraint_force, gauss.constraint_force, rtol=0, atol=1e-9 * force)


def test_a_linear_phi_is_a_pfaffian_row():
    robot, q, v, tau = tree_and_state(9, 'floating')
    A, b = rheonomic_rows(robot)
    linear = nonlinear(robot, lambda q, v, t: np.array(A(q, t)) @ v - np.array(b(q, t)), 'mine')
    rows, expected = (
        rows_at(Case(robot, constraint, q, v, 0.7))
        for constraint in (linear, kd.constraints.pfaffian(robot, A, b, 'mine'))
    )
    assert_allclose(rows.matrix, expected.matrix, rtol=0, atol=1e-15)
    assert_allclose(rows.velocity, expected.velocity, rtol=0, atol=1e-13)
    # the pfaffian's rate is a difference of order 8: 1e-12
    assert_allclose(rows.acceleration, expected.acceleration, rtol=0, atol=1e-10)
    assert rows.labels == expected.labels


@pytest.fixture(scope='module')
def compiled():
    """Return a robot with a spherical joint, rows of both kinds, and its machine code."""
    robot = tree_and_state(2, 'fixed', kinds=('revolute', 'spherical', 'prismatic'))[0]
    rows = (
        nonlinear(robot, curved),
        acceleration_form(robot, lambda q, v, t: np.cos(v + t), lambda q, v, t: q[1] * v[2]),
    )
    return robot, rows, kd.compile(robot, rows, cache=False)


def test_compiled_is_the_reference(compiled):
    robot, rows, fast = compiled
    rng = np.random.default_rng(4)
    for _ in range(5):
        v, tau, tangent = rng.uniform(-1, 1, (3, robot.nv))
        q = kd.integrate(robot, robot.neutral(), tangent, 1.0)
        expected = kd.forward_dynamics(robot, q, v, tau, rows, time=0.3)
        motion = fast.forward_dynamics(q, v, tau, 0.3)
        for name in ('acceleration', 'multipliers', 'constraint_force'):
            want = getattr(expected, name)
            # roundoff times the condition of rows and mass matrix, up to 1e3 here
            assert_allclose(
                getattr(motion, name), want, rtol=0, atol=1e-12 * max(1.0, np.abs(want).max())
            )
        assert motion.rank == expected.rank == 3
        assert motion.labels == ('nonlinear/0', 'nonlinear/1', 'acceleration_form')
    assert fast.fallback_count == 0


def test_compiled_steps_are_those_of_the_reference():
    robot = particle()
    rows = (nonlinear(robot, constant_speed(1.5)),)
    fast = kd.compile(robot, rows, cache=False)
    v = np.array([1.5, 0.0, 0.0])
    slow = kd.simulate(robot, np.zeros(3), v, 0.1, constraints=rows, step=0.01)
    quick = fast.simulate(np.zeros(3), v, 0.1, step=0.01)
    assert_allclose(quick.v, slow.v, rtol=0, atol=1e-12)
    assert_allclose(quick.q, slow.q, rtol=0, atol=1e-12)


def test_a_projection_is_a_newton_step_in_the_metric_of_the_mass():
    robot, v = particle(), np.array([0.5, 0.2, 1.1])
    rows = nonlinear(robot, constant_speed(1.0))
    _, once = kd.simulation.project(robot, (rows,), np.zeros(3), v, 0.0)
    # Newton on |v|: v (1 - (v.v - 1)/(2 v.v))
    assert_allclose(once, v * (1.0 - (v @ v - 1.0) / (2.0 * v @ v)), rtol=1e-14)


def test_one_number_and_a_vector():
    robot = particle()
    for phi, labels in (
        (lambda q, v, t: v[0] - t, ('mine',)),
        (lambda q, v, t: [v[0] - t], ('mine',)),
        (lambda q, v, t: v[:2] * t, ('mine/0', 'mine/1')),
    ):
        assert nonlinear(robot, phi, 'mine').labels == labels


@pytest.mark.parametrize(
    ('phi', 'message'),
    [
        (lambda q, v, t: math.sin(v[0]), 'phi cannot be traced'),
        (lambda q, v, t: v[0] if v[0] > 0 else v[1], 'phi cannot be traced.*branch'),
        (lambda q, v, t: v[7], 'phi cannot be traced.*index 7'),
        (lambda q, v, t: [v[0], None], 'phi cannot be traced.*None is not a number'),
        (lambda q, v, t: [], r'phi as a number or of shape \(k,\), got shape \(0,\)'),
        (lambda q, v, t: v[None], r'got shape \(1, 3\)'),
        (lambda q, v, t: [v[0], q[0] - t], '/1: the row does not depend on any speed'),
    ],
)
def test_functions_that_are_no_constraint(phi, message):
    with pytest.raises(ConstraintError, match=f'mine.*{message}'):
        nonlinear(particle(), phi, 'mine')


def test_values_that_are_not_finite_and_another_robot():
    robot = particle()
    length = nonlinear(robot, lambda q, v, t: np.sqrt(v @ v) - 1.0, 'length')
    assert_allclose(
        rows_at(Case(robot, length, [0, 0, 0], [3.0, 0.0, 4.0])).matrix, [[0.6, 0, 0.8]]
    )
    with pytest.raises(ConstraintError, match=r'length: the rows are not finite at t = 2\.0, v ='):
        kd.forward_dynamics(robot, [0, 0, 0], [0, 0, 0], [0, 0, 0], (length,), time=2.0)
    with pytest.raises(ConstraintError, match="'length' was built for another robot"):
        kd.forward_dynamics(differential_drive(), *np.zeros((3, 5)), (length,))
    weightless = dataclasses.replace(robot, gravity=(0, 0, 0))  # the same coordinates: they fit
    v = np.array([0.0, 0.0, 1.0])
    motion = kd.forward_dynamics(weightless, np.zeros(3), v, v, (length,))
    assert_allclose(motion.constraint_force, -v, rtol=1e-15)


def test_derivatives_of_the_compiled_motion_know_that_rows_depend_on_speeds():
    """A particle of constant speed: d vdot/dv by differences of the reference."""
    body = kd.Inertia(1.3, (0.0, 0.0, 0.0), 0.1 * np.eye(3))
    slides = [
        kd.Body(name, parent, kd.Joint(name, kd.Prismatic(axis)), inertia=body)
        for name, parent, axis in (('x', '', (1, 0, 0)), ('y', 'x', (0, 1, 0)))
    ]
    robot = kd.Robot('slides', slides, gravity=(0.0, -9.81, 0.0))
    rows = [kd.constraints.nonlinear(robot, lambda q, v, t: v @ v - 4.0)]
    fast = kd.compile(robot, rows, derivatives=True, cache=False)
    q, v, tau = np.array([0.1, 0.2]), np.array([1.2, 1.6]), np.array([0.5, -0.3])
    found = fast.forward_dynamics_derivatives(q, v, tau)

    def acceleration(speeds):
        return kd.forward_dynamics(robot, q, speeds, tau, rows).acceleration

    h = 1e-5  # truncation h^2, roundoff 1e-16/h
    expected = [(acceleration(v + h * e) - acceleration(v - h * e)) / (2 * h) for e in np.eye(2)]
    np.testing.assert_allclose(found.dv, np.array(expected).T, rtol=0, atol=1e-8)
