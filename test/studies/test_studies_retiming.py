# SPDX-License-Identifier: Apache-2.0
"""The study of retiming, on a small robot: limits by other ways."""

import pytest
from support.machines import Y, at, inertia, revolute
from support.standing_robots import PAIR, RADIUS, standing

import kane_dynamics as kd
from kane_dynamics.trajectories.paths import RolledPath
from studies import retiming

MOTORS = ('L', 'R', 'arm')


@pytest.fixture(scope='module')
def rig():
    """Return a differential drive with an arm of one joint, and random paths of it."""
    drive = standing(PAIR, (-0.08, 0.0, 0.18), spin=0.01)
    limits = {'effort_limit': 30.0, 'velocity_limit': 3.0}
    joint = revolute('arm', Y, damping=0.4, friction=0.3, **limits)
    rod = inertia(3.0, (0.2, 0.0, 0.3), (0.3, 0.3, 0.3))
    arm = kd.Body('arm', 'chassis', joint, at(0.1, 0.0, 0.5), rod)
    robot = kd.Robot('drive', (*drive.bodies, arm))
    corners = [(-0.3, 0.15, 0.0), (-0.3, -0.15, 0.0), (0.3, 0.0, 0.0)]
    base = kd.bases.differential(robot, ['L'], ['R'], radius=RADIUS, supports=corners)
    dynamics = kd.compile(robot, base.constraints)

    def path(rng):
        points = rng.uniform(-0.8, 0.8, (3, 3))
        points[:, :2] = [[0.0, 0.0], [9.0, 6.0], [15.0, 16.0]] + points[:, :2]
        return RolledPath(dynamics, MOTORS, points, robot.neutral(), cells=20)

    return retiming.Rig(dynamics, kd.base_ground_contacts(base, friction=0.6), path)


@pytest.fixture(scope='module')
def found(rig):
    return rig.retimed(3, cells=30)


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(retiming, 'MOMENTS', 61)
    monkeypatch.setattr(retiming, 'PICTURES', 21)


def test_no_limit_is_exceeded_between_points_and_something_is_used_up(rig, found):
    uses = retiming.exact_uses(rig, found)
    assert uses['effort'] <= 1.001
    assert uses['speed'] <= 1.001
    assert uses['friction'] <= 1.001
    assert uses['edge'] >= retiming.KEPT.edge - 1e-4
    assert uses['accelerations back'] < 1e-9
    # wheels slip first: most of the time they are about to, but for what polygons leave, 1.9 %
    assert uses['friction'] > 0.97
    assert sum(use.active for use in found.uses.values()) > 0.8
    assert found.slowed == 1.0


def test_a_picture_is_drawn(rig, found, tmp_path):
    retiming.draw(rig, found, tmp_path / 'one.png')
    assert (tmp_path / 'one.png').stat().st_size > 10_000
