# SPDX-License-Identifier: Apache-2.0
"""What single precision loses in solves: sizes of the parts of M, and when too little is left."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.machines import at, inertia, planar_2r, prismatic, revolute
from support.wheeled_robots import wheeled_robot

import kane_dynamics as kd
from kane_dynamics.algorithms.sparse_ldl import MOST, inertia_bounds, loses_precision


def test_sizes_of_two_rods_are_those_of_the_stretched_arm():
    sizes = inertia_bounds(planar_2r())
    outer = 1.5 * 0.8**2 / 3
    assert_allclose(sizes, [2.0 / 3 + 1.5 * (1.0 + 0.8 + 0.8**2 / 3), outer], rtol=1e-14)
    assert_allclose(sizes[0], kd.mass_matrix(planar_2r(), np.zeros(2))[0, 0], rtol=1e-14)


@pytest.mark.parametrize(
    ('limits', 'reach'), [({}, 0.0), ({'lower': -0.2, 'upper': 0.5}, 0.5), ({'lower': -0.7}, 0.7)]
)
def test_sizes_of_sliders_and_branches(limits, reach):
    bodies = [
        kd.Body('arm', '', revolute('turn', armature=0.01)),
        kd.Body(
            'tool', 'arm', prismatic('slide', **limits), at(0, 0.3, 0), inertia(3.0, (0.1, 0, 0))
        ),
        kd.Body('weight', 'arm', prismatic('out', (0, 1, 0)), at(0, 0, 2.0), inertia(5.0)),
    ]
    way = 0.3 + reach + 0.1
    expected = [3.0 * way**2 + 5.0 * 2.0**2 + 0.01, 3.0, 5.0]
    assert_allclose(inertia_bounds(kd.Robot('tree', bodies)), expected, rtol=1e-14)


def test_sizes_bound_the_mass_matrix():
    """All kinds of joints of a base with an arm; nothing of an entry is larger than its parts."""
    robot = wheeled_robot('nonholonomic')[0]
    sizes, rng = inertia_bounds(robot), np.random.default_rng(4)
    for q in rng.uniform(-1.0, 1.0, (50, robot.nq)):
        assert (np.diag(kd.mass_matrix(robot, q)) <= np.array(sizes) * (1 + 1e-12)).all()


@pytest.mark.parametrize('part', [0, 1, 2])
@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_too_few_digits(part, sign):
    """Two speeds, one of them sound: n^2 = ((0.5 * 2 + t) / 0.1)^2 / (2^2 + 1)."""
    a, pivots, carried = [2.0, 1.0], [0.1, 1e9], [0.5, 0.5]
    edge = 0.1 * MOST * np.sqrt(5.0) - 0.5 * 2.0
    for size, expected in ((0.99 * edge, 0.0), (1.01 * edge, 1.0)):
        parts = np.zeros((3, 2))
        parts[part, 0] = sign * size
        assert loses_precision(a, pivots, carried, parts) == expected
        assert loses_precision([-2.0, 1.0], pivots, carried, parts) == expected


def test_what_rests_lacks_nothing():
    assert loses_precision([0.0], [1.0], [1.0], [[0.0]]) == 0.0
    assert loses_precision([0.0], [1.0], [1.0], [[1e-9]]) == 1.0  # all of it has cancelled
