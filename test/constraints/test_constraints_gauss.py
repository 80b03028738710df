# SPDX-License-Identifier: Apache-2.0
"""Udwadia-Kalaba (62) = (63) = KKT = least constraint, also with redundant and empty rows."""

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose
from support.calculus import relative
from support.constraint_cases import CASES, rows_at
from support.machines import differential_drive, planar_body
from support.rows import solved

import kane_dynamics as kd
from kane_dynamics.exceptions import InconsistentConstraintsError, SingularMassMatrixError

SOLVED = 1e-9  # pseudo-inverses of M^(1/2), condition of M up to 1e4
NAMES = [
    'differential_drive',
    'floating_wheel',
    'leaning_disc',
    'loop_planar',
    'loop_spatial',
    'pfaffian',
]


@pytest.fixture(params=NAMES)
def problem(request):
    """Return M, the given force Q, A and b of a case with its solution."""
    case = CASES[request.param]
    robot, q, v = case.robot, case.q, case.v
    tau = np.random.default_rng(1).uniform(-3, 3, robot.nv)
    rows = rows_at(case)
    M = kd.mass_matrix(robot, q)
    force = tau - kd.bias_force(robot, q, v) - kd.friction_force(robot, v)
    motion = kd.forward_dynamics(robot, q, v, tau, (case.constraint,), time=case.t)
    return M, force, rows.matrix, rows.acceleration, motion


def root(M, power):
    """Return a power of a symmetric positive matrix."""
    values, vectors = np.linalg.eigh(M)
    return vectors @ np.diag(values**power) @ vectors.T


@pytest.mark.claim(16)
def test_equation_62_with_the_square_root_of_m(problem):
    M, Q, A, b, motion = problem
    D = A @ root(M, -0.5)
    force = root(M, 0.5) @ np.linalg.pinv(D, rcond=1e-10) @ (b - A @ np.linalg.solve(M, Q))
    assert relative(motion.constraint_force, force) < SOLVED
    assert relative(motion.acceleration, np.linalg.solve(M, Q + force)) < SOLVED
    assert motion.rank == np.linalg.matrix_rank(D, tol=1e-9)


@pytest.mark.claim(16)
def test_equation_63_with_the_projector(problem):
    M, Q, A, b, motion = problem
    D_plus = np.linalg.pinv(A @ root(M, -0.5), rcond=1e-10)
    omega = np.eye(len(M)) - root(M, 0.5) @ D_plus @ A @ np.linalg.inv(M)
    assert relative(omega @ omega, omega) < SOLVED
    assert np.abs(omega @ root(M, 0.5) @ D_plus).max() < SOLVED
    # M vdot = Omega Q + M^(1/2) D^+ b
    expected = np.linalg.solve(M, omega @ Q + root(M, 0.5) @ D_plus @ b)
    assert relative(motion.acceleration, expected) < SOLVED


@pytest.mark.claim(16)
def test_kkt_system(problem):
    M, Q, A, b, motion = problem
    k, n = A.shape
    system = np.block([[M, -A.T], [A, np.zeros((k, k))]])
    solution = np.linalg.lstsq(system, np.r_[Q, b], rcond=1e-12)[0]
    assert relative(motion.acceleration, solution[:n]) < SOLVED
    assert relative(motion.constraint_force, A.T @ solution[n:]) < SOLVED


@pytest.mark.claim(12)
def test_least_constraint_among_allowed_accelerations(problem):
    M, Q, A, _, motion = problem
    free = np.linalg.solve(M, Q)

    def gauss(a):
        return 0.5 * (a - free) @ M @ (a - free)

    null_space = scipy.linalg.null_space(A, rcond=1e-10)
    assert null_space.shape[1] == len(M) - motion.rank
    least = gauss(motion.acceleration)
    steps = np.random.default_rng(0).uniform(-1, 1, (20, null_space.shape[1]))
    for step in steps:
        move = null_space @ step
        # the cost grows by exactly the step's own size: the solution is the foot of the normal
        growth = gauss(motion.acceleration + move) - least
        assert growth == pytest.approx(0.5 * move @ M @ move, rel=1e-6, abs=1e-9 * (1 + least))
        assert growth > 0.0


def test_no_force_where_the_free_motion_satisfies_the_rows():
    case = CASES['differential_drive']
    robot, q, v = case.robot, case.q, case.v
    wanted = kd.forward_dynamics(robot, q, v, np.zeros(robot.nv), (case.constraint,))
    tau = kd.inverse_dynamics(robot, q, v, wanted.acceleration)
    motion = kd.forward_dynamics(robot, q, v, tau, (case.constraint,))
    assert np.abs(motion.constraint_force).max() < 1e-11
    assert relative(motion.acceleration, wanted.acceleration) < 1e-12


@pytest.mark.claim(16)
def test_equal_rows_share_the_multiplier_and_parallel_rows_are_one():
    M, Q = np.diag([2.0, 3.0]), np.array([4.0, 0.0])
    A = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 0.0]])
    motion = solved(M, Q, A, np.zeros(3), np.zeros(3))
    assert motion.rank == 1
    assert_allclose(motion.constraint_force, (-4.0, 0.0), rtol=1e-14)
    assert_allclose(A.T @ motion.multipliers, (-4.0, 0.0), rtol=1e-14)


