# SPDX-License-Identifier: Apache-2.0
"""Poses against scipy's rigid transforms, and the group laws."""

import dataclasses

import numpy as np
import pytest
import scipy.spatial.transform
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation
from support.drawn import DIFFERENT, pose_of, poses, seeded

from kane_dynamics.algebra import (
    DualQuaternion,
    Pose,
    from_vec8,
    make_quaternion,
    twist_from_vector,
    vec4,
    vec6,
    vec8,
)

# Positions and twists are below 5: lever arms give numbers below 1e2, a few dozen roundings.
TOLERANCE = 1e-13
POSITION = np.array([1.0, -2.0, 3.0])
SCREW = np.array([0.3, 0.5, -0.7, 1.1, -1.3, 1.7])


def parts(x):
    return [vec4(x.rotation), vec4(x.translation)]


def matrix_of(seven):
    """Return the homogeneous matrix from scipy's rotation."""
    matrix = np.eye(4)
    matrix[:3, :3] = Rotation.from_quat(seven[:4], scalar_first=True).as_matrix()
    matrix[:3, 3] = seven[4:]
    return matrix


def homogeneous(result):
    """Return the matrix of a flat (R, p)."""
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = result[:9].reshape(3, 3), result[9:]
    return matrix


def matrix_entries(x):
    return [x.rotation_matrix(), x.position()]


def test_a_pose_stores_its_rotation_and_its_position(evaluate):
    result = evaluate(
        lambda r, p: parts(Pose.from_rotation_and_position(r, p)), DIFFERENT, POSITION
    )
    assert_array_equal(result, np.r_[DIFFERENT, 0.0, POSITION])


def test_identity_changes_nothing(evaluate):
    def products(seven, h):
        x, one = pose_of(seven), Pose.identity()
        return [parts(one * x), parts(x * one), vec6(one.adjoint(twist_from_vector(h)))]

    seven = np.r_[DIFFERENT, POSITION]
    expected = np.r_[DIFFERENT, 0.0, POSITION]
    # scale-free: products with 1 and 0 are exact up to the signs of zeros
    assert_allclose(
        evaluate(products, seven, SCREW), np.r_[expected, expected, SCREW], rtol=0.0, atol=1e-15
    )
    assert_array_equal(vec8(Pose.identity().dual_quaternion()), np.eye(8)[0])


@seeded
@given(a=poses(), b=poses())
def test_composition_is_the_product_of_homogeneous_matrices(evaluate, a, b):
    result = evaluate(lambda a, b: matrix_entries(pose_of(a) * pose_of(b)), a, b)
    assert_allclose(homogeneous(result), matrix_of(a) @ matrix_of(b), rtol=0.0, atol=TOLERANCE)


@seeded
@given(a=poses(), b=poses())
def test_composition_is_the_product_of_dual_quaternions(evaluate, a, b):
    def defect(a, b):
        x, y = pose_of(a), pose_of(b)
        return vec8((x * y).dual_quaternion() - x.dual_quaternion() * y.dual_quaternion())

    assert_allclose(evaluate(defect, a, b), np.zeros(8), rtol=0.0, atol=TOLERANCE)


@seeded
@given(a=poses(), b=poses(), c=poses())
def test_composition_is_associative(a, b, c):
    x, y, z = pose_of(a), pose_of(b), pose_of(c)
    left, right = (x * y) * z, x * (y * z)
    assert_allclose(vec4(left.rotation), vec4(right.rotation), rtol=0.0, atol=2e-15)
    assert_allclose(left.position(), right.position(), rtol=0.0, atol=TOLERANCE)


@seeded
@given(a=poses())
def test_conjugate_is_the_inverse(evaluate, a):
    result = evaluate(lambda a: matrix_entries(pose_of(a).conjugate()), a)
    assert_allclose(homogeneous(result), np.linalg.inv(matrix_of(a)), rtol=0.0, atol=TOLERANCE)
    for product in (pose_of(a) * pose_of(a).conjugate(), pose_of(a).conjugate() * pose_of(a)):
        assert_allclose(vec4(product.rotation), np.eye(4)[0], rtol=0.0, atol=2e-15)
        assert_allclose(product.position(), np.zeros(3), rtol=0.0, atol=TOLERANCE)


@seeded
@given(a=poses())
def test_conjugate_is_that_of_the_dual_quaternion(evaluate, a):
    def defect(a):
        x = pose_of(a)
        return vec8(x.conjugate().dual_quaternion() - x.dual_quaternion().conjugate())

    assert_allclose(evaluate(defect, a), np.zeros(8), rtol=0.0, atol=TOLERANCE)


@seeded
@given(a=poses(), b=poses())
def test_conjugate_of_a_product_is_the_product_of_conjugates_swapped(a, b):
    x, y = pose_of(a), pose_of(b)
    left, right = (x * y).conjugate(), y.conjugate() * x.conjugate()
    assert_allclose(vec4(left.rotation), vec4(right.rotation), rtol=0.0, atol=2e-15)
    assert_allclose(left.position(), right.position(), rtol=0.0, atol=TOLERANCE)


