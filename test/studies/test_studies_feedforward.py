# SPDX-License-Identifier: Apache-2.0
"""``python -m studies.feedforward``, for less than a second of motion."""

import pytest
from numpy.testing import assert_allclose

from kane_dynamics.trajectories.effort_points import with_efforts
from studies import feedforward


@pytest.fixture(scope='module')
def rig():
    return feedforward.Rig('nonholonomic', 0.5)


def test_points_between_bring_the_error_of_lines_down(rig):
    _, found = feedforward.line_table(rig)
    assert found['put in between'] <= feedforward.ERROR
    assert found['the planner, every 0.1 s'] > 10.0 * feedforward.ERROR


@pytest.mark.parametrize(
    'mode',
    [
        x if x == 'effort' else pytest.param(x, marks=pytest.mark.thorough)
        for x in feedforward.MODES
    ],
)
def test_filled_efforts_track_twenty_times_better(rig, mode, tmp_path):
    """The base starts with 1 m/s^2 and turns; gravity, which the drives carry, does not help."""
    needed = rig.needed(rig.base, gravity=False)
    runs = [rig.run(mode, rig.plan, gravity=False)]
    runs.append(
        rig.run(mode, with_efforts(rig.plan, needed, error=feedforward.ERROR), gravity=False)
    )
    assert runs[0].largest >= 20.0 * runs[1].largest
    feedforward.plot({'no efforts': runs[0], 'filled': runs[1]}, tmp_path / 'plot.png')
    assert (tmp_path / 'plot.png').stat().st_size > 10_000


def test_the_plant_is_the_inverse_of_the_law(rig):
    """Under the efforts that a motion needs, the plant has the accelerations of that motion."""
    needed, accelerated = rig.needed(rig.base, True), rig.acceleration(True)
    for time in (0.05, 0.2, 0.45):
        motion = rig.plan.at(time)
        tau = needed(time, *motion)
        found = accelerated(time, *motion[:2], tau)
        assert_allclose(found, motion[2], rtol=0, atol=1e-8)
