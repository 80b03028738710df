# SPDX-License-Identifier: Apache-2.0
"""The pose nearest to a dual quaternion that has drifted."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from kane_dynamics.algebra import (
    Pose,
    from_vec8,
    unit_pose,
    vec4,
)
from kane_dynamics.exceptions import InvalidInputError, KaneDynamicsError

DIFFERENT = np.array([0.1, -0.2, 0.3, -0.4]) / np.sqrt(0.3)  # four different numbers, unit
POSITION = np.array([1.0, -2.0, 3.0])

component = st.floats(-5.0, 5.0)
vectors3 = st.lists(component, min_size=3, max_size=3)


@st.composite
def poses(draw):
    """Draw seven numbers: a unit quaternion (w, x, y, z) and a position."""
    wxyz = np.array(draw(st.lists(st.floats(-1.0, 1.0), min_size=4, max_size=4)))
    assume(np.linalg.norm(wxyz) > 1e-2)
    return np.r_[wxyz / np.linalg.norm(wxyz), draw(vectors3)]


seeded = settings(derandomize=True, deadline=None, max_examples=8)


def pose_of(seven):
    return Pose.from_rotation_and_position(seven[:4], seven[4:])


def test_unit_pose_leaves_a_pose_as_it_is():
    x = pose_of(np.r_[DIFFERENT, POSITION])
    y = unit_pose(x.dual_quaternion())
    assert_allclose(vec4(y.rotation), DIFFERENT, rtol=0.0, atol=1e-15)
    assert_allclose(y.position(), POSITION, rtol=0.0, atol=4e-15)


@seeded
@given(a=poses(), size=st.floats(0.1, 10.0), slip=st.floats(-3.0, 3.0))
def test_unit_pose_removes_any_dual_number_factor(a, size, slip):
    """x (s + eps t) has the norm s + eps t; what is left after division is x."""
    x = pose_of(a)
    factor = from_vec8([size, 0.0, 0.0, 0.0, slip, 0.0, 0.0, 0.0])
    drifted = x.dual_quaternion() * factor
    assert_allclose(drifted.norm(), (size, slip), rtol=1e-13, atol=1e-13)
    y = unit_pose(drifted)
    assert_allclose(vec4(y.rotation), a[:4], rtol=0.0, atol=2e-15)
    # <P, D> of up to 10 * 3 * 5 is taken off, and the rest divided by 0.1 at worst.
    assert_allclose(y.position(), a[4:], rtol=0.0, atol=1e-12)


@pytest.mark.claim(1)
def test_unit_pose_of_anything_has_norm_one(rng):
    for drifted in rng.normal(size=(20, 8)):
        x = unit_pose(from_vec8(drifted))
        norm = x.dual_quaternion().norm()
        # p = 2 D P* grows with 1 / ||P||, which is above 0.1 for this seed.
        assert_allclose(norm, (1.0, 0.0), rtol=0.0, atol=2e-14)
        cosine = vec4(x.rotation) @ drifted[:4] / np.linalg.norm(drifted[:4])
        assert_allclose(cosine, 1.0, rtol=0.0, atol=1e-15)


@pytest.mark.parametrize('size', [1e-200, 1e-162, 1e-100, 1e100, 1e160, 1e200])
def test_unit_pose_of_any_size(size):
    """Squares of the components under- or overflow; the pose does not."""
    x = pose_of(np.r_[DIFFERENT, POSITION])
    y = unit_pose(x.dual_quaternion() * size)
    assert_allclose(vec4(y.rotation), DIFFERENT, rtol=0.0, atol=1e-15)
    assert_allclose(y.position(), POSITION, rtol=0.0, atol=4e-15)


@pytest.mark.parametrize(
    'components',
    [
        np.zeros(8),
        np.r_[np.zeros(4), np.ones(4)],
        np.r_[np.nan, np.ones(7)],
        np.r_[np.ones(7), np.nan],
        np.r_[np.inf, np.ones(7)],
        np.r_[np.ones(7), -np.inf],
    ],
)
def test_unit_pose_rejects_what_is_near_no_pose(components):
    with pytest.raises(InvalidInputError, match='finite, nonzero primary part') as caught:
        unit_pose(from_vec8(components))
    assert isinstance(caught.value, KaneDynamicsError)
    assert isinstance(caught.value, ValueError)