@pytest.mark.claim(1)
@seeded
@given(a=poses())
def test_the_dual_quaternion_is_r_plus_half_eps_p_r_and_comes_back(evaluate, a):
    def trip(a):
        x = pose_of(a)
        return [vec8(x.dual_quaternion()), parts(Pose.from_dual_quaternion(x.dual_quaternion()))]

    r, p = a[:4], a[4:]
    dual = 0.5 * np.r_[-p @ r[1:], r[0] * p + np.cross(p, r[1:])]
    expected = np.r_[r, dual, r, 0.0, p]
    assert_allclose(evaluate(trip, a), expected, rtol=0.0, atol=TOLERANCE)


@pytest.mark.skipif(
    not hasattr(scipy.spatial.transform, 'RigidTransform'), reason='needs scipy >= 1.16'
)
@seeded
@given(a=poses())
def test_the_dual_quaternion_is_read_alike_by_scipy(a):
    x = pose_of(a)
    oracle = scipy.spatial.transform.RigidTransform.from_dual_quat(
        vec8(x.dual_quaternion()), scalar_first=True
    )
    assert_allclose(oracle.rotation.as_matrix(), x.rotation_matrix(), rtol=0.0, atol=4e-15)
    assert_allclose(oracle.translation, a[4:], rtol=0.0, atol=TOLERANCE)
    back = Pose.from_dual_quaternion(from_vec8(oracle.as_dual_quat(scalar_first=True)))
    assert_allclose(back.position(), a[4:], rtol=0.0, atol=TOLERANCE)
    assert_allclose(back.rotation_matrix(), x.rotation_matrix(), rtol=0.0, atol=4e-15)


@pytest.mark.skipif(
    not hasattr(scipy.spatial.transform, 'RigidTransform'), reason='needs scipy >= 1.16'
)
def test_scipy_composes_in_the_same_order(rng):
    x, y = (
        pose_of(np.r_[Rotation.random(rng=rng).as_quat(scalar_first=True), rng.uniform(-2, 2, 3)])
        for _ in range(2)
    )
    to_scipy = scipy.spatial.transform.RigidTransform.from_dual_quat
    oracle = to_scipy(vec8(x.dual_quaternion()), scalar_first=True) * to_scipy(
        vec8(y.dual_quaternion()), scalar_first=True
    )
    assert_allclose(oracle.translation, (x * y).position(), rtol=0.0, atol=1e-14)
    assert_allclose(oracle.rotation.as_matrix(), (x * y).rotation_matrix(), rtol=0.0, atol=4e-15)


@pytest.mark.claim(1)
def test_x_and_minus_x_are_the_same_pose(evaluate):
    def differences(seven, h):
        x, h = pose_of(seven), twist_from_vector(h)
        y = Pose.from_dual_quaternion(-x.dual_quaternion())
        return [
            x.rotation_matrix() - y.rotation_matrix(),
            x.position() - y.position(),
            vec6(x.adjoint(h) - y.adjoint(h)),
            vec4(x.rotation + y.rotation),
        ]

    result = evaluate(differences, np.r_[DIFFERENT, POSITION], SCREW)
    assert_allclose(result, np.zeros(22), rtol=0.0, atol=1e-14)


def test_rotation_matrix_with_four_different_numbers(evaluate):
    result = evaluate(lambda s: pose_of(s).rotation_matrix(), np.r_[DIFFERENT, POSITION])
    expected = Rotation.from_quat(DIFFERENT, scalar_first=True).as_matrix()
    assert_allclose(result.reshape(3, 3), expected, rtol=0.0, atol=1e-15)


def test_matrices_of_numbers_are_float_arrays():
    x = pose_of(np.r_[DIFFERENT, POSITION])
    for array, shape in (
        (x.rotation_matrix(), (3, 3)),
        (x.adjoint_matrix(), (6, 6)),
        (x.position(), (3,)),
    ):
        assert array.dtype == float
        assert array.shape == shape


def test_matrices_of_integers_are_float_arrays():
    x = Pose.from_rotation_and_position(np.array([1, 0, 0, 0]), np.array([1, 2, 3]))
    assert type(x.rotation) is type(x.translation) is type(Pose.identity().rotation)
    assert x.adjoint_matrix().dtype == float


def test_a_pose_cannot_be_changed():
    x = Pose.identity()
    with pytest.raises(dataclasses.FrozenInstanceError):
        x.rotation = make_quaternion(0.0, 1.0, 0.0, 0.0)


def test_nan_goes_through():
    x = pose_of(np.r_[DIFFERENT, np.nan, 0.0, 0.0])
    assert np.isnan((x * x).position()).any()
    assert np.isnan(vec6(x.adjoint(twist_from_vector(SCREW)))).any()


def test_operations_leave_their_arguments_and_repeat_bit_for_bit():
    x, h = pose_of(np.r_[DIFFERENT, POSITION]), twist_from_vector(SCREW)
    before, first = vec8(x.dual_quaternion()), vec6(x.adjoint(h))
    x.conjugate().adjoint(DualQuaternion(h.dual, h.primary))
    assert_array_equal(vec6(x.adjoint(h)), first)
    assert_array_equal(vec8(x.dual_quaternion()), before)
    assert_array_equal(vec6(h), SCREW)
