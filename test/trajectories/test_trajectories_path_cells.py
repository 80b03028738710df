# SPDX-License-Identifier: Apache-2.0
"""Cells of a path with limits in closed form: fastest motions, cuts, uses, what is infeasible."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kane_dynamics.exceptions import InfeasiblePathError
from kane_dynamics.trajectories.limit_rows import LimitRows
from kane_dynamics.trajectories.path_cells import MotionUses, PathCells
from kane_dynamics.trajectories.speed_profile import SpeedProfile

EVEN = np.linspace(0.0, 1.0, 11)
TOLERANCE, LOSS = 1e-3, 1e-9
AHEAD, BACK = 0, 1


class Limits:
    """u + d sqrt(x) + c <= 1 and -u/brake - d sqrt(x) - c <= 1, and x <= fast; c of the place."""

    names = ('ahead', 'back', 'fast')

    def __init__(self, c=0.0, d=0.0, brake=1.0, fast=np.inf):
        self.c, self.d, self.brake, self.fast = c, d, brake, fast

    def at(self, s):
        """Return the rows at places."""
        one, none = np.ones_like(s), np.zeros_like(s)
        c = self.c(s) if callable(self.c) else self.c * one
        rows = (
            (one, -one / self.brake, none),
            (none, none, one / self.fast),
            (self.d * one, -self.d * one, none),
            (c, -c, none),
        )
        return LimitRows(*(np.stack(parts, axis=-1) for parts in rows))

    def says(self, row, use):
        """Return the words of a row."""
        return f'{self.names[row]} {use:.6g}'

    def cells(self, grid=EVEN):
        """Return cells of a grid."""
        return PathCells.on(self, grid, free=False)


def settled(cells):
    """Return the fastest profile, linearised about itself."""
    profile = cells.fastest()
    for _ in range(12):
        profile = cells.fastest(profile)
    return profile


def test_from_rest_to_rest_it_drives_and_brakes_with_all_there_is():
    profile = Limits().cells().fastest()
    assert_allclose(profile.squares, 2.0 * np.minimum(EVEN, 1.0 - EVEN), atol=1e-7)
    assert profile.duration == pytest.approx(2.0, rel=1e-7)


def test_cells_that_are_cut_have_the_rows_of_new_ones():
    limits = Limits(c=lambda s: 0.3 * np.sin(5.0 * s), d=0.1)
    cuts = np.array([0.02, 0.33, 0.38, 0.95])
    found, new = limits.cells().split(cuts), limits.cells(np.union1d(EVEN, cuts))
    assert_allclose(found.grid, new.grid)
    for name in 'abcd':
        assert_allclose(getattr(found.rows, name), getattr(new.rows, name), rtol=0, atol=1e-15)


def test_rows_at_the_ends_of_a_cell_are_those_inside():
    jump = Limits(c=lambda s: np.where(s < 0.5, -0.3, 0.3))  # as of friction where it turns round
    still = jump.cells(np.array([0.0, 0.5, 1.0])).rows.c[..., AHEAD]
    assert_allclose(still, [[-0.3] * 5, [0.3] * 5])


@pytest.mark.parametrize(
    ('grid', 'cut'),
    [
        ([0.0, 0.2, 0.4, 0.55, 0.7, 0.8, 1.0], 2.0 / 3.0),
        ([0.0, 0.2, 0.4, 0.5, 0.67, 0.8, 1.0], 0.585),  # too near to an end: the middle
    ],
)
def test_a_cell_is_cut_where_driving_ends_and_braking_begins(grid, cut):
    cells = Limits(brake=2.0).cells(np.array(grid))  # x = 2 s and x = 4 (1 - s)
    found = cells.cuts(cells.fastest(), TOLERANCE, LOSS)
    assert_allclose(found, [cut], rtol=1e-6)


@pytest.mark.parametrize('still', [0.5, -0.5])
def test_what_moves_at_its_limits_is_not_cut_and_what_could_be_faster_is(still):
    middle = 0.5 * (1.0 + still)  # x = 2 (1 - c) s and 2 (1 + c) (1 - s)
    cells = Limits(still).cells(np.union1d(EVEN, [middle]))
    profile = cells.fastest()
    assert not len(cells.cuts(profile, TOLERANCE, LOSS))
    slow = cells.cuts(profile.slowed(0.5), TOLERANCE, LOSS)
    assert_allclose(slow, 0.5 * (cells.grid[1:] + cells.grid[:-1]))


def test_cells_below_1e_8_of_the_path_are_not_cut():
    cells = Limits().cells(np.array([0.0, 0.5, 0.5 + 7e-9, 1.0]))
    slow = cells.fastest().slowed(0.5)
    assert_allclose(cells.cuts(slow, TOLERANCE, 1e-12), [0.25, 0.75], rtol=1e-6)


@pytest.mark.parametrize(('excess', 'count'), [(0.5, 0), (2.0, 5)])
def test_cells_are_cut_where_limits_are_exceeded_by_more_than_the_tolerance(excess, count):
    cells, faster = Limits().cells(), 1.0 + excess * TOLERANCE
    rises = np.where(EVEN <= 0.5, faster * 2.0 * EVEN, faster * 2.0 * (1.0 - EVEN))
    found = cells.cuts(SpeedProfile(EVEN, rises), TOLERANCE, 1.0)
    assert len(found) == 2 * count
    drives = Limits(brake=2.0).cells().cuts(SpeedProfile(EVEN, rises), TOLERANCE, 1.0)
    assert_allclose(drives, 0.1 * np.arange(count) + 0.05)


@pytest.mark.parametrize('still', [0.2, -0.2])
def test_with_friction_all_of_each_limit_is_used(still):
    """v v' = 1 - c - d v, and braking 1 + c + d v."""
    cells = Limits(still, d=0.3).cells(np.linspace(0.0, 1.0, 101))
    profile = settled(cells)
    middles = 0.5 * (cells.grid[1:] + cells.grid[:-1])
    u, x = profile.of(middles)
    exact = np.where(u > 0.0, 1.0 - still - 0.3 * np.sqrt(x), -1.0 - still - 0.3 * np.sqrt(x))
    moving = np.minimum(middles, 1.0 - middles) > 0.05  # near rest a tangent is far from a root
    assert (np.abs(u - exact)[moving] > 1e-3).sum() <= 2  # where braking begins
    ends = cells.grid[:-1, None] + np.array([1e-9, 0.01 - 1e-9])
    assert cells.rows[:, ::4].use(*profile.of(ends)).max() <= 1.0 + 1e-4  # at rest


