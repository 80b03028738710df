# SPDX-License-Identifier: Apache-2.0
"""Elementary functions: one call for floats, arrays and traced scalars."""

import casadi
import numpy as np
import pytest

from kane_dynamics import algebra
from kane_dynamics.algebra import scalars

POINTS = np.array([-2.5, -1.0, -1e-300, 0.0, 1e-300, 0.3, 7.0])
FUNCTIONS = {
    'sin': (scalars.sin, np.sin, POINTS),
    'cos': (scalars.cos, np.cos, POINTS),
    'sign': (scalars.sign, np.sign, POINTS),
    'sqrt': (scalars.sqrt, np.sqrt, np.abs(POINTS)),
}


@pytest.fixture(params=FUNCTIONS)
def function(request):
    return FUNCTIONS[request.param]


def test_of_a_float_is_that_of_numpy(function):
    ours, reference, points = function
    for x in points:
        assert ours(float(x)) == reference(x)


def test_of_an_array_is_elementwise(function):
    ours, reference, points = function
    np.testing.assert_array_equal(ours(points), reference(points))


def test_of_a_traced_scalar(function):
    ours, reference, points = function
    x = casadi.SX.sym('x')
    graph = casadi.Function('f', [x], [ours(x)])
    for point in points:
        # The C library under CasADi and numpy may round the last bit differently.
        np.testing.assert_allclose(float(graph(point)), reference(point), rtol=5e-16, atol=0.0)


def test_sign_of_minus_zero_and_zero_is_zero():
    assert scalars.sign(0.0) == 0.0
    assert scalars.sign(-0.0) == 0.0


def test_nan_goes_through():
    for function in (scalars.sin, scalars.cos, scalars.sqrt, scalars.sign):
        assert np.isnan(function(np.nan))


def test_where_of_floats_takes_the_side_of_the_condition():
    assert scalars.where(True, 1.0, 2.0) == 1.0
    assert scalars.where(False, 1.0, 2.0) == 2.0
    assert np.ndim(scalars.where(True, 1.0, 2.0)) == 0
    assert isinstance(scalars.where(True, 1.0, 2.0), float)


def test_where_of_arrays_is_elementwise():
    x = np.array([-1.0, 2.0, -3.0])
    np.testing.assert_array_equal(scalars.where(x < 0.0, -x, x), [1.0, 2.0, 3.0])


@pytest.mark.parametrize(('x', 'expected'), [(-2.0, 4.0), (3.0, 8.0)])
def test_where_of_traced_scalars_is_a_branch_of_the_graph(x, expected):
    symbol = casadi.SX.sym('x')
    graph = casadi.Function('f', [symbol], [scalars.where(symbol < 0.0, symbol**2, symbol + 5.0)])
    assert float(graph(x)) == expected


def test_where_hides_the_nan_of_the_side_not_taken():
    symbol = casadi.SX.sym('x')
    branch = scalars.where(symbol > 0.0, casadi.sqrt(symbol), -1.0)
    assert float(casadi.Function('f', [symbol], [branch])(-4.0)) == -1.0
    assert scalars.where(False, np.nan, -1.0) == -1.0


def test_every_public_name_exists():
    for name in algebra.__all__:
        assert getattr(algebra, name) is not None
    assert len(set(algebra.__all__)) == len(algebra.__all__)
