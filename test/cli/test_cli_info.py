# SPDX-License-Identifier: Apache-2.0
"""``kane-dynamics info``: what the library says, in words and in JSON."""

import warnings
from pathlib import Path

import numpy as np
import pytest

import kane_dynamics as kd

ROOT = Path(__file__).resolve().parents[2]
GRIPPER = ROOT / 'test' / 'data' / 'gripper_arm.urdf'


def test_json_is_what_the_robot_says(run_json):
    found = run_json('info', 'nonholonomic')
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', kd.exceptions.ModelWarning)
        robot = kd.load_urdf(ROOT / 'robots' / 'nonholonomic.urdf', base='planar')
    assert [one['name'] for one in found['speeds']] == [*robot.velocity_names]
    limits = [
        np.inf if one['effort_limit'] is None else one['effort_limit'] for one in found['speeds']
    ]
    np.testing.assert_array_equal(limits, robot.effort_limit)
    masses = [body['mass_kg'] for body in found['bodies']]
    assert masses == [body.inertia.mass for body in robot.bodies]
    assert found['mass_kg'] == pytest.approx(sum(masses), rel=1e-15)
    assert [one['name'] for one in found['frames']] == [*robot.frames]
    assert found['base'] == 'planar'
    assert found['base_kind'] == 'differential'
    assert [wheel['radius_m'] for wheel in found['wheels']] == [0.1, 0.1]
    motors = [one['name'] for one in found['speeds'] if one['motor']]
    assert motors == [n for n in robot.velocity_names if not n.startswith('base')]
    assert len(found['constraints']) == 3
    roles = {one['name']: one['role'] for one in found['joints']}
    assert (roles['wheel_left_joint'], roles['arm_1_joint']) == ('wheel', 'joint')
    assert found['frames_by_use']['tools'] == ['tool_link']


def test_the_tree_mimic_joints_and_frames_in_words(run):
    code, output, errors = run('info', GRIPPER)
    assert code == 0
    assert "robot 'gripper_arm', fixed base" in output
    assert 'prismatic, follows left_finger_joint' in output
    assert 'mimic: right_finger_joint = 1 left_finger_joint + 0' in output
    assert '│ sensor' in output
    assert 'constraints' not in output
    assert 'inf' not in output.replace('info', '')
    assert 'nan' not in output


def test_a_robot_without_wheels_or_followers(run_json):
    found = run_json('info', GRIPPER, '--root-joint', 'floating')
    assert (found['base'], found['base_kind'], found['wheels']) == ('floating', None, [])
    mimic = {'joint': 'right_finger_joint', 'master': 'left_finger_joint'}
    assert found['mimic'] == [{**mimic, 'ratio': 1.0, 'offset': 0.0}]


def test_bases_that_fit_are_in_words_and_in_json(run, run_json):
    found = run_json('info', 'nonholonomic')
    assert found['fits'] == [
        'kind: differential, left: [wheel_left_joint], right: [wheel_right_joint]'
    ]
    output = run('info', 'nonholonomic')[1]
    assert "robot 'nonholonomic', planar (differential) base, nq 10, nv 10" in output
    assert f'fits: {found["fits"][0]}' in output
