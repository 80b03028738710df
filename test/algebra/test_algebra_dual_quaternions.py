# SPDX-License-Identifier: Apache-2.0
"""Dual quaternions: ring laws, dual numbers, products of twists and wrenches."""

import dataclasses

import casadi
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation
from support.drawn import seeded, vectors
from support.hamilton import dual_dot

from kane_dynamics.algebra import (
    Pose,
    dual_cross,
    from_vec8,
    power,
    pure,
    twist,
    twist_from_vector,
    vec3,
    vec4,
    vec6,
    vec8,
    wrench,
    wrench_from_vector,
)

# Components below 10: products of two stay below 2e3, of three below 2e5; rounding is a few
# dozen half ulps of those.
SECOND_ORDER = 1e-11
THIRD_ORDER = 1e-9
vectors6 = vectors(6, 10.0)
vectors8 = vectors(8, 10.0)


@pytest.mark.claim(1)
@seeded
@given(a=vectors8, b=vectors8)
def test_product_by_parts(evaluate, a, b):
    """The product is P P + eps (P D + D P), each made of numpy's dot and cross."""

    def hamilton(p, q):
        return np.r_[
            p[0] * q[0] - p[1:] @ q[1:], p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])
        ]

    p, q = np.array(a), np.array(b)
    expected = np.r_[hamilton(p[:4], q[:4]), hamilton(p[:4], q[4:]) + hamilton(p[4:], q[:4])]
    result = evaluate(lambda a, b: vec8(from_vec8(a) * from_vec8(b)), a, b)
    assert_allclose(result, expected, rtol=0.0, atol=SECOND_ORDER)


def test_eps_squared_is_zero_and_commutes(evaluate):
    eps = np.eye(8)[4]
    a = np.array([1.0, -2.0, 3.0, -4.0, 5.0, -6.0, 7.0, -8.0])

    def products(e, a):
        e, a = from_vec8(e), from_vec8(a)
        return [vec8(e * e), vec8(e * a), vec8(a * e)]

    shifted = np.r_[np.zeros(4), a[:4]]
    assert_array_equal(evaluate(products, eps, a), np.r_[np.zeros(8), shifted, shifted])


@seeded
@given(a=vectors8, b=vectors8, c=vectors8)
def test_product_is_associative_and_distributive(evaluate, a, b, c):
    def defects(a, b, c):
        a, b, c = from_vec8(a), from_vec8(b), from_vec8(c)
        return [
            vec8((a * b) * c - a * (b * c)),
            vec8(a * (b + c) - (a * b + a * c)),
            vec8((a - b) * c - (a * c - b * c)),
        ]

    assert_allclose(evaluate(defects, a, b, c), np.zeros(24), rtol=0.0, atol=THIRD_ORDER)


@seeded
@given(a=vectors8, b=vectors8)
def test_sums_and_the_negative_are_componentwise(evaluate, a, b):
    def sums(a, b):
        a, b = from_vec8(a), from_vec8(b)
        return [vec8(a + b), vec8(a - b), vec8(-a)]

    a, b = np.array(a), np.array(b)
    assert_array_equal(evaluate(sums, a, b), np.r_[a + b, a - b, -a])


@seeded
@given(a=vectors8, s=st.floats(-10.0, 10.0))
def test_scalars_multiply_from_both_sides(evaluate, a, s):
    def scaled(a, s):
        return [vec8(from_vec8(a) * s[0]), vec8(s[0] * from_vec8(a))]

    expected = np.tile(s * np.array(a), 2)
    assert_allclose(evaluate(scaled, a, [s]), expected, rtol=0.0, atol=1e-13)


@seeded
@given(a=vectors8, b=vectors8)
def test_conjugate_of_a_product_is_the_product_of_conjugates_swapped(evaluate, a, b):
    def defect(a, b):
        a, b = from_vec8(a), from_vec8(b)
        return vec8((a * b).conjugate() - b.conjugate() * a.conjugate())

    assert_allclose(evaluate(defect, a, b), np.zeros(8), rtol=0.0, atol=SECOND_ORDER)


