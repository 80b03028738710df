# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics identify plan``: files that other commands take, and what is said of them."""

import numpy as np
import pytest

from kane_dynamics.identification import excitation
from kane_dynamics.robot_config.robot_source import model_of_file
from kane_dynamics.trajectories.trajectory_files import read_trajectory


@pytest.fixture
def planned(run, monkeypatch, tmp_path):
    """Return a function that plans the shipped robot with a short search."""
    for name, value in {'_STARTS': 1, '_DRAWS': 2, '_STEPS': 1}.items():
        monkeypatch.setattr(excitation, name, value)

    def plan(*options):
        target = tmp_path / 'exciting.yaml'
        options = 'nonholonomic', target, '--duration', '5', *options
        return target, *run(*'identify plan'.split(), *options)

    return plan


def test_a_base_with_arm(planned, tmp_path):
    """The file has all motors; the twists are those of its wheels."""
    twists = tmp_path / 'twists.csv'
    target, code, output, errors = planned('--base-csv', twists)
    assert code == 0, errors
    points = read_trajectory(target).joints
    model = model_of_file('nonholonomic')
    assert points.names == model.motors
    assert not points.velocities[[0, -1]].any()
    base = np.genfromtxt(twists, delimiter=',', names=True)
    wheels = [points.names.index(f'wheel_{side}_joint') for side in ('left', 'right')]
    radius = model.base.wheels[0].radius
    mean = radius * points.velocities[:, wheels].mean(axis=1)
    np.testing.assert_allclose(base['vx'], mean, rtol=0, atol=1e-9)
    np.testing.assert_allclose(base['vy'], 0.0, atol=1e-9)
    assert 'condition' in output
    assert 'rank' in output
    assert 'collisions are not checked' in errors


def test_other_joints_stand_still(planned):
    target, code, _, errors = planned('--joints', 'arm_1_joint,arm_2_joint')
    assert code == 0, errors
    points = read_trajectory(target).joints
    still = [
        k for k, name in enumerate(points.names) if name not in ('arm_1_joint', 'arm_2_joint')
    ]
    assert np.ptp(points.positions[:, still], axis=0).max() == 0.0
    assert np.ptp(points.positions[:, points.names.index('arm_1_joint')]) > 0.1


def test_positions_that_are_not_used_are_told(planned):
    """Regression: what moves has centres of its own, and nothing said so."""
    options = '--position', 'arm_1_joint=0.3', '--position', 'arm_2_joint=0.2'
    _, code, _, errors = planned('--joints', 'arm_1_joint', *options)
    assert code == 0, errors
    assert "--position of ['arm_1_joint'] is not used" in errors


def test_a_base_that_does_not_move_has_no_twists(run, robots, tmp_path):
    """Regression: no file was written, and nothing said so."""
    options = '--base-csv', tmp_path / 'twists.csv', '--root-joint', 'fixed'
    urdf = robots / 'nonholonomic.urdf'
    code, _, errors = run('identify', 'plan', urdf, tmp_path / 'plan.yaml', *options)
    assert code == 1
    assert '--base-csv: the base of this robot does not move' in errors
    assert (
        "no joint named ''"
        in run('identify', 'plan', urdf, tmp_path / 'plan.yaml', '--joints', '')[2]
    )


def test_a_joint_whose_limits_leave_no_way_is_named(run, tmp_path):
    """Regression: its way was divided by zero, and no motion kept the limits."""
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    (tmp_path / 'arm.urdf').write_text(
        f"""<robot name="arm"><link name="world"/>
        <link name="a"><inertial><mass value="1"/>{inertia}</inertial></link>
        <joint name="j" type="revolute"><parent link="world"/><child link="a"/>
        <axis xyz="0 1 0"/><limit lower="1" upper="1" effort="9" velocity="1"/></joint></robot>"""
    )
    code, _, errors = run('identify', 'plan', tmp_path / 'arm.urdf', tmp_path / 'plan.yaml')
    assert code == 1
    assert "limits leave ['j'] no way to move" in errors
