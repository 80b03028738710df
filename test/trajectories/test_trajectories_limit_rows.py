# SPDX-License-Identifier: Apache-2.0
"""Rows without the multipliers of redundant motors, against linear programs and closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog

from kane_dynamics.exceptions import InfeasiblePathError
from kane_dynamics.trajectories.limit_rows import LimitRows, least_uses, projected, shared

PLACES, ROWS = 3, 7
FOUND = 1e-6  # sides of a polygon that move by less than 1e-7 are sides
MET = 1e-5  # limits that nothing keeps are exceeded by 1e-7 more, over a slope in z


def random_rows(rng, count):
    """Return rows that leave a bounded polygon around (0, 0.5), and the shares of `count` z."""
    a, b = rng.normal(size=(2, PLACES, ROWS))
    a[:, :4], b[:, :4] = (1.0, -1.0, 0.0, 0.0), (0.3, 0.2, 1.0, -1.0)
    c = 1.0 - 0.5 * np.abs(b) - rng.uniform(0.2, 1.0, (PLACES, ROWS))
    shares = rng.normal(size=(PLACES, ROWS, count))
    return LimitRows(a, b, np.zeros_like(a), c), shares


@pytest.mark.parametrize('seed', range(6))
def test_a_projection_reaches_as_far_as_the_rows_with_their_multipliers(seed):
    rng = np.random.default_rng(seed)
    rows, shares = random_rows(rng, 1 + seed % 2)
    flat = projected(rows, shares, np.arange(PLACES), {})
    assert not flat.d.any()
    for k in range(PLACES):
        whole = np.column_stack([rows.a[k], rows.b[k], shares[k]])
        sides = np.column_stack([flat.a[k], flat.b[k]])
        for angle in np.linspace(0.0, 2.0 * np.pi, 33):
            cost = np.zeros(whole.shape[1])
            cost[:2] = -np.cos(angle), -np.sin(angle)
            bounds = [(-1e4, 1e4), (0.0, 1e4), *[(None, None)] * (len(cost) - 2)]
            exact = linprog(cost, whole, 1.0 - rows.c[k], bounds=bounds).fun
            found = linprog(cost[:2], sides, 1.0 - flat.c[k], bounds=(None, None)).fun
            assert found == pytest.approx(exact, rel=FOUND, abs=FOUND)


def test_what_no_share_keeps_is_refused_with_its_place():
    none = np.zeros((1, 2))
    rows = LimitRows(none, none, none, np.array([[3.0, 3.0]]))  # z lowers one, raises the other
    with pytest.raises(InfeasiblePathError) as error:
        projected(rows, np.array([[[1.0], [-1.0]]]), np.array([0.7]), {})
    assert error.value.place == 0.7


def interval(use, share, bound):
    """Return the ends of the z with use + share z <= bound, of one multiplier."""
    ends = (bound - use) / share
    return ends[share < 0.0].max(), ends[share > 0.0].min()


@pytest.mark.parametrize('seed', range(10))
def test_one_multiplier_is_the_least_that_keeps_all_limits_or_exceeds_them_least(seed):
    rng = np.random.default_rng(seed)
    uses, shares = rng.normal(0.8, 0.5, (5, 6)), rng.normal(size=(5, 6, 1))
    shares[:, :2, 0] = 1.0, -1.0
    found, uses_found = shared(uses, shares), least_uses(uses, shares)
    cases = zip(uses, shares[..., 0], found[:, 0], uses_found, strict=True)
    for use, share, z, least_use in cases:
        low, high = 0.0, 10.0
        for _ in range(60):  # of the least largest use
            middle = 0.5 * (low + high)
            left, right = interval(use, share, middle)
            low, high = (low, middle) if left <= right else (middle, high)
        left, right = interval(use, share, max(high, 1.0))
        assert z == pytest.approx(np.clip(0.0, left, right), abs=MET)
        expected = max(use.max(), high) if use.max() <= 1.0 else high
        assert least_use.max() == pytest.approx(expected, abs=1e-9)


def test_two_motors_that_push_each_other_take_half_each():
    uses, shares = np.array([[3.0, 1.0]]), np.array([[[1.0], [-1.0]]])
    assert_allclose(shared(uses, shares), [[-1.0]], rtol=0, atol=FOUND)  # beyond limits
    assert_allclose(least_uses(uses, shares), [[2.0, 2.0]], rtol=1e-12)
    assert_allclose(shared(0.4 * uses, shares), [[-0.2]], rtol=0, atol=1e-12)
    assert_allclose(shared(0.3 * uses, shares), [[0.0]], rtol=0, atol=1e-15)
