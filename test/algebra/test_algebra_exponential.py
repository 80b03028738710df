# SPDX-License-Identifier: Apache-2.0
"""Exponential and logarithm: laws, scipy, the traced branch. Precision: the file next to this."""

import casadi
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import expm
from scipy.spatial.transform import Rotation
from support.drawn import seeded, vectors
from support.hamilton import dual_hamilton_plus

from kane_dynamics.algebra import Pose, exp, from_vec8, log, twist_from_vector, vec4, vec6, vec8
from kane_dynamics.algebra.pose import SERIES_BELOW

AXIS = np.array([2.0, -3.0, 6.0]) / 7.0
MOMENT = np.array([1.0, -2.0, 3.0])
HALF_ANGLES = [
    0.0,
    1e-300,
    1e-12,
    0.99 * SERIES_BELOW,
    SERIES_BELOW,
    1.01 * SERIES_BELOW,
    1.0,
    np.pi / 2 - 1e-9,
    np.pi / 2,
]
vectors6 = vectors(6, 2.0)


@seeded
@given(h=vectors6)
def test_exp_is_the_matrix_exponential_of_left_multiplication(evaluate, h):
    oracle = expm(dual_hamilton_plus(twist_from_vector(h)))[:, 0]
    result = evaluate(lambda h: vec8(exp(twist_from_vector(h))), h)
    # Pade with squaring of a matrix of norm up to 7: 1e-14 relative, on numbers below 10.
    assert_allclose(result, oracle, rtol=0.0, atol=2e-13)


@seeded
@given(h=vectors6)
def test_exp_is_a_unit_dual_quaternion(h):
    assert_allclose(exp(twist_from_vector(h)).norm(), (1.0, 0.0), rtol=0.0, atol=2e-14)


@seeded
@given(h=vectors6)
def test_exp_of_the_negative_is_the_conjugate(h):
    h = twist_from_vector(h)
    assert_array_equal(vec8(exp(-h)), vec8(exp(h).conjugate()))


@seeded
@given(h=vectors6, s=st.floats(-1.0, 1.0), t=st.floats(-1.0, 1.0))
def test_exponentials_along_one_screw_multiply(h, s, t):
    h = twist_from_vector(h)
    product = exp(h * s) * exp(h * t)
    assert_allclose(vec8(product), vec8(exp(h * (s + t))), rtol=0.0, atol=3e-14)


def test_exp_of_a_pure_translation_and_of_a_pure_rotation():
    moved = Pose.from_dual_quaternion(exp(twist_from_vector(np.r_[np.zeros(3), 0.5 * MOMENT])))
    assert_array_equal(vec4(moved.rotation), np.eye(4)[0])
    assert_array_equal(moved.position(), MOMENT)
    turned = Pose.from_dual_quaternion(
        exp(twist_from_vector(np.r_[0.5 * 0.8 * AXIS, np.zeros(3)]))
    )
    expected = Rotation.from_rotvec(0.8 * AXIS).as_matrix()
    assert_allclose(turned.rotation_matrix(), expected, rtol=0.0, atol=1e-15)
    assert_array_equal(turned.position(), np.zeros(3))


def test_exp_of_a_screw_about_an_offset_axis():
    """A half turn about the vertical axis through (1, 0, 0), with a rise of 0.4 m."""
    omega, through = np.array([0.0, 0.0, np.pi]), np.array([1.0, 0.0, 0.0])
    velocity = np.cross(through, omega) + np.array([0.0, 0.0, 0.4])  # of the point at the origin
    x = Pose.from_dual_quaternion(exp(twist_from_vector(0.5 * np.r_[omega, velocity])))
    assert_allclose(x.position(), [2.0, 0.0, 0.4], rtol=0.0, atol=1e-15)
    assert_allclose(x.rotation_matrix(), np.diag([-1.0, -1.0, 1.0]), rtol=0.0, atol=1e-15)


@seeded
@given(h=vectors6)
def test_pose_of_exp_is_that_of_the_screw(evaluate, h):
    def defect(h):
        x, h = Pose.from_dual_quaternion(exp(twist_from_vector(h))), twist_from_vector(h)
        return vec8(x.dual_quaternion() - exp(h))

    assert_allclose(evaluate(defect, h), np.zeros(8), rtol=0.0, atol=2e-14)


@seeded
@given(h=vectors6)
def test_exp_undoes_log_up_to_the_sign(h):
    """The half angle of exp(h) goes up to 3.5 here, so both signs and several turns occur."""
    x = exp(twist_from_vector(h))
    y = log(x)
    sign = 1.0 if x.primary.w >= 0.0 else -1.0
    assert np.linalg.norm(vec6(y)[:3]) <= np.pi / 2 + 1e-15
    assert_array_equal(vec8(y)[[0, 4]], np.zeros(2))
    assert_allclose(vec8(exp(y)), sign * vec8(x), rtol=0.0, atol=2e-14)