@pytest.mark.claim(1)
def test_conjugate_real_and_imaginary_by_components(evaluate):
    a = np.array([1.0, -2.0, 3.0, -4.0, 5.0, -6.0, 7.0, -8.0])

    def parts(a):
        h = from_vec8(a)
        return [vec8(h.conjugate()), h.real(), vec8(h.imaginary())]

    conjugate = [1.0, 2.0, -3.0, 4.0, 5.0, 6.0, -7.0, 8.0]
    imaginary = [0.0, -2.0, 3.0, -4.0, 0.0, -6.0, 7.0, -8.0]
    assert_array_equal(evaluate(parts, a), np.r_[conjugate, 1.0, 5.0, imaginary])


@pytest.mark.claim(1)
@seeded
@given(a=vectors8)
def test_norm_is_the_root_of_the_product_with_the_conjugate(evaluate, a):
    """(n + eps n')^2 = h h* = h* h, and h h* has no imaginary part."""
    assume(np.linalg.norm(a[:4]) > 0.1)

    def products(a):
        h = from_vec8(a)
        return [h.norm(), vec8(h * h.conjugate()), vec8(h.conjugate() * h)]

    result = evaluate(products, a)
    n, n_dual = result[:2]
    squared = np.zeros(8)
    squared[[0, 4]] = n * n, 2.0 * n * n_dual
    assert n > 0.0
    assert_allclose(result[2:], np.tile(squared, 2), rtol=0.0, atol=SECOND_ORDER)


@seeded
@given(a=vectors8, b=vectors8)
def test_norm_of_a_product_is_the_product_of_the_dual_norms(a, b):
    assume(min(np.linalg.norm(a[:4]), np.linalg.norm(b[:4])) > 0.1)
    a, b = from_vec8(a), from_vec8(b)
    (p, p_dual), (q, q_dual), product = a.norm(), b.norm(), (a * b).norm()
    assert_allclose(product, (p * q, p * q_dual + p_dual * q), rtol=1e-12, atol=SECOND_ORDER)


@pytest.mark.claim(1)
def test_norm_of_a_unit_dual_quaternion_is_one(evaluate, rng):
    r = Rotation.random(rng=rng).as_quat(scalar_first=True)
    p = rng.uniform(-2.0, 2.0, 3)
    x = vec8(Pose.from_rotation_and_position(r, p).dual_quaternion())
    assert_allclose(evaluate(lambda x: from_vec8(x).norm(), x), [1.0, 0.0], rtol=0.0, atol=2e-15)


@seeded
@given(a=vectors6, b=vectors6)
def test_dual_cross_is_made_of_crosses_of_numpy(evaluate, a, b):
    def product(a, b):
        return vec8(dual_cross(twist_from_vector(a), twist_from_vector(b)))

    p, q = np.array(a), np.array(b)
    expected = np.zeros(8)
    expected[1:4] = np.cross(p[:3], q[:3])
    expected[5:] = np.cross(p[:3], q[3:]) + np.cross(p[3:], q[:3])
    assert_allclose(evaluate(product, a, b), expected, rtol=0.0, atol=SECOND_ORDER)


@pytest.mark.claim(2)
@seeded
@given(a=vectors6, b=vectors6)
def test_dual_cross_and_dual_dot_are_the_halves_of_the_product(evaluate, a, b):
    """Equations (8) and section 1.5."""

    def defects(a, b):
        a, b = twist_from_vector(a), twist_from_vector(b)
        primary, dual = dual_dot(a, b)
        zeros = (0.0, 0.0, 0.0)
        return [
            vec8((a * b - b * a) * 0.5 - dual_cross(a, b)),
            vec8((a * b + b * a) * -0.5 - from_vec8((primary, *zeros, dual, *zeros))),
        ]

    assert_allclose(evaluate(defects, a, b), np.zeros(16), rtol=0.0, atol=SECOND_ORDER)


@seeded
@given(a=vectors6, b=vectors6, c=vectors6)
def test_jacobi_identity(evaluate, a, b, c):
    def cyclic_sum(a, b, c):
        a, b, c = (twist_from_vector(v) for v in (a, b, c))
        return vec6(
            dual_cross(a, dual_cross(b, c))
            + dual_cross(b, dual_cross(c, a))
            + dual_cross(c, dual_cross(a, b))
        )

    assert_allclose(evaluate(cyclic_sum, a, b, c), np.zeros(6), rtol=0.0, atol=THIRD_ORDER)


