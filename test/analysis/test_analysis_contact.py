# SPDX-License-Identifier: Apache-2.0
"""Wrenches on a frame from external efforts, and flags of collisions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kane_dynamics.analysis.contacts import UNKNOWN, CollisionFlags, contact_wrench
from kane_dynamics.exceptions import InvalidInputError


def test_seven_joints_show_the_whole_wrench():
    rng = np.random.default_rng(4)
    J, w = rng.normal(size=(6, 7)), rng.normal(size=6)
    S = np.diag(rng.uniform(0.1, 2.0, 7))
    found = contact_wrench(J, J.T @ w, S)
    assert_allclose(found.wrench, w, atol=1e-12)
    assert found.unfelt.shape == (0, 6)
    assert_allclose(found.covariance @ (J @ np.linalg.inv(S) @ J.T), np.eye(6), atol=1e-11)


def test_the_covariance_is_that_of_many_estimates():
    rng = np.random.default_rng(6)
    J, root = rng.normal(size=(6, 8)), rng.normal(size=(8, 8))
    S = root @ root.T + 0.1 * np.eye(8)
    noise = rng.multivariate_normal(np.zeros(8), S, 4000)
    seen = np.cov(np.array([contact_wrench(J, r, S).wrench for r in noise]).T)
    told = contact_wrench(J, noise[0], S).covariance
    scale = np.sqrt(np.diag(told))
    # 4000 draws: 2.2 % of a variance, three times that
    assert_allclose(seen / np.outer(scale, scale), told / np.outer(scale, scale), atol=0.07)


def test_what_joints_do_not_feel_is_unknown():
    """Two joints of a planar arm feel two wrenches; the others are marked."""
    J = np.zeros((6, 2))
    J[2] = 1.0, 1.0  # both turn about z
    J[3:5] = [[-0.4, -0.1], [0.6, 0.3]]
    felt = contact_wrench(J, (1.0, -0.5), np.diag([0.01, 0.04]))
    assert felt.unfelt.shape == (4, 6)
    assert_allclose(felt.unfelt @ J, 0.0, atol=1e-12)
    assert_allclose(felt.unfelt @ felt.wrench, 0.0, atol=1e-12)
    assert_allclose(J.T @ felt.wrench, (1.0, -0.5), atol=1e-12)
    variances = np.diag(felt.unfelt @ felt.covariance @ felt.unfelt.T)
    assert_allclose(variances, UNKNOWN, rtol=1e-6)
    # what is felt is known as well as the efforts are; roundoff of UNKNOWN: 1e9 * 1e-15
    assert_allclose(J.T @ felt.covariance @ J, np.diag([0.01, 0.04]), atol=1e-5)


def test_wrenches_of_wrong_shapes_are_refused():
    J = np.ones((6, 2))
    with pytest.raises(InvalidInputError, match=r'jacobian: need shape \(6, 2\), got \(2, 6\)'):
        contact_wrench(J.T, (1.0, 2.0), np.eye(2))
    with pytest.raises(InvalidInputError, match='positive definite'):
        contact_wrench(J, (1.0, 2.0), np.zeros((2, 2)))


def test_flags_rise_after_a_time_and_fall_below_half():
    flags = CollisionFlags((5.0, 10.0), hold=0.02)
    assert not flags.update((6.0, 9.0), 0.01)
    assert flags.update((-6.0, 9.0), 0.01)
    assert flags.raised.tolist() == [True, False]
    assert flags.update((3.0, 0.0), 1.0)  # above half of the threshold: it stays
    assert flags.update((2.0, 0.0), 0.01)
    assert not flags.update((2.0, 0.0), 0.01)
    assert not flags.update((6.0, 0.0), 0.01)
    assert not flags.update((4.0, 0.0), 0.01)  # the time begins anew
    assert not flags.update((6.0, 0.0), 0.01)
    flags.update((6.0, 0.0), 0.01)
    flags.reset()
    assert not flags.raised.any()


def test_flags_without_a_time_rise_at_once():
    assert CollisionFlags((5.0,)).update((5.1,), 0.001)


def test_wrong_thresholds_are_refused():
    with pytest.raises(InvalidInputError, match='thresholds'):
        CollisionFlags((5.0, 0.0))
    with pytest.raises(InvalidInputError, match='hold'):
        CollisionFlags((5.0,), hold=-1.0)
    with pytest.raises(InvalidInputError, match='efforts'):
        CollisionFlags((5.0,)).update((np.nan,), 0.1)
