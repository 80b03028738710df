# SPDX-License-Identifier: Apache-2.0
"""Tracing of users' functions: what they see, what comes back, and what is refused."""

import math

import casadi
import numpy as np
import pytest

from kane_dynamics.algebra.scalars import TracedNumber, expression_matrix, traced_values
from kane_dynamics.exceptions import ConstraintError, InvalidInputError


@pytest.fixture
def arguments():
    """Return symbols of a vector of one entry and of a number."""
    return [casadi.SX.sym('q')], casadi.SX.sym('t')


def test_vectors_stay_vectors_and_numbers_numbers(arguments):
    seen = []
    traced_values('f', lambda q, t: seen.extend((q, t)) or 0.0, arguments, ConstraintError)
    q, t = seen
    assert q.shape == (1,)
    assert isinstance(q[0], TracedNumber)
    assert isinstance(t, TracedNumber)


@pytest.mark.parametrize(
    ('function', 'shape'),
    [
        (lambda q, t: q[0] * t, ()),
        (lambda q, t: 2, ()),
        (lambda q, t: [q[0], 1.0], (2,)),
        (lambda q, t: np.outer(q, [t, 1.0, 2.0]), (1, 3)),
        (lambda q, t: np.zeros((2, 0)), (2, 0)),
    ],
)
def test_shape_is_that_of_the_result(function, shape, arguments):
    values = traced_values('f', function, arguments, ConstraintError)
    assert values.shape == shape
    assert values.dtype == object
    assert not any(isinstance(value, TracedNumber) for value in values.ravel())


def test_matrix_has_structural_zeros(arguments):
    values = traced_values(
        'f', lambda q, t: [[q[0], 0.0, 3.0], [0, t * t, 0]], arguments, ConstraintError
    )
    matrix = expression_matrix(values)
    assert matrix.shape == (2, 3)
    assert matrix.nnz() == 3
    function = casadi.Function('f', [arguments[0][0], arguments[1]], [matrix])
    np.testing.assert_array_equal(function(2.0, 5.0).full(), [[2, 0, 3], [0, 25, 0]])


@pytest.mark.parametrize('error', [ConstraintError, InvalidInputError])
@pytest.mark.parametrize(
    ('function', 'reason'),
    [
        (lambda q, t: math.sin(t), 'must be real number'),
        (lambda q, t: 1.0 if t > 0.0 else 2.0, 'compare or to branch'),
        (lambda q, t: q[3], 'index 3'),
        (lambda q, t: 'text', 'is not a number'),
        (lambda q, t: 1j * t, 'complex'),
        (lambda q, t: None, 'None is not a number'),
        (lambda q: 0.0, 'positional argument'),
        (3.0, 'not callable'),
    ],
)
def test_what_cannot_be_traced_is_said_with_its_reason(function, reason, error, arguments):
    with pytest.raises(error, match=f'(?s)my function cannot be traced: write.*{reason}') as info:
        traced_values('my function', function, arguments, error)
    assert info.value.__cause__ is not None
