# SPDX-License-Identifier: Apache-2.0
"""Solves that keep the zeros of the tree against dense ones, their health, and their fill-in."""

import casadi as ca
import numpy as np
import pytest
from kernel_cases import CASES, error
from support.rows import solved
from support.trees import BASES, tree_and_state
from test_compiler_composite_inertia import dense, two_arms

from kane_dynamics.algorithms.constrained_solve import ConstrainedSystem
from kane_dynamics.algorithms.mass_matrix import composite_mass_matrix
from kane_dynamics.algorithms.row_elimination import ROW_WEIGHT, SparseRows, eliminate, sparse_rows
from kane_dynamics.algorithms.sparse_ldl import factor_tree, smaller, symmetric_product
from kane_dynamics.compiler.graphs.trace import Tracer
from kane_dynamics.constraints.row_selection import TAKEN

# Solves of matrices with condition numbers of 1e3 and below.
SOLVES = 1e-12


@pytest.fixture(params=range(6))
def tree(request):
    """Return the lower triangle and the dense M of a random tree."""
    robot, q, *_ = tree_and_state(request.param, BASES[request.param % 3])
    lower = composite_mass_matrix(robot, q.tolist())
    return lower, dense(lower)


def triangle(M):
    """Return the lower triangle of a dense matrix as rows of nonzeros."""
    return [{j: float(row[j]) for j in range(k + 1) if row[j]} for k, row in enumerate(M)]


class TestFactorTree:
    """M = L' D L."""

    def test_factors_multiply_to_the_matrix(self, tree):
        lower, M = tree
        factor = factor_tree(lower)
        L = np.eye(len(M))
        for k, row in enumerate(factor.rows):
            assert all(j < k for j in row)
            for j, entry in row.items():
                L[k, j] = entry
        assert error(L.T @ np.diag(factor.pivots) @ L, M) < 1e-14
        assert min(factor.pivots) > 0.0

    def test_solves(self, tree, rng):
        lower, M = tree
        factor, x = factor_tree(lower), rng.normal(size=len(M))
        assert error(np.array(factor.solve(x.tolist())), np.linalg.solve(M, x)) < SOLVES
        upper, low = factor.solve_upper(x.tolist()), factor.solve_lower(x.tolist())
        # x' M^-1 x = y' D^-1 y with y = L'^-1 x, and L L^-1 x = x
        y = np.array(upper)
        assert x @ np.linalg.solve(M, x) == pytest.approx(y @ (y / factor.pivots), rel=1e-11)
        again = [
            low[k] + sum(entry * low[j] for j, entry in row.items())
            for k, row in enumerate(factor.rows)
        ]
        assert error(np.array(again), x) < SOLVES

    def test_product(self, tree, rng):
        lower, M = tree
        x = rng.normal(size=len(M))
        assert error(np.array(symmetric_product(lower, x.tolist())), M @ x) < 1e-14

    def test_input_is_not_written(self, tree):
        lower, _ = tree
        before = [dict(row) for row in lower]
        factor_tree(lower)
        assert lower == before

    def test_pivots_and_health_by_schur_complements(self, rng):
        A = rng.normal(size=(5, 5))
        M = A @ A.T + 0.1 * np.eye(5)
        factor, left = factor_tree(triangle(M)), M
        for k in (4, 3, 2, 1, 0):
            assert factor.pivots[k] == pytest.approx(left[k, k])
            left = left[:k, :k] - np.outer(left[k, :k], left[k, :k]) / left[k, k]
        assert factor.rcond == pytest.approx((np.array(factor.pivots) / np.diag(M)).min())
        assert factor.rcond < 0.5

    def test_health_of_two_coupled_masses(self):
        # [[1, c], [c, 1]]: eliminating the second leaves 1 - c^2
        for c in (0.0, 0.5, 0.9999):
            assert factor_tree([{0: 1.0}, {0: c, 1: 1.0}]).rcond == pytest.approx(1 - c * c)

    def test_singular_matrices_are_ill(self):
        assert factor_tree([{0: 0.0}]).rcond == 0.0
        assert factor_tree([{0: 1.0}, {1: 0.0}]).rcond == 0.0
        assert factor_tree([{0: 1.0}, {0: 1.0, 1: 1.0}]).rcond == 0.0
        assert factor_tree([{0: 1.0}, {0: 2.0, 1: 1.0}]).rcond < 0.0

    @pytest.mark.parametrize('make', [two_arms, lambda: CASES['massless']().robot])
    def test_no_fill_in_for_trees(self, make, rng):
        robot = make()
        lower = composite_mass_matrix(robot, rng.uniform(-1, 1, robot.nv).tolist())
        for row, factor in zip(lower, factor_tree(lower).rows, strict=True):
            assert set(factor) == set(row) - {max(row)}

    @pytest.mark.parametrize('seed', range(6))
    def test_random_trees_fill_in_within_a_path(self, seed):
        # joints of several speeds have zeros of their own, which may fill in; branches never do
        robot, q, *_ = tree_and_state(seed, BASES[seed % 3], mimic=False)
        factor = factor_tree(composite_mass_matrix(robot, q.tolist()))
        for body, index in enumerate(robot.indices):
            path = {
                k
                for ancestor in robot.ancestors(body)
                for k in range(*robot.indices[ancestor].v.indices(robot.nv))
            }
            for k in range(*index.v.indices(robot.nv)):
                assert set(factor.rows[k]) <= path - set(range(k, robot.nv))


