# SPDX-License-Identifier: Apache-2.0
"""Drives that follow speeds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kane_dynamics as kd
from kane_dynamics.simulation.drives_and_stops import DRY_SPEED, Drives, packed


def test_the_law_of_drives():
    """Within limits a gain on missing speed, clipped beyond; friction against the motion."""
    law = Drives(3, (1, 0), (2.0, 3.0), (1.5, 10.0))

    def efforts(targets, v, held=(0.0, 0.0), viscous=(0.0, 0.0), dry=(0.0, 0.0)):
        gains = packed(*[np.array([x]) for x in (targets, held, viscous, dry)])[0]
        *driven, free = law(0.0, np.zeros(3), np.array([*v, 7.0]), gains)
        assert free == 0.0
        return driven

    assert_allclose(efforts((0.5, 1.0), (0.2, 0.1)), [3.0 * 0.8, 2.0 * 0.4])
    assert_allclose(efforts((5.0, -9.0), (0.0, 0.0)), [-10.0, 1.5])
    assert_allclose(efforts((0.0, 0.0), (0.0, 0.0), held=(0.7, -2.0)), [-2.0, 0.7])
    slow = efforts((0.1, -0.3), (-0.3, 0.1), viscous=(0.4, 0.5), dry=(0.6, 0.7))
    dry = np.tanh(np.array([-0.3, 0.1]) / DRY_SPEED) * [0.7, 0.6]
    assert_allclose(slow, [0.15 - dry[0], -0.04 - dry[1]])


def test_drives_know_the_limits_of_a_robot(robots):
    robot = kd.load_urdf(robots / 'nonholonomic.urdf', base='planar')
    drives = Drives.of(robot, ('arm_2_joint', 'wheel_left_joint'), (3.0, 4.0))
    assert (drives.indices, drives.limits) == ((6, 3), (80.0, 30.0))
    with pytest.raises(kd.exceptions.NameNotFoundError, match='arm_9'):
        Drives.of(robot, ('arm_9_joint',), (3.0,))


def test_machine_code_of_drives_is_kept():
    """They have content, unlike a function: a second process does not compile them again."""
    robot = kd.serial_chain(2)
    gains = packed(*np.array([[[0.3, -0.2]], [[0.1, 0.0]], [[0.4, 0.5]], [[0.2, 0.1]]]))

    def compiled():
        law = Drives(2, (1, 0), (2.0, 3.0), (1.5, 10.0))
        return kd.compile(robot, effort=law, gains=np.zeros(8))

    first, second = compiled(), compiled()
    assert second.source == 'cache'
    ends = [kd.rollout(d, np.zeros(2), np.zeros(2), 0.1, gains=gains) for d in (first, second)]
    assert_allclose(ends[0].q, ends[1].q, atol=0.0)
    assert np.abs(ends[0].q).min() > 1e-3