@pytest.mark.parametrize('half_angle', HALF_ANGLES)
def test_log_undoes_exp_up_to_a_half_turn(half_angle):
    h = np.r_[half_angle * AXIS, MOMENT]
    y = vec6(log(exp(twist_from_vector(h))))
    # x is rounded (numbers up to 4), and log divides by sinc >= 2 / pi.
    assert_allclose(y[:3], h[:3], rtol=4e-16, atol=4e-16)
    assert_allclose(y[3:], h[3:], rtol=0.0, atol=4e-15)


@pytest.mark.parametrize('half_angle', HALF_ANGLES)
def test_log_takes_the_same_value_for_both_signs(half_angle):
    x = exp(twist_from_vector(np.r_[half_angle * AXIS, MOMENT]))
    assert x.primary.w > 0.0
    assert_array_equal(vec6(log(-x)), vec6(log(x)))


@pytest.mark.parametrize('sign', [1.0, -1.0])
@pytest.mark.parametrize('zero', [0.0, -0.0])
def test_log_at_exactly_a_half_turn_follows_the_sign_of_x(sign, zero):
    x = Pose.from_rotation_and_position(np.r_[0.0, AXIS], MOMENT).dual_quaternion()
    components = sign * vec8(x)
    components[0] = zero
    y = log(from_vec8(components))
    assert_allclose(vec6(y)[:3], sign * np.pi / 2 * AXIS, rtol=3e-16)
    assert_allclose(vec8(exp(y)), components, rtol=0.0, atol=2e-15)


def test_log_of_one_and_of_minus_one_is_zero():
    for sign in (1.0, -1.0):
        assert_array_equal(vec8(log(from_vec8(sign * np.eye(8)[0]))), np.zeros(8))


def test_log_of_a_translation():
    x = Pose.from_rotation_and_position(np.eye(4)[0], MOMENT).dual_quaternion()
    assert_array_equal(vec6(log(x)), np.r_[np.zeros(3), 0.5 * MOMENT])


@pytest.mark.parametrize('half_angle', [0.0, 1e-12, 0.5 * SERIES_BELOW, 2.0 * SERIES_BELOW, 1.0])
def test_log_in_terms_of_the_rotation_vector_of_scipy(half_angle):
    x = exp(twist_from_vector(np.r_[half_angle * AXIS, MOMENT]))
    rotvec = Rotation.from_quat(vec4(x.primary), scalar_first=True).as_rotvec()
    assert_allclose(2.0 * vec6(log(x))[:3], rotvec, rtol=1e-15, atol=1e-16)


@pytest.mark.parametrize('half_angle', HALF_ANGLES)
def test_the_traced_exponential_takes_the_branch_of_the_number(half_angle):
    """A Python `if` on a traced angle would fix one branch, or raise."""
    symbol = casadi.SX.sym('h', 6)
    h = twist_from_vector([symbol[i] for i in range(6)])
    graph = casadi.Function('exp', [symbol], [casadi.vertcat(*vec8(exp(h)))])
    number = np.r_[half_angle * AXIS, MOMENT]
    traced, numeric = graph(number).full().ravel(), vec8(exp(twist_from_vector(number)))
    assert np.isfinite(traced).all()
    # Constants folded in another order: an ulp of numbers up to 4.
    assert_allclose(traced, numeric, rtol=0.0, atol=2e-15)


def test_the_derivative_of_exp_at_zero_rotation_is_finite_and_right():
    """exp(theta + eps d) = 1 + theta + eps (d - <theta, d>) + O(theta^2)."""
    symbol = casadi.SX.sym('h', 6)
    value = casadi.vertcat(*vec8(exp(twist_from_vector([symbol[i] for i in range(6)]))))
    graph = casadi.Function('jacobian', [symbol], [casadi.jacobian(value, symbol)])
    expected = np.zeros((8, 6))
    expected[1:4, :3] = expected[5:, 3:] = np.eye(3)
    expected[4, :3] = -MOMENT
    assert_array_equal(graph(np.r_[np.zeros(3), MOMENT]).full(), expected)


def test_a_batch_may_hold_both_sides_of_the_switch():
    half_angles = np.array(HALF_ANGLES)
    theta = [half_angles * c for c in AXIS]
    batch = exp(twist_from_vector([*theta, *MOMENT]))
    stacked = np.array([np.broadcast_to(c, half_angles.shape) for c in vec8(batch)], dtype=float)
    for column, half_angle in zip(stacked.T, half_angles, strict=True):
        single = vec8(exp(twist_from_vector(np.r_[half_angle * AXIS, MOMENT])))
        assert_allclose(column, single, rtol=0.0, atol=1e-15)


def test_nan_goes_through():
    for position in range(6):
        h = np.ones(6)
        h[position] = np.nan
        assert np.isnan(vec8(exp(twist_from_vector(h)))).any()
    for position in range(8):
        x = vec8(exp(twist_from_vector(np.ones(6))))
        x[position] = np.nan
        assert np.isnan(vec8(log(from_vec8(x)))).any()
