# SPDX-License-Identifier: Apache-2.0
"""The speed along a path, on grids whose cells differ: of one time; its means over a window."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad

from kane_dynamics.trajectories.speed_profile import SmoothedProfile, SpeedProfile

CELLS = 12


@pytest.fixture(params=[0.0, 0.1, 0.9])
def profile(request, rng):
    """Return a profile on cells of which neighbours differ by up to ten times, u changing."""
    cells = rng.uniform(0.1, 1.0, CELLS)
    squares = np.r_[0.0, rng.uniform(0.5, 2.0, CELLS - 1), 0.0]
    u = 0.5 * np.diff(squares) / cells
    return SpeedProfile(np.r_[0.0, np.cumsum(cells)], squares, request.param * u)


def test_the_square_of_the_speed_is_continuous_and_its_slope_is_twice_the_acceleration(profile):
    near = 1e-9 * profile.grid[-1]
    inner = profile.grid[1:-1]
    assert_allclose(profile.of(inner - near)[1], profile.of(inner + near)[1], rtol=0, atol=1e-6)
    assert_allclose(profile.of(profile.grid)[1], profile.squares, atol=1e-12)
    places = np.linspace(0.01, 0.99, 301) * profile.grid[-1]
    step = 1e-6
    slopes = (profile.of(places + step)[1] - profile.of(places - step)[1]) / (2.0 * step)
    assert_allclose(slopes, 2.0 * profile.of(places)[0], rtol=0, atol=2e-5)


def test_the_duration_is_the_integral_of_one_over_the_speed(profile):
    def slowness(root, end=0.0, sign=1.0):  # over the root of the distance from where it rests
        square = profile.of(np.array([end + sign * root**2]))[1][0]
        return 2.0 * root / np.sqrt(square)

    inner = profile.grid[1:-1]
    taken = sum(
        quad(lambda s: 1.0 / np.sqrt(profile.of(np.array([s]))[1][0]), *pair, epsabs=1e-12)[0]
        for pair in itertools.pairwise(inner)
    )
    taken += quad(slowness, 1e-7, np.sqrt(inner[0]))[0]
    left = profile.grid[-1] - inner[-1]
    taken += quad(slowness, 1e-7, np.sqrt(left), args=(profile.grid[-1], -1.0))[0]
    assert profile.duration == pytest.approx(taken, rel=1e-5)
    times = np.linspace(0.0, profile.duration, 200)
    speeds = np.sqrt(profile.at(times)[2])
    step = 1e-5
    rates = (profile.s_at(times[1:-1] + step) - profile.s_at(times[1:-1] - step)) / (2 * step)
    assert_allclose(rates, speeds[1:-1], rtol=0, atol=0.03)


def test_a_change_that_would_turn_the_motion_round_is_less():
    found = SpeedProfile(
        np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 1.0, 1.1, 0.0]), np.ones(3)
    )
    assert found.of(np.linspace(0.0, 3.0, 1001))[1].min() >= 0.0
    assert np.isfinite(found.duration)


def test_slopes_are_those_of_u_between_cells_the_lesser_of_both_sides(rng):
    grid = np.r_[0.0, np.cumsum(rng.uniform(0.1, 1.0, CELLS))]
    found = SpeedProfile(grid, grid * (grid[-1] - grid)).slopes  # u falls by one
    assert_allclose(found, np.r_[0.0, np.full(CELLS - 2, -1.0), 0.0], atol=1e-12)
    u = np.array([4.0, 1.0, 0.5, 0.0, -2.0, -1.0, -1.5])  # ends: nothing beside them
    squares = np.r_[0.0, np.cumsum(2.0 * 0.1 * u)]
    found = SpeedProfile(0.1 * np.arange(8.0), squares).slopes
    assert_allclose(found, [0.0, -5.0, -5.0, -5.0, 0.0, 0.0, 0.0], atol=1e-12)


def test_at_half_the_pace_it_takes_twice_as_long(profile):
    slow = profile.slowed(0.5)
    assert slow.duration == pytest.approx(2.0 * profile.duration, rel=1e-12)
    places = np.linspace(0.0, profile.grid[-1], 50)
    assert_allclose(slow.of(places)[1], 0.25 * profile.of(places)[1], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize('window', [0.01, 0.4, 30.0])
def test_a_smoothed_profile_moves_as_its_rates_say_from_rest_to_rest(profile, window):
    found = SmoothedProfile(profile, window)
    assert found.duration == pytest.approx(profile.duration + window)
    ends = found.at(np.array([0.0, found.duration]))
    assert_allclose(ends[0], profile.grid[[0, -1]], atol=1e-9)
    assert_allclose(ends[2], 0.0, atol=1e-12)
    step = 1e-5
    times = np.linspace(0.0, found.duration, 301)[1:-1]
    before, after = found.at(times - step), found.at(times + step)
    assert_allclose((after[0] - before[0]) / (2 * step), np.sqrt(found.at(times)[2]), atol=0.03)
    rates = (np.sqrt(after[2]) - np.sqrt(before[2])) / (2 * step)
    u = found.at(times)[1]  # of speeds over the path, near those over time
    assert np.abs(rates - u).max() < (0.1 if window > 0.1 else 1.0) * np.abs(u).max()
    half = found.slowed(0.5)
    assert half.duration == pytest.approx(2.0 * found.duration)
    assert_allclose(half.at(2.0 * times)[0], found.at(times)[0], atol=1e-9)
    passed = found.at(found.times)[0]
    nearest = np.abs(passed[:, None] - profile.grid).min(axis=0)
    assert nearest.max() < 1e-9  # it knows when it passes the grid
