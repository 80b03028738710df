# SPDX-License-Identifier: Apache-2.0
"""Quaternions against the basis table and the vectors of numpy."""

import casadi
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from support.drawn import DIFFERENT, seeded, vectors

from kane_dynamics.algebra import cross, dot, make_quaternion, pure, rotate, vec3, vec4
from kane_dynamics.algebra.quaternions import (
    NumericQuaternion,
    ScalarQuaternion,
    normalised,
    scale,
)
from kane_dynamics.algebra.scalars import as_array

# Components are below 10, so products are below 4e2 and rounding below 20 * 4e2 * 1.1e-16.
TOLERANCE = 1e-12

vectors3 = vectors(3, 10.0)
vectors4 = vectors(4, 10.0)

BASIS = np.eye(4)
# Rows times columns of (1, i, j, k): (index of the result, sign).
TABLE = [
    [(0, 1), (1, 1), (2, 1), (3, 1)],
    [(1, 1), (0, -1), (3, 1), (2, -1)],
    [(2, 1), (3, -1), (0, -1), (1, 1)],
    [(3, 1), (2, 1), (1, -1), (0, -1)],
]


@pytest.mark.claim(1)
@pytest.mark.parametrize('kind', [NumericQuaternion, ScalarQuaternion])
@pytest.mark.parametrize('row', range(4))
@pytest.mark.parametrize('column', range(4))
def test_basis_table(kind, row, column):
    index, sign = TABLE[row][column]
    assert_array_equal(vec4(kind(*BASIS[row]) * kind(*BASIS[column])), sign * BASIS[index])


@pytest.mark.parametrize('kind', [NumericQuaternion, ScalarQuaternion])
def test_ijk_is_minus_one(kind):
    i, j, k = (kind(*row) for row in BASIS[1:])
    assert_array_equal(vec4(i * j * k), -BASIS[0])


@seeded
@given(a=vectors4, b=vectors4)
def test_operators_agree_in_every_kind_of_number(evaluate, a, b):
    def operations(a, b):
        p, q = make_quaternion(*a), make_quaternion(*b)
        return [vec4(c) for c in (p * q, q * p, p + q, q + p, p - q, q - p, -p, p.conjugate())]

    p, q = NumericQuaternion(*a), NumericQuaternion(*b)
    expected = (p * q, q * p, p + q, q + p, p - q, q - p, -p, p.conjugate())
    assert_allclose(
        evaluate(operations, a, b),
        np.ravel([[c.w, c.x, c.y, c.z] for c in expected]),
        rtol=0.0,
        atol=TOLERANCE,
    )


@pytest.mark.parametrize('swap', [False, True])
def test_numeric_and_scalar_quaternions_mix_in_either_order(swap):
    a, b = NumericQuaternion(1.0, 2.0, -3.0, 0.5), NumericQuaternion(-0.3, 0.7, 5.0, 2.0)
    p, q = (ScalarQuaternion(a.w, a.x, a.y, a.z), b) if swap else (a, ScalarQuaternion(*vec4(b)))
    for mixed, expected in ((p * q, a * b), (p + q, a + b), (p - q, a - b)):
        assert isinstance(mixed, ScalarQuaternion)
        assert_allclose(vec4(mixed), vec4(expected), rtol=0.0, atol=1e-14)


@seeded
@given(a=vectors4, b=vectors4, c=vectors4)
def test_product_is_associative(evaluate, a, b, c):
    def associator(a, b, c):
        p, q, r = (make_quaternion(*v) for v in (a, b, c))
        return vec4((p * q) * r - p * (q * r))

    # Products of three are below 8e3.
    assert_allclose(evaluate(associator, a, b, c), np.zeros(4), rtol=0.0, atol=3e-11)


@seeded
@given(a=vectors4, b=vectors4)
def test_conjugate_of_a_product_is_the_product_of_conjugates_swapped(evaluate, a, b):
    def difference(a, b):
        p, q = make_quaternion(*a), make_quaternion(*b)
        return vec4((p * q).conjugate() - q.conjugate() * p.conjugate())

    assert_allclose(evaluate(difference, a, b), np.zeros(4), rtol=0.0, atol=TOLERANCE)


@seeded
@given(a=vectors4)
def test_product_with_the_conjugate_is_the_squared_length(evaluate, a):
    def product(a):
        return vec4(make_quaternion(*a) * make_quaternion(*a).conjugate())

    assert_allclose(evaluate(product, a), np.dot(a, a) * BASIS[0], rtol=0.0, atol=TOLERANCE)


@seeded
@given(a=vectors3, b=vectors3)
def test_cross_and_dot_are_those_of_numpy(evaluate, a, b):
    def products(a, b):
        return [vec3(cross(pure(a), pure(b))), dot(pure(a), pure(b))]

    expected = np.r_[np.cross(a, b), np.dot(a, b)]
    assert_allclose(evaluate(products, a, b), expected, rtol=0.0, atol=TOLERANCE)


