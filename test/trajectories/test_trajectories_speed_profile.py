# SPDX-License-Identifier: Apache-2.0
"""The speed along a path, on grids whose cells differ: smooth, and of one time."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad

from kane_dynamics.trajectories.speed_profile import SpeedProfile


@pytest.fixture(params=[(), (4, 5, 7), range(12)])
def profile(request, rng):
    """Return a profile on cells of which neighbours differ by up to ten times, some bent."""
    cells = rng.uniform(0.1, 1.0, 12)
    u = rng.uniform(-0.2, 0.2, 12) + np.r_[np.full(6, 1.0), np.full(6, -1.0)]
    u[-1] -= (cells @ u) / cells[-1]  # it ends at rest
    ends = np.full((12, 2), np.nan)
    bent = list(request.param)
    ends[bent] = u[bent, None] + rng.uniform(-0.2, 0.2, (len(bent), 2))
    return SpeedProfile(np.r_[0.0, np.cumsum(cells)], u, ends), u, ends


def test_the_square_of_the_speed_is_continuous_and_its_slope_is_twice_the_acceleration(profile):
    profile, _, given = profile
    ends = np.sort(np.r_[profile.grid[1:-1], profile.middles])
    near = 1e-9 * profile.grid[-1]
    before, after = profile.of(ends - near), profile.of(ends + near)
    bent = np.isfinite(given[:, 0])
    smooth = np.insert(~(bent[:-1] | bent[1:]), np.arange(12), True)
    assert_allclose(before[0][smooth], after[0][smooth], rtol=0, atol=1e-6)
    assert_allclose(before[1], after[1], rtol=0, atol=1e-6)  # slopes of a hundred, twice `near`
    for one, other in zip(profile.of(ends, before=True), before, strict=True):
        assert_allclose(one, other, rtol=0, atol=1e-6)
    places = np.linspace(0.01, 0.99, 301) * profile.grid[-1]
    step = 1e-6
    slopes = (profile.of(places + step)[1] - profile.of(places - step)[1]) / (2.0 * step)
    assert_allclose(slopes, 2.0 * profile.of(places)[0], rtol=0, atol=2e-5)


def test_it_has_in_the_middles_what_it_was_made_of(profile):
    profile, mean, ends = profile
    u, x = profile.of(profile.middles)
    cells, bent = np.diff(profile.grid), np.isfinite(ends[:, 0])
    assert_allclose(x, profile.squares, rtol=1e-12)
    nodes = np.r_[0.0, np.cumsum(2.0 * cells * mean)]
    assert_allclose(x[~bent], (nodes[:-1] + cells * mean)[~bent], rtol=1e-12)
    assert_allclose(u[~bent], mean[~bent], rtol=1e-12)
    first, last = profile.of(profile.grid[:-1]), profile.of(profile.grid[1:], before=True)
    for side, (u, x) in enumerate((first, last)):
        assert_allclose(u[bent], ends[bent, side], rtol=1e-12)
        assert_allclose(x[bent], nodes[side : 12 + side][bent], rtol=0, atol=1e-12)


def test_the_duration_is_the_integral_of_one_over_the_speed(profile):
    profile, _, _ = profile
    inner = np.sort(np.r_[profile.middles, profile.grid[1:-1]])

    def slowness(root, end=0.0, sign=1.0):  # over the root of the distance from where it rests
        square = profile.of(np.array([end + sign * root**2]))[1][0]
        return 2.0 * root / np.sqrt(square)

    taken = sum(
        quad(lambda s: 1.0 / np.sqrt(profile.of(np.array([s]))[1][0]), *pair, epsabs=1e-12)[0]
        for pair in itertools.pairwise(inner)
    )
    taken += quad(slowness, 0.0, np.sqrt(inner[0]))[0]
    left = profile.grid[-1] - inner[-1]
    taken += quad(slowness, 1e-6, np.sqrt(left), args=(profile.grid[-1], -1.0))[0]
    assert profile.duration == pytest.approx(taken, rel=1e-6)  # the last millionth is left out
    times = np.linspace(0.0, profile.duration, 200)
    speeds = np.sqrt(profile.of(profile.places(times))[1])
    step = 1e-5
    rates = (profile.places(times[1:-1] + step) - profile.places(times[1:-1] - step)) / (2 * step)
    assert_allclose(rates, speeds[1:-1], rtol=0, atol=2e-3)


def test_at_half_the_pace_it_takes_twice_as_long(profile):
    profile, _, _ = profile
    slow = profile.slowed(0.5)
    assert slow.duration == pytest.approx(2.0 * profile.duration, rel=1e-12)
    places = np.linspace(0.0, profile.grid[-1], 50)
    assert_allclose(slow.of(places)[1], 0.25 * profile.of(places)[1], rtol=1e-12, atol=1e-15)
