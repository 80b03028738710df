# SPDX-License-Identifier: Apache-2.0
"""Ad(x) against x h x*, rotations with lever arms, and what it must keep (3)."""

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation
from support.drawn import pose_of, poses, seeded, vectors
from support.hamilton import dual_dot

from kane_dynamics.algebra import Pose, dual_cross, power, twist_from_vector, vec6, vec8

# Positions and twists are below 5: lever arms give numbers below 1e2, a few dozen roundings.
TOLERANCE = 1e-13
# Two factors of that kind (the power, a bracket): numbers below 1e4.
PRODUCT_TOLERANCE = 1e-11

vectors6 = vectors(6, 5.0)


@pytest.mark.claim(2)
@seeded
@given(a=poses(), h=vectors6)
def test_adjoint_is_x_h_x_conjugate(evaluate, a, h):
    """Equation (3)."""

    def defect(a, h):
        x, h = pose_of(a), twist_from_vector(h)
        sandwich = x.dual_quaternion() * h * x.dual_quaternion().conjugate()
        return vec8(x.adjoint(h) - sandwich)

    # p enters x twice, so the sandwich rounds numbers of p^2 h, below 4e2.
    assert_allclose(evaluate(defect, a, h), np.zeros(8), rtol=0.0, atol=1e-12)


@seeded
@given(a=poses(), h=vectors6)
def test_adjoint_adjoint_inverse_and_their_matrix_against_rotation_and_lever_arm(evaluate, a, h):
    def results(a, h):
        x, h = pose_of(a), twist_from_vector(h)
        return [vec6(x.adjoint(h)), vec6(x.adjoint_inverse(h)), x.adjoint_matrix()]

    R = Rotation.from_quat(a[:4], scalar_first=True).as_matrix()
    p, primary, dual = a[4:], np.array(h[:3]), np.array(h[3:])
    forth = np.r_[R @ primary, R @ dual + np.cross(p, R @ primary)]
    back = np.r_[R.T @ primary, R.T @ (dual - np.cross(p, primary))]
    columns = [np.r_[R @ e[:3], R @ e[3:] + np.cross(p, R @ e[:3])] for e in np.eye(6)]
    expected = np.r_[forth, back, np.ravel(np.column_stack(columns))]
    assert_allclose(evaluate(results, a, h), expected, rtol=0.0, atol=TOLERANCE)


@seeded
@given(a=poses(), h=vectors6)
def test_adjoint_inverse_undoes_adjoint(evaluate, a, h):
    def trips(a, h):
        x, h = pose_of(a), twist_from_vector(h)
        return [
            vec6(x.adjoint_inverse(x.adjoint(h))),
            vec6(x.adjoint(x.adjoint_inverse(h))),
            vec6(x.adjoint_inverse(h) - x.conjugate().adjoint(h)),
        ]

    assert_allclose(evaluate(trips, a, h), np.r_[h, h, np.zeros(6)], rtol=0.0, atol=TOLERANCE)


@pytest.mark.claim(2)
@seeded
@given(a=poses(), b=poses(), h=vectors6)
def test_adjoint_of_a_product_is_the_product_of_adjoints(evaluate, a, b, h):
    def defect(a, b, h):
        x, y, h = pose_of(a), pose_of(b), twist_from_vector(h)
        return vec6((x * y).adjoint(h) - x.adjoint(y.adjoint(h)))

    assert_allclose(evaluate(defect, a, b, h), np.zeros(6), rtol=0.0, atol=TOLERANCE)


@pytest.mark.claim(2)
@seeded
@given(a=poses(), f=vectors6, g=vectors6)
def test_adjoint_keeps_crosses_inner_products_and_power(evaluate, a, f, g):
    def defects(a, f, g):
        x, f, g = pose_of(a), twist_from_vector(f), twist_from_vector(g)
        moved_f, moved_g = x.adjoint(f), x.adjoint(g)
        before, after = dual_dot(f, g), dual_dot(moved_f, moved_g)
        return [
            vec6(x.adjoint(dual_cross(f, g)) - dual_cross(moved_f, moved_g)),
            after[0] - before[0],
            after[1] - before[1],
            power(moved_f, moved_g) - power(f, g),
        ]

    assert_allclose(evaluate(defects, a, f, g), np.zeros(9), rtol=0.0, atol=PRODUCT_TOLERANCE)


def test_adjoint_moves_the_reference_point_of_a_wrench():
    """A force of 2 N along y at the origin of B, which lies 3 m along x: 6 N m about z in A."""
    x_B_A = Pose.from_rotation_and_position([1.0, 0.0, 0.0, 0.0], [3.0, 0.0, 0.0])
    force = twist_from_vector([0.0, 2.0, 0.0, 0.0, 0.0, 0.0])
    assert_array_equal(vec6(x_B_A.adjoint(force)), [0.0, 2.0, 0.0, 0.0, 0.0, 6.0])