@seeded
@given(a=vectors6, b=vectors6)
def test_dual_cross_is_antisymmetric_and_orthogonal_to_its_factors(a, b):
    a, b = twist_from_vector(a), twist_from_vector(b)
    product = dual_cross(a, b)
    assert_array_equal(vec6(product), -vec6(dual_cross(b, a)))
    for factor in (a, b):
        assert_allclose(dual_dot(factor, product), (0.0, 0.0), rtol=0.0, atol=THIRD_ORDER)


@seeded
@given(a=vectors6, b=vectors6)
def test_power_is_force_times_velocity_plus_moment_times_angular_velocity(evaluate, a, b):
    def powers(a, b):
        xi, zeta = twist_from_vector(a), wrench_from_vector(b)
        return [power(xi, zeta), power(zeta, xi), dual_dot(xi, zeta)]

    omega, v = np.array(a[:3]), np.array(a[3:])
    moment, force = np.array(b[:3]), np.array(b[3:])
    watt = force @ v + moment @ omega
    expected = [watt, watt, omega @ force, watt]
    assert_allclose(evaluate(powers, a, b), expected, rtol=0.0, atol=SECOND_ORDER)
    assert_allclose(np.dot(a, b), watt, rtol=0.0, atol=SECOND_ORDER)  # (omega, v) . (tau, f)


def test_power_of_a_known_case():
    """2 rad/s about z with a moment of 3 N m about z, and 5 m/s along x against 7 N: -29 W."""
    xi = twist(pure([0.0, 0.0, 2.0]), pure([5.0, 0.0, 0.0]))
    zeta = wrench(pure([-7.0, 0.0, 0.0]), pure([0.0, 0.0, 3.0]))
    assert power(zeta, xi) == -29.0


@pytest.mark.claim(4)
def test_vectors_make_round_trips(evaluate):
    six = np.array([1.0, -2.0, 3.0, -4.0, 5.0, -6.0])
    eight = np.array([1.0, -2.0, 3.0, -4.0, 5.0, -6.0, 7.0, -8.0])

    def trips(six, eight):
        xi, zeta = twist_from_vector(six), wrench_from_vector(six)
        return [
            vec8(from_vec8(eight)),
            vec6(xi),
            vec8(xi),
            vec6(zeta),
            vec3(zeta.primary),
            vec3(zeta.dual),
            vec6(from_vec8(eight)),
        ]

    swapped = np.r_[six[3:], six[:3]]  # the vector is (tau, f), the wrench f + eps tau
    expected = np.r_[
        eight, six, 0.0, six[:3], 0.0, six[3:], swapped, swapped, np.delete(eight, (0, 4))
    ]
    assert_array_equal(evaluate(trips, six, eight), expected)


def test_a_twist_has_the_angular_and_a_wrench_the_force_part_in_front():
    first, second = pure([1.0, 2.0, 3.0]), pure([4.0, 5.0, 6.0])
    for h in (twist(first, second), wrench(first, second)):
        assert_array_equal(vec8(h), np.r_[vec4(first), vec4(second)])


def test_numpy_and_traced_scalars_multiply_from_the_left():
    h = from_vec8(np.arange(8.0))
    x = casadi.SX.sym('x')
    assert_array_equal(vec8(np.float64(2.0) * h), 2.0 * np.arange(8.0))
    traced = casadi.Function('f', [x], [casadi.vertcat(*vec8(x * h))])
    assert_array_equal(traced(2.0).full().ravel(), 2.0 * np.arange(8.0))


def test_a_dual_quaternion_cannot_be_changed():
    h = from_vec8(np.arange(8.0))
    with pytest.raises(dataclasses.FrozenInstanceError):
        h.primary = h.dual


def test_nan_in_one_part_is_seen_in_the_product():
    bad = from_vec8([1.0, 0.0, 0.0, 0.0, np.nan, 0.0, 0.0, 0.0])
    assert np.isnan(vec8(bad * bad)).any()
