# SPDX-License-Identifier: Apache-2.0
"""A URDF with the masses of another robot loads to that robot."""

import warnings
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kane_dynamics as kd
from kane_dynamics.robot.inertial_parameters import inertial_parameters, with_inertial_parameters
from kane_dynamics.robot.urdf.writing import updated_urdf

DATA = Path(__file__).resolve().parents[1] / 'data'
SLED = """<robot name="sled"><!-- gone --><link name="floor"><inertial><mass value="9"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="sled"><visual name="kept"/><inertial><origin xyz="0.1 0.2 0.3" rpy="0.3 0.2 0.1"/>
<mass value="3"/><inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0.01" ixz="0" iyz="0"/></inertial>
</link><link name="box"><inertial><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="lid"><inertial><mass value="0.5"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="slide" type="planar"><parent link="floor"/><child link="sled"/>
<axis xyz="0 1 0"/></joint>
<joint name="weld" type="fixed"><parent link="sled"/><child link="box"/>
<origin xyz="1 0 0"/></joint>
<joint name="hinge" type="continuous"><parent link="box"/><child link="lid"/>
<dynamics damping="0.7"/></joint><transmission name="kept"/></robot>"""


def load(urdf, base):
    """Return a robot without what real files get wrong being told."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', kd.exceptions.ModelWarning)
        return kd.load_urdf(urdf, base=base)


def other(robot):
    """Return the robot with other masses and joint friction."""
    rng = np.random.default_rng(2)
    phi = inertial_parameters(robot) * np.repeat(rng.uniform(0.5, 2.0, len(robot.bodies)), 10)
    bodies = [
        replace(body, joint=replace(body.joint, damping=0.1 + 0.01 * i, friction=1.0 / (i + 3.0)))
        for i, body in enumerate(with_inertial_parameters(robot, phi).bodies)
    ]
    return replace(robot, bodies=tuple(bodies))


@pytest.mark.parametrize('base', ['fixed', 'planar', 'floating'])
@pytest.mark.parametrize(
    'urdf',
    ['package://kane_dynamics/robots/nonholonomic.urdf', DATA / 'gripper_arm.urdf', SLED],
    ids=['nonholonomic', 'gripper', 'sled'],
)
def test_it_loads_to_the_same_robot(urdf, base):
    robot = other(load(urdf, base))
    text = updated_urdf(urdf, robot, robot.joint_names)
    again = load(text, base)
    assert_allclose(inertial_parameters(again), inertial_parameters(robot), rtol=0, atol=1e-13)
    for one, two in zip(robot.bodies, again.bodies, strict=True):
        if one.joint.name != 'base':
            assert one.joint.damping == two.joint.damping
            assert one.joint.friction == two.joint.friction
    if urdf != SLED:  # the frame of a planar joint is turned: digits change
        assert updated_urdf(text, again, robot.joint_names) == text
    for link in ElementTree.fromstring(text.encode()).iter('link'):
        welded = robot.frames[link.get('name')]
        if welded.body >= 0 and robot.bodies[welded.body].name != link.get('name'):
            assert link.find('inertial') is None


def test_what_is_none_of_its_business_stays():
    robot = other(load(SLED, 'fixed'))
    root = ElementTree.fromstring(updated_urdf(SLED, robot).encode())
    assert root.find("link[@name='floor']/inertial/mass").get('value') == '9'
    assert root.find("link[@name='sled']/visual").get('name') == 'kept'
    assert root.find('transmission') is not None
    assert root.find("joint[@name='hinge']/dynamics").get('damping') == '0.7'
    assert root.find("joint[@name='slide']/dynamics") is None


def test_followers_get_the_friction_of_their_master():
    urdf = DATA / 'gripper_arm.urdf'
    robot = other(load(urdf, 'fixed'))
    (follower,) = [body for body in robot.bodies if body.mimic][:1]
    text = updated_urdf(urdf, robot, [follower.mimic.master])
    joints = ElementTree.fromstring(text.encode()).findall('joint/dynamics/..')
    assert follower.joint.name in {joint.get('name') for joint in joints}
