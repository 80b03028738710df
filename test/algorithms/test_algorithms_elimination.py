# SPDX-License-Identifier: Apache-2.0
"""The forms that kernels trace, on numbers: composite inertias and elimination on the tree."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.calculus import relative
from support.constraint_cases import CASES, rows_at
from support.trees import dense, tree_and_state, tree_params

import kane_dynamics as kd
from kane_dynamics.algorithms.constrained_solve import ConstrainedSystem
from kane_dynamics.algorithms.mass_matrix import CompositeInertia, composite_mass_matrix
from kane_dynamics.algorithms.row_elimination import ROW_WEIGHT, SparseRows, eliminate, sparse_rows
from kane_dynamics.algorithms.sparse_ldl import factor_tree, symmetric_product
from studies.random_robots import random_inertia, random_pose

ROUNDOFF = 1e-12  # see test_algorithms_equation_of_motion
SOLVED = 1e-9  # roundoff times the condition of M, at most 1e4


@pytest.fixture(params=tree_params())
def case(request):
    """Return a robot with a state and its sparse mass matrix."""
    robot, q, v, a = tree_and_state(*request.param)
    return robot, q, v, a, composite_mass_matrix(robot, q.tolist())


def test_composite_mass_matrix_is_that_of_gauss(case):
    robot, q, _, _, lower = case
    assert relative(dense(lower), kd.mass_matrix(robot, q)) < ROUNDOFF


def test_no_entry_between_branches(case):
    robot, _, _, _, lower = case
    column_of = [set() for _ in range(robot.nv)]  # the bodies that each speed moves
    for i in range(len(robot.bodies)):
        for carrier in robot.ancestors(i):
            for k in range(*robot.indices[carrier].v.indices(robot.nv)):
                column_of[k].add(i)
    for k, row in enumerate(lower):
        for j in row:
            assert j <= k
            assert column_of[k] & column_of[j]


def test_factor_solves_and_multiplies(case):
    robot, q, v, a, lower = case
    M, factor = kd.mass_matrix(robot, q), factor_tree(lower)
    assert relative(factor.solve(a), np.linalg.solve(M, a)) < SOLVED
    assert relative(symmetric_product(lower, v), M @ v) < ROUNDOFF
    L = np.eye(robot.nv)
    for k, row in enumerate(factor.rows):
        L[k, list(row)] = list(row.values())
    assert relative(L.T @ np.diag(factor.pivots) @ L, M) < ROUNDOFF
    assert relative(factor.solve_upper(v), np.linalg.solve(L.T, v)) < SOLVED
    assert relative(factor.solve_lower(v), np.linalg.solve(L, v)) < SOLVED
    assert 0.0 < factor.rcond <= 1.0
    assert factor.rcond == pytest.approx((np.array(factor.pivots) / np.diag(M)).min())


@pytest.mark.parametrize(
    'name', ['differential_drive', 'leaning_disc', 'loop_spatial', 'pfaffian']
)
def test_solve_is_that_of_udwadia_and_kalaba(name):
    case = CASES[name]
    robot, q, v = case.robot, case.q, case.v
    tau = np.random.default_rng(6).uniform(-2, 2, robot.nv)
    motion = kd.forward_dynamics(robot, q, v, tau, (case.constraint,), time=case.t)
    rows = rows_at(case)
    force = tau - kd.bias_force(robot, q, v) - kd.friction_force(robot, v)
    sparse = [{k: x for k, x in enumerate(row) if x} for row in rows.matrix.tolist()]
    factor = factor_tree(composite_mass_matrix(robot, q.tolist()))
    found = ConstrainedSystem(factor, SparseRows.of(sparse)).solve(
        force.tolist(), rows.acceleration.tolist()
    )
    assert relative(found.x, motion.acceleration) < SOLVED
    assert relative(found.multipliers, motion.multipliers) < SOLVED
    assert 1e-6 < found.rcond <= 1.0
    free = ConstrainedSystem(factor, SparseRows.of([])).solve(force.tolist(), [])
    expected = kd.forward_dynamics(robot, q, v, tau).acceleration
    assert relative(free.x, expected) < SOLVED
    assert (free.multipliers, free.rcond) == ([], factor.rcond)


def test_health_is_the_squared_sine_between_rows():
    angle = 1e-2
    rows = np.array([[1.0, 0.0, 0.0], [np.cos(angle), np.sin(angle), 0.0]])
    gram = (rows @ rows.T).tolist()
    system = SparseRows.of([dict(enumerate(row)) for row in rows])
    found = eliminate(system, [gram[0][:1], gram[1]])
    assert found.rcond == pytest.approx(ROW_WEIGHT * np.sin(angle) ** 2, rel=1e-10)
    x = found.factors.solve([1.0, 2.0])
    assert_allclose(x, np.linalg.solve(rows @ rows.T, [1.0, 2.0]), rtol=1e-10)


@pytest.mark.parametrize('row', [0.0, 1e-16])
def test_row_of_roundoff_has_no_health(row):
    # the caller must go to the reference; what is returned is finite at least
    rows = [{0: 1.0}, {1: row}]
    system = SparseRows(rows, kinds=(0, 0), owners=(0, 0), order=(0, 1))
    found = eliminate(system, [[2.0], [0.0, row**2]])
    assert found.rcond < 1e-30
    assert np.isfinite(found.factors.solve([1.0, 0.0])).all()


@pytest.mark.parametrize(
    ('turn', 'asked', 'healthy'),
    [
        (1e-9, 2.0, True),  # a repeated row that holds
        (1e-4, 2.0, True),  # one that drift has turned: the rule drops it here too
        (2e-3, 2.0, False),  # one that the rule takes here
        (1e-9, 2.2, False),  # one that contradicts
    ],
)
def test_repeated_row_is_let_go_where_the_rule_drops_it(turn, asked, healthy):
    identity = factor_tree([{0: 1.0}, {1: 1.0}])
    rows = [{0: 1.0}, {0: 2.0 * np.cos(turn), 1: 2.0 * np.sin(turn)}]
    system = SparseRows(rows, kinds=(0, 1), owners=(0, 1), order=(0,), repeated=(1,))
    found = ConstrainedSystem(identity, system).solve([0.0, 3.0], [1.0, asked])
    assert (found.rcond > 1e-6) == healthy
    assert (found.multipliers[1], found.rank) == (0.0, 1.0)
    assert_allclose(found.x, [1.0, 3.0], rtol=1e-15)


@pytest.mark.parametrize('turn', [0.0, 1e-4, 5e-3, 0.3, 1.5])
def test_the_stronger_choice_of_rows_is_solved_for(turn):
    # three rows for two speeds; the first and the second come to repeat each other, the third not
    identity = factor_tree([{0: 1.0}, {1: 1.0}, {2: 1.0}])
    rows = [{0: 1.0}, {0: np.cos(turn), 1: np.sin(turn)}, {1: 1.0}]
    x = np.array([1.0, -2.0, 3.0])
    sides = [1.0, x[0] * np.cos(turn) + x[1] * np.sin(turn), -2.0]
    each = (0, 1, 2)
    system = SparseRows(rows, each, each, order=(0, 1), repeated=(2,), second=(0, 2))
    first, other = (
        ConstrainedSystem(identity, choice).solve([0.5, 0.5, 3.0], sides)
        for choice in system.choices
    )
    found = ConstrainedSystem(identity, system).solve([0.5, 0.5, 3.0], sides)
    assert first.rcond == pytest.approx(ROW_WEIGHT * np.sin(turn) ** 2 * (turn > 3e-3))
    assert found.rcond == other.rcond == ROW_WEIGHT
    assert_allclose(found.x, x, rtol=1e-14)
    assert_allclose(found.multipliers, [0.5, 0.0, -2.5], rtol=1e-14)
    assert (found.rank, found.dropped) == (2.0, [0.0, 1.0, 0.0])
    turned = SparseRows(rows, each, each, order=(0, 2), repeated=(1,), second=(0, 1))
    back = ConstrainedSystem(identity, turned).solve([0.5, 0.5, 3.0], sides)
    assert_allclose(back.x, x, rtol=1e-14)
    assert back.rcond == ROW_WEIGHT


@pytest.mark.parametrize(('inertia', 'entry'), [(1.0, 0.01), (1e4, 0.01), (1e-10, 1e-4)])
def test_repeated_row_is_measured_in_both_metrics(inertia, entry):
    # strong in both, in SI units alone, in the metric of M^-1 alone: the reference decides
    rows = [{0: 1.0}, {0: 1.0, 1: entry}]
    system = SparseRows(rows, kinds=(0, 1), owners=(0, 1), order=(0,), repeated=(1,))
    heavy = factor_tree([{0: 1.0}, {1: inertia}])
    assert ConstrainedSystem(heavy, system).solve([0.0, inertia], [1.0, 1.0]).rcond == 0.0


def test_composite_inertia_against_welding():
    rng = np.random.default_rng(2)
    one, two, x_B_A = random_inertia(rng), random_inertia(rng), random_pose(rng)
    welded = CompositeInertia.of_body(one).moved(x_B_A) + CompositeInertia.of_body(two)
    expected = CompositeInertia.of_body(one.moved(x_B_A) + two)
    assert welded.mass == pytest.approx(expected.mass)
    for ours, other in (
        (welded.moment, expected.moment),
        *zip(welded.tensor, expected.tensor, strict=True),
    ):
        assert_allclose((ours.x, ours.y, ours.z), (other.x, other.y, other.z), rtol=0, atol=1e-14)


@pytest.mark.parametrize(('third', 'sure'), [((1.0, 0.0), False), ((0.0, 0.0), True)])
def test_a_weak_row_beside_one_that_repeats_or_is_none(third, sure):
    """Another order may drop another row; a row of zeros is dropped in any."""
    A = np.array([[1.0, 0.0], [np.cos(0.05), np.sin(0.05)], third])
    own = (0, 1, 2)
    system = SparseRows(sparse_rows(A), own, own, own, (), certain=False)
    found = eliminate(system, [(A @ A.T)[k, : k + 1].tolist() for k in own])
    assert found.dropped == [0.0, 0.0, 1.0]
    assert (found.rcond > 0.0) == sure
