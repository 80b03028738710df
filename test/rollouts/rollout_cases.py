# SPDX-License-Identifier: Apache-2.0
"""Robots for the tests of rollouts, each compiled once."""

import functools

import numpy as np
from support.machines import (
    DRIVE,
    differential_drive,
    four_bar,
    four_bar_coordinates,
    massless_wrist,
    planar_2r,
    sled_with_arm,
)
from support.trees import random_state

import kane_dynamics as kd
from studies.random_robots import random_tree


def law(t, q, v, gains):
    """Return efforts of springs, of dampers and of a swing."""
    return -gains[0] * q - gains[1] * v + 0.1 * np.sin(3.0 * t)


def _sled():
    robot = sled_with_arm()
    return robot, (kd.constraints.no_side_slip(robot, -0.1),)


def _drive():
    robot = differential_drive(arm=True, damping=0.4, friction=0.2, armature=0.01)
    return robot, (kd.constraints.differential_drive(robot, 'left', 'right', DRIVE['r']),)


def _linkage():
    robot = four_bar()
    return robot, (kd.constraints.loop_closure(robot, 'coupler_end', 'rocker_end'),)


def _gear():
    """Return a wrist whose two rows are one where its third speed loses them, near t = 0.04 s."""
    robot = massless_wrist()

    def rows(q, t):
        return [[1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 2.0 * (q[2] - 0.5), 0.0]]

    return robot, (kd.constraints.pfaffian(robot, rows, label='gear'),)


def _floating():
    kinds = ('planar', 'revolute')
    return random_tree(np.random.default_rng(7), 'floating', kinds=kinds), ()


CASES = {
    'arm': lambda: (planar_2r(), ()),
    'sled': _sled,
    'drive': _drive,
    'linkage': _linkage,
    'gear': _gear,
    'floating': _floating,
}


@functools.cache
def robot_of(name):
    """Return a robot and its constraints."""
    return CASES[name]()


@functools.cache
def fast(name):
    """Return a compiled robot."""
    robot, constraints = robot_of(name)
    return kd.compile(robot, constraints)


@functools.cache
def with_law(name, payloads=()):
    """Return a robot that is compiled with a law of two gains."""
    robot, constraints = robot_of(name)
    how = {'effort': law, 'gains': (0.5, 0.1), 'payloads': payloads}
    return kd.compile(robot, constraints, **how)


def states(name, count, seed=3):
    """Return q and v of several rollouts, on the constraints."""
    robot, constraints = robot_of(name)
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        q, v, _ = random_state(robot, rng)
        if name == 'linkage':
            q = four_bar_coordinates(rng.uniform(0.4, 2.8))
        if constraints:
            q, v = kd.simulation.project(robot, constraints, q, v, 0.0)
        rows.append((q, v))
    q, v = (np.array(part) for part in zip(*rows, strict=True))
    return q, v


def error(found, expected):
    """Return the largest difference, relative to the largest number."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    return np.abs(found - expected).max(initial=0.0) / (1.0 + np.abs(expected).max(initial=0.0))
