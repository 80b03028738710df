# SPDX-License-Identifier: Apache-2.0
"""
Rates of poses, (3)-(6) and Lemma 2.1, against derivatives of an analytic path.

The derivatives are complex steps: f'(t) = Im f(t + i h) / h with h = 1e-100 has no cancellation
and no truncation, so it is exact to roundoff. Angular velocities come from rotation matrices,
omega x = Rdot R', with no quaternion involved. Frames: B moves in A.
"""

import casadi
import numpy as np
import pytest
from numpy.testing import assert_allclose

from kane_dynamics.algebra import (
    Pose,
    dual_cross,
    exp,
    from_vec8,
    make_quaternion,
    pure,
    twist,
    twist_from_vector,
    vec3,
    vec6,
    vec8,
)
from kane_dynamics.algebra.quaternions import ScalarQuaternion

STEP = 1e-100
# All numbers are of order 1 to 10 and see some fifty roundings.
TOLERANCE = 2e-14
TIMES = [-0.7, 0.0, 0.4, 2.3]


def derivative(function, t):
    """Return df/dt of an analytic vector function, exact to roundoff."""
    return np.asarray(function(t + 1j * STEP), dtype=complex).imag / STEP


def angles(t):
    return 0.3 + 0.9 * np.sin(t), -0.4 + t * t / 3.0, 0.7 * t + 0.2 * np.cos(2.0 * t)


def position(t):
    return np.array([np.sin(1.3 * t), 0.5 - t + t * t, np.cos(t) * t + 2.0])


def screw(t):
    """Return the vector of a pure dual quaternion that changes with time, in B."""
    return np.array([np.cos(t), t, 1.0 - t, np.sin(2.0 * t), 2.0, t * t])


def rotation_matrix(t):
    """Return R_B^A = Rz Ry Rx."""
    (a, b, c) = angles(t)
    Rz = np.array([[np.cos(a), -np.sin(a), 0.0], [np.sin(a), np.cos(a), 0.0], [0.0, 0.0, 1.0]])
    Ry = np.array([[np.cos(b), 0.0, np.sin(b)], [0.0, 1.0, 0.0], [-np.sin(b), 0.0, np.cos(b)]])
    Rx = np.array([[1.0, 0.0, 0.0], [0.0, np.cos(c), -np.sin(c)], [0.0, np.sin(c), np.cos(c)]])
    return Rz @ Ry @ Rx


def pose(t):
    """Return x_B^A along the path."""
    a, b, c = (0.5 * angle for angle in angles(t))
    turn_z = make_quaternion(np.cos(a), 0.0, 0.0, np.sin(a))
    turn_y = make_quaternion(np.cos(b), 0.0, np.sin(b), 0.0)
    turn_x = make_quaternion(np.cos(c), np.sin(c), 0.0, 0.0)
    return Pose(turn_z * turn_y * turn_x, pure(position(t)))


def angular_velocity(t):
    """Return omega_AB^A from the rotation matrix."""
    rate = derivative(lambda s: rotation_matrix(s).ravel(), t).reshape(3, 3)
    S = rate @ rotation_matrix(t).T
    return np.array([S[2, 1], S[0, 2], S[1, 0]])


def twist_in_a(t):
    """Return xi_AB^A = omega + eps (pdot + p x omega), all in A (5)."""
    omega, velocity = angular_velocity(t), derivative(position, t)
    return twist(pure(omega), pure(velocity + np.cross(position(t), omega)))


def twist_in_b(t):
    """Return xi_AB^B = omega + eps pdot, both rotated into B (6)."""
    R = rotation_matrix(t)
    return twist(pure(R.T @ angular_velocity(t)), pure(R.T @ derivative(position, t)))


@pytest.mark.parametrize('t', TIMES)
def test_the_path_of_poses_is_the_path_of_matrices(t):
    x = pose(t)
    assert_allclose(x.rotation_matrix(), rotation_matrix(t), rtol=0.0, atol=2e-15)
    assert_allclose(x.position(), position(t), rtol=0.0, atol=0.0)
    assert isinstance(pose(t + 1j * STEP).rotation, ScalarQuaternion)


@pytest.mark.claim(2)
@pytest.mark.parametrize('t', TIMES)
def test_rate_of_a_pose_is_half_the_twist_times_the_pose(t):
    """Equation (4), both forms."""
    rate = derivative(lambda s: vec8(pose(s).dual_quaternion()), t)
    x = pose(t).dual_quaternion()
    assert_allclose(vec8(twist_in_a(t) * x * 0.5), rate, rtol=0.0, atol=TOLERANCE)
    assert_allclose(vec8(x * twist_in_b(t) * 0.5), rate, rtol=0.0, atol=TOLERANCE)


