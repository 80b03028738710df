# SPDX-License-Identifier: Apache-2.0
"""Files of trajectories: what is written is read again, and what is wrong is said."""

import json

import numpy as np
import pytest
import yaml
from numpy.testing import assert_allclose

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.trajectories.joint_trajectory import JointTrajectory
from kane_dynamics.trajectories.trajectory_files import (
    read_trajectory,
    to_record,
    write_trajectory,
)

KINDS = ('yaml', 'json', 'csv')
FIELDS = ('positions', 'velocities', 'accelerations', 'efforts')
ECHOED = """header:
  stamp:
    sec: 0
    nanosec: 0
  frame_id: ''
joint_names:
- shoulder
- elbow
points:
- positions:
  - 0.1
  - -0.2
  velocities: []
  accelerations: []
  effort: []
  time_from_start:
    sec: 0
    nanosec: 500000000
- positions:
  - 0.3
  - 0.4
  velocities: []
  accelerations: []
  effort: []
  time_from_start:
    sec: 2
    nanosec: 1
---
"""


def points(fields, names=('a', 'b/c')):
    rng = np.random.default_rng(3)
    rows = {field: rng.uniform(-1.0, 1.0, (3, len(names))) for field in fields}
    return JointTrajectory(names, [0.0, 0.1, 1.25], **rows)


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('fields', [FIELDS[:1], FIELDS[:2], FIELDS, ('positions', 'efforts')])
def test_what_is_written_is_read(tmp_path, kind, fields):
    given, file = points(fields), tmp_path / f'trajectory.{kind}'
    write_trajectory(file, given)
    found, base = read_trajectory(file)
    assert base is None
    assert found.names == given.names
    assert_allclose(found.times, given.times, rtol=0, atol=1e-9)  # messages count ns
    for field in FIELDS:
        want, got = getattr(given, field), getattr(found, field)
        assert (got is None) == (want is None)
        if want is not None:
            np.testing.assert_array_equal(got, want)


def test_what_ros2_topic_echo_prints(tmp_path):
    file = tmp_path / 'echoed.yaml'
    file.write_text(ECHOED)
    found, _ = read_trajectory(file)
    assert found.names == ('shoulder', 'elbow')
    assert_allclose(found.times, [0.5, 2.000000001], rtol=0, atol=1e-12)
    assert_allclose(found.positions, [[0.1, -0.2], [0.3, 0.4]])
    assert to_record(found) == yaml.safe_load(ECHOED.removesuffix('---\n'))


def multi_dof(yaws, **fields):
    """Return the record of a base that goes along x, a point a second."""
    listed = []
    for k, yaw in enumerate(yaws):
        rotation = {'x': 0.0, 'y': 0.0, 'z': np.sin(0.5 * yaw), 'w': np.cos(0.5 * yaw)}
        transform = {'translation': {'x': 0.1 * k, 'y': 0.5, 'z': 0.0}, 'rotation': rotation}
        twists = {
            field: [{'linear': {'x': x, 'y': 0.2}, 'angular': {'z': 0.3}}]
            for field, x in fields.items()
        }
        listed.append({'transforms': [transform], **twists, 'time_from_start': {'sec': k}})
    return {'joint_names': ['world_joint'], 'points': listed}


@pytest.mark.parametrize('names', [('joint_trajectory', 'multi_dof_joint_trajectory')])
@pytest.mark.parametrize('fields', [{}, {'velocities': 0.1}])
def test_a_message_of_moveit_with_its_base(tmp_path, names, fields):
    yaws = [3.0, 3.3, 3.6]  # across pi
    joints = to_record(points(FIELDS[:2]))
    file = tmp_path / 'planned.json'
    file.write_text(json.dumps(dict(zip(names, (joints, multi_dof(yaws, **fields)), strict=True))))
    found, base = read_trajectory(file)
    assert found.names == ('a', 'b/c')
    for k, yaw in enumerate(yaws):
        position, velocity, _ = base.at(float(k))
        assert_allclose(position, [0.1 * k, 0.5, yaw], atol=1e-12)
        if fields:
            assert_allclose(velocity, [0.1, 0.2, 0.3], atol=1e-9)


def test_a_base_among_the_joints(tmp_path):
    names = ('base/theta', 'a', 'base/x', 'b', 'base/y')
    given, file = points(FIELDS, names), tmp_path / 'flat.yaml'
    write_trajectory(file, given)
    found, base = read_trajectory(file)
    assert found.names == ('a', 'b')
    for field in FIELDS:
        assert_allclose(getattr(found, field), getattr(given, field)[:, [1, 3]])
    for k, time in enumerate(given.times[:-1]):
        for got, field in zip(base.at(time), FIELDS[:3], strict=True):
            assert_allclose(got, getattr(given, field)[k, [2, 4, 0]], atol=1e-9)


@pytest.mark.parametrize(
    ('names', 'message'),
    [
        (('a', 'base/x', 'base/y'), r"lacks \['base/theta'\]"),
        (('base/x', 'other/y', 'a'), 'need one planar base'),
        (('base/x', 'base/y', 'base/theta'), 'moves a base and no joint'),
    ],
)
def test_what_is_no_base(names, message):
    with pytest.raises(InvalidInputError, match=message):
        points(FIELDS[:1], names).split_base()


RECORD = {'joint_names': ['a'], 'points': [{'positions': [1.0], 'time_from_start': {'sec': 1}}]}


@pytest.mark.parametrize(
    ('name', 'text', 'message'),
    [
        ('t.txt', '', 'need a name that ends with one of'),
        ('t.yaml', 'a: [', 'cannot be read'),
        ('t.json', '{', 'cannot be read'),
        ('t.yaml', '3', "needs 'joint_names'"),
        ('t.yaml', 'joint_names: [a]', r"needs 'points' \(list\), got \['joint_names'\]"),
        ('t.yaml', 'joint_names: [a]\npoints: []', 'has no point'),
        ('t.yaml', 'joint_names: [a]\npoints: [{positions: [1]}]', "needs 'time_from_start'"),
        (
            't.json',
            json.dumps({**RECORD, 'joint_names': ['a', 'b']}),
            'positions of point 0: 1 values for 2 names',
        ),
        (
            't.json',
            json.dumps({**RECORD, 'points': [{**RECORD['points'][0], 'positions': ['x']}]}),
            'positions: need real numbers',
        ),
        (
            't.json',
            json.dumps(
                {
                    'joint_trajectory': RECORD,
                    'multi_dof_joint_trajectory': {'joint_names': [], 'points': [1]},
                }
            ),
            'need one planar base in a multi_dof trajectory',
        ),
        ('t.csv', 'a/position\n1', "'time' first"),
        ('t.csv', 'time,a/position\n0,x', 'need numbers below'),
        ('t.csv', 'time,a/place\n0,1', r"columns \['a/place'\]"),
        ('t.csv', 'time,a/position,b/velocity\n0,1,2', r"no column position of \['b'\]"),
        ('t.csv', 'time,a/position\n1,0\n0,1', 'increase'),
    ],
)
def test_what_is_no_trajectory(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(InvalidInputError, match=message) as caught:
        read_trajectory(tmp_path / name)
    assert name in str(caught.value)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(InvalidInputError, match='cannot be read'):
        read_trajectory(tmp_path / 'none.yaml')
    with pytest.raises(InvalidInputError, match='cannot be written'):
        write_trajectory(tmp_path / 'none' / 't.yaml', points(FIELDS[:1]))
