# SPDX-License-Identifier: Apache-2.0
"""The nearest point under rows and bounds: examples by hand, and another QP solver."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kane_dynamics.algorithms.least_distance import nearest_above, nonnegative_least_squares
from kane_dynamics.exceptions import ContactError

EXACT = 1e-13  # roundoff of numbers of size 1 to 30
SOLVED = 1e-8  # of quadprog, with condition numbers up to 1e4


def nearest(M, free, C, d):
    factor, n = np.linalg.cholesky(np.array(M, dtype=float)), len(M)
    bounds = np.array(C, dtype=float), np.array(d, dtype=float)
    return nearest_above(factor, np.zeros((0, n)), np.array(free), np.zeros(0), *bounds)


@pytest.mark.claim(21)
@pytest.mark.parametrize(
    ('M', 'free', 'C', 'd', 'x', 'pushes'),
    [
        # a bound that the free point keeps becomes active
        ([[2, 1], [1, 2]], [-1, 0.2], np.eye(2), [0, 0], [0, 0], [1.8, 0.6]),
        # a bound that the free point breaks does not
        ([[2, -1], [-1, 2]], [-1, -0.2], np.eye(2), [0, 0], [0, 0.3], [1.5, 0]),
        (
            np.diag([1, 2, 4]),
            [-1, 1, -2],
            [[1, 0, 0], [-1, -1, 0], [0, -1, 1]],
            [0, -1, 0],
            [0, -1, -1],
            [1, 0, 4],
        ),
    ],
)
def test_examples_by_hand(M, free, C, d, x, pushes):
    found = nearest(M, free, C, d)
    assert_allclose(found.x, x, rtol=0, atol=EXACT)
    assert_allclose(found.pushes, pushes, rtol=0, atol=EXACT)
    assert found.active.tolist() == np.flatnonzero(pushes).tolist()


@pytest.mark.claim(21)
@pytest.mark.parametrize(
    ('M', 'free', 'C'),
    [
        # a particle in a corner of three walls, of which two would do
        (2.0 * np.eye(2), [3.0, -9.81], [[0, 1], [-0.5, 0.75**0.5], [-1, 0]]),
        # a beam on three supports
        (np.diag([3.0, 0.5]), [-9.81, 0.0], [[1, -0.4], [1, 0.1], [1, 0.6]]),
    ],
)
def test_bounds_that_share_a_force(M, free, C):
    found = nearest(M, free, C, np.zeros(3))
    assert_allclose(found.x, 0.0, rtol=0, atol=EXACT)
    assert_allclose(np.array(C).T @ found.pushes, -M @ np.array(free), rtol=0, atol=EXACT)
    assert (found.pushes >= 0.0).all()
    assert len(found.active) <= 2  # independent ones


@pytest.mark.claim(21)
def test_bounds_that_contradict_each_other():
    found = nearest(np.eye(1), [0.0], [[1.0], [-1.0]], [1.0, 0.0])
    assert found.conflict.tolist() == [0, 1]
    assert np.isnan(found.x).all()
    # a third that has no part in it is not named
    found = nearest(np.eye(2), [0.0, 0.0], [[1, 0], [0, 1], [-1, 0]], [1.0, 5.0, 0.0])
    assert found.conflict.tolist() == [0, 2]


def test_a_bound_that_the_rows_hold():
    rows = np.array([[1.0, 0.0]])
    for side, conflict in ((0.9, []), (1.1, [0])):
        found = nearest_above(
            np.eye(2), rows, np.array([5.0, 5.0]), np.ones(1), 2.0 * rows, np.array([2.0 * side])
        )
        assert found.conflict.tolist() == conflict
    assert found.active.size == 0
    # beside one that pushes
    both, sides = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0.5, 7.0])
    found = nearest_above(np.eye(2), rows, np.array([5.0, 5.0]), np.ones(1), both, sides)
    assert_allclose(found.x, [1.0, 7.0], rtol=0, atol=EXACT)
    assert_allclose(found.pushes, [0.0, 2.0], rtol=0, atol=EXACT)


def test_bounds_that_meet_from_both_sides():
    found = nearest(np.eye(2), [0.3, 0.7], [[1, 1], [-1, -1]], [3.0, -3.0])
    assert_allclose(found.x, [1.3, 1.7], rtol=0, atol=EXACT)
    assert_allclose(found.pushes, [1.0, 0.0], rtol=0, atol=EXACT)


def random_problem(seed):
    """Return M, rows, bounds and a free point; every third problem may have no solution."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 14))
    m, k = int(rng.integers(0, n)), int(rng.integers(1, 2 * n))
    root = rng.normal(size=(n, n))
    M, A, C = root @ root.T + 0.05 * np.eye(n), rng.normal(size=(m, n)), rng.normal(size=(k, n))
    inside, free = rng.normal(size=(2, n))
    d = C @ inside - rng.uniform(0.0, 1.0, k) ** 4  # some nearly hold with equality
    if seed % 3 == 0:
        d = rng.normal(size=k)
    return M, A, A @ inside, C, d, free


