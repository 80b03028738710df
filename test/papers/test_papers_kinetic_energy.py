# SPDX-License-Identifier: Apache-2.0
"""
Roithmayr et al. (3)-(18): Q and L of F* = -Q udot - L, from energies and from partial velocities.

The systems have a joint that is driven in time, and speeds u that depend on place and time.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.calculus import relative
from support.rheonomic import DRIVEN, rheonomic_system
from support.trees import BASES, tree_and_state

import kane_dynamics as kd

ROUNDOFF = 1e-11  # sums over ten bodies, times a matrix W of condition up to 1e2
DIFFERENCES = 1e-8  # of order 8, of quantities that are differences of energies of 1e2 J


@pytest.fixture(params=range(3))
def system(request):
    return rheonomic_system(request.param)


@pytest.mark.claim(31)
def test_energy_is_a_quadratic_function_of_the_speeds(system):
    M, N, R = system.coefficients(system.x, system.t)
    for u in (system.u, -2.0 * system.u, np.ones(system.n)):
        expected = 0.5 * u @ M @ u + N @ u + R  # (3)
        assert system.energy_in_speeds(system.x, u, system.t) == pytest.approx(expected, rel=1e-11)
    assert np.abs(N).max() > 0.1 and R > 0.1  # the drive and X put energy in at u = 0
    # they are W' M W, X' M W and X' M X/2 of the whole robot
    q = system.q(system.x, system.t)
    W, X = system.speeds.matrices(q, system.t)
    whole = kd.mass_matrix(system.robot, q)
    assert relative(M, W.T @ whole @ W) < ROUNDOFF
    assert relative(N, X @ whole @ W) < ROUNDOFF
    assert pytest.approx(0.5 * X @ whole @ X, rel=ROUNDOFF) == R


@pytest.mark.claim(31)
def test_momenta_of_the_coordinates(system):
    M, N, _ = system.coefficients(system.x, system.t)
    W = np.array(system.W(system.x, system.t), dtype=float)
    q = system.q(system.x, system.t)
    v = system.speeds.velocity(q, system.u, system.t)
    momenta = np.delete(kd.mass_matrix(system.robot, q) @ v, DRIVEN)
    assert relative((M @ system.u + N) @ np.linalg.inv(W), momenta) < ROUNDOFF  # (7)


@pytest.mark.claim(31)
def test_q_is_the_symmetric_matrix_of_the_energy(system):
    M, _, _ = system.coefficients(system.x, system.t)
    Q = system.motion().details.mass
    assert relative(Q, M) < ROUNDOFF  # (11)
    assert relative(Q, Q.T) < ROUNDOFF
    assert np.linalg.eigvalsh(Q)[0] > 0.0


@pytest.mark.claim(31)
def test_q_and_l_give_the_accelerations(system):
    """(6), (12): the energy alone moves the robot as the package moves it."""
    tau = np.random.default_rng(0).uniform(-1, 1, system.robot.nv)
    motion = system.motion('nonminimal', tau)
    M, _, _ = system.coefficients(system.x, system.t)
    q = system.q(system.x, system.t)
    W, _ = system.speeds.matrices(q, system.t)
    active = W.T @ (tau - kd.gravity_force(system.robot, q))
    L = system.remainder_by_energy(system.slope_at_fixed_rates())
    assert relative(motion.details.u_rate, np.linalg.solve(M, active - L)) < DIFFERENCES


def mixed_speeds(robot, seed):
    """Return speeds in which every v depends on every u, on place and on time."""
    rng = np.random.default_rng(seed)
    mixing = np.eye(robot.nv) + 0.3 * rng.normal(size=(robot.nv, robot.nv))

    def matrix(q, t):
        return [[m * (1.5 + np.sin(q[0] + t)) for m in row] for row in mixing]

    def offset(q, t):
        return [np.cos(t + k) * q[1] for k in range(robot.nv)]

    return kd.generalized_speeds(robot, matrix, offset)


@pytest.fixture(params=range(6))
def moving_tree(request):
    """Return a tree of all joint kinds in such speeds, with a solved motion."""
    robot, q, v, tau = tree_and_state(
        request.param, BASES[request.param % 3], armature=False, friction=False
    )
    speeds = mixed_speeds(robot, request.param)
    motion = kd.forward_dynamics(robot, q, v, tau, method='kane', speeds=speeds, time=0.3)
    return robot, q, v, tau, speeds, motion


@pytest.mark.claim(32)
def test_inertia_coefficients_of_partial_velocities(moving_tree):
    robot, q, v, tau, speeds, _ = moving_tree
    m_rs = np.zeros((robot.nv, robot.nv))
    partials = kd.partial_velocities(robot, q, speeds, 0.3)
    for body, partial in zip(robot.bodies, partials, strict=True):
        m_rs += body.inertia.mass * partial.v.T @ partial.v  # (17)
        m_rs += partial.omega.T @ body.inertia.tensor @ partial.omega
    found = kd.forward_dynamics(robot, q, v, tau, method='nonminimal', speeds=speeds, time=0.3)
    assert relative(found.details.mass, m_rs) < ROUNDOFF
    assert relative(m_rs, m_rs.T) < ROUNDOFF


def momentum_rates(robot, kin, partials):
    """Return sum_i (m a . v_r + Hdot . omega_r) of all bodies at a motion."""
    total = np.zeros(robot.nv)
    for body, partial in zip(robot.bodies, partials, strict=True):
        omega, tensor, arm = kin.twist(body.name)[:3], body.inertia.tensor, body.inertia.com
        alpha, origin = np.split(kin.acceleration(body.name), 2)
        com = origin + np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm))
        total += body.inertia.mass * com @ partial.v
        total += (tensor @ alpha + np.cross(omega, tensor @ omega)) @ partial.omega
    return total


@pytest.mark.claim(32)
def test_inertia_forces_are_minus_q_u_rate_minus_l(moving_tree):
    robot, q, v, _, speeds, motion = moving_tree
    chosen, partials = speeds.at(q, v, 0.3), kd.partial_velocities(robot, q, speeds, 0.3)
    F_star = -momentum_rates(
        robot, kd.forward_kinematics(robot, q, v, motion.acceleration), partials
    )
    assert relative(motion.details.inertia_force, F_star) < 1e-9  # (13); condition of M
    # at udot = 0 the accelerations are the remainders a_t of (14), (15)
    L = momentum_rates(robot, kd.forward_kinematics(robot, q, v, chosen.bias), partials)
    Q = motion.details.reduced_mass
    assert relative(F_star, -(Q @ motion.details.u_rate + L)) < 1e-9  # (16)
    assert_allclose(chosen.W @ motion.details.u_rate + chosen.bias, motion.acceleration, atol=1e-8)


@pytest.mark.claim(31)
def test_the_error_that_the_corrigendum_corrects(system):
    """With the inverse of C in the place of W (the article of 2003) Q is not symmetric."""
    M, _, _ = system.coefficients(system.x, system.t)
    C = np.array(system.W(system.x, system.t), dtype=float)
    momentum = np.linalg.inv(C).T @ M  # (7)
    assert relative(C.T @ momentum, M) < ROUNDOFF  # (11)
    wrong = np.linalg.inv(C).T @ momentum
    assert np.abs(wrong - wrong.T).max() > 0.01 * np.abs(wrong).max()
