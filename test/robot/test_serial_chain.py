# SPDX-License-Identifier: Apache-2.0
"""The made-up serial arm: reproducible, general, physically possible."""

import numpy as np
import pytest

from kane_dynamics.algebra.inertia import triangle_problem
from kane_dynamics.algorithms.mass_matrix import gauss_mass_matrix
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.sample_robots import serial_chain


def numbers(robot):
    """Return all numbers of a robot."""
    return [
        (*b.joint.kind.axis, *b.placement.position(), *b.placement.rotation_matrix().ravel(),
         b.inertia.mass, *b.inertia.com, *b.inertia.tensor.ravel())
        for b in robot.bodies
    ]  # fmt: skip


@pytest.mark.parametrize('n', [1, 9, 50])
def test_names_and_tree(n):
    robot = serial_chain(n)
    assert robot.nv == robot.nq == n
    assert robot.base == 'fixed'
    assert robot.velocity_names == tuple(f'joint_{i}' for i in range(1, n + 1))
    assert robot.parents == tuple(range(-1, n - 1))


def test_same_seed_same_robot():
    assert numbers(serial_chain(9)) == numbers(serial_chain(9, seed=0))
    assert numbers(serial_chain(9)) != numbers(serial_chain(9, seed=1))
    assert numbers(serial_chain(50))[:9] == numbers(serial_chain(9))


def test_no_number_is_special():
    """No zeros that an algorithm could profit from, but for the coordinate axes."""
    rows = np.array(numbers(serial_chain(50)))
    assert np.abs(rows[:, 3:]).min() > 0.0
    assert {tuple(row[:3]) for row in rows} == {(1, 0, 0), (0, 1, 0), (0, 0, 1)}


def test_physically_possible():
    robot = serial_chain(50)
    for body in robot.bodies:
        assert not triangle_problem(body.name, body.inertia.tensor)
    assert np.linalg.eigvalsh(gauss_mass_matrix(robot, robot.neutral()))[0] > 0.0


@pytest.mark.parametrize('n', [0, -1, 2.5, True, None, '3'])
def test_bad_number_of_joints(n):
    with pytest.raises(InvalidInputError, match='^n: '):
        serial_chain(n)