@pytest.mark.parametrize('rise', [0.4, -0.4])
def test_what_acceleration_changes_by_in_a_cell_follows_the_limit(rise):
    """u <= 1 - c, c linear: x = 2 s - rise s^2 until it brakes."""
    limits = Limits(c=lambda s: rise * s, brake=3.0)
    cells = limits.cells(np.linspace(0.0, 1.0, 21))
    profile = settled(cells)
    places = np.linspace(0.1, 0.4, 101)
    u, x = profile.of(places)
    # with u constant in each cell it would lag by half of what it changes by, 0.01
    assert_allclose(u, 1.0 - rise * places, atol=4e-3)
    assert_allclose(x, 2.0 * places - rise * places**2, atol=4e-3)


def test_a_change_in_a_cell_takes_no_more_than_half_of_what_each_limit_leaves_at_rest():
    limits = Limits(c=lambda s: 0.4 * s, brake=3.0)
    limits.at, rows = lambda s: replaced(rows(s), np.where(s < 0.4, 0.999, 0.0)), limits.at
    changes = settled(limits.cells(np.linspace(0.0, 1.0, 21))).changes
    assert 1e-4 < np.abs(changes[:8]).max() <= 0.5 * 3.0 * 0.001 + 1e-12


def test_limits_that_contradict_each_other_are_named_with_what_they_use_there():
    limits = Limits(c=lambda s: np.where(s > 0.55, 4.0 + s, 0.0), brake=0.5)
    limits.at, rows = lambda s: replaced(rows(s)), limits.at
    with pytest.raises(InfeasiblePathError, match='no speed and acceleration keep') as error:
        limits.cells().fastest()
    assert error.value.place == pytest.approx(0.9)
    assert error.value.limits == ('ahead 5', 'back 0')


def replaced(rows, still=0.0):
    """Return rows of which the second has another constant part."""
    c = rows.c.copy()
    c[:, BACK] = still
    return LimitRows(rows.a, rows.b, rows.d, c)


@pytest.mark.parametrize(('fast', 'lost'), [(np.inf, 0.0), (0.3, 0.7)])
def test_a_hill_that_no_run_up_climbs_is_named_where_it_is_steepest(fast, lost):
    """It must brake by 1 for 0.4 and cannot by more: the speed before it is too low."""
    limits = Limits(c=lambda s: np.where(np.abs(s - 0.7) < 0.2, hill(s), 0.5), fast=fast)
    limits.at, rows = lambda s: replaced(rows(s)), limits.at
    with pytest.raises(InfeasiblePathError, match='to the end; hardest') as error:
        limits.cells().fastest()
    assert error.value.place == pytest.approx(0.775)
    assert error.value.limits == ('ahead 2',)


def test_a_place_that_no_share_of_motors_passes_is_named():
    limits = Limits(c=lambda s: np.where(s > 0.62, 2.0, 0.0))
    limits.at, rows = lambda s: replaced(rows(s), rows(s).c[:, AHEAD]), limits.at  # 2 of both
    limits.shares = lambda s: np.tile([[-1.0], [1.0], [0.0]], (len(s), 1, 1))
    with pytest.raises(InfeasiblePathError, match='no motion keeps all limits') as error:
        PathCells.on(limits, EVEN, free=True).fastest()
    assert error.value.place == pytest.approx(0.625)


def hill(s):
    """Return what a hill takes, most at 0.775."""
    return 2.0 - 0.2 * np.abs(s - 0.775)


def test_uses_at_a_part_of_the_speed():
    """u = +-1: p^2 u + p d v + c of one limit, -p^2 u - p d v - c of the other."""
    limits, profile = Limits(0.2, d=0.3), SpeedProfile(EVEN, 2.0 * np.minimum(EVEN, 1.0 - EVEN))
    uses = MotionUses(limits, profile, free=False)
    pace = uses.scaling(0.0)
    assert pace**2 + 0.3 * pace + 0.2 == pytest.approx(1.0, abs=1e-3)  # at the top, v = 1
    larger = uses.scaling(0.1)
    assert larger**2 + 0.3 * larger + 0.2 == pytest.approx(1.1, abs=1e-3)
    found = uses.report(0.5)
    assert found['ahead'].largest == pytest.approx(0.25 + 0.15 + 0.2, abs=1e-3)
    assert found['ahead'].place == pytest.approx(0.5, abs=1e-3)
    assert found['back'].largest == pytest.approx(0.25 - 0.2, abs=1e-3)
    assert found['back'].place == pytest.approx(1.0, abs=1e-3)
    assert found['ahead'].active == 0.0
    drives = MotionUses(Limits(), profile, free=False).report(1.0)
    assert [drives[name].active for name in ('ahead', 'back')] == pytest.approx([0.5, 0.5])