def test_number_of_operations_grows_with_the_branches_not_with_the_cube():
    # two arms of two hinges on one need less than one arm of five
    chain = [{j: ca.SX.sym(f'm{k}{j}') for j in range(k + 1)} for k in range(5)]
    paths = [{0}, {0, 1}, {0, 1, 2}, {0, 3}, {0, 3, 4}]
    branched = [{j: chain[k][j] for j in path} for k, path in enumerate(paths)]
    x = [ca.SX.sym(f'x{k}') for k in range(5)]

    def operations(lower):
        entries = [entry for row in lower for entry in row.values()]
        return ca.Function('f', [*entries, *x], factor_tree(lower).solve(x)).n_instructions()

    assert operations(branched) < 0.75 * operations(chain)


def solve_symmetric(lower, right_side):
    """Return x of a Gram matrix, each row alone in its kind, and the smallest squared strength."""
    rows = SparseRows.of([{k: 1.0} for k in range(len(lower))])
    found = eliminate(rows, lower)
    return found.factors.solve(right_side), found.rcond / ROW_WEIGHT


class TestSolveSymmetric:
    """Dense, small, positive definite."""

    @pytest.mark.parametrize('size', [0, 1, 2, 5])
    def test_solves(self, size, rng):
        B = rng.normal(size=(size, size + 2))
        S, b = B @ B.T, rng.normal(size=size)
        lower = [S[k, : k + 1].tolist() for k in range(size)]
        x, rcond = solve_symmetric(lower, b.tolist())
        assert error(np.array(x), np.linalg.solve(S, b)) < SOLVES
        pivots = np.diag(np.linalg.cholesky(S)) ** 2 if size else np.ones(1)
        expected = (pivots / np.diag(S)).min() if size else 1.0
        assert rcond == pytest.approx(expected, rel=1e-10)

    @pytest.mark.parametrize('angle', [1.5, 0.5, 1e-2, 1e-4])
    @pytest.mark.parametrize('scale', [1.0, 1e-5, 1e6])
    def test_health_of_two_rows_is_the_squared_sine(self, angle, scale):
        rows = np.array([[1.0, 0.0], [np.cos(angle), np.sin(angle)]]) * [[1.0], [scale]]
        gram = rows @ rows.T
        _, rcond = solve_symmetric([[gram[0, 0]], gram[1].tolist()], [0.0, 0.0])
        # the Gram matrix has 1e-16 of roundoff; below 1e-3 the row might not be taken
        expected = np.sin(angle) ** 2 if angle > TAKEN else 0.0
        assert rcond == pytest.approx(expected, rel=1e-6, abs=1e-15)

    def test_same_row_twice(self):
        _, rcond = solve_symmetric([[2.0], [2.0, 2.0]], [1.0, 1.0])
        assert rcond == 0.0

    @pytest.mark.parametrize('size', [0.0, 1e-300])
    @pytest.mark.parametrize('place', [0, 1, 2])
    def test_a_row_that_vanishes_is_ill(self, place, size):
        """Regression: 0/0 is NaN, and NaN was no small pivot; a square of 1e-280 is none."""
        gram = np.diag([1.0, 2.0, 3.0])
        gram[place, place] = size
        lower = [gram[k, : k + 1].tolist() for k in range(3)]
        assert solve_symmetric(lower, [0.0, 0.0, 0.0])[1] == 0.0

    def test_traced_rows_that_vanish_are_ill(self):
        g, h, b = ca.SX.sym('g'), ca.SX.sym('h'), ca.SX.sym('b')
        x, rcond = solve_symmetric([[g], [0.5 * g, h]], [b, b])
        function = ca.Function('f', [g, h, b], [*x, rcond])
        assert float(function(0.0, 0.0, 0.0)[2]) == 0.0
        assert float(function(0.0, 2.0, 1.0)[2]) == 0.0
        assert float(function(2.0, 2.0, 1.0)[2]) == 0.75
        assert float(function(2.0, np.nan, 1.0)[2]) == 1.0

    def test_rows_in_other_units_are_well(self):
        # rows in mm and tonnes: their squares are 1e-12 apart
        x, rcond = solve_symmetric([[1.0], [0.0, 1e-12]], [3.0, 4e-12])
        assert rcond == 1.0
        assert x == [3.0, 4.0]

    def test_not_a_number_is_not_ill(self):
        # it must come out as NaN, not go to the reference, which refuses it
        for lower in ([[np.nan]], [[1.0], [np.nan, 1.0]], [[1.0], [0.5, np.nan]]):
            x, rcond = solve_symmetric(lower, [1.0] * len(lower))
            assert np.isnan(x).any()
            assert rcond > 1e-3


