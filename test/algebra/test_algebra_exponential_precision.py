# SPDX-License-Identifier: Apache-2.0
"""
Exponential and logarithm against 50 digits, on both sides of every branch.

The oracle sums the Taylor series of exp in the algebra itself, sum h^n / n!, with products taken
from the table i j = k. It knows no sine, no sinc and no switch. The logarithm is tested on
oracle values rounded to doubles; where Re < 0 the expected value is h minus half a turn along
its own screw axis.
"""

import functools

import casadi
import numpy as np
import pytest
from numpy.testing import assert_allclose

from kane_dynamics.algebra import Pose, exp, from_vec8, log, twist_from_vector, vec6, vec8
from kane_dynamics.algebra.pose import SERIES_BELOW

mpmath = pytest.importorskip('mpmath')
pytestmark = pytest.mark.oracle

ULP = np.finfo(float).eps
DIGITS = 50
AXES = [(2.0 / 7.0, -3.0 / 7.0, 6.0 / 7.0), (0.0, 0.0, 1.0)]
MOMENTS = [(1.0, -2.0, 3.0), (1e3, 2e3, -3e3), (0.0, 0.0, 0.0)]
S = SERIES_BELOW
UP_TO_HALF_TURN = [0.0, 1e-300, 1e-160, 1e-12, 1e-3, 0.99 * S, S * (1 - 1e-15), S, S * (1 + 1e-15)]
UP_TO_HALF_TURN += [1.01 * S, 0.1, 1.0, np.pi / 2 - 1e-9, np.pi / 2]
BEYOND = [np.pi / 2 + 1e-9, 2.0, 3.0, np.pi - S, np.pi - 1e-9]
FULL = [np.pi, 4.0, 10.0]
PRODUCTS = {  # i j = k and its cyclic versions
    (1, 2): (3, 1), (2, 3): (1, 1), (3, 1): (2, 1),
    (2, 1): (3, -1), (3, 2): (1, -1), (1, 3): (2, -1),
}  # fmt: skip


def multiply(a, b):
    """Return the quaternion product from the table."""
    out = [a[0] * b[0]] + [mpmath.mpf(0)] * 3
    for m in range(1, 4):
        out[0] -= a[m] * b[m]
        out[m] += a[0] * b[m] + a[m] * b[0]
    for (m, n), (target, sign) in PRODUCTS.items():
        out[target] += sign * a[m] * b[n]
    return out


def exp_oracle(screw):
    """Return exp of the pure dual quaternion (theta, d) as eight numbers of 50 digits."""
    return taylor_series(tuple(screw))


@functools.cache
def taylor_series(screw):
    with mpmath.workdps(DIGITS + 20):
        theta = [mpmath.mpf(0), *map(mpmath.mpf, screw[:3])]
        d = [mpmath.mpf(0), *map(mpmath.mpf, screw[3:])]
        term_p = [mpmath.mpf(c) for c in (1, 0, 0, 0)]
        term_d = [mpmath.mpf(0)] * 4
        total = [*term_p, *term_d]
        for n in range(1, 200):
            term_p, term_d = (
                [c / n for c in multiply(term_p, theta)],
                [
                    (a + b) / n
                    for a, b in zip(multiply(term_p, d), multiply(term_d, theta), strict=True)
                ],
            )
            total = [a + b for a, b in zip(total, term_p + term_d, strict=True)]
            if max(map(abs, term_p + term_d)) < mpmath.mpf(10) ** -(DIGITS + 15):
                break
        return total


def half_turn_less(screw):
    """Return h - pi l, where l is the unit dual vector along h: exp of it is -exp(h)."""
    with mpmath.workdps(DIGITS + 20):
        theta, d = ([mpmath.mpf(c) for c in part] for part in (screw[:3], screw[3:]))
        phi = mpmath.sqrt(sum(c * c for c in theta))
        along = sum(a * b for a, b in zip(theta, d, strict=True)) / phi
        axis = [c / phi for c in theta]
        moment = [(b - along * a) / phi for a, b in zip(axis, d, strict=True)]
        pairs = [*zip(theta, axis, strict=True), *zip(d, moment, strict=True)]
        return np.array([float(a - mpmath.pi * b) for a, b in pairs])


def as_floats(numbers):
    return np.array([float(c) for c in numbers])


def screw_of(half_angle, axis, moment):
    return np.r_[half_angle * np.array(axis), moment]


def assert_exp_is_precise(result, screw):
    """
    Check an exponential, part by part.

    Primary: sinc, cosine and the squared angle are rounded once or twice each. A relative error
    u of the squared angle is one of u phi / 2 in angle, which counts where phi is some turns.
    Dual: three terms of up to (1 + phi) |d|, each with a handful of roundings.
    """
    oracle = exp_oracle(screw)
    phi, size = np.linalg.norm(screw[:3]), np.linalg.norm(screw[3:])
    exact = as_floats(oracle)
    assert_allclose(result[:4], exact[:4], rtol=0.0, atol=2.0 * ULP * (1.0 + phi))
    bound = 3.0 * ULP * (1.0 + phi) ** 2 * size
    assert_allclose(result[4:], exact[4:], rtol=0.0, atol=bound)


@pytest.mark.parametrize('moment', MOMENTS)
@pytest.mark.parametrize('axis', AXES)
@pytest.mark.parametrize('half_angle', [*UP_TO_HALF_TURN, *BEYOND, *FULL])
def test_exp(evaluate, half_angle, axis, moment):
    screw = screw_of(half_angle, axis, moment)
    assert_exp_is_precise(evaluate(lambda h: vec8(exp(twist_from_vector(h))), screw), screw)


