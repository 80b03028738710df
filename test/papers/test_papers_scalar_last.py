# SPDX-License-Identifier: Apache-2.0
"""
Quaternions with the scalar last, (B-9)-(B-19) of Parsa, and the way to those of this package.

Here eta = (x, y, z, w). Two products are printed: one with [+cross] (a circle around a star) and
one with [-cross] (a circle around a cross); below `star` and `cross`.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from support.calculus import derivative
from support.hamilton import hamilton_minus, hamilton_plus

import kane_dynamics as kd
from kane_dynamics.algebra import make_quaternion, skew

ROUNDOFF = 1e-14  # products of two or three quaternions of length one
DIFFERENCES = 1e-11  # differences of order 8, see support.calculus
D = np.diag([1.0, 1.0, 1.0, -1.0])  # (B-15)


def star(eta):
    """Return the matrix of the product with [+cross] (B-10)."""
    v, w = eta[:3], eta[3]
    return np.block([[w * np.eye(3) + skew(v), v[:, None]], [-v[None, :], np.array([[w]])]])


def cross(eta):
    """Return the matrix of the product with [-cross] (B-10)."""
    v, w = eta[:3], eta[3]
    return np.block([[w * np.eye(3) - skew(v), v[:, None]], [-v[None, :], np.array([[w]])]])


def conjugate(eta):
    return np.r_[-eta[:3], eta[3]]


def package_order(eta):
    """Return (w, x, y, z)."""
    return np.roll(eta, 1)


def unit(rng):
    eta = rng.normal(size=4)
    return eta / np.linalg.norm(eta)


@pytest.fixture(params=range(4))
def etas(request):
    """Return three unit quaternions of four different numbers, scalar last."""
    rng = np.random.default_rng(request.param)
    return unit(rng), unit(rng), unit(rng)


def path(eta, omega):
    """Return s -> eta(s) that turns with a body rate, by a spherical joint of the package."""
    ball = kd.Robot('ball', [kd.Body('ball', '', kd.Joint('ball', kd.Spherical()))])
    return lambda s: np.roll(kd.integrate(ball, package_order(eta), omega, s), -1)


@pytest.mark.claim(29)
def test_the_operators_are_those_of_hamilton_in_another_order(etas):
    shift = np.roll(np.eye(4), -1, axis=0)  # (w, x, y, z) -> (x, y, z, w)
    assert_allclose(shift @ (7.0, 1.0, 2.0, 3.0), (1.0, 2.0, 3.0, 7.0), rtol=0, atol=0)
    for eta in etas:
        h = make_quaternion(*package_order(eta))
        assert_allclose(star(eta), shift @ hamilton_plus(h) @ shift.T, rtol=0, atol=ROUNDOFF)
        assert_allclose(cross(eta), shift @ hamilton_minus(h) @ shift.T, rtol=0, atol=ROUNDOFF)


@pytest.mark.claim(29)
def test_the_same_numbers_are_the_same_rotation_for_scipy_and_for_a_pose(etas):
    eta = etas[0]
    pose = kd.Pose.from_rotation_and_position(package_order(eta), (0, 0, 0))
    matrix = Rotation.from_quat(eta).as_matrix()
    assert_allclose(pose.rotation_matrix(), matrix, rtol=0, atol=ROUNDOFF)


@pytest.mark.claim(29)
def test_products_compose_rotations_from_both_sides(etas):
    first, second, _ = etas
    third = star(first) @ second  # (B-9) of Q3 = Q1 Q2
    assert_allclose(third, cross(second) @ first, rtol=0, atol=ROUNDOFF)
    product = Rotation.from_quat(first).as_matrix() @ Rotation.from_quat(second).as_matrix()
    assert_allclose(Rotation.from_quat(third).as_matrix(), product, rtol=0, atol=ROUNDOFF)
    assert np.abs(cross(first) @ second - third).max() > 0.1


@pytest.mark.claim(29)
def test_products_are_associative(etas):
    a, b, c = etas
    for op in (star, cross):  # (B-11), (B-12)
        assert_allclose(op(op(a) @ b) @ c, op(a) @ (op(b) @ c), rtol=0, atol=ROUNDOFF)
    assert_allclose(star(a) @ (cross(c) @ b), cross(c) @ (star(a) @ b), rtol=0, atol=ROUNDOFF)


@pytest.mark.claim(29)
def test_the_conjugate_is_the_inverse(etas):
    eta, one = etas[0], np.array([0.0, 0.0, 0.0, 1.0])
    for op in (star, cross):  # (B-13)
        assert_allclose(op(eta) @ conjugate(eta), one, rtol=0, atol=ROUNDOFF)
        assert_allclose(op(conjugate(eta)) @ eta, one, rtol=0, atol=ROUNDOFF)


@pytest.mark.claim(29)
def test_signs_of_the_conjugate(etas):
    eta, other, _ = etas
    assert_allclose(conjugate(other), -D @ other, rtol=0, atol=0)  # (B-14)
    assert_allclose(D @ star(eta), cross(conjugate(eta)) @ D, rtol=0, atol=ROUNDOFF)  # (B-16)
    assert_allclose(D @ cross(eta), star(conjugate(eta)) @ D, rtol=0, atol=ROUNDOFF)
    assert np.abs(D @ star(eta) - star(conjugate(eta)) @ D).max() > 0.1


@pytest.mark.claim(29)
def test_derivative_of_the_conjugate_of_a_unit_quaternion(etas, rng):
    eta = etas[0]
    turning = path(eta, rng.uniform(-1, 1, 3))
    rate, conjugate_rate = derivative(turning), derivative(lambda s: conjugate(turning(s)))
    star_of_conjugate, cross_of_conjugate = star(conjugate(eta)), cross(conjugate(eta))
    expected = -cross_of_conjugate @ (star_of_conjugate @ rate)  # (B-17)
    assert_allclose(conjugate_rate, expected, rtol=0, atol=DIFFERENCES)
    # off the unit sphere it does not hold: multiplies it by an allowed change first
    assert np.abs(conjugate(eta) + cross_of_conjugate @ (star_of_conjugate @ eta)).max() > 0.1


@pytest.mark.claim(29)
def test_body_rates(etas, rng):
    eta = etas[0]
    omega = rng.uniform(-1, 1, 3)
    pure, rate = np.r_[omega, 0.0], derivative(path(eta, omega))
    assert_allclose(rate, 0.5 * cross(pure) @ eta, rtol=0, atol=DIFFERENCES)  # (B-18)
    assert_allclose(rate, 0.5 * star(eta) @ pure, rtol=0, atol=DIFFERENCES)
    assert_allclose(2.0 * star(conjugate(eta)) @ rate, pure, rtol=0, atol=DIFFERENCES)  # (B-19)
    assert_allclose(2.0 * cross(rate) @ conjugate(eta), pure, rtol=0, atol=DIFFERENCES)
    world = Rotation.from_quat(eta).as_matrix() @ omega  # the other side gives world components
    assert_allclose(2.0 * star(rate) @ conjugate(eta), np.r_[world, 0.0], atol=DIFFERENCES)


@pytest.mark.claim(29)
def test_half_the_difference_of_the_operators_is_the_cross_product(rng):
    omega = rng.uniform(-1, 1, 3)
    pure = np.r_[omega, 0.0]
    expected = np.zeros((4, 4))
    expected[:3, :3] = skew(omega)
    assert_allclose(0.5 * (star(pure) - cross(pure)), expected, rtol=0, atol=0)
