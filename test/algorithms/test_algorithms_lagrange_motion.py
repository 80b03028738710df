# SPDX-License-Identifier: Apache-2.0
"""Parsa's constrained form (50) and Theorem 2, which lets coordinates be dependent."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support import parsa
from support.calculus import relative
from support.machines import differential_drive
from support.rows import repeated_rows
from support.trees import tree_and_state

import kane_dynamics as kd
from kane_dynamics.algorithms.udwadia_kalaba import selected_rows
from kane_dynamics.constraints import ConstraintRows
from kane_dynamics.formulations.lagrange import (
    LagrangeJacobian,
    lagrange_jacobians,
    lagrange_motion,
)
from kane_dynamics.formulations.orbit import wrenches_at_com
from kane_dynamics.robot.motion import coordinate_rates
from studies.random_robots import random_inertia

# Two sums over ten bodies with entries of order 1 to 100: some 1e3 roundings of 1e-16.
ROUNDOFF = 1e-12
# The rows' b is a difference of order 8: 1e-12 of their size, see constraints.pfaffian.
DIFFERENCES = 1e-10
# Condition of M (up to 1e4 here) times roundoff.
SOLVED = 1e-9
WRENCH = np.array([1.0, -2.0, 3.0, 4.0, 0.5, -6.0])  # (n, f)


def problem(seed):
    """Return a tree with rows that depend on t, one of them a combination of two others."""
    robot, q, v, _ = tree_and_state(seed, ('fixed', 'planar', 'floating')[seed % 3])
    rng = np.random.default_rng(seed)
    constraint = repeated_rows(robot, rng)
    return robot, q, v, rng.normal(size=robot.nv), constraint


def solve(robot, q, v, tau, constraints=(), t=0.0, wrenches=None):
    """Return M, f, the rows and the solution (50) for efforts, weight, friction and wrenches."""
    rows = kd.constraints.ConstraintSet(robot, constraints).rows(q.tolist(), v.tolist(), t)
    M, h = parsa.mass_matrix(robot, q), parsa.velocity_force(robot, q, v)
    f = tau - parsa.gravity_force(robot, q) - kd.friction_force(robot, v)
    f = f + parsa.applied_force(robot, q, wrenches or {})
    jacobians = [body.jacobian for body in lagrange_jacobians(robot, q, v)]
    taken = selected_rows(M, rows).independent
    solution = lagrange_motion(jacobians, M, h, f, taken)
    return M, f, taken, solution


@pytest.mark.claim(28)
@pytest.mark.parametrize('seed', range(12))
def test_the_constrained_form_is_the_motion_of_least_constraint(seed):
    robot, q, v, tau, constraint = problem(seed)
    given = {'tool': WRENCH}
    M, f, rows, solution = solve(robot, q, v, tau, (constraint,), 0.4, given)
    gauss = kd.forward_dynamics(
        robot, q, v, tau, (constraint,), external_wrenches=wrenches_at_com(robot, given), time=0.4
    )
    scale, force = np.abs(gauss.acceleration).max(), np.abs(gauss.constraint_force).max()
    assert np.abs(rows.acceleration).max() > 0.1  # the rows are rheonomic and curved
    assert_allclose(solution.acceleration, gauss.acceleration, rtol=0, atol=SOLVED * scale)
    pull = rows.matrix.T @ solution.multipliers
    assert_allclose(pull, gauss.constraint_force, rtol=0, atol=SOLVED * force)
    h = parsa.velocity_force(robot, q, v)
    assert_allclose(M @ solution.acceleration + h - f, pull, rtol=0, atol=SOLVED * force)
    assert len(rows) == gauss.rank == 2


@pytest.mark.claim(28)
@pytest.mark.parametrize('seed', range(6))
def test_what_the_solution_is_made_of(seed):
    robot, q, v, tau, constraint = problem(seed)
    M, f, rows, part = solve(robot, q, v, tau, (constraint,), 0.4)
    B, T = part.basis, part.projected_jacobians
    scale = np.abs(part.acceleration).max()
    assert_allclose(rows.matrix @ B, 0.0, atol=ROUNDOFF)  # (13)
    assert_allclose(B.T @ B, np.eye(robot.nv - 2), atol=ROUNDOFF)
    assert_allclose(rows.matrix @ part.acceleration_offset, rows.acceleration, atol=DIFFERENCES)
    assert_allclose(B.T @ part.acceleration_offset, 0.0, atol=ROUNDOFF * scale)  # least norm
    recovered = B @ part.speed_rate + part.acceleration_offset
    assert_allclose(part.acceleration, recovered, rtol=0, atol=ROUNDOFF * scale)
    bodies = lagrange_jacobians(robot, q, v)
    inertial = B.T @ (robot.armature * part.acceleration)
    reduced, weights = B.T @ np.diag(robot.armature) @ B, np.zeros(len(B.T))
    for T_i, at, body in zip(T, bodies, robot.bodies, strict=True):
        assert_allclose(T_i, at.jacobian @ B, rtol=0, atol=0)  # (48)
        motion = at.jacobian @ part.acceleration + at.rate @ v
        inertial += T_i.T @ (at.mass @ motion + at.precession @ at.mass @ at.jacobian @ v)
        reduced += T_i.T @ at.mass @ T_i
        weights += T_i.T @ np.r_[0.0, 0.0, 0.0, body.inertia.mass * robot.gravity]  # (49)
    given = B.T @ (tau - kd.friction_force(robot, v))
    assert_allclose(inertial, given + weights, rtol=0, atol=SOLVED * scale)  # (50)
    assert relative(part.reduced_mass, reduced) < ROUNDOFF
    assert relative(part.projected_force, given + weights) < ROUNDOFF
    left = part.reduced_mass @ part.speed_rate + part.projected_velocity_force
    left += B.T @ M @ part.acceleration_offset
    assert_allclose(left, part.projected_force, rtol=0, atol=SOLVED * scale)


@pytest.mark.parametrize('seed', range(3))
def test_without_rows_the_motion_is_free(seed):
    robot, q, v, tau, _ = problem(seed)
    *_, solution = solve(robot, q, v, tau)
    assert relative(kd.inverse_dynamics(robot, q, v, solution.acceleration), tau) < SOLVED * max(
        1.0, np.abs(solution.acceleration).max()
    )
    assert solution.multipliers.shape == (0,)


@pytest.mark.claim(27)
def test_damping_acts_against_the_speeds():
    free, damped = (differential_drive(arm=True, damping=d) for d in (0.0, 0.4))
    rng = np.random.default_rng(8)
    q, v, tau = rng.uniform(-1, 1, (3, free.nv))
    gap = [kd.forward_dynamics(robot, q, v, tau).acceleration for robot in (damped, free)]
    M, D = kd.mass_matrix(free, q), np.array([0, 0, 0, 0, 0, 0.4, 0.4])
    assert_allclose(M @ (gap[0] - gap[1]), -D * v, rtol=0, atol=ROUNDOFF * np.abs(gap).max())
    *_, solution = solve(damped, q, v, tau)
    assert relative(solution.acceleration, gap[0]) < SOLVED


def cross_matrix(w):
    return np.cross(np.eye(3), w)


def times(eta):
    """Return the matrix of eta * b for quaternions with the scalar last (B-10)."""
    vector, scalar = eta[:3], eta[3]
    matrix = np.zeros((4, 4))
    matrix[:3, :3] = scalar * np.eye(3) + cross_matrix(vector)
    matrix[:3, 3], matrix[3, :3], matrix[3, 3] = vector, -vector, scalar
    return matrix


def angular_jacobian(eta):
    """Return J with omega = J etadot, in the body's axes: 2 eta* etadot (B-19)."""
    return 2.0 * times(np.append(-eta[:3], eta[3]))[:3]


