# SPDX-License-Identifier: Apache-2.0
"""Time-optimal motions: closed forms, limits held exactly, paths that cannot be passed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kane_dynamics as kd
from kane_dynamics.exceptions import InfeasiblePathError, InvalidInputError
from kane_dynamics.trajectories.paths import SplinePath
from kane_dynamics.trajectories.retiming import retime

pytest.importorskip('toppra')

INERTIA, WEIGHT, MOST, TURN = 0.35, 4.0, 7.0, 2.2  # known answers D3
GRID = 1e-6  # error of the duration with 1000 cells, which falls with their square
MASS, LENGTH = 2.0, WEIGHT / (2.0 * 9.81)


def link(**joint):
    """Return a link that hangs on a hinge with bounded torque."""
    about_com = (INERTIA - MASS * LENGTH**2) * np.eye(3)
    hinge = kd.Joint('hinge', kd.Revolute((0.0, 1.0, 0.0)), effort_limit=MOST, **joint)
    inertia = kd.Inertia(MASS, [0.0, 0.0, -LENGTH], about_com)
    return kd.Robot('link', [kd.Body('link', '', hinge, inertia=inertia)])


def swung(cells, **joint):
    """Return the link swung from hanging to 2.2 rad."""
    path = SplinePath([[0.0], [TURN]])
    return retime(kd.compile(link(**joint)), path, ['hinge'], cells=cells)


def test_a_link_with_bounded_torque_takes_the_time_known():
    found = swung(1000)
    assert found.duration == pytest.approx(0.6352402542, rel=GRID)
    at_switch = found.profile.of(np.array([1.553857462 / TURN]))[1]
    assert_allclose(TURN * np.sqrt(at_switch), 6.299548489, rtol=1e-3)  # a cell blunts the corner
    before = found.profile.places(np.array([0.4270697207])) * TURN
    assert_allclose(before, 1.553857462, atol=1e-4)


def test_a_bound_of_speed_makes_it_cruise():
    found = swung(1000, velocity_limit=5.0)
    assert found.duration == pytest.approx(0.6589031142, rel=GRID)
    places = np.linspace(0.0, 1.0, 10001)
    speeds = TURN * np.sqrt(found.profile.of(places)[1])
    cruise = TURN * places[speeds > 5.0 * (1.0 - 1e-9)]
    assert_allclose(cruise[[0, -1]], (0.797139521, 1.788092159), atol=8e-3)  # two cells
    assert speeds.max() <= 5.0 * (1.0 + 1e-9)
    assert found.uses['speed of hinge'].active == pytest.approx(0.3008, abs=0.01)


def test_a_path_that_no_torque_climbs_says_where_and_why():
    path = SplinePath([[0.0], [TURN]])
    said = r'effort of hinge \(4 at rest, limit 2\)'
    with pytest.raises(InfeasiblePathError, match=said) as error:
        retime(kd.compile(link()), path, ['hinge'], efforts={'hinge': 2.0}, cells=100)
    assert error.value.place * TURN == pytest.approx(np.pi / 2.0, abs=0.05)  # gravity's arm


def test_limits_that_contradict_each_other_are_named():
    path = SplinePath([[np.pi / 2.0], [TURN]])
    bounds = {'efforts': {'hinge': 2.0}, 'accelerations': {'hinge': 1.0}}
    with pytest.raises(InfeasiblePathError, match='effort of hinge.*acceleration of hinge') as e:
        retime(kd.compile(link()), path, ['hinge'], **bounds, cells=100)
    assert len(e.value.limits) == 2


def test_what_limits_nothing_is_refused():
    path = SplinePath([[0.0], [TURN]])
    with pytest.raises(InvalidInputError, match='nothing limits the speed'):
        retime(kd.compile(link()), path, ['hinge'], efforts={'hinge': np.inf}, cells=10)
