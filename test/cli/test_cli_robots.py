# SPDX-License-Identifier: Apache-2.0
"""The robot that a command is for: by name, as URDF, as parameter file; and what is refused."""

import argparse
from pathlib import Path

import numpy as np
import pytest

import kane_dynamics as kd
from kane_dynamics.cli.options import OPTIONS, read_robot
from kane_dynamics.exceptions import InvalidInputError, UrdfFileError
from kane_dynamics.robot_config.robot_source import model_of_file

ROOT = Path(__file__).resolve().parents[2]
URDF, CONFIG = ROOT / 'robots' / 'nonholonomic.urdf', ROOT / 'config' / 'nonholonomic.yaml'


def chosen(*arguments):
    parser = argparse.ArgumentParser()
    for name in ('robot', '--urdf', '--root-joint'):
        parser.add_argument(name, **OPTIONS[name])
    return read_robot(parser.parse_args([str(argument) for argument in arguments]))


@pytest.mark.parametrize(
    'arguments',
    [
        ('nonholonomic',),
        (CONFIG,),
        ('nonholonomic', '--urdf', URDF),
        (CONFIG, '--urdf', URDF),
    ],
)
def test_all_ways_lead_to_the_model_of_the_nodes(arguments):
    found = chosen(*arguments)
    assert found.model.summary() == model_of_file('nonholonomic').summary()
    assert Path(found.urdf).samefile(URDF)


@pytest.mark.parametrize('base', ['fixed', 'planar', 'floating'])
def test_a_urdf_alone_has_no_constraints_and_every_motor(base):
    found = chosen(URDF, '--root-joint', base)
    assert (found.model.robot.base, found.model.constraints) == (base, ())
    assert found.model.actuated == found.model.robot.velocity_names
    assert found.file == ''


def test_a_package_address_and_a_file_without_ending(tmp_path):
    address = 'package://kane_dynamics/robots/nonholonomic.urdf'
    plain = tmp_path / 'robot'
    plain.write_bytes(URDF.read_bytes())
    for name in (address, plain):
        assert chosen(name).model.robot.nv == kd.load_urdf(URDF).nv


def test_xacro(tmp_path):
    pytest.importorskip('xacro')
    file = tmp_path / 'arm.urdf.xacro'
    file.write_text(
        '<robot name="arm" xmlns:xacro="http://ros.org/wiki/xacro">'
        '<xacro:property name="m" value="${1 + 2}"/><link name="world"/>'
        '<link name="l"><inertial><mass value="${m}"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
        'ixz="0" iyz="0"/></inertial></link>'
        '<joint name="j" type="continuous"><parent link="world"/><child link="l"/></joint></robot>'
    )
    robot = chosen(file).model.robot
    assert np.array([body.inertia.mass for body in robot.bodies]) == pytest.approx([3.0])


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (('nobody',), "no robot 'nobody': need a URDF .* or one of .*holonomic"),
        (('simulation',), "no robot 'simulation'"),  # a parameter file, but of no robot
        (('a.urdf', '--urdf', 'b.urdf'), "need one URDF, got 'a.urdf' and --urdf 'b.urdf'"),
        (('nonholonomic', '--root-joint', 'planar'), '--root-joint is only valid for a URDF'),
        (('no.yaml',), 'cannot be read'),
        (('fetch',), 'names no urdf_file; give one with --urdf'),
        (('package://nobody/no.urdf',), 'not found as any of'),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        chosen(*arguments)


def test_a_urdf_that_does_not_exist():
    with pytest.raises(UrdfFileError, match=r"'no/such.urdf' cannot be read"):
        chosen('no/such.urdf')
