# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics retime``: files in and out, limits of the parameters' robot, what it refuses."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kane_dynamics as kd
from kane_dynamics.cli import main
from kane_dynamics.trajectories.joint_trajectory import JointTrajectory
from kane_dynamics.trajectories.trajectory_files import read_trajectory, write_trajectory

LINK = """
  <link name="{0}"><inertial><origin xyz="0 0 -0.3"/><mass value="2"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="{0}_hinge" type="revolute"><parent link="{1}"/><child link="{0}"/>
    <origin xyz="0 0 {2}"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" effort="{3}" velocity="4"/></joint>"""
ARM = (
    '<robot name="arm"><link name="root"/>'
    + LINK.format('upper', 'root', 0.0, 40.0)
    + LINK.format('fore', 'upper', -0.5, 15.0)
    + '</robot>'
)
NAMES = ('upper_hinge', 'fore_hinge')


@pytest.fixture
def files(tmp_path):
    """Return a parameter file of a small arm and a slow trajectory of its joints."""
    (tmp_path / 'arm.urdf').write_text(ARM)
    config = tmp_path / 'arm.yaml'
    config.write_text(
        f'/**:\n  ros__parameters:\n    urdf_file: {tmp_path}/arm.urdf\n    base_type: none\n'
    )
    source = tmp_path / 'slow.yaml'
    positions = [[0.0, 0.0], [0.8, -0.5], [1.5, 0.6]]
    write_trajectory(source, JointTrajectory(NAMES[::-1], [0.0, 4.0, 8.0], positions))
    return config, source, tmp_path / 'quick.json'


def test_a_trajectory_comes_out_quick_and_with_efforts(files, capsys):
    config, source, target = files
    options = ['--effort-scale', '0.8', '--point-rate', '200']
    assert main(['retime', str(config), str(source), str(target), *options]) == 0
    points = read_trajectory(target).joints
    assert points.names == NAMES[::-1]
    assert_allclose(points.positions[[0, -1]], [[0.0, 0.0], [1.5, 0.6]], atol=1e-9)
    assert_allclose(points.velocities[[0, -1]], 0.0, atol=1e-9)
    assert 0.1 < points.times[-1] < 2.0
    robot = kd.load_urdf(ARM)
    motion = [x[:, ::-1] for x in (points.positions, points.velocities, points.accelerations)]
    efforts = [kd.inverse_dynamics(robot, *state) for state in zip(*motion, strict=True)]
    assert_allclose(points.efforts[:, ::-1], efforts, atol=1e-6)  # digits of the file
    use = np.abs(points.efforts) / (15.0, 40.0)
    speed = np.abs(points.velocities).max()
    assert use.max() <= 0.8 * 1.001
    assert speed <= 0.9 * 4.0 * 1.001
    assert use.max() > 0.79 or speed > 0.89 * 4.0  # something limits it
    said = capsys.readouterr().out
    assert '8.000 s before' in said
    assert 'effort of' in said


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (['--effort-scale', '0.2'], 'effort of fore_hinge (5.8'),
        (['--effort-scale', '1.5'], 'need at most 1'),
        (['--friction-coefficient', '0.6'], 'no base on wheels'),
        (['--position', 'elbow=1'], "no coordinate named 'elbow'"),
    ],
)
def test_what_cannot_be_is_said(files, capsys, options, message):
    config, source, target = files
    assert main(['retime', str(config), str(source), str(target), *options]) == 1
    assert message in ' '.join(capsys.readouterr().err.split())


def test_a_single_point_is_no_path(files, capsys):
    config, source, target = files
    write_trajectory(source, JointTrajectory(NAMES, [0.0], [[0.0, 0.0]]))
    assert main(['retime', str(config), str(source), str(target)]) == 1
    assert 'has no path' in capsys.readouterr().err
