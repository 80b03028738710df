# SPDX-License-Identifier: Apache-2.0
"""Constraints are refused with a robot that they were not built for; copies are taken."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from support.constraint_cases import CASES, rows_at, wheeled
from support.machines import Y, at, differential_drive, inertia, revolute, rolling_disc

import kane_dynamics as kd
from kane_dynamics.compiler.recipe import fingerprint
from kane_dynamics.exceptions import ConstraintError

ANOTHER = "was built for another robot: 'drive' .planar base, 5 speeds.*used with"


def longer_drive():
    """Return the drive with its left wheel 1 mm further out: the same names and sizes."""
    base, left, right = differential_drive().bodies
    moved = dataclasses.replace(left, placement=at(0, 1e-3, 0) * left.placement)
    return kd.Robot('longer', (base, moved, right))


def on_a_floating_base():
    """Return the drive's wheels on a base with six freedoms."""
    base, left, right = differential_drive().bodies
    floating = dataclasses.replace(base, joint=kd.Joint('base', kd.Free()))
    return kd.Robot('flying', (floating, left, right))


CALLS = {
    'forward_dynamics': lambda robot, q, v, rows: kd.forward_dynamics(robot, q, v, v, rows),
    'kane': lambda robot, q, v, rows: kd.forward_dynamics(robot, q, v, v, rows, 'kane'),
    'constrained_inverse_dynamics': lambda robot, q, v, rows: kd.constrained_inverse_dynamics(
        robot, q, v, v, rows, robot.velocity_names
    ),
    'consistent_acceleration': lambda robot, q, v, rows: kd.consistent_acceleration(
        robot, q, v, v, rows, robot.velocity_names[3:]
    ),
    'project': lambda robot, q, v, rows: kd.simulation.project(robot, rows, q, v, 0.0),
    'simulate': lambda robot, q, v, rows: kd.simulate(robot, q, v, 0.01, constraints=rows),
    'Simulation': lambda robot, q, v, rows: kd.Simulation(robot, rows, 0.01),
    'compile': lambda robot, q, v, rows: kd.compile(robot, rows, cache=False),
    'casadi_function': lambda robot, q, v, rows: kd.casadi_function(
        robot, 'forward_dynamics', rows
    ),
}


@pytest.mark.parametrize('call', CALLS)
@pytest.mark.parametrize('make', [longer_drive, on_a_floating_base, rolling_disc])
def test_another_robot_is_refused(call, make):
    """Regression: 75, 0 and 1011 rad/s^2 came out."""
    robot = make()
    own = differential_drive()
    rows = (kd.constraints.differential_drive(own, 'left', 'right', 0.1),)
    with pytest.raises(ConstraintError, match=ANOTHER):
        CALLS[call](robot, robot.neutral(), np.zeros(robot.nv), rows)


@pytest.mark.parametrize('name', CASES)
def test_every_kind_of_constraint_knows_its_robot(name):
    case = CASES[name]
    other = wheeled('planar')
    if case.robot.kinematic_key == other.kinematic_key:
        other = differential_drive()
    with pytest.raises(ConstraintError, match='was built for another robot'):
        rows_at(dataclasses.replace(case, robot=other))


@pytest.mark.parametrize('name', CASES)
def test_copies_of_the_robot_are_taken(name):
    case = CASES[name]
    light = dataclasses.replace(
        case.robot,
        gravity=(0.0, 1.0, 0.0),
        bodies=[
            dataclasses.replace(b, inertia=inertia(1.0, (0, 0, 0), (1, 1, 1)))
            for b in case.robot.bodies
        ],
    )
    expected = rows_at(case)
    for robot in (copy.copy(case.robot), copy.deepcopy(case.robot), light):
        assert robot is not case.robot
        rows = rows_at(dataclasses.replace(case, robot=robot))
        assert_array_equal(rows.matrix, expected.matrix)


@pytest.mark.parametrize('name', CASES)
def test_constraints_are_pickled_and_copied(name):
    # users' functions travel as what was traced from them
    case = CASES[name]
    expected = rows_at(case)
    for constraint in (
        pickle.loads(pickle.dumps(case.constraint)),
        copy.deepcopy(case.constraint),
    ):
        rows = rows_at(dataclasses.replace(case, constraint=constraint))
        assert rows.labels == expected.labels
        assert_array_equal(rows.matrix, expected.matrix)
        assert_array_equal(rows.acceleration, expected.acceleration)


def test_compiled_code_is_the_same_for_a_copy():
    # the robot that a constraint knows is no content of its own
    robot = differential_drive()
    again = copy.deepcopy(robot)
    prints = [
        fingerprint(r, (kd.constraints.differential_drive(s, 'left', 'right', radius),))
        for r, s, radius in (
            (robot, robot, 0.1),
            (again, again, 0.1),
            (robot, again, 0.1),
            (robot, robot, 0.2),
        )
    ]
    assert prints[0] == prints[1] == prints[2] != prints[3]


def test_what_knows_no_robot_is_taken_as_it_is():
    class Still:
        labels = ('still',)

        def rows(self, robot, q, v, t):
            return [kd.constraints.Row({0: 1.0})]

    for robot in (differential_drive(), rolling_disc()):
        v = np.zeros(robot.nv)
        motion = kd.forward_dynamics(robot, robot.neutral(), v, v + 1.0, (Still(),))
        assert motion.acceleration[0] == pytest.approx(0.0, abs=1e-12)


def test_the_key_is_computed_once_and_names_count():
    robot = differential_drive()
    assert robot.kinematic_key is robot.kinematic_key
    base, left, right = robot.bodies
    renamed = dataclasses.replace(right, joint=revolute('starboard', Y))
    assert kd.Robot('drive', (base, left, renamed)).kinematic_key != robot.kinematic_key
