# SPDX-License-Identifier: Apache-2.0
"""Time-optimal motions: closed forms, limits held exactly, paths that cannot be passed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.machines import Y, at, inertia, revolute
from support.standing_robots import RADIUS, rolling

import kane_dynamics as kd
from kane_dynamics.exceptions import InfeasiblePathError, InvalidInputError
from kane_dynamics.trajectories.paths import SplinePath
from kane_dynamics.trajectories.retiming import retime

INERTIA, WEIGHT, MOST, TURN = 0.35, 4.0, 7.0, 2.2  # known answers D3
PRINTED = 1e-9  # relative: the digits printed, where u is constant between its jumps
NEAR = 1e-5  # with 200 cells, where it is not
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
    found = swung(200)
    assert found.duration == pytest.approx(0.6352402542, rel=NEAR)
    at_switch = found.profile.of(np.array([1.553857462 / TURN]))[1]
    assert_allclose(TURN * np.sqrt(at_switch), 6.299548489, rtol=2e-3)
    before = found.profile.s_at(np.array([0.4270697207])) * TURN
    assert_allclose(before, 1.553857462, rtol=NEAR)
    assert found.duration - 0.4270697207 == pytest.approx(0.2081705335, rel=2.0 * NEAR)
    moments = np.linspace(0.0, 0.6, 100)  # between the ends of cells too
    assert_allclose(np.abs(found.efforts(moments)), MOST, rtol=1e-3)


def test_two_cells_are_cut_until_they_are_enough():
    found = swung(2)
    assert found.duration == pytest.approx(0.6352402542, rel=2e-3)
    assert np.abs(found.efforts(np.linspace(0.0, found.duration, 500))).max() <= 1.001 * MOST


def test_a_bound_of_speed_makes_it_cruise():
    found = swung(200, velocity_limit=5.0)
    assert found.duration == pytest.approx(0.6589031142, rel=NEAR)
    grid = found.profile.grid
    cruise = TURN * grid[TURN * np.sqrt(found.profile.of(grid)[1]) > 5.0 * (1.0 - 1e-9)]
    assert_allclose(cruise[[0, -1]], (0.797139521, 1.788092159), rtol=0.02)  # a cell
    speeds = TURN * np.sqrt(found.profile.of(np.linspace(0.0, 1.0, 10001))[1])
    assert speeds.max() <= 5.0 * (1.0 + 1e-8)
    # cells beside it reach the limit too
    assert found.uses['speed of hinge'].active == pytest.approx(0.3008, abs=0.02)


@pytest.mark.parametrize(('way', 'bounds'), [(1.0, (-3.0, 2.0)), (-1.0, (-2.0, 3.0))])
def test_a_path_that_no_torque_climbs_says_where_and_why(way, bounds):
    path = SplinePath([[0.0], [way * TURN]])
    said = rf'effort of hinge \({4 * way:g} at rest, limit {2 * way:g}\)'
    with pytest.raises(InfeasiblePathError, match=said) as error:
        retime(kd.compile(link()), path, ['hinge'], efforts={'hinge': bounds}, cells=100)
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


def test_smoothing_spreads_changes_of_acceleration_and_keeps_limits():
    path, window = SplinePath([[0.0], [TURN]]), 0.05
    dynamics = kd.compile(link())
    quick = retime(dynamics, path, ['hinge'], cells=300)
    found = retime(dynamics, path, ['hinge'], cells=300, smoothing=window)
    times = np.linspace(0.0, found.duration, 2001)[1:-1]
    jerks = [
        np.abs(np.gradient(one.at(times * one.duration / found.duration)[2][:, 0])).max()
        for one in (quick, found)
    ]
    assert jerks[1] < 0.1 * jerks[0]
    rate = np.gradient(found.at(times)[2][:, 0], times)
    largest = np.abs(quick.at(np.linspace(0.0, quick.duration, 500))[2]).max()
    assert np.abs(rate).max() < 1.1 * 2.0 * largest / window  # from least to most in the window
    longer = found.duration / found.slowed - quick.duration
    assert (
        window <= longer < 1.5 * window
    )  # the next one of the series, or one that is slowed less
    assert 1.0 < found.slowed < 1.1
    assert np.abs(found.efforts(times)).max() <= 1.001 * MOST


DISTANCE, MU, TIP = 6.0, 0.6, 0.4
AXLES = {'FL': (0.35, 0.3), 'FR': (0.35, -0.3), 'RL': (-0.25, 0.3), 'RR': (-0.25, -0.3)}


def car():
    """Return the base on wheels of D3 with its rows, stance and a straight path."""
    bodies = [
        kd.Body(
            'hull', '', kd.Joint('base', kd.Planar()), inertia=inertia(40, (0, 0, TIP), (1, 1, 1))
        )
    ]
    bodies += [
        kd.Body(f'wheel {n}', 'hull', revolute(n, Y), at(x, y, RADIUS), inertia(0))
        for n, (x, y) in AXLES.items()
    ]
    robot = kd.Robot('car', bodies)
    rows = rolling(robot, AXLES)
    path = SplinePath([np.zeros(7), [DISTANCE, 0.0, 0.0, *4 * [DISTANCE / RADIUS]]])
    return kd.dynamics(robot, rows), path, kd.ground_contacts(robot, rows, friction=MU)


def driven(cells=10, **bounds):
    dynamics, path, contacts = car()
    return retime(
        dynamics, path, list(AXLES), contacts=contacts, share_freely=True, cells=cells, **bounds
    )


def test_all_wheels_drive_and_brake_with_all_their_friction():
    found = driven()
    assert found.duration == pytest.approx(2.019275109, rel=PRINTED)
    assert_allclose(found.at(np.array([0.5, 1.5]))[2][:, 0], (5.886, -5.886), rtol=1e-6)


def test_rear_wheels_drive_what_the_load_that_moves_back_allows():
    brakes = {'FL': (-1e4, 0.0), 'FR': (-1e4, 0.0)}
    found = driven(efforts=brakes)
    assert found.duration == pytest.approx(2.033647356, rel=PRINTED)
    at_switch = found.profile.of(np.array([3.042253521 / DISTANCE]))[1]
    assert_allclose(DISTANCE * np.sqrt(at_switch), 5.900728052, rtol=PRINTED)
    assert_allclose(found.at(np.array([0.5, 1.6]))[2][:, 0], (5.7225, -5.886), rtol=1e-6)
    efforts = found.efforts(np.array([0.5]))[0, 3:]
    assert_allclose(efforts[:2], 0.0, atol=1e-3)  # fronts cannot push
    assert_allclose(efforts.sum() / RADIUS, 40.0 * 5.7225, rtol=1e-6)


def test_motors_that_share_with_least_effort_are_slower():
    dynamics, path, contacts = car()
    least = retime(dynamics, path, list(AXLES), contacts=contacts, cells=20)
    # each gives a quarter: the front ones slip first where the load moves back, at mu g l_r over
    # (L/2 + mu h); braking the rear ones, at mu g l_f/(L/2 + mu h)
    assert_allclose(
        least.at(least.duration * np.array([0.3, 0.8]))[2][:, 0],
        (MU * 9.81 * 0.25 / (0.3 + MU * TIP), -MU * 9.81 * 0.35 / (0.3 + MU * TIP)),
        rtol=1e-6,
    )