@pytest.fixture
def turning():
    """Return a body that turns about its mass centre, a place, three tangents, omega."""
    rng = np.random.default_rng(12)
    inertia = kd.Inertia(1.0, np.zeros(3), random_inertia(rng).tensor)
    body = kd.Body('body', '', kd.Joint('ball', kd.Spherical()), inertia=inertia)
    robot = kd.Robot('top', [body], gravity=(0, 0, 0))
    wxyz = rng.normal(size=4)
    wxyz /= np.linalg.norm(wxyz)
    tangents = np.array([np.roll(coordinate_rates(robot, wxyz, e), -1) for e in np.eye(3)]).T
    return robot, wxyz, tangents, rng.normal(size=3)


@pytest.mark.claim(23)
def test_theorem_2_for_euler_parameters(turning):
    _, wxyz, tangents, omega = turning
    eta, rate = np.roll(wxyz, -1), tangents @ omega
    J, J_rate = angular_jacobian(eta), angular_jacobian(rate)
    assert_allclose(J @ rate, omega, rtol=0, atol=1e-14)
    # omega is linear in eta at fixed etadot: unit differences are exact
    gradient = np.array([angular_jacobian(e) @ rate for e in np.eye(4)]).T
    gap = gradient - (J_rate + cross_matrix(omega) @ J)
    assert_allclose(gap @ tangents, 0.0, atol=1e-14)  # (44), (45): on the constraint |eta| = 1
    assert_allclose(gap @ eta, 2.0 * omega, rtol=0, atol=1e-14)  # and not off it


@pytest.mark.claim(23)
def test_euler_parameters_as_dependent_coordinates(turning):
    """(50) with a singular 4 x 4 mass matrix and etadot' eta = 0 gives Euler's equations."""
    robot, wxyz, tangents, omega = turning
    eta, rate = np.roll(wxyz, -1), tangents @ omega
    tensor, torque = robot.bodies[0].inertia.tensor, np.array([0.3, -0.8, 0.5])
    J, J_rate = (np.vstack([angular_jacobian(x), np.zeros((3, 4))]) for x in (eta, rate))
    mass = np.zeros((6, 6))
    mass[:3, :3] = tensor
    body = LagrangeJacobian(J, J_rate, omega, mass, np.eye(3))
    M = J.T @ mass @ J
    h = J.T @ (mass @ J_rate + body.precession @ mass @ J) @ rate
    f = J[:3].T @ torque
    solution = lagrange_motion([body.jacobian], M, h, f, ConstraintRows.of(eta, 0.0, -rate @ rate))
    alpha = J[:3] @ solution.acceleration + J_rate[:3] @ rate
    euler = np.linalg.solve(tensor, torque - np.cross(omega, tensor @ omega))
    assert_allclose(alpha, euler, rtol=1e-11)
    package = kd.forward_dynamics(robot, wxyz, omega, torque)
    assert_allclose(alpha, package.acceleration, rtol=1e-11)
