# SPDX-License-Identifier: Apache-2.0
"""Matrices of scalars: numpy's products, with the structural zeros of traced ones kept."""

import casadi
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kane_dynamics.algebra import skew
from kane_dynamics.algebra.matrices import matrix_of, product
from kane_dynamics.algebra.scalars import is_zero

A = np.array([[1.0, 0.0, -2.0], [0.0, 0.0, 0.5]])
B = np.array([[3.0, 0.0], [-1.5, 4.0], [0.0, 7.0]])


def rows_of(flat, columns):
    return matrix_of([flat[i : i + columns] for i in range(0, len(flat), columns)])


def test_numbers_become_a_float_matrix():
    for rows in (((1, 2), (3, 4), (5, 6)), ((1.0, 2), (3.0, 4.0), (5, 6))):
        matrix = matrix_of(rows)
        assert matrix.dtype == float
        assert_array_equal(matrix, [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def test_one_traced_entry_makes_a_matrix_of_objects():
    x = casadi.SX.sym('x')
    matrix = matrix_of(((1.0, x, 0.0), (0.0, 2.0, x)))
    assert matrix.dtype == object
    assert matrix.shape == (2, 3)
    assert matrix[0, 1] is x
    assert matrix[1, 0] == 0.0
    assert isinstance(matrix[1, 0], float)


def test_product_is_that_of_numpy(evaluate):
    """Both operands have zeros, which the traced kinds also see as traced numbers."""

    def products(a, b):
        return product(rows_of(a, 3), rows_of(b, 2))

    result = evaluate(products, A.ravel(), B.ravel())
    assert_allclose(result.reshape(2, 2), A @ B, rtol=0.0, atol=1e-14)


def test_product_with_a_vector_is_a_vector(evaluate):
    vector = np.array([0.3, -0.5, 0.0])

    def products(a, v):
        column = np.empty(3, dtype=object)
        column[:] = list(v)
        result = product(rows_of(a, 3), column)
        assert result.shape == (2,)
        return result

    assert_allclose(evaluate(products, A.ravel(), vector), A @ vector, rtol=0.0, atol=1e-15)
    numeric = product(A, vector)
    assert numeric.dtype == float
    assert_array_equal(numeric, A @ vector)


def test_zeros_add_no_operation():
    x, y = casadi.SX.sym('x'), casadi.SX.sym('y')
    left = matrix_of(((x, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, y, 2.0)))
    right = matrix_of(((0.0, y), (0.0, 0.0), (3.0, 0.0)))
    result = product(left, right)
    assert [is_zero(entry) for entry in result.ravel()] == [True, False, True, True, False, True]
    assert casadi.is_equal(result[0, 1], x * y, 3)
    assert result[2, 0] == 6.0


def test_only_zero_is_zero_also_a_traced_one():
    for zero in (0.0, -0.0, 0, casadi.SX(0)):
        assert is_zero(zero)
    for other in (1e-300, np.nan, casadi.SX.sym('x'), casadi.SX(1), np.zeros(2)):
        assert not is_zero(other)


@pytest.mark.claim(4)
def test_skew_is_the_matrix_of_the_cross_product(evaluate):
    a, b = np.array([1.0, -2.0, 3.0]), np.array([0.3, 0.5, -0.7])
    S = evaluate(skew, a).reshape(3, 3)
    assert_array_equal(S, -S.T)
    assert_allclose(S @ b, np.cross(a, b), rtol=0.0, atol=1e-15)


def test_a_traced_skew_keeps_its_diagonal_of_zeros():
    symbols = casadi.SX.sym('a', 3)
    S = skew([symbols[i] for i in range(3)])
    assert all(is_zero(entry) for entry in np.diag(S))


@pytest.mark.parametrize('dtype', [np.int64, np.float32])
def test_integers_and_single_precision_make_float_matrices(dtype):
    S = skew(np.array([1, 2, 3], dtype=dtype))
    assert S.dtype == float
    assert_array_equal(product(S, S), S @ S)
    assert is_zero(dtype(0))
