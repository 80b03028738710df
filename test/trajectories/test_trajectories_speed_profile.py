# SPDX-License-Identifier: Apache-2.0
"""The speed along a path, on grids whose cells differ: smooth, and of one time."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad

from kane_dynamics.trajectories.speed_profile import SpeedProfile


@pytest.fixture
def profile(rng):
    """Return a profile on cells of which neighbours differ by up to ten times."""
    cells = rng.uniform(0.1, 1.0, 12)
    u = rng.uniform(-0.2, 0.2, 12) + np.r_[np.full(6, 1.0), np.full(6, -1.0)]
    u[-1] -= (cells @ u) / cells[-1]  # it ends at rest
    return SpeedProfile(np.r_[0.0, np.cumsum(cells)], u)


def test_the_square_of_the_speed_is_continuous_and_its_slope_is_twice_the_acceleration(profile):
    ends = np.sort(np.r_[profile.grid[1:-1], profile.middles])
    near = 1e-9 * profile.grid[-1]
    before, after = profile.of(ends - near), profile.of(ends + near)
    for one, other in zip(before, after, strict=True):
        assert_allclose(one, other, rtol=0, atol=1e-6)  # slopes of a hundred over twice `near`
    places = np.linspace(0.01, 0.99, 301) * profile.grid[-1]
    step = 1e-6
    slopes = (profile.of(places + step)[1] - profile.of(places - step)[1]) / (2.0 * step)
    assert_allclose(slopes, 2.0 * profile.of(places)[0], rtol=0, atol=2e-5)


def test_it_has_in_the_middles_what_it_was_made_of(profile):
    u, x = profile.of(profile.middles)
    cells = np.diff(profile.grid)
    assert_allclose(x, profile.squares, rtol=1e-12)
    nodes = np.r_[0.0, np.cumsum(2.0 * cells * u)]
    assert_allclose(x, nodes[:-1] + cells * u, rtol=1e-12)


def test_the_duration_is_the_integral_of_one_over_the_speed(profile):
    inner = np.r_[profile.middles[0], profile.grid[1:-1], profile.middles[-1]]
    taken = sum(
        quad(lambda s: 1.0 / np.sqrt(profile.of(np.array([s]))[1][0]), *pair, epsabs=1e-12)[0]
        for pair in itertools.pairwise(inner)
    )
    # constant u before the first middle and after the last: 2 s / v
    rests = [profile.middles[0], profile.grid[-1] - profile.middles[-1]]
    taken += sum(
        2.0 * s / np.sqrt(x) for s, x in zip(rests, profile.squares[[0, -1]], strict=True)
    )
    assert profile.duration == pytest.approx(taken, rel=1e-8)


def test_at_half_the_pace_it_takes_twice_as_long(profile):
    slow = profile.slowed(0.5)
    assert slow.duration == pytest.approx(2.0 * profile.duration, rel=1e-12)
    places = np.linspace(0.0, profile.grid[-1], 50)
    assert_allclose(slow.of(places)[1], 0.25 * profile.of(places)[1], rtol=1e-12, atol=1e-15)
