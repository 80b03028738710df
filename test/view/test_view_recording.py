# SPDX-License-Identifier: Apache-2.0
"""Recordings come back from their files as they were; what is no recording is told."""

from dataclasses import fields, replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from support.machines import planar_2r

import kane_dynamics as kd
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.view.forces import STATES, Force
from kane_dynamics.view.recorder import Recorder, record
from kane_dynamics.view.recording import load_recording


def test_a_file_gives_back_what_was_recorded(drive, tmp_path):
    read = load_recording(drive.save(tmp_path / 'drive.npz'))
    for field in fields(drive):
        if field.name == 'shapes':
            continue
        assert_array_equal(getattr(read, field.name), getattr(drive, field.name))
    assert len(read.shapes) == len(drive.shapes)
    for here, there in zip(read.shapes, drive.shapes, strict=True):
        assert (here.body, here.colour) == (there.body, there.colour)
        assert_allclose(here.vertices, there.vertices, atol=1e-7)  # single precision
        assert_array_equal(here.faces, there.faces)


def test_an_empty_robot_without_forces_is_kept(tmp_path):
    recorder = Recorder(kd.Robot('nothing', []))
    recorder.add(0.0, [], [])
    read = load_recording(recorder.recording().save(tmp_path / 'nothing'))
    assert read.force_names == () and read.body_names == () and read.shapes == ()


def test_poses_are_those_of_the_bodies():
    robot = planar_2r()
    motion = kd.simulate(robot, [0.3, 0.4], [1.0, -2.0], 0.1, step=0.01)
    recording = record(robot, motion, rate=20.0)
    assert_allclose(recording.time, [0.0, 0.05, 0.1], atol=1e-12)
    for q, rows in zip(recording.q, recording.poses, strict=True):
        kinematics = kd.forward_kinematics(robot, q)
        for name, row in zip(recording.body_names, rows, strict=True):
            pose = kinematics.pose(name)
            again = kd.Pose.from_rotation_and_position(row[3:], row[:3])
            assert_allclose(again.rotation_matrix(), pose.rotation_matrix(), atol=1e-15)
            assert_allclose(row[:3], pose.position(), atol=1e-15)


def test_forces_come_and_go():
    robot = planar_2r()
    recorder = Recorder(robot)
    push = Force('stop', np.ones(3), np.array([0.0, 0.0, 2.0]), 'sticks', 'N m')
    recorder.add(0.0, [0.0, 0.0], [0.0, 0.0])
    recorder.add(1.0, [0.0, 0.0], [0.0, 0.0], [push])
    recorder.add(1.0, [0.0, 0.0], [1.0, 0.0])  # after a jump, at the same time
    recording = recorder.recording()
    assert [STATES[k] for k in recording.force_states[:, 0]] == ['open', 'sticks', 'open']
    assert_array_equal(recording.force_vectors[:, 0, 2], [0.0, 2.0, 0.0])
    assert recording.force_units == ('N m',)
    assert [recording.at(t) for t in (-1.0, 0.0, 0.5, 1.0, 9.0)] == [0, 0, 0, 2, 2]


def test_what_cannot_be_recorded():
    robot = planar_2r()
    recorder, zero = Recorder(robot), [0.0, 0.0]
    with pytest.raises(InvalidInputError, match='nothing has been recorded'):
        recorder.recording()
    recorder.add(1.0, zero, zero)
    with pytest.raises(InvalidInputError, match=r'time \[s\]: need at least 1.0, got 0.5'):
        recorder.add(0.5, zero, zero)
    with pytest.raises(InvalidInputError, match="state of 'stop' must be one of"):
        recorder.add(2.0, zero, zero, [Force('stop', np.ones(3), np.ones(3), 'glued')])
    with pytest.raises(InvalidInputError, match='text: need text'):
        recorder.event(1.0, None)
    with pytest.raises(InvalidInputError, match='rate'):
        record(robot, kd.simulate(robot, zero, zero, 0.01), rate=0.0)


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'time': np.array([0.0, 0.1, 0.2, 0.1, 0.4, 0.5])}, 'time must not fall'),
        ({'q': np.zeros((6, 1))}, r'q must be finite, of shape \(6, 10\)'),
        ({'poses': np.full((6, 8, 7), np.nan)}, 'poses must be finite'),
        ({'force_states': np.full((6, 3), 4)}, 'no known state'),
        ({'force_units': ('N',)}, 'need 3 force_units'),
    ],
)
def test_recordings_hold_together(drive, change, message):
    with pytest.raises(InvalidInputError, match=message):
        replace(drive, **change)


def test_what_is_no_recording(drive, tmp_path):
    with pytest.raises(InvalidInputError, match=r"'nowhere.npz' cannot be read: .*No such file"):
        load_recording('nowhere.npz')
    path = tmp_path / 'text.npz'
    path.write_text('hello')
    with pytest.raises(InvalidInputError, match='cannot be read'):
        load_recording(path)
    np.savez(path, x=np.array([{}], dtype=object))  # would run code when it is read
    with pytest.raises(InvalidInputError, match='cannot be read'):
        load_recording(path)
    np.savez(path, q=np.zeros(3))
    with pytest.raises(InvalidInputError, match=r"found 'none'; missing \['format', 'name'"):
        load_recording(path)
    drive.save(path)
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(InvalidInputError, match='cannot be read'):
        load_recording(path)
    with pytest.raises(InvalidInputError, match='cannot be written'):
        drive.save(tmp_path / 'no' / 'folder.npz')


def test_a_name_with_a_point_stays_whole(drive, tmp_path):
    """Regression: runs named step_0.25 and step_0.5 were both written to step_0.npz."""
    files = [drive.save(tmp_path / name) for name in ('step_0.25', 'step_0.5', 'a.npz')]
    assert [file.name for file in files] == ['step_0.25.npz', 'step_0.5.npz', 'a.npz']
    assert all(file.is_file() for file in files)
