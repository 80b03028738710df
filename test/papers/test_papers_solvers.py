# SPDX-License-Identifier: Apache-2.0
"""
One motion from every formulation: seven ways written down here, seven methods of the package.

The ways use M, the given force Q and the rows A vdot = b of the same system: the KKT system,
Silva (62) and (63), Parsa (50), Roithmayr (9) with the rows, Bajodah and Chen (44), and Gauss's
principle as a quadratic program for a solver that knows nothing of mechanics.
"""

from functools import cache

import casadi as ca
import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose
from support.calculus import relative
from support.constraint_cases import CASES, Case, rows_at
from support.machines import DRIVE, differential_drive, rolling_disc, shopping_cart, wrist
from support.trees import BASES, random_state, tree_and_state

import kane_dynamics as kd

SOLVED = 1e-8  # pseudo-inverses of roots of M, whose condition goes up to 1e4
QUADRATIC_PROGRAM = 1e-6  # what its active-set solver is asked for
CUT = 1e-10  # relative singular value under which rows repeat others
METHODS = ('gauss', 'newton_euler', 'gibbs_appell', 'lagrange', 'kane', 'nonminimal', 'canonical')


def random_case(seed):
    """Return a random tree with two rows that turn in time and their difference."""
    robot, q, v, _ = tree_and_state(seed, BASES[seed % 3])
    rng = np.random.default_rng(seed)
    weights, phases = rng.normal(size=(2, robot.nv)), rng.normal(size=2)

    def A(q, t):  # noqa: N802
        first, second = weights * np.cos(t + phases + 0.3 * q[0])[:, None]
        return np.array([first, second, first - second])

    return Case(robot, kd.constraints.pfaffian(robot, A), q, v, 0.4)


class Together:
    """Several constraints as one."""

    def __init__(self, *constraints):
        self.constraints = constraints

    @property
    def labels(self):
        return tuple(label for c in self.constraints for label in c.labels)

    def rows(self, robot, q, v, t):
        return [row for c in self.constraints for row in c.rows(robot, q, v, t)]


def examples():
    """Return the machines of the papers and others with known answers, by name."""
    c = kd.constraints
    drive, disc, cart, ball = differential_drive(), rolling_disc(), shopping_cart(), wrist()
    rear = c.no_side_slip(cart)

    def state(robot):
        return random_state(robot, np.random.default_rng(17))[:2]

    def caster(q, t):
        s, l2, l3 = np.sin(q[3]), 0.9, 0.15
        # [-s4, L2 c4, -L3] on (u1, u2, u3) of (59); u1 = c3 x' + s3 y', u3 = q3' + q4'
        turn = l2 * np.cos(q[3]) - l3
        return [-s * np.cos(q[2]), -s * np.sin(q[2]), turn, -l3]

    free = Together(rear, c.pfaffian(cart, caster))
    return {
        'disc': Case(disc, c.rolling_wheel(disc, 'spin', 0.26), *state(disc)),
        'drive': Case(
            drive, c.differential_drive(drive, 'left', 'right', DRIVE['r']), *state(drive)
        ),
        'cart, free caster': Case(cart, free, *state(cart)),
        'cart, sticking caster': Case(cart, Together(free, c.lock(cart, 'caster')), *state(cart)),
        'wrist on a plane': Case(
            ball, c.pfaffian(ball, lambda q, t: [np.cos(t), np.sin(t), 0.5]), *state(ball), 0.7
        ),
        **{name: CASES[name] for name in ('loop_planar', 'loop_spatial', 'floating_wheel')},
    }


SYSTEMS = {**{f'tree {seed}': random_case(seed) for seed in range(6)}, **examples()}


@cache
def problem(name):
    """Return M, Q, A, b and efforts of a system."""
    case = SYSTEMS[name]
    rows = rows_at(case)
    tau = np.random.default_rng(5).uniform(-3, 3, case.robot.nv)
    force = tau - kd.bias_force(case.robot, case.q, case.v)
    force = force - kd.friction_force(case.robot, case.v)
    return kd.mass_matrix(case.robot, case.q), force, rows.matrix, rows.acceleration, tau


def root(M, power):
    """Return a power of a symmetric positive matrix."""
    values, vectors = np.linalg.eigh(M)
    return (vectors * values**power) @ vectors.T


def pinv(matrix):
    return np.linalg.pinv(matrix, rcond=CUT)


def by_kkt(M, Q, A, b):
    k, n = A.shape
    system = np.block([[M, -A.T], [A, np.zeros((k, k))]])
    return np.linalg.lstsq(system, np.r_[Q, b], rcond=1e-12)[0][:n]


def by_udwadia_kalaba(M, Q, A, b):
    free = np.linalg.solve(M, Q)
    Q_c = root(M, 0.5) @ pinv(A @ root(M, -0.5)) @ (b - A @ free)  # Silva (62)
    return np.linalg.solve(M, Q + Q_c)


