# SPDX-License-Identifier: Apache-2.0
"""Paths on wheels keep their rows, and their derivatives are those of their coordinates."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.standing_robots import PAIR, RADIUS, standing

import kane_dynamics as kd
from kane_dynamics.exceptions import ConstraintError, InvalidInputError, NotSolvedError
from kane_dynamics.trajectories import paths
from kane_dynamics.trajectories.paths import RolledPath, SplinePath
from kane_dynamics.trajectories.retiming import retime
from studies import robots

STEP = 1e-4  # of differences along a path of length 2: their error is its square


def differential():
    """Return a path of a differential drive by its wheels, and its dynamics."""
    robot = standing(PAIR, (0.0, 0.0, 0.2), spin=0.01)
    dynamics = kd.dynamics(
        robot, kd.bases.differential(robot, ['L'], ['R'], radius=RADIUS).constraints
    )
    points = [[0.0, 0.0], [6.0, 9.0], [14.0, 8.0]]
    return dynamics, RolledPath(dynamics, PAIR, points, robot.neutral(), cells=100)


def steered():
    """Return a path of a base on steered wheels by its place, and its dynamics."""
    base = robots.swerve_base()
    robot = base.robot
    dynamics = kd.dynamics(robot, base.constraints)
    names = ('base_x', 'base_y', 'base_yaw', *robot.velocity_names[-6:])
    points = np.zeros((3, 9))
    points[:, :3] = [[0.0, 0.0, 0.3], [1.0, 0.4, 0.6], [1.5, 1.5, -0.2]]
    start = robot.neutral()
    return dynamics, RolledPath(dynamics, names, points, start, steered=base, cells=60)


@pytest.mark.parametrize('case', [differential, steered])
def test_rows_are_kept_and_derivatives_are_those_of_coordinates(case):
    dynamics, path = case()
    places = np.array([0.13, 0.77, 1.21, 1.83])
    q, tangent, bend = path.at(places)
    for row in range(len(places)):
        rows = dynamics.constraint_rows(q[row], tangent[row])
        assert_allclose(rows.matrix @ tangent[row], 0.0, atol=1e-9)
        assert_allclose(rows.matrix @ bend[row], rows.acceleration, atol=1e-8)
    before, after = path.at(places - STEP), path.at(places + STEP)
    assert_allclose((after.q - before.q) / (2.0 * STEP), tangent, atol=2e-5)
    assert_allclose((after.tangent - before.tangent) / (2.0 * STEP), bend, atol=1e-3)


def test_a_spline_that_slips_is_refused_with_its_place():
    dynamics, _ = differential()
    path = SplinePath([[0.0] * 5, [1.0, 0.5, 0.0, 1.0, 1.0]])
    with pytest.raises(ConstraintError, match=r"leaves '.*' at 0 of 1: .*RolledPath"):
        retime(dynamics, path, PAIR, cells=10)


def test_points_of_other_coordinates_are_refused():
    dynamics, _ = differential()
    with pytest.raises(InvalidInputError, match='need 2 columns'):
        RolledPath(dynamics, PAIR, [[0.0], [1.0]], dynamics.robot.neutral())


def test_a_steered_base_that_stands_still_has_no_heading():
    base = robots.swerve_base()
    robot = base.robot
    dynamics = kd.dynamics(robot, base.constraints)
    names = ('base_x', 'base_y', 'base_yaw', 'joint_1')
    points = [[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    with pytest.raises(InvalidInputError, match='stands still'):
        RolledPath(dynamics, names, points, robot.neutral(), steered=base, cells=10)


def test_what_follows_and_never_arrives_is_told(monkeypatch):
    """The rate of the second joint, that of the first by (1 - q_1)^2, has a pole on the way."""
    monkeypatch.setattr(paths, '_MOST', 200)
    robot = kd.serial_chain(2)
    row = kd.constraints.pfaffian(robot, lambda q, t: [1.0, -((1.0 - q[0]) ** 2)], label='pole')
    dynamics, first = kd.dynamics(robot, (row,)), robot.velocity_names[:1]
    with pytest.raises(NotSolvedError, match=r'no end of what follows near 0\.[89]'):
        RolledPath(dynamics, first, [[0.0], [2.0]], [0.0, 0.0], s=[0.0, 2.0])