def test_smaller():
    assert smaller(2.0, 1.0) == 1.0
    assert smaller(1.0, 2.0) == 1.0
    assert smaller(1.0, np.nan) == 1.0


@pytest.mark.parametrize('seed', range(6))
@pytest.mark.parametrize('count', [0, 1, 4])
def test_constrained_acceleration_against_the_reference(seed, count, rng):
    robot, q, *_ = tree_and_state(seed, BASES[seed % 3])
    lower = composite_mass_matrix(robot, q.tolist())
    M = dense(lower)
    A, b = rng.normal(size=(count, robot.nv)), rng.normal(size=count)
    A[:, ::3] = 0.0
    force = rng.normal(size=robot.nv)
    expected = solved(M, force, A, np.zeros(count), b)
    found = ConstrainedSystem(factor_tree(lower), SparseRows.of(sparse_rows(A))).solve(
        force.tolist(), b.tolist()
    )
    assert error(np.array(found.x), expected.acceleration) < 1e-11
    assert error(np.array(found.multipliers), expected.multipliers) < 1e-11
    assert found.rcond > 1e-6
    assert error(A @ found.x, b) < 1e-11


def test_rows_with_a_small_angle_count_a_hundredth():
    # the reference takes over below 1e-6, for rows at sin^2 = 1e-4
    identity = factor_tree([{0: 1.0}, {1: 1.0}, {2: 1.0}])
    rows = [{0: 1.0}, {0: np.cos(0.01), 1: np.sin(0.01)}]
    both, first, none = (SparseRows.of(rows[:count]) for count in (2, 1, 0))
    rcond = ConstrainedSystem(identity, both).solve([0.0] * 3, [0.0, 0.0]).rcond
    assert rcond == pytest.approx(1e-6, rel=1e-4)
    rcond = ConstrainedSystem(identity, first).solve([0.0] * 3, [0.0]).rcond
    assert rcond == 0.01
    stiff = factor_tree([{0: 1.0}, {0: 1.0, 1: 1.0 + 1e-8}, {2: 1.0}])
    for system in (none, first):
        sides = [0.0] * len(system.rows)
        rcond = ConstrainedSystem(stiff, system).solve([0.0] * 3, sides).rcond
        assert rcond == pytest.approx(1e-8, rel=1e-6)


def test_traced_solve_without_constraints_has_the_zeros_of_the_tree():
    # the other arm takes no part in what tau of one arm's tip does to that tip
    robot = two_arms()
    spec = Tracer(robot, (), ()).forward_dynamics()
    assert spec.function.n_instructions() < 1500
    q = np.array([0.3, 0.4, -0.5, 0.6, 0.7])
    *_, rcond = spec.function(q, np.zeros(5), np.ones(5))
    lower = composite_mass_matrix(robot, q.tolist())
    assert float(rcond) == pytest.approx(factor_tree(lower).rcond, rel=1e-12)