def test_rows_that_almost_repeat_are_told_apart_above_the_tolerance():
    M, Q = np.eye(2), np.array([1.0, 1.0])
    for angle, rank in ((1.1e-3, 2), (0.9e-3, 1), (1e-6, 1), (0.0, 1)):
        A = np.array([[1.0, 0.0], [1.0, angle]])
        assert solved(M, Q, A, np.zeros(2), np.zeros(2)).rank == rank


@pytest.mark.claim(16)
@pytest.mark.parametrize('level', ['speed', 'acceleration'])
@pytest.mark.parametrize('factor', [1.0, 1e-6])
def test_contradictory_rows_raise(level, factor):
    A = factor * np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    bad, good = factor * np.array([1.0, 2.0, 0.0]), np.zeros(3)
    sides = (bad, good) if level == 'speed' else (good, bad)
    with pytest.raises(InconsistentConstraintsError, match=f'no {level}') as caught:
        solved(np.eye(2), np.zeros(2), A, *sides)
    assert caught.value.rank == 2
    # the second row is the first: 2 against 1, over one and the size of the combination
    assert caught.value.residual == pytest.approx(0.5)
    assert "'row 1'" in str(caught.value)


def test_empty_row_with_a_right_side_raises():
    A, b = np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([0.1, 0.0])
    with pytest.raises(InconsistentConstraintsError, match='no acceleration'):
        solved(np.eye(2), np.zeros(2), A, np.zeros(2), b)
    with pytest.raises(InconsistentConstraintsError, match='no acceleration'):
        solved(np.eye(2), np.zeros(2), A[:1], np.zeros(1), b[:1])


def test_contradictory_constraints_on_a_robot():
    robot, c = differential_drive(), kd.constraints
    drive = c.differential_drive(robot, 'left', 'right', 0.0975)
    other = c.differential_drive(robot, 'left', 'right', 0.2)
    v = np.array([0.6, 0.0, 0.3, 1.0, 2.0])
    # other radius: together they stop the wheels, which moves nothing: all rows are satisfiable
    stopped = kd.forward_dynamics(robot, np.zeros(5), np.zeros(5), np.ones(5), (drive, other))
    assert_allclose(stopped.acceleration, 0.0, atol=1e-12)
    assert stopped.rank == 5
    # other axle: at a nonzero turn the two edges cannot both stay on their tracks
    front, rear = c.no_side_slip(robot, 0.3), c.no_side_slip(robot, 0.0)
    both = kd.forward_dynamics(robot, np.zeros(5), v, np.zeros(5), (front, rear))
    assert both.acceleration[2] == pytest.approx(0.0, abs=1e-14)
    ramp = c.pfaffian(robot, lambda q, t: np.eye(5)[0], lambda q, t: t)
    jump = c.pfaffian(robot, lambda q, t: np.eye(5)[0], lambda q, t: 2 * t)
    with pytest.raises(InconsistentConstraintsError, match='no acceleration'):
        kd.forward_dynamics(robot, np.zeros(5), v, np.zeros(5), (ramp, jump), time=0.0)
    with pytest.raises(InconsistentConstraintsError, match='no speed'):
        kd.forward_dynamics(robot, np.zeros(5), v, np.zeros(5), (ramp, jump), time=1.0)


def test_mass_matrix_must_be_positive():
    with pytest.raises(SingularMassMatrixError, match='eigenvalues'):
        solved(np.diag([1.0, 0.0]), np.zeros(2), np.zeros((0, 2)), np.zeros(0), np.zeros(0))


@pytest.mark.claim(17)
def test_side_slip_by_hand():
    # a point mass pushed sideways against its blade at yaw 0: the blade takes all of it
    robot = planar_body(2.0, 0.3, 0.0)
    blade = kd.constraints.no_side_slip(robot)
    motion = kd.forward_dynamics(robot, np.zeros(3), (1.5, 0, 0.4), (3.0, 5.0, 0.6), (blade,))
    assert_allclose(motion.acceleration, (1.5, 0.6, 2.0), rtol=1e-14)  # ay = w vx
    assert_allclose(motion.multipliers, [2.0 * 0.6 - 5.0], rtol=1e-14)
    assert_allclose(motion.constraint_force, (0.0, -3.8, 0.0), rtol=1e-14)


@pytest.mark.parametrize('scale', [1e-9, 1.0, 1e9])
def test_masses_that_are_roundoff_of_others_are_none(scale):
    """The second speed moves what the first one moves; another unit of it changes nothing."""
    units = np.diag([1.0, scale])
    shared = units @ np.array([[1.0, 1.0], [1.0, np.nextafter(1.0, 2.0)]]) @ units
    none = np.zeros((0, 2)), np.zeros(0), np.zeros(0)
    with pytest.raises(SingularMassMatrixError):
        solved(shared, np.ones(2), *none)
    own = units @ np.diag([1.0, 1e-6]) @ units
    motion = solved(own, np.array([1.0, 1e-6 * scale]), *none)
    assert_allclose(motion.acceleration, [1.0, 1.0 / scale], rtol=1e-12)
