# SPDX-License-Identifier: Apache-2.0
"""Robots are copied and pickled by content."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from support.trees import tree_and_state

import kane_dynamics as kd

WHEELS = {'x': kd.WheelShape(0.1, (0.0, 0.2, 0.0), (0.0, 0.0, 1.0))}
COPIES = {
    'copy': copy.copy,
    'deepcopy': copy.deepcopy,
    **{
        f'pickle protocol {k}': lambda robot, k=k: pickle.loads(pickle.dumps(robot, k))
        for k in range(2, pickle.HIGHEST_PROTOCOL + 1)
    },
}


@pytest.mark.parametrize('copied', COPIES.values(), ids=COPIES)
@pytest.mark.parametrize('base', ['fixed', 'planar', 'floating'])
def test_a_copy_moves_alike(copied, base):
    robot, q, v, a = tree_and_state(3, base)
    robot = kd.Robot(robot.name, robot.bodies, robot.gravity, robot.frames, WHEELS)
    again = copied(robot)
    assert again is not robot
    assert again.velocity_names == robot.velocity_names
    assert (again.name, again.base, again.frames.keys()) == (
        robot.name,
        robot.base,
        robot.frames.keys(),
    )
    assert dict(again.wheels) == WHEELS
    assert again.kinematic_key == robot.kinematic_key
    for function in (kd.inverse_dynamics, kd.forward_dynamics):
        found, expected = (function(r, q, v, a) for r in (again, robot))
        assert_array_equal(
            getattr(found, 'acceleration', found), getattr(expected, 'acceleration', expected)
        )


def test_a_copy_is_frozen_as_well():
    again = copy.deepcopy(tree_and_state(3, 'planar')[0])
    with pytest.raises(ValueError, match='read-only'):
        again.gravity[0] = 1.0
    with pytest.raises(TypeError):
        again.frames['new'] = kd.Frame(0, kd.Pose.identity())


def test_a_robot_goes_to_another_process():
    # what multiprocessing does with arguments of a worker
    robot, q, v, a = tree_and_state(5, 'floating')
    inverse, state = pickle.loads(pickle.dumps((kd.inverse_dynamics, (robot, q, v, a))))
    assert_array_equal(inverse(*state), kd.inverse_dynamics(robot, q, v, a))
    assert np.isfinite(inverse(*state)).all()
