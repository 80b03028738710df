# SPDX-License-Identifier: Apache-2.0
"""Robots by name, by address, and from xacro files."""

import subprocess
import sys

import pytest

import kane_dynamics as kd
from kane_dynamics.exceptions import InvalidInputError, NameNotFoundError, UrdfFileError
from kane_dynamics.robot.text import robot_files

ADDRESS = 'package://kane_dynamics/robots/nonholonomic.urdf'


def test_a_robot_loads_by_name_as_the_nodes_have_it(tmp_path):
    robot = kd.load_robot('nonholonomic')
    assert robot.velocity_names == kd.load_urdf(ADDRESS, base='planar').velocity_names
    assert kd.load_robot('nonholonomic', base='fixed').base == 'fixed'
    tilted = kd.load_robot('nonholonomic', gravity=(0, 1, 2), locked_joints=['arm_1_joint'])
    assert (tilted.gravity[1], tilted.nv) == (1.0, robot.nv - 1)
    code = "import kane_dynamics as kd; print(kd.load_robot('nonholonomic').nv)"
    run = subprocess.run(
        [sys.executable, '-c', code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == str(robot.nv)  # from any folder


@pytest.mark.parametrize('name', robot_files())
def test_every_shipped_robot_loads_or_says_where_its_urdf_is(name):
    try:
        assert kd.load_robot(name).nv > 0
    except InvalidInputError as error:
        assert 'urdf=' in str(error) or 'pip install' in str(error)


def test_a_parameter_file_of_ones_own_loads(tmp_path):
    path = tmp_path / 'mine.yaml'
    text = (
        f'/**:\n  ros__parameters:\n    urdf_file: {ADDRESS}\n    locked_joints: [arm_1_joint]\n'
    )
    path.write_text(text, encoding='utf-8')
    robot = kd.load_robot(path)
    assert robot.base == 'fixed'
    assert 'arm_1_joint' not in robot.velocity_names
    with pytest.raises(NameNotFoundError, match="no shipped robot named 'nope'; there are"):
        kd.load_robot('nope')


def test_load_urdf_takes_addresses_and_xacro_files(tmp_path, monkeypatch):
    assert kd.load_urdf(ADDRESS).name == 'nonholonomic'
    with pytest.raises(UrdfFileError, match='source the workspace that holds the package'):
        kd.load_urdf('package://no_such_package/robot.urdf')
    space = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
    inner, outer = tmp_path / 'share' / 'mine' / 'inner.xacro', tmp_path / 'outer.urdf.xacro'
    inner.parent.mkdir(parents=True)
    inner.write_text(f'<robot {space}><link name="base"/></robot>', encoding='utf-8')
    include = '<xacro:include filename="$(find mine)/inner.xacro"/>'
    outer.write_text(f'<robot name="mine" {space}>{include}</robot>', encoding='utf-8')
    monkeypatch.delenv('AMENT_PREFIX_PATH', raising=False)
    with pytest.raises(UrdfFileError, match='packages mine, which are in none of AMENT_PREFIX'):
        kd.load_urdf(outer)
    index = tmp_path / 'share' / 'ament_index' / 'resource_index' / 'packages' / 'mine'
    index.parent.mkdir(parents=True)
    index.touch()
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    assert kd.load_urdf(outer).frames.keys() == {'base'}
