# SPDX-License-Identifier: Apache-2.0
"""Hamilton operators: the printed matrices, and products as matrix times vector."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from support.hamilton import (
    PURE_PART,
    dual_hamilton_minus,
    dual_hamilton_plus,
    hamilton_minus,
    hamilton_plus,
)

from kane_dynamics.algebra import from_vec8, make_quaternion, vec4, vec6, vec8

TOLERANCE = 1e-11  # components below 10, sums of sixteen products below 2e3
vectors4 = st.lists(st.floats(-10.0, 10.0), min_size=4, max_size=4)
vectors8 = st.lists(st.floats(-10.0, 10.0), min_size=8, max_size=8)
seeded = settings(derandomize=True, deadline=None, max_examples=30)


def printed_plus(h):
    a, b, c, d = h
    return np.array([[a, -b, -c, -d], [b, a, -d, c], [c, d, a, -b], [d, -c, b, a]])


def printed_minus(h):
    a, b, c, d = h
    return np.array([[a, -b, -c, -d], [b, a, d, -c], [c, -d, a, b], [d, c, -b, a]])


def dual_block(printed, h):
    zero = np.zeros((4, 4))
    return np.block([[printed(h[:4]), zero], [printed(h[4:]), printed(h[:4])]])


@pytest.mark.claim(4)
@pytest.mark.parametrize(
    ('operator', 'printed'), [(hamilton_plus, printed_plus), (hamilton_minus, printed_minus)]
)
def test_quaternion_operators_as_printed(evaluate, operator, printed):
    h = np.array([1.0, -2.0, 3.0, -4.0])
    result = evaluate(lambda h: operator(make_quaternion(*h)), h)
    assert_array_equal(result.reshape(4, 4), printed(h))


@pytest.mark.claim(4)
@pytest.mark.parametrize(
    ('operator', 'printed'),
    [(dual_hamilton_plus, printed_plus), (dual_hamilton_minus, printed_minus)],
)
def test_dual_quaternion_operators_as_printed(evaluate, operator, printed):
    h = np.array([1.0, -2.0, 3.0, -4.0, 5.0, -6.0, 7.0, -8.0])
    result = evaluate(lambda h: operator(from_vec8(h)), h)
    assert_array_equal(result.reshape(8, 8), dual_block(printed, h))


@pytest.mark.claim(4)
@seeded
@given(a=vectors4, b=vectors4)
def test_quaternion_product_as_matrix_times_vector(a, b):
    p, q = make_quaternion(*a), make_quaternion(*b)
    assert_allclose(hamilton_plus(p) @ vec4(q), vec4(p * q), rtol=0.0, atol=TOLERANCE)
    assert_allclose(hamilton_minus(q) @ vec4(p), vec4(p * q), rtol=0.0, atol=TOLERANCE)


@pytest.mark.claim(4)
@seeded
@given(a=vectors8, b=vectors8)
def test_dual_product_as_matrix_times_vector(a, b):
    p, q = from_vec8(a), from_vec8(b)
    assert_allclose(dual_hamilton_plus(p) @ vec8(q), vec8(p * q), rtol=0.0, atol=TOLERANCE)
    assert_allclose(dual_hamilton_minus(q) @ vec8(p), vec8(p * q), rtol=0.0, atol=TOLERANCE)


@seeded
@given(a=vectors8, b=vectors8)
def test_left_and_right_products_commute(a, b):
    left, right = dual_hamilton_plus(from_vec8(a)), dual_hamilton_minus(from_vec8(b))
    # Entries of the product are below 8e2.
    assert_allclose(left @ right, right @ left, rtol=0.0, atol=TOLERANCE)


@pytest.mark.claim(4)
def test_pure_part_drops_the_two_real_components():
    h = np.arange(1.0, 9.0)
    assert_array_equal(PURE_PART @ h, [2.0, 3.0, 4.0, 6.0, 7.0, 8.0])
    assert_array_equal(PURE_PART @ h, vec6(from_vec8(h)))
    with pytest.raises(ValueError, match='read-only'):
        PURE_PART[0, 0] = 1.0