@pytest.mark.claim(2)
@pytest.mark.parametrize('t', TIMES)
def test_adjoint_takes_the_twist_from_one_frame_to_the_other(t):
    """Equations (3), (5) and (6)."""
    x = pose(t)
    in_a, in_b = twist_in_a(t), twist_in_b(t)
    assert_allclose(vec6(x.adjoint(in_b)), vec6(in_a), rtol=0.0, atol=TOLERANCE)
    assert_allclose(vec6(x.adjoint_inverse(in_a)), vec6(in_b), rtol=0.0, atol=TOLERANCE)


@pytest.mark.claim(2)
@pytest.mark.parametrize('t', TIMES)
def test_the_dual_part_in_b_is_not_the_rate_of_the_components_of_p(t):
    """The caution at (6): it is the velocity rotated into B."""
    rate = derivative(lambda s: rotation_matrix(s).T @ position(s), t)
    omega, p = vec3(twist_in_b(t).primary), rotation_matrix(t).T @ position(t)
    velocity = vec3(twist_in_b(t).dual)
    assert_allclose(velocity, rate + np.cross(omega, p), rtol=0.0, atol=TOLERANCE)
    assert np.linalg.norm(velocity - rate) > 0.1


@pytest.mark.claim(2)
@pytest.mark.parametrize('t', TIMES)
def test_lemma_2_1(t):
    """Equation (9): d(Ad(x) h)/dt = Ad(x) dh/dt + xi x Ad(x) h."""
    rate = derivative(lambda s: vec6(pose(s).adjoint(twist_from_vector(screw(s)))), t)
    x = pose(t)
    moved = x.adjoint(twist_from_vector(screw(t)))
    change = x.adjoint(twist_from_vector(derivative(screw, t)))
    assert_allclose(
        vec6(change + dual_cross(twist_in_a(t), moved)), rate, rtol=0.0, atol=4.0 * TOLERANCE
    )


@pytest.mark.parametrize('t', TIMES)
def test_rate_of_the_inverse_adjoint(t):
    """Lemma 2.1 for x*, whose twist is minus that of x, seen in B."""
    rate = derivative(lambda s: vec6(pose(s).adjoint_inverse(twist_from_vector(screw(s)))), t)
    x = pose(t)
    moved = x.adjoint_inverse(twist_from_vector(screw(t)))
    change = x.adjoint_inverse(twist_from_vector(derivative(screw, t)))
    assert_allclose(
        vec6(change - dual_cross(twist_in_b(t), moved)), rate, rtol=0.0, atol=4.0 * TOLERANCE
    )


@pytest.mark.parametrize('t', TIMES)
def test_twists_of_a_chain_add_in_one_frame(t):
    """xi_AC^A = xi_AB^A + Ad(x_B^A) xi_BC^B, with C moving in B as B does in A, later."""
    later = t + 0.8

    def product(s):
        return pose(s) * pose(s + 0.8)

    rate = derivative(lambda s: vec8(product(s).dual_quaternion()), t)
    total = twist_in_a(t) + pose(t).adjoint(twist_in_a(later))
    x = product(t).dual_quaternion()
    assert_allclose(vec8(total * x * 0.5), rate, rtol=0.0, atol=20.0 * TOLERANCE)


@pytest.mark.parametrize('t', TIMES)
def test_a_constant_twist_moves_a_pose_by_the_exponential_of_its_half(t):
    """(4) with xi constant: x(t) = exp(t xi / 2) x(0) solves it."""
    xi = twist_from_vector([0.3, -0.5, 0.7, 1.1, -1.3, 1.7])
    start = pose(0.4).dual_quaternion()
    symbol = casadi.SX.sym('t')
    path = casadi.vertcat(*vec8(exp(xi * (0.5 * symbol)) * start))
    graph = casadi.Function('path', [symbol], [path, casadi.jacobian(path, symbol)])
    x, rate = (part.full().ravel() for part in graph(t))
    assert_allclose(vec8(xi * from_vec8(x) * 0.5), rate, rtol=0.0, atol=TOLERANCE)
    assert_allclose(
        vec8(from_vec8(x) * start.conjugate()), vec8(exp(xi * (0.5 * t))), rtol=0.0, atol=TOLERANCE
    )
