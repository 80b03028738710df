# SPDX-License-Identifier: Apache-2.0
"""Traced numbers: arithmetic and numpy functions as of floats; no value, so no branch."""

import math
import operator

import casadi
import numpy as np
import pytest
from numpy.testing import assert_allclose

from kane_dynamics.algebra.scalars import UNTRACEABLE, TracedNumber, expression, is_traced

A, B = 0.6, 2.5
FUNCTIONS = [np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.sinh, np.cosh, np.tanh]
FUNCTIONS += [np.exp, np.log, np.sqrt, np.fabs, abs, operator.neg, operator.pos]
OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow]


@pytest.fixture
def symbols():
    return casadi.SX.sym('a'), casadi.SX.sym('b')


def value(traced, symbols, numbers=(A, B)):
    graph = casadi.Function('f', list(symbols), [traced.expression])
    return float(graph(*numbers))


@pytest.mark.parametrize('function', FUNCTIONS)
def test_functions_are_those_of_numpy(function, symbols):
    result = function(TracedNumber(symbols[0]))
    assert isinstance(result, TracedNumber)
    # numpy and the C library may round the last bits differently.
    assert_allclose(value(result, symbols), function(A), rtol=5e-16, atol=0.0)


def test_abs_of_a_negative_number(symbols):
    assert value(abs(TracedNumber(symbols[0])), symbols, (-A, B)) == A


@pytest.mark.parametrize('operation', OPERATORS)
def test_operators_with_traced_and_known_numbers_on_either_side(operation, symbols):
    a, b = (TracedNumber(symbol) for symbol in symbols)
    for left, right in ((a, b), (a, B), (A, b), (a, np.float64(B)), (np.float64(A), b)):
        result = operation(left, right)
        assert isinstance(result, TracedNumber)
        assert_allclose(value(result, symbols), operation(A, B), rtol=5e-16, atol=0.0)


@pytest.mark.parametrize(('x', 'y'), [(0.6, 2.5), (-0.6, 2.5), (0.6, -2.5), (-0.6, -2.5)])
def test_arctan2_and_hypot_in_every_quadrant(x, y, symbols):
    a, b = (TracedNumber(symbol) for symbol in symbols)
    for function in (np.arctan2, np.hypot):
        assert_allclose(value(function(a, b), symbols, (x, y)), function(x, y), rtol=5e-16)
        assert_allclose(value(function(a, y), symbols, (x, y)), function(x, y), rtol=5e-16)


def test_arrays_of_traced_numbers_go_entry_by_entry(symbols):
    a, b = (TracedNumber(symbol) for symbol in symbols)
    vector, matrix = np.array([a, b]), np.array([[1.0, 2.0], [3.0, -4.0]])
    expected = matrix @ [A, B] + A * np.array([1.0, 2.0])
    result = matrix @ vector + a * np.array([1.0, 2.0])
    assert result.dtype == object
    numbers = [value(entry, symbols) for entry in result]
    assert_allclose(numbers, expected, rtol=1e-15)
    assert_allclose([value(e, symbols) for e in np.sin(vector)], np.sin([A, B]), rtol=5e-16)


@pytest.mark.parametrize(
    'use',
    [
        bool,
        float,
        int,
        math.sin,
        lambda x: x < 1.0,
        lambda x: x <= 1.0,
        lambda x: x > 1.0,
        lambda x: x >= 1.0,
        lambda x: x == 1.0,
        lambda x: x != 1.0,
        lambda x: max(x, 0.0),
        lambda x: 1.0 if x else 0.0,
        lambda x: np.array([x], dtype=float),
        lambda x: np.zeros(2).__setitem__(0, x),
    ],
)
def test_what_needs_the_value_raises(use, symbols):
    with pytest.raises(TypeError):
        use(TracedNumber(symbols[0]))


def test_unknown_functions_are_attribute_errors_that_name_them(symbols):
    with pytest.raises(AttributeError, match="no function 'cbrt'"):
        TracedNumber(symbols[0]).cbrt()
    assert issubclass(AttributeError, UNTRACEABLE)
    assert issubclass(TypeError, UNTRACEABLE)
    assert not issubclass(KeyboardInterrupt, UNTRACEABLE)


def test_expression_of_traced_and_known_numbers(symbols):
    assert expression(TracedNumber(symbols[0])) is symbols[0]
    for number in (2, 2.0, np.float64(2.0), np.int64(2)):
        assert type(expression(number)) is float
        assert expression(number) == 2.0
    for other in ('2', None, symbols[0], np.ones(2)):
        with pytest.raises(TypeError, match='is not a number'):
            expression(other)


def test_is_traced_knows_expressions_of_casadi(symbols):
    assert is_traced(symbols[0])
    for other in (1.0, np.ones(2), TracedNumber(symbols[0]), None):
        assert not is_traced(other)


def test_a_traced_number_has_a_hash_as_caches_need_one(symbols):
    a = TracedNumber(symbols[0])
    assert hash(a) == hash(a)