@pytest.mark.claim(2)
@seeded
@given(a=vectors3, b=vectors3)
def test_cross_and_dot_are_the_two_halves_of_the_product(evaluate, a, b):
    """Equations (7) and (12)."""

    def differences(a, b):
        p, q = pure(a), pure(b)
        antisymmetric = cross(p, q) - scale(p * q - q * p, 0.5)
        symmetric = scale(p * q + q * p, -0.5) - make_quaternion(dot(p, q), 0.0, 0.0, 0.0)
        return [vec4(antisymmetric), vec4(symmetric)]

    assert_allclose(evaluate(differences, a, b), np.zeros(8), rtol=0.0, atol=TOLERANCE)


def test_a_cross_product_is_pure():
    x = casadi.SX.sym('x')
    numeric = cross(pure([0.1, 0.2, 0.3]), pure([-0.7, 0.11, 0.13]))
    assert numeric.w == 0.0
    assert cross(pure([x, 0.2, 0.3]), pure([-0.7, 0.11, 0.13])).w == 0.0


def test_vectors_make_round_trips(evaluate):
    four, three = np.array([1.0, -2.0, 3.0, -4.0]), np.array([5.0, -6.0, 7.0])

    def trip(a, b):
        return [vec4(make_quaternion(*a)), vec3(make_quaternion(*a)), vec3(pure(b)), vec4(pure(b))]

    assert_array_equal(evaluate(trip, four, three), np.r_[four, four[1:], three, 0.0, three])


def test_numbers_live_in_numpy_quaternions_and_others_do_not():
    assert type(make_quaternion(1.0, 2.0, 3.0, 4.0)) is NumericQuaternion
    assert type(make_quaternion(1, 2, 3, 4)) is NumericQuaternion
    assert type(pure(np.arange(3.0))) is NumericQuaternion
    for position in range(4):
        numbers = [1.0, 2.0, 3.0, 4.0]
        numbers[position] = casadi.SX.sym('x')
        assert type(make_quaternion(*numbers)) is ScalarQuaternion


@pytest.mark.parametrize('dtype', [np.int64, np.int32, np.float32, np.float64])
def test_numpy_integers_and_single_precision_are_numbers_too(dtype):
    numbers = np.array([1, 2, 3, 4], dtype=dtype)
    assert type(make_quaternion(*numbers)) is NumericQuaternion
    assert type(pure(numbers[1:])) is NumericQuaternion
    assert type(scale(make_quaternion(1.0, 2.0, 3.0, 4.0), numbers[1])) is NumericQuaternion
    assert as_array(numbers).dtype == float


def test_complex_numbers_keep_their_imaginary_part():
    q = make_quaternion(1.0, 2.0j, 3.0, 4.0)
    assert isinstance(q, ScalarQuaternion)
    assert q.x == 2.0j


def test_as_array_keeps_floats_as_floats_and_traced_ones_as_objects():
    x = casadi.SX.sym('x')
    assert as_array((1.0, 2, 3.0)).dtype == float
    traced = as_array((1.0, x, x))
    assert traced.dtype == object
    assert traced.shape == (3,)
    assert traced[1] is x


@seeded
@given(a=vectors4, s=st.floats(-10.0, 10.0))
def test_scale_multiplies_every_component(evaluate, a, s):
    result = evaluate(lambda a, s: vec4(scale(make_quaternion(*a), s[0])), a, [s])
    assert_allclose(result, s * np.array(a), rtol=0.0, atol=TOLERANCE)


@seeded
@given(a=vectors4)
def test_normalised_has_length_one_and_the_direction_of_the_argument(evaluate, a):
    size = np.linalg.norm(a)
    assume(size > 1e-3)
    result = evaluate(lambda a: vec4(normalised(make_quaternion(*a))), a)
    assert_allclose(result, np.array(a) / size, rtol=0.0, atol=1e-15)


def test_repr_shows_the_four_components():
    assert repr(ScalarQuaternion(1.0, 2.0, 3.0, 4.0)) == 'ScalarQuaternion(1.0, 2.0, 3.0, 4.0)'


@pytest.mark.parametrize('vector', [(1.0, 2.0), (1.0, 2.0, 3.0, 4.0)])
def test_pure_takes_exactly_three_components(vector):
    with pytest.raises(ValueError, match='values to unpack'):
        pure(vector)


def test_nan_goes_through():
    r, a = NumericQuaternion(*DIFFERENT), pure([np.nan, 0.0, 0.0])
    assert np.isnan(vec3(rotate(r, a))).any()
    assert np.isnan(vec3(cross(pure([1.0, 2.0, 3.0]), a))).any()
    assert np.isnan(dot(a, a))


def test_repeated_calls_give_the_same_bits():
    r, a = NumericQuaternion(*DIFFERENT), pure([1.0, -2.0, 3.0])
    first = vec4(rotate(r, a))
    cross(a, rotate(r.conjugate(), a))
    assert_array_equal(vec4(rotate(r, a)), first)
