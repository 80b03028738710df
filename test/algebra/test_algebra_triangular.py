# SPDX-License-Identifier: Apache-2.0
"""Triangular solves and orthonormal factors of small matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kane_dynamics.algebra.matrices import orthonormal, solve_lower, solve_squared

RNG = np.random.default_rng(0)
L = np.tril(RNG.uniform(-1.0, 1.0, (5, 5))) + 2.0 * np.eye(5)


@pytest.mark.parametrize('shape', [(5,), (5, 3), (5, 0)])
def test_solves_undo_products(shape):
    B = RNG.normal(size=shape)
    # condition below 100
    assert_allclose(L @ solve_lower(L, B), B, rtol=0, atol=1e-14)
    assert_allclose(L.T @ solve_lower(L, B, transposed=True), B, rtol=0, atol=1e-14)
    assert_allclose(L @ (L.T @ solve_squared(L, B)), B, rtol=0, atol=1e-13)
    assert solve_lower(L, B).shape == shape


def test_what_is_above_the_diagonal_is_not_read():
    B = RNG.normal(size=5)
    assert_allclose(solve_lower(L + np.triu(np.ones((5, 5)), 1), B), solve_lower(L, B), rtol=0)


def test_a_zero_on_the_diagonal_is_an_error():
    singular = L.copy()
    singular[2, 2] = 0.0
    with pytest.raises(np.linalg.LinAlgError, match='zero at 3'):
        solve_lower(singular, np.ones(5))


@pytest.mark.parametrize('columns', [0, 1, 3, 5])
@pytest.mark.parametrize('complete', [False, True])
def test_orthonormal_factors(columns, complete):
    A = RNG.normal(size=(5, columns))
    Q, R = orthonormal(A, complete=complete)
    assert Q.shape == (5, 5 if complete else columns)
    assert_allclose(Q.T @ Q, np.eye(Q.shape[1]), rtol=0, atol=1e-14)
    assert_allclose(Q[:, :columns] @ np.triu(R), A, rtol=0, atol=1e-14)
