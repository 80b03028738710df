# SPDX-License-Identifier: Apache-2.0
"""What is used of limits between the places at which they are looked at."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kane_dynamics as kd
from kane_dynamics.control.motion_limits import Reserve
from kane_dynamics.trajectories.cell_search import CellSearch, peaks
from kane_dynamics.trajectories.path_limits import PathLimits
from kane_dynamics.trajectories.paths import SplinePath

PLACES = np.linspace(-1.0, 1.0, 9)


@pytest.mark.parametrize('top', [-0.9, -0.3, 0.0, 0.07, 0.5])
def test_a_parabola_peaks_between_places(top):
    values = 1.2 - 3.0 * (PLACES[:, None] - [top, -top]) ** 2
    assert_allclose(peaks(values), 1.2, rtol=1e-12)


def test_what_rises_or_sags_peaks_at_an_end():
    values = np.stack([PLACES**3 + PLACES, -PLACES, PLACES**2], axis=1)
    assert_allclose(peaks(values), [2.0, 1.0, 1.0], rtol=1e-12)


@pytest.mark.parametrize('faster', [1.0, 1.3, 4.0])
def test_the_pace_is_the_largest_that_no_limit_forbids(faster):
    pytest.importorskip('toppra')
    hinge = kd.Joint('hinge', kd.Revolute((0.0, 1.0, 0.0)), effort_limit=5.0)
    weight = kd.Inertia(1.0, (0.0, 0.0, -0.3), 0.05 * np.eye(3))
    robot = kd.Robot('link', [kd.Body('link', '', hinge, inertia=weight)])
    path = SplinePath([[0.0], [2.0]])
    limits = PathLimits(kd.dynamics(robot), path, ['hinge'], None, Reserve(), {}, {}, {})
    grid = np.linspace(0.0, path.length, 21)
    search = CellSearch(limits, grid, np.zeros((20, len(limits.names))), free=False)
    profile = search.fastest().profile
    most = search.excess(profile).max()
    # the effort is at its limit somewhere, and grows with the square of the pace
    assert search.pace(profile.slowed(faster), most) == pytest.approx(1.0 / faster, rel=1e-9)
