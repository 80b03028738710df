# SPDX-License-Identifier: Apache-2.0
"""Gauss, Kane and the canonical form: one motion, and the quantities of each paper."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.trees import random_state, random_tree

import kane_dynamics as kd
from kane_dynamics.algorithms.canonical import canonical_motion
from kane_dynamics.algorithms.independent_speeds import partition_speeds
from kane_dynamics.algorithms.kane import kane_motion
from kane_dynamics.exceptions import (
    InconsistentConstraintsError,
    InvalidInputError,
    SingularMassMatrixError,
)

CASES = range(12)


def problem(seed):
    """Return a random tree with random rows, one of them a combination of two others."""
    rng = np.random.default_rng(seed)
    base = ('fixed', 'planar', 'floating')[seed % 3]
    robot = random_tree(rng, base)
    q, v = random_state(robot, rng)[:2]
    rows = rng.normal(size=(2, robot.nv))
    rates = rng.normal(size=2)

    def A(q, t):  # noqa: N802
        independent = rows * np.cos(t + rates)[:, None]
        return np.vstack([independent, independent[0] - 2.0 * independent[1]])

    def b(q, t):
        independent = np.array([np.sin(t), 0.3 * t])
        return np.append(independent, independent[0] - 2.0 * independent[1])

    constraint = kd.constraints.pfaffian(robot, A, b)
    return robot, q, v, rng.normal(size=robot.nv), [constraint]


@pytest.mark.parametrize('seed', CASES)
@pytest.mark.parametrize('method', ['kane', 'canonical'])
def test_methods_agree(seed, method):
    robot, q, v, tau, constraints = problem(seed)
    gauss = kd.forward_dynamics(robot, q, v, tau, constraints, time=0.4)
    other = kd.forward_dynamics(robot, q, v, tau, constraints, method, time=0.4)
    scale = np.abs(gauss.acceleration).max()
    # the condition of M (up to 1e4 here) times roundoff
    assert_allclose(other.acceleration, gauss.acceleration, rtol=0, atol=1e-9 * scale)
    force = np.abs(gauss.constraint_force).max()
    assert_allclose(other.constraint_force, gauss.constraint_force, rtol=0, atol=1e-9 * force)
    assert other.rank == gauss.rank == 2
    assert other.residual <= 1e-9 * scale


@pytest.mark.parametrize('method', ['gauss', 'kane', 'canonical'])
def test_without_constraints_the_motion_is_free(method):
    robot, q, v, tau, _ = problem(3)
    motion = kd.forward_dynamics(robot, q, v, tau, method=method)
    back = kd.inverse_dynamics(robot, q, v, motion.acceleration)
    assert_allclose(back, tau, rtol=0, atol=1e-9 * (1.0 + np.abs(motion.acceleration).max()))
    assert motion.rank == 0 and motion.multipliers.shape == (0,)


def matrices(seed, nv=6, k=3):
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(nv, nv))
    mass = half @ half.T + np.eye(nv)
    rate = rng.normal(size=(nv, nv))
    A, v = rng.normal(size=(k, nv)), rng.normal(size=nv)
    return mass, rate + rate.T, rng.normal(size=nv), v, A, A @ v, rng.normal(size=k)


@pytest.mark.parametrize('seed', CASES)
def test_kane_recombines_active_and_inertia_forces(seed):
    mass, _, force, _, A, b0, b = matrices(seed)
    solution = kane_motion(mass, force, A, b0, b)
    part = solution.partition
    # (44)-(46): F~ = F_I + D' F_D and F~ + F~* = 0
    recombined = force[part.independent] + part.dependence.T @ force[part.dependent]
    assert_allclose(solution.active_force, recombined, rtol=0, atol=1e-12)
    assert_allclose(solution.active_force + solution.inertia_force, 0.0, atol=1e-10)
    lagrange = np.block([[mass, -A.T], [A, np.zeros((3, 3))]])
    expected = np.linalg.solve(lagrange, np.append(force, b))
    assert_allclose(solution.acceleration, expected[:6], rtol=0, atol=1e-10)
    assert_allclose(solution.multipliers, expected[6:], rtol=0, atol=1e-9)


@pytest.mark.parametrize('seed', CASES)
def test_explicit_form_is_that_of_the_rows(seed):
    *_, v, A, b0, b = matrices(seed)
    part = partition_speeds(A, b0, b)
    assert_allclose(A @ part.basis, 0.0, atol=1e-11)  # Parsa (13)
    assert_allclose(part.rows @ part.basis, 0.0, atol=1e-12)  # A_1 A_2' = 0, (35)
    acceleration = part.basis @ v[part.independent]
    acceleration[part.dependent] += part.acceleration_offset
    assert_allclose(A @ acceleration, b, rtol=0, atol=1e-11)
    assert sorted([*part.independent, *part.dependent]) == list(range(6))


def test_dependent_speeds_are_never_singular():
    """Rows (1,1,1,1)/2 and (1,1,-1,-1)/2: picking columns 0 and 1 would be singular."""
    A = 0.5 * np.array([[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, -1.0, -1.0]])
    part = partition_speeds(A, np.zeros(2), np.zeros(2))
    assert abs(np.linalg.det(A[:, part.dependent])) > 0.4


@pytest.mark.parametrize('seed', CASES)
def test_canonical_parts_are_orthogonal_and_the_deviation_is_least(seed):
    mass, rate, force, v, A, b0, b = matrices(seed)
    solution = canonical_motion(mass, rate, force, v, A, b0, b)
    assert abs(solution.constraint_part @ solution.momentum_part) < 1e-9
    w_rate = solution.constraint_part + solution.momentum_part
    assert_allclose(solution.canonical_acceleration, w_rate, rtol=0, atol=1e-12)
    free = np.linalg.solve(mass, force)
    gap = solution.acceleration - free
    assert_allclose(solution.deviation**2, gap @ mass @ gap, rtol=1e-9)  # (59)-(61)
    rng = np.random.default_rng(seed)
    for _ in range(20):  # Gauss (56): every other allowed acceleration deviates more
        other = gap + solution.partition.basis @ rng.normal(size=3)
        assert other @ mass @ other > solution.deviation**2


@pytest.mark.parametrize('seed', CASES)
def test_canonical_speed_is_the_root_of_the_mass_matrix_times_v(seed):
    """wdot of (40) is the derivative of Q^1/2 v along a motion with dM/dt and vdot."""
    mass, rate, force, v, A, b0, b = matrices(seed)
    solution = canonical_motion(mass, rate, force, v, A, b0, b)

    def w(t):
        values, vectors = np.linalg.eigh(mass + t * rate)
        return (vectors * np.sqrt(values)) @ vectors.T @ (v + t * solution.acceleration)

    h = 1e-4
    slope = (8.0 * (w(h) - w(-h)) - (w(2 * h) - w(-2 * h))) / (12.0 * h)
    # order 4: h^4 = 1e-16; roundoff 1e-16 |w| / h
    assert_allclose(solution.canonical_acceleration, slope, rtol=0, atol=1e-9)


def test_kane_needs_no_mass_along_dependent_speeds():
    """A massless speed that a constraint binds: Kane solves, the others cannot."""
    mass, force = np.diag([2.0, 0.0]), np.array([3.0, 1.0])
    A, zero = np.array([[1.0, -1.0]]), np.zeros(1)
    solution = kane_motion(mass, force, A, zero, zero)
    assert_allclose(solution.acceleration, [2.0, 2.0], rtol=1e-12)
    with pytest.raises(SingularMassMatrixError):
        canonical_motion(mass, 0.0 * mass, force, np.zeros(2), A, zero, zero)
    with pytest.raises(SingularMassMatrixError):
        kane_motion(mass, force, np.array([[1.0, 0.0]]), zero, zero)


@pytest.mark.parametrize('method', ['kane', 'canonical'])
def test_contradictory_rows_raise(method):
    robot, q, v, tau, _ = problem(1)
    row = np.eye(robot.nv)[0]
    rows = [
        kd.constraints.pfaffian(robot, lambda q, t: row, lambda q, t, s=s: s * t) for s in (1, 2)
    ]
    with pytest.raises(InconsistentConstraintsError) as error:
        kd.forward_dynamics(robot, q, v, tau, rows, method, time=1.0)
    assert error.value.rank == 1


def test_unknown_method_lists_those_that_exist():
    robot, q, v, tau, _ = problem(1)
    with pytest.raises(InvalidInputError, match="'gauss', 'kane', 'canonical'"):
        kd.forward_dynamics(robot, q, v, tau, method='lagrange')