@pytest.mark.parametrize('half_angle', [1e-300, 1e-160, 1e-12, 0.99 * S])
def test_exp_keeps_the_relative_precision_of_small_angles(half_angle):
    """The axis and Re D = -<theta, d> are not lost beside 1 and d."""
    screw = screw_of(half_angle, AXES[0], MOMENTS[0])
    result, exact = vec8(exp(twist_from_vector(screw))), as_floats(exp_oracle(screw))
    # sinc and a product for theta; three products, two sums and sinc for <theta, d>.
    assert_allclose(result[:5], exact[:5], rtol=4.0 * ULP, atol=0.0)


@pytest.mark.parametrize('half_angle', [*UP_TO_HALF_TURN, *BEYOND])
def test_position_of_the_pose(half_angle):
    """p = 2 D P*, in 50 digits, of the pose of exp."""
    screw = screw_of(half_angle, AXES[0], MOMENTS[0])
    x = exp_oracle(screw)
    with mpmath.workdps(DIGITS):
        conjugate = [x[0], -x[1], -x[2], -x[3]]
        expected = as_floats(2 * c for c in multiply(x[4:], conjugate)[1:])
    position = Pose.from_dual_quaternion(exp(twist_from_vector(screw))).position()
    # Twice the error of D and, in the product, some roundings of numbers up to 2 |D| = 8.
    bound = 8.0 * ULP * (1.0 + half_angle) ** 2 * np.linalg.norm(MOMENTS[0])
    assert_allclose(position, expected, rtol=0.0, atol=bound)


def assert_log_is_precise(result, expected):
    """
    Check a logarithm of rounded components.

    log is well conditioned on the half turn: theta is the vector part over sinc >= 2 / pi and
    the atan2 of its length. Errors of D, up to (1 + pi / 2) |d| ulp / 2, are divided by sinc, and
    the component along the axis is taken off once more.
    """
    size = np.linalg.norm(expected[3:])
    assert_allclose(result[:3], expected[:3], rtol=0.0, atol=2.0 * ULP)
    assert_allclose(result[3:], expected[3:], rtol=0.0, atol=6.0 * ULP * size)


@pytest.mark.parametrize('sign', [1.0, -1.0])
@pytest.mark.parametrize('moment', MOMENTS)
@pytest.mark.parametrize('axis', AXES)
@pytest.mark.parametrize('half_angle', UP_TO_HALF_TURN)
def test_log_up_to_a_half_turn(half_angle, axis, moment, sign):
    screw = screw_of(half_angle, axis, moment)
    x = sign * as_floats(exp_oracle(screw))
    assert_log_is_precise(vec6(log(from_vec8(x))), screw)


@pytest.mark.parametrize('moment', MOMENTS)
@pytest.mark.parametrize('axis', AXES)
@pytest.mark.parametrize('half_angle', BEYOND)
def test_log_beyond_a_half_turn_is_that_of_minus_x(half_angle, axis, moment):
    screw = screw_of(half_angle, axis, moment)
    x = as_floats(exp_oracle(screw))
    assert x[0] < 0.0
    expected = half_turn_less(screw)
    result = vec6(log(from_vec8(x)))
    size = np.linalg.norm(moment)
    assert_allclose(result[:3], expected[:3], rtol=0.0, atol=2.0 * ULP)
    assert_allclose(result[3:], expected[3:], rtol=0.0, atol=6.0 * ULP * size)


@pytest.mark.parametrize('half_angle', [1e-300, 1e-160, 1e-12, 0.99 * S])
def test_log_keeps_the_relative_precision_of_small_angles(half_angle):
    screw = screw_of(half_angle, AXES[0], MOMENTS[0])
    x = as_floats(exp_oracle(screw))
    # The vector part is rounded, sinc and its inverse are, and so is the product.
    assert_allclose(vec6(log(from_vec8(x)))[:3], screw[:3], rtol=3.0 * ULP, atol=0.0)


@pytest.mark.parametrize('half_angle', [0.0, 1e-12, 0.99 * S, S, 1.01 * S, 1.0, np.pi / 2])
def test_the_derivative_of_the_traced_exponential(half_angle):
    """CasADi's derivative of either branch, against differences of 50 digits."""
    symbol = casadi.SX.sym('h', 6)
    value = casadi.vertcat(*vec8(exp(twist_from_vector([symbol[i] for i in range(6)]))))
    graph = casadi.Function('jacobian', [symbol], [casadi.jacobian(value, symbol)])
    screw = screw_of(half_angle, AXES[0], MOMENTS[0])
    step = mpmath.mpf(10) ** -15
    columns = []
    for index in range(6):
        ends = []
        for sign in (1, -1):
            moved = [mpmath.mpf(c) for c in screw]
            with mpmath.workdps(DIGITS + 20):
                moved[index] += sign * step
            ends.append(exp_oracle(moved))
        with mpmath.workdps(DIGITS + 20):
            columns.append([float((a - b) / (2 * step)) for a, b in zip(*ends, strict=True)])
    # Central differences err by step^2 = 1e-30. Above the switch the slope (cos - sinc) / phi^2
    # loses the digits of phi^2, and its derivative those of phi^3; the latter returns times
    # <theta, d> theta, so one of phi = S remains, and |d|.
    size = np.linalg.norm(MOMENTS[0])
    assert_allclose(graph(screw).full(), np.column_stack(columns), rtol=0.0, atol=size * ULP / S)
