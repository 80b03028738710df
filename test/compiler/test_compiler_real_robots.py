# SPDX-License-Identifier: Apache-2.0
"""Whole robots: the shipped ones, other people's, and a random tree of every joint kind."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from kernel_cases import (
    AGREEMENT,
    FUNCTIONS,
    Case,
    agree,
    agree_in_steps,
    compiled_value,
    error,
    reference,
    reference_poses,
)
from support.wheeled_robots import installed, load

import kane_dynamics as kd
from studies.random_robots import random_tree

WHEELS = ('wheel_left_joint', 'wheel_right_joint')


def shipped(name):
    """Return a robot of the package, on wheels where it has a pair."""
    path = Path(__file__).parents[2] / 'robots' / f'{name}.urdf'
    robot = kd.load_urdf(path, base='planar')
    if name == 'holonomic':
        return Case(robot)
    return Case(robot, (kd.constraints.differential_drive(robot, *WHEELS),))


def arm(name):
    """Return a robot of example-robot-data that stands on the ground."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', kd.exceptions.ModelWarning)
        return Case(kd.load_urdf(installed(name)))


def tiago():
    """Return TIAGo without hand on its wheels."""
    robot, _, constraints = load('tiago')
    return Case(robot, constraints)


def tree():
    """Return a floating tree of all joint kinds with followers, 23 speeds."""
    return Case(random_tree(np.random.default_rng(12), 'floating'))


def thorough(make):
    """Return a pytest argument for a robot that takes long to compile."""
    return pytest.param(make, marks=pytest.mark.thorough)


ROBOTS = {
    'holonomic': thorough(lambda: shipped('holonomic')),
    'nonholonomic': lambda: shipped('nonholonomic'),
    'ur5': lambda: arm('ur5_robot'),
    'panda': thorough(lambda: arm('panda')),
    'tiago': thorough(tiago),
    'tree': thorough(tree),
}


@pytest.mark.parametrize('make', ROBOTS.values(), ids=ROBOTS)
def test_every_function_and_a_step(make, rng):
    case = make()
    fast = kd.compile(case.robot, case.constraints)
    for _ in range(3):
        q, v, a = state = case.state(rng)
        for function in FUNCTIONS:
            expected = reference(case, function, *state)
            assert error(compiled_value(fast, function, *state), expected) < AGREEMENT
        expected = reference_poses(case.robot, fast.frames, q)
        assert error(fast.frame_poses(q), expected) < AGREEMENT
        expected = agree(case.robot, case.constraints, fast, q, v, a)
    rows = fast.acceleration(np.tile(q, (11, 1)), v, a)
    assert error(rows, np.tile(expected.acceleration, (11, 1))) < AGREEMENT
    how = 0.001, 'semi_implicit'
    agree_in_steps(case.robot, case.constraints, fast, (q, v), 0.1 * a, 3, *how)
    assert fast.fallback_count == 0
