# SPDX-License-Identifier: Apache-2.0
"""
Parsa, Kane's equations from Lagrange's: the printed formulas that fail, beside the right ones.

The numbers E9, E10, ... are those of doc/errata.md. Quaternions of this paper are scalar last.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.calculus import derivative
from support.hamilton import hamilton_plus

from kane_dynamics.algebra import make_quaternion, skew
from kane_dynamics.algorithms.independent_speeds import partition_speeds
from kane_dynamics.constraints import ConstraintRows

DIFFERENCES = 1e-11  # differences of order 8, see support.calculus


def omega_of_euler_parameters(wxyz, rate):
    """Return the body rate 2 eta* eta' (B-19), polynomial in all eight numbers."""
    return 2.0 * (hamilton_plus(make_quaternion(*wxyz).conjugate()) @ rate)[1:]


def omega_of_sine_and_cosine(q, rate):
    """Return the body rate of a turn about z, given as (cos, sin), and a turn about x."""
    turn = q[0] * rate[1] - q[1] * rate[0]
    return np.array([rate[2], turn * np.sin(q[2]), turn * np.cos(q[2])])


def gradient(function, x):
    """Return the matrix d function / d x."""
    return np.column_stack(
        [derivative(lambda s, e=e: function(x + s * e)) for e in np.eye(len(x))]
    )


def sides_of_theorem_2(omega, q, rate):
    """Return d omega/dq at fixed rate, J', J and [omega x] at one state."""
    size = len(q)

    def jacobian(place):
        return np.column_stack([omega(place, e) for e in np.eye(size)])

    slope = gradient(lambda place: omega(place, rate), q)
    J_rate = derivative(lambda s: jacobian(q + s * rate))
    return slope, J_rate, jacobian(q), skew(omega(q, rate))


@pytest.fixture
def euler_parameters(rng):
    """Return Euler parameters, their rate and a basis of the changes that keep their length."""
    eta = rng.normal(size=4)
    eta /= np.linalg.norm(eta)
    basis = 0.5 * hamilton_plus(make_quaternion(*eta))[:, 1:]  # (B-18)
    assert_allclose(eta @ basis, 0.0, atol=1e-15)
    return eta, basis @ rng.uniform(-1, 1, 3), basis


@pytest.mark.claim(23)
def test_e9_the_jacobian_of_a7_is_a_rate(euler_parameters, rng):
    eta, rate, basis = euler_parameters
    slope, J_rate, J, spin = sides_of_theorem_2(omega_of_euler_parameters, eta, rate)
    change = basis @ rng.uniform(-1, 1, 3)
    assert_allclose(slope @ change, (J_rate + spin @ J) @ change, rtol=0, atol=DIFFERENCES)
    assert np.abs(slope @ change - (J + spin @ J) @ change).max() > 0.1  # as printed in
    # Theorem 2 is about allowed changes: along eta itself it fails
    assert np.abs((slope - J_rate - spin @ J) @ eta).max() > 0.1


@pytest.mark.claim(23)
def test_e32_the_basis_stands_on_the_right_of_45():
    place = np.array([np.cos(0.7), np.sin(0.7), 0.4])
    basis = np.array([[-place[1], 0.0], [place[0], 0.0], [0.0, 1.0]])
    rate = basis @ (0.9, -1.3)
    slope, J_rate, J, spin = sides_of_theorem_2(omega_of_sine_and_cosine, place, rate)
    right = J_rate + spin @ J
    assert_allclose(slope @ basis, right @ basis, rtol=0, atol=DIFFERENCES)
    assert_allclose(basis.T @ slope.T, basis.T @ right.T, rtol=0, atol=DIFFERENCES)
    # as printed, B' on the left: three coordinates of one body make the product possible, not true
    assert np.abs(basis.T @ slope - basis.T @ right).max() > 0.1


def test_e32_the_printed_product_does_not_exist_for_euler_parameters(euler_parameters):
    eta, rate, basis = euler_parameters
    slope = sides_of_theorem_2(omega_of_euler_parameters, eta, rate)[0]
    with pytest.raises(ValueError, match='matmul'):
        basis.T @ slope


def test_e10_the_columns_of_b_are_the_directions_of_motion(rng):
    rows = rng.normal(size=(2, 5))
    basis = partition_speeds(ConstraintRows.of(rows, np.zeros(2), np.zeros(2))).basis
    assert_allclose(rows @ basis, 0.0, atol=1e-13)  # (13): each column is an allowed motion
    assert basis.shape == (5, 3)  # a row has as many entries as there are u: no motion of q
