# SPDX-License-Identifier: Apache-2.0
"""All methods of forward dynamics: one motion, and the quantities of each paper."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.rows import repeated_rows
from support.trees import random_state

import kane_dynamics as kd
from kane_dynamics.algorithms.independent_speeds import multiplier_motion, partition_speeds
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.exceptions import (
    InconsistentConstraintsError,
    InvalidInputError,
    SingularMassMatrixError,
)
from kane_dynamics.formulations import METHODS
from kane_dynamics.formulations.kane import canonical_motion, kane_motion, nonminimal_motion
from kane_dynamics.formulations.lagrange import lagrange_motion
from studies.random_robots import random_tree

CASES = range(12)
given = ConstraintRows.of


def problem(seed):
    """Return a random tree with random rows, one of them a combination of two others."""
    rng = np.random.default_rng(seed)
    base = ('fixed', 'planar', 'floating')[seed % 3]
    robot = random_tree(rng, base)
    q, v = random_state(robot, rng)[:2]
    constraint = repeated_rows(robot, rng)
    return robot, q, v, rng.normal(size=robot.nv), [constraint]


@pytest.mark.claim(15, 43, 45)
@pytest.mark.parametrize('seed', CASES)
@pytest.mark.parametrize('method', [name for name in METHODS if name != 'gauss'])
def test_methods_agree(seed, method):
    robot, q, v, tau, constraints = problem(seed)
    wrench = {robot.bodies[-1].name: [0.3, -0.2, 0.5, 1.0, -2.0, 0.7]}
    options = {'external_wrenches': wrench, 'time': 0.4}
    gauss = kd.forward_dynamics(robot, q, v, tau, constraints, **options)
    other = kd.forward_dynamics(robot, q, v, tau, constraints, method, **options)
    scale = np.abs(gauss.acceleration).max()
    # the condition of M (up to 1e4 here) times roundoff
    assert_allclose(other.acceleration, gauss.acceleration, rtol=0, atol=1e-9 * scale)
    force = np.abs(gauss.constraint_force).max()
    assert_allclose(other.constraint_force, gauss.constraint_force, rtol=0, atol=1e-9 * force)
    assert other.rank == gauss.rank == 2
    assert other.residual <= 1e-9 * scale


@pytest.mark.parametrize('method', METHODS)
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


@pytest.mark.claim(35, 38)
@pytest.mark.parametrize('seed', CASES)
def test_kane_recombines_active_and_inertia_forces(seed):
    mass, _, force, u, A, b0, b = matrices(seed)
    active, remainder = force + 0.3 * u, 0.3 * u
    solution = kane_motion(mass, active, remainder, u, given(A, b0, b))
    part, inertia = solution.partition, solution.inertia_force
    # (44)-(46): F~ = F_I + D' F_D, F~* = F*_I + D' F*_D and F~ + F~* = 0
    recombined = active[part.independent] + part.dependence.T @ active[part.dependent]
    assert_allclose(solution.reduced_active_force, recombined, rtol=0, atol=1e-12)
    recombined = inertia[part.independent] + part.dependence.T @ inertia[part.dependent]
    assert_allclose(solution.reduced_inertia_force, recombined, rtol=0, atol=1e-10)
    balance = solution.reduced_active_force + solution.reduced_inertia_force
    assert_allclose(balance, 0.0, atol=1e-10)
    assert_allclose(inertia, -(mass @ solution.u_rate + remainder), rtol=0, atol=1e-12)
    by_multipliers, multipliers = multiplier_motion(mass, force, given(A, b, b))
    assert_allclose(solution.u_rate, by_multipliers, rtol=0, atol=1e-10)
    assert_allclose(solution.multipliers, multipliers, rtol=0, atol=1e-9)


@pytest.mark.claim(38)
@pytest.mark.parametrize('seed', CASES)
def test_multipliers_solve_the_system_of_lagrange(seed):
    mass, _, force, _, A, b0, b = matrices(seed)
    lagrange = np.block([[mass, -A.T], [A, np.zeros((3, 3))]])
    expected = np.linalg.solve(lagrange, np.append(force, b))
    acceleration, multipliers = multiplier_motion(mass, force, given(A, b, b))
    assert_allclose(acceleration, expected[:6], rtol=0, atol=1e-10)
    assert_allclose(multipliers, expected[6:], rtol=0, atol=1e-9)


@pytest.mark.claim(32)
@pytest.mark.parametrize('seed', CASES)
def test_nonminimal_system_is_the_stack_of_roithmayr(seed):
    mass, _, force, u, A, b0, b = matrices(seed)
    solution = nonminimal_motion(mass, force, u, given(A, b0, b))
    part = solution.partition
    stack = np.vstack([part.rows, part.basis.T @ mass])
    assert_allclose(solution.system, stack, rtol=0, atol=1e-12)
    assert_allclose(stack @ solution.u_rate, solution.right_side, rtol=0, atol=1e-10)
    expected = multiplier_motion(mass, force, given(A, b, b))
    assert_allclose(solution.u_rate, expected[0], rtol=0, atol=1e-10)
    assert_allclose(solution.multipliers, expected[1], rtol=0, atol=1e-9)


@pytest.mark.claim(35, 36)
@pytest.mark.parametrize('seed', CASES)
def test_explicit_form_is_that_of_the_rows(seed):
    *_, v, A, b0, b = matrices(seed)
    part = partition_speeds(given(A, b0, b))
    assert_allclose(A @ part.basis, 0.0, atol=1e-11)  # Parsa (13)
    assert_allclose(part.rows @ part.basis, 0.0, atol=1e-12)  # A_1 A_2' = 0, (35)
    acceleration = part.basis @ v[part.independent]
    acceleration[part.dependent] += part.acceleration_offset
    assert_allclose(A @ acceleration, b, rtol=0, atol=1e-11)
    speeds = part.basis @ v[part.independent]
    speeds[part.dependent] += part.velocity_offset
    assert_allclose(speeds, v, rtol=0, atol=1e-11)  # v_D = D v_I + E, since A v = b0
    assert sorted([*part.independent, *part.dependent]) == list(range(6))


@pytest.mark.claim(36)
def test_dependent_speeds_are_never_singular():
    """Rows (1,1,1,1)/2 and (1,1,-1,-1)/2: picking columns 0 and 1 would be singular."""
    A = 0.5 * np.array([[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, -1.0, -1.0]])
    part = partition_speeds(given(A, np.zeros(2), np.zeros(2)))
    assert abs(np.linalg.det(A[:, part.dependent])) > 0.4


@pytest.mark.claim(44)
@pytest.mark.parametrize('seed', CASES)
def test_canonical_parts_are_orthogonal_and_the_deviation_is_least(seed):
    mass, rate, force, v, A, b0, b = matrices(seed)
    solution = canonical_motion(mass, rate, force, v, given(A, b0, b))
    assert abs(solution.constraint_part @ solution.momentum_part) < 1e-9
    w_rate = solution.constraint_part + solution.momentum_part
    assert_allclose(solution.w_rate, w_rate, rtol=0, atol=1e-12)
    free = np.linalg.solve(mass, force)
    gap = solution.u_rate - free
    assert_allclose(solution.deviation**2, gap @ mass @ gap, rtol=1e-9)  # (59)-(61)
    rng = np.random.default_rng(seed)
    for _ in range(20):  # Gauss (56): every other allowed acceleration deviates more
        other = gap + solution.partition.basis @ rng.normal(size=3)
        assert other @ mass @ other > solution.deviation**2


@pytest.mark.claim(43)
@pytest.mark.parametrize('seed', CASES)
def test_both_greville_solutions_meet_in_the_canonical_one(seed):
    """(25) with y1 = V2 and (31) with y2 = w': each free term is the other's fixed one."""
    mass, rate, force, v, A, b0, b = matrices(seed)
    s = canonical_motion(mass, rate, force, v, given(A, b0, b))
    A1, A2, one = s.scaled_constraint, s.scaled_tangent, np.eye(6)
    assert_allclose(A1 @ A2.T, 0.0, atol=1e-11)  # (35)
    P1, P2 = one - np.linalg.pinv(A1) @ A1, one - np.linalg.pinv(A2) @ A2  # (26), (33)
    assert_allclose(P1 + P2, one, rtol=0, atol=1e-11)
    assert_allclose(P1 @ s.V2, s.momentum_part, rtol=0, atol=1e-10)  # (39)
    assert_allclose(P2 @ s.w_rate, s.constraint_part, rtol=0, atol=1e-10)  # (43)
    assert_allclose(np.linalg.pinv(A1) @ s.V1, s.constraint_part, rtol=0, atol=1e-10)  # (25)
    assert_allclose(A1 @ s.w_rate, s.V1, rtol=0, atol=1e-10)  # (23)
    assert_allclose(A2 @ s.w_rate, A2 @ s.V2, rtol=0, atol=1e-10)  # (30)
    split = s.momentum_part + np.linalg.pinv(A1) @ (A1 @ s.V2)
    assert_allclose(s.V2, split, rtol=0, atol=1e-10)  # (52)
    deviation = np.linalg.pinv(A1) @ (A1 @ s.V2 - s.V1)
    assert_allclose(s.V2 - s.w_rate, deviation, rtol=0, atol=1e-10)  # (55)
    assert_allclose(s.w, s.root @ v, rtol=0, atol=1e-12)  # (18)
    assert_allclose(s.root @ s.root, mass, rtol=0, atol=1e-12)
    sylvester = s.root @ s.root_rate + s.root_rate @ s.root
    assert_allclose(sylvester, rate, rtol=0, atol=1e-12)


@pytest.mark.claim(43)
def test_the_root_rate_of_repeated_eigenvalues():
    """Q = 4 1 has one eigenvalue: d/dt Q^1/2 = dQ/dt / 4."""
    rate = np.array([[1.0, 0.3], [0.3, -2.0]])
    zero = np.zeros(2)
    s = canonical_motion(4.0 * np.eye(2), rate, zero, zero, given(np.zeros((0, 2)), [], []))
    assert_allclose(s.root_rate, rate / 4.0, rtol=1e-14)


@pytest.mark.claim(43)
@pytest.mark.parametrize('seed', CASES)
def test_canonical_speed_is_the_root_of_the_mass_matrix_times_v(seed):
    """wdot of (40) is the derivative of Q^1/2 v along a motion with dM/dt and vdot."""
    mass, rate, force, v, A, b0, b = matrices(seed)
    solution = canonical_motion(mass, rate, force, v, given(A, b0, b))

    def w(t):
        values, vectors = np.linalg.eigh(mass + t * rate)
        return (vectors * np.sqrt(values)) @ vectors.T @ (v + t * solution.u_rate)

    h = 1e-4
    slope = (8.0 * (w(h) - w(-h)) - (w(2 * h) - w(-2 * h))) / (12.0 * h)
    # order 4: h^4 = 1e-16; roundoff 1e-16 |w| / h
    assert_allclose(solution.w_rate, slope, rtol=0, atol=1e-9)


def massless():
    """Return two speeds that a row couples, the second without mass, and what else is needed."""
    return np.diag([2.0, 0.0]), np.array([3.0, 1.0]), given([[1.0, -1.0]], 0.0, 0.0)


SINGULAR_SOLVERS = {
    'kane': lambda M, f, rows: kane_motion(M, f, 0.0 * f, 0.0 * f, rows).u_rate,
    'nonminimal': lambda M, f, rows: nonminimal_motion(M, f, 0.0 * f, rows).u_rate,
    'multipliers': lambda M, f, rows: multiplier_motion(M, f, rows)[0],
    'lagrange': lambda M, f, rows: lagrange_motion([], M, 0.0 * f, f, rows).acceleration,
}


@pytest.mark.parametrize('solve', SINGULAR_SOLVERS.values(), ids=SINGULAR_SOLVERS)
def test_no_mass_is_needed_along_dependent_speeds(solve):
    """A massless speed that a constraint binds: (3 + 1)/2 for both; unbound it has none."""
    mass, force, rows = massless()
    assert_allclose(solve(mass, force, rows), [2.0, 2.0], rtol=1e-12)
    with pytest.raises(SingularMassMatrixError):
        solve(mass, force, given([[1.0, 0.0]], 0.0, 0.0))


def test_canonical_speeds_need_mass_everywhere():
    mass, force, rows = massless()
    with pytest.raises(SingularMassMatrixError):
        canonical_motion(mass, 0.0 * mass, force, np.zeros(2), rows)


def massless_arm():
    """Return a slender rod on a massless carriage: M is singular, a row binds the carriage."""
    rod = kd.Inertia(1.2, (0.4, 0.0, 0.0), np.diag([0.0, 0.064, 0.064]))  # no inertia along x
    bodies = [
        kd.Body('carriage', '', kd.Joint('slide', kd.Prismatic((0, 0, 1)))),
        kd.Body('spinner', 'carriage', kd.Joint('roll', kd.Revolute((1, 0, 0)))),
        kd.Body('rod', 'spinner', kd.Joint('swing', kd.Revolute((0, 1, 0))), inertia=rod),
    ]
    return kd.Robot('massless_arm', bodies)


@pytest.mark.claim(33)
@pytest.mark.parametrize('method', ['gibbs_appell', 'lagrange', 'kane', 'nonminimal'])
def test_slender_rods_and_massless_points_move_where_rows_bind_them(method):
    """At swing 0 the rod has no inertia about the roll axis; a row stops the roll."""
    robot, zero = massless_arm(), np.zeros(3)
    assert np.linalg.matrix_rank(kd.mass_matrix(robot, zero)) == 2
    rows = [kd.constraints.lock(robot, 'roll')]
    motion = kd.forward_dynamics(robot, zero, zero, [0.0, 0.5, 0.0], rows, method)
    # free fall of the whole: nothing holds the slide
    assert_allclose(motion.acceleration, [-9.81, 0.0, 0.0], atol=1e-10)
    assert_allclose(motion.multipliers, [-0.5], atol=1e-10)
    with pytest.raises(SingularMassMatrixError):
        kd.forward_dynamics(robot, zero, zero, zero, (), method)


@pytest.mark.parametrize('method', ['gauss', 'newton_euler', 'canonical'])
def test_the_other_methods_say_that_the_mass_matrix_is_singular(method):
    robot, zero = massless_arm(), np.zeros(3)
    with pytest.raises(SingularMassMatrixError):
        kd.forward_dynamics(robot, zero, zero, zero, [kd.constraints.lock(robot, 'roll')], method)


@pytest.mark.claim(36)
@pytest.mark.parametrize('method', METHODS)
def test_the_rank_of_the_rows_may_change_along_a_motion(method):
    """Two rows that are one at t = 0.5: the motion goes through, and the rank says so."""
    robot = kd.serial_chain(4)
    rng = np.random.default_rng(5)
    q, v, tau = rng.uniform(-1, 1, 4), rng.uniform(-1, 1, 4), rng.uniform(-1, 1, 4)
    first, second = rng.normal(size=(2, 4))
    A = lambda q, t: np.array([first, first + (t - 0.5) ** 2 * second])  # noqa: E731
    constraint = kd.constraints.pfaffian(robot, A)
    ranks = []
    for t in (0.4, 0.49, 0.5, 0.51, 0.6):  # 1e-2, 1e-4 and 0 apart
        # speeds that satisfy both rows: their rates then agree at t = 0.5, too
        basis = np.linalg.svd(np.vstack([first, second]))[2][2:]
        allowed = basis.T @ (basis @ v)
        motion = kd.forward_dynamics(robot, q, allowed, tau, [constraint], method, time=t)
        reference = kd.forward_dynamics(robot, q, allowed, tau, [constraint], time=t)
        ranks.append(motion.rank)
        scale = np.abs(reference.acceleration).max()
        # rows 1e-2 apart: the second one is known to 1e-16/1e-2
        assert_allclose(motion.acceleration, reference.acceleration, rtol=0, atol=1e-8 * scale)
        force = np.abs(reference.constraint_force).max()
        assert_allclose(motion.constraint_force, reference.constraint_force, atol=1e-8 * force)
    assert ranks == [2, 1, 1, 1, 2]


@pytest.mark.claim(16)
def test_details_of_gauss():
    robot, q, v, tau, constraints = problem(2)
    motion = kd.forward_dynamics(robot, q, v, tau, constraints, time=0.4)
    found, M = motion.details, kd.mass_matrix(robot, q)
    force = tau - kd.bias_force(robot, q, v) - kd.friction_force(robot, v)
    assert_allclose(M @ found.free_acceleration, force, rtol=0, atol=1e-9)
    assert_allclose(found.omega @ found.omega, found.omega, atol=1e-9)  # a projector
    rows = kd.constraints.ConstraintSet(robot, constraints).rows(q.tolist(), v.tolist(), 0.4)
    assert_allclose(rows.matrix @ np.linalg.solve(M, found.omega), 0.0, atol=1e-9)
    # (63): M vdot = Omega Q + L D+ b
    L = np.linalg.cholesky(M)
    pull = L @ np.linalg.pinv(found.scaled_rows, rcond=1e-9) @ rows.acceleration
    assert_allclose(M @ motion.acceleration, found.omega @ force + pull, rtol=0, atol=1e-8)
    gap = motion.acceleration - found.free_acceleration
    assert_allclose(found.gauss_excess, 0.5 * gap @ M @ gap, rtol=1e-9)


@pytest.mark.claim(9, 15)
def test_details_of_newton_euler_and_gibbs_appell():
    robot, q, v, tau, constraints = problem(1)
    found = kd.forward_dynamics(robot, q, v, tau, constraints, 'newton_euler', time=0.4).details
    assert found.runs == robot.nv + 2
    assert_allclose(found.mass_matrix, kd.mass_matrix(robot, q), rtol=0, atol=1e-11)
    assert_allclose(found.gravity_force, kd.gravity_force(robot, q), rtol=0, atol=1e-11)
    velocity_force = kd.coriolis_matrix(robot, q, v) @ v
    assert_allclose(found.velocity_force, velocity_force, rtol=0, atol=1e-10)
    motion = kd.forward_dynamics(robot, q, v, tau, constraints, 'gibbs_appell', time=0.4)
    active = motion.details.active_force + motion.constraint_force
    assert_allclose(motion.details.gradient, active, rtol=0, atol=1e-9)
    expected = tau - kd.gravity_force(robot, q) - kd.friction_force(robot, v)
    assert_allclose(motion.details.active_force, expected, rtol=0, atol=1e-11)


@pytest.mark.claim(36)
@pytest.mark.parametrize('method', METHODS)
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
    with pytest.raises(InvalidInputError, match="'gauss'.*'kane'.*'canonical'"):
        kd.forward_dynamics(robot, q, v, tau, method='hamilton')