def by_projector(M, Q, A, b):
    D_plus = root(M, 0.5) @ pinv(A @ root(M, -0.5))
    omega = np.eye(len(M)) - D_plus @ A @ np.linalg.inv(M)  # Silva (63)
    return np.linalg.solve(M, omega @ Q + D_plus @ b)


def by_null_space(M, Q, A, b):
    B, some = scipy.linalg.null_space(A, rcond=CUT), pinv(A) @ b
    return some + B @ np.linalg.solve(B.T @ M @ B, B.T @ (Q - M @ some))  # Parsa (50)


def by_stacked_rows(M, Q, A, b):
    A_2 = scipy.linalg.null_space(A, rcond=CUT).T
    return np.linalg.lstsq(np.vstack([A, A_2 @ M]), np.r_[b, A_2 @ Q], rcond=1e-12)[0]


def by_canonical_form(M, Q, A, b):
    half, inverse_half = root(M, 0.5), root(M, -0.5)
    A_1 = A @ inverse_half
    A_2 = scipy.linalg.null_space(A, rcond=CUT).T @ half
    w_rate = pinv(A_1) @ b + pinv(A_2) @ A_2 @ inverse_half @ Q  # Bajodah and Chen (40), (44)
    return inverse_half @ w_rate


def by_quadratic_program(M, Q, A, b):
    rows = scipy.linalg.orth(A.T, rcond=CUT).T  # the solver wants independent rows
    right = rows @ (pinv(A) @ b)
    options = {'print_iter': False, 'print_header': False, 'error_on_fail': True}
    shapes = {'h': ca.Sparsity.dense(*M.shape), 'a': ca.Sparsity.dense(*rows.shape)}
    solver = ca.conic('gauss', 'qrqp', shapes, options)
    return solver(h=M, g=-Q, a=rows, lba=right, uba=right)['x'].full().ravel()  # Silva (31)


WAYS = {
    'KKT': by_kkt,
    'Silva (62)': by_udwadia_kalaba,
    'Silva (63)': by_projector,
    'Parsa (50)': by_null_space,
    'Roithmayr (9)': by_stacked_rows,
    'Bajodah and Chen (44)': by_canonical_form,
    'quadratic program': by_quadratic_program,
}


@cache
def expected(name):
    """Return the accelerations of the KKT system."""
    return by_kkt(*problem(name)[:4])


@pytest.mark.claim(28, 45)
@pytest.mark.parametrize('way', WAYS)
@pytest.mark.parametrize('name', SYSTEMS)
def test_every_way_gives_the_same_accelerations(name, way):
    M, Q, A, b, _ = problem(name)
    tolerance = QUADRATIC_PROGRAM if way == 'quadratic program' else SOLVED
    found = WAYS[way](M, Q, A, b)
    assert relative(found, expected(name)) < tolerance
    assert np.abs(A @ found - b).max() < tolerance * (1.0 + np.abs(b).max())


@pytest.mark.claim(45)
@pytest.mark.parametrize('method', METHODS)
@pytest.mark.parametrize('name', SYSTEMS)
def test_every_method_gives_these_accelerations(name, method):
    case, (M, Q, A, _, tau) = SYSTEMS[name], problem(name)
    motion = kd.forward_dynamics(
        case.robot, case.q, case.v, tau, (case.constraint,), method, time=case.t
    )
    assert relative(motion.acceleration, expected(name)) < SOLVED
    assert relative(motion.constraint_force, M @ motion.acceleration - Q) < SOLVED
    assert relative(A.T @ motion.multipliers, motion.constraint_force) < SOLVED
    assert motion.rank == np.linalg.matrix_rank(A, tol=1e-9)


@pytest.mark.claim(45)
@pytest.mark.parametrize('name', SYSTEMS)
def test_the_rows_matter(name):
    M, Q, A, _, _ = problem(name)
    free = np.linalg.solve(M, Q)
    assert relative(free, expected(name)) > 1e-3
    assert len(A) < len(M) or np.linalg.matrix_rank(A, tol=1e-9) < len(M)


def test_the_sticking_cart_is_that_of_the_paper():
    """(67) corrected: one speed is left, and its equivalent mass is known."""
    case = SYSTEMS['cart, sticking caster']
    _, _, A, _, _ = problem('cart, sticking caster')
    assert np.linalg.matrix_rank(A) == 3
    q = np.array([0.0, 0.0, 0.0, 0.6])
    k = 0.952497499
    v = np.array([1.1, 0.0, 1.1 * k, 0.0])
    tau = np.array([5.0, 0.0, 1.2, 0.0])
    motion = kd.forward_dynamics(case.robot, q, v, tau, (case.constraint,), 'nonminimal')
    assert_allclose(motion.acceleration[0], 0.221424922, rtol=0, atol=5.1e-10)