@pytest.mark.oracle
@pytest.mark.claim(21)
def test_five_hundred_random_problems_against_quadprog():
    quadprog = pytest.importorskip('quadprog', reason='pip install .[oracle]')
    solved = 0
    for seed in range(500):
        M, A, c, C, d, free = random_problem(seed)
        found = nearest_above(np.linalg.cholesky(M), A, free, c, C, d)
        try:
            expected = quadprog.solve_qp(M, M @ free, np.vstack([A, C]).T, np.r_[c, d], len(A))
        except ValueError:
            assert found.conflict.size
            chosen = C[found.conflict], d[found.conflict]
            with pytest.raises(ValueError, match='inconsistent'):  # these alone contradict too
                quadprog.solve_qp(
                    M, M @ free, np.vstack([A, chosen[0]]).T, np.r_[c, chosen[1]], len(A)
                )
            continue
        solved += 1
        assert not found.conflict.size, seed
        assert_allclose(found.x, expected[0], rtol=0, atol=SOLVED)
        gap = C @ found.x - d
        assert gap.min() > -SOLVED
        assert_allclose(A @ found.x, c, rtol=0, atol=SOLVED)
        force = A.T @ found.multipliers + C.T @ found.pushes
        assert_allclose(M @ (found.x - free), force, rtol=0, atol=SOLVED * (1 + abs(force).max()))
        assert (found.pushes >= 0.0).all()
        assert np.abs(gap[found.active]).max(initial=0.0) < SOLVED
        assert not np.delete(found.pushes, found.active).any()
    assert 350 < solved < 480


def test_pushes_that_do_not_settle_are_told(monkeypatch):
    def gives_up(*_, maxiter):
        raise RuntimeError(f'Maximum number of iterations reached: {maxiter}')

    monkeypatch.setattr('scipy.optimize.nnls', gives_up)
    with pytest.raises(ContactError, match='which of 2 contacts push does not settle in 300'):
        nearest(np.eye(2), [-1.0, -1.0], [[1, 0], [1, 0]], [0.0, 0.0])  # one repeats the other


def test_nothing_to_push_with():
    """SciPy's solver of nonnegative least squares breaks the memory there."""
    x, residual = nonnegative_least_squares(np.zeros((2, 0)), np.array([3.0, -4.0]))
    assert (x.shape, residual) == ((0,), 5.0)


@pytest.mark.parametrize('apart', [1e-2, 1e-4, 1e-6])
def test_bounds_that_nearly_repeat_are_met_to_roundoff(apart):
    """Regression: large pushes that nearly cancel left 1e-6 of what was missed."""
    C, corner = np.array([[1.0, apart], [-1.0, apart]]), np.array([0.1, 1.0])
    result = nearest(np.eye(2), [0.1, 0.0], C, C @ corner)
    assert result.active.size == 2
    assert (C @ result.x >= C @ corner - EXACT * max(apart, 1e-3)).all()


def test_slack_of_other_bounds_loosens_none():
    """Regression: bounds were kept to 1e-9 of the largest slack."""
    for slack in (1e3, 1e10, 1e20, 1e300):
        result = nearest(np.eye(2), [-1.0, 0.0], np.eye(2), [0.0, -slack])
        assert_allclose(result.x, 0.0, rtol=0, atol=EXACT)
    apart = nearest(np.eye(1), [0.0], [[1.0], [-1.0], [1.0]], [1.0, -0.9, -1e10])
    assert apart.conflict.tolist() == [0, 1]


def test_a_bound_that_is_broken_by_less_than_roundoff():
    found = nearest(np.eye(2), [1.0, 1e-15], np.eye(2), [0.0, 2e-15])
    assert_allclose(found.x, [1.0, 0.0], rtol=0, atol=EXACT)
    assert found.active.size == 0
