# SPDX-License-Identifier: Apache-2.0
"""What is found in a robot description: roles of joints, frames, casters, kinds of base."""

import math
from pathlib import Path

import pytest
from support.base_urdf import BASES, urdf

from kane_dynamics.exceptions import InvalidInputError, KaneDynamicsError
from kane_dynamics.robot import text as robot_text
from kane_dynamics.robot_config.inspection import inspect_urdf

KINDS = {'diff_drive': 'differential'}


def link(name, shape=''):
    inertia = '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>'
    return f'<link name="{name}"><inertial><mass value="1"/>{inertia}</inertial>{shape}</link>'


def joint(name, parent, child, kind='revolute', xyz='0 0 0.1', axis='0 1 0', more=''):
    ends = f'<parent link="{parent}"/><child link="{child}"/><origin xyz="{xyz}"/>'
    limit = '<limit lower="-1" upper="2" effort="10" velocity="3"/>'
    return f'<joint name="{name}" type="{kind}">{ends}<axis xyz="{axis}"/>{limit}{more}</joint>'


def with_parts(text, *parts):
    return text.replace('</robot>', ''.join(parts) + '</robot>')


@pytest.mark.parametrize('base_type', BASES)
def test_the_kind_of_base_is_among_those_found(base_type):
    text, _, _, _ = BASES[base_type]
    found = inspect_urdf(text)
    assert KINDS.get(base_type, base_type) in [kind.kind for kind in found.kinds]
    assert found.robot.base == 'planar'
    assert found.named('joint') == ('lift_joint',)


ARM = f'<robot name="arm">{link("world_link")}{link("upper")}{link("fore")}</robot>'
HAND = (
    joint('shoulder', 'world_link', 'upper'),
    joint('elbow', 'upper', 'fore'),
    link('tool0'),
    joint('flange', 'fore', 'tool0', 'fixed'),
    link('left_finger'),
    link('right_finger'),
    joint('grip', 'fore', 'left_finger', 'prismatic'),
    joint('grip_too', 'fore', 'right_finger', 'prismatic', more='<mimic joint="grip"/>'),
)


def test_an_arm_with_a_gripper():
    found = inspect_urdf(with_parts(ARM, *HAND))
    assert (found.robot.base, found.wheels, found.kinds) == ('fixed', (), ())
    roles = {joint.name: joint.role for joint in found.joints}
    assert roles == {
        'shoulder': 'joint',
        'elbow': 'joint',
        'grip': 'finger',
        'grip_too': 'follower',
    }
    assert found.frames.tools == ('tool0',)
    assert found.joints[-1].mimic.master == 'grip'
    assert math.isclose(found.mass, 5.0)  # the root link, which stands still, is not counted


def test_frames_of_base_and_sensors():
    text = urdf({'l': ((0, 0.2),), 'r': ((0, -0.2),)})
    assert inspect_urdf(text).frames.base == 'base_link'
    footprint = with_parts(
        text, link('base_footprint'), joint('down', 'base_footprint', 'base_link', 'fixed')
    )
    found = inspect_urdf(
        with_parts(footprint, link('imu_link'), joint('i', 'base_link', 'imu_link', 'fixed'))
    )
    assert (found.frames.root, found.frames.base) == ('base_footprint', 'base_footprint')
    assert found.frames.imu == ('imu_link',)
    moves = with_parts(text, link('base_footprint'), joint('up', 'lift', 'base_footprint'))
    assert inspect_urdf(moves).frames.base == 'base_link'


BALL = (
    '<collision><origin xyz="0.01 0 0"/><geometry><sphere radius="0.05"/></geometry></collision>'
)


def test_a_caster_that_is_no_joint_is_a_support():
    text = with_parts(
        urdf({'l': ((0, 0.2),), 'r': ((0, -0.2),)}),
        link('caster_fork'),
        link('caster_ball', BALL),
        joint('a', 'base_link', 'caster_fork', 'fixed', '-0.3 0 0.1'),
        joint('b', 'caster_fork', 'caster_ball', 'fixed', '0 0 -0.05'),
    )
    assert inspect_urdf(text).supports == ((-0.29, 0.0, 0.0),)
    assert inspect_urdf(urdf({'l': ((0, 0.2),), 'r': ((0, -0.2),)})).supports == ()
    assert inspect_urdf(with_parts(ARM, *HAND)).supports == ()


def test_what_lies_between_base_and_wheel_is_suspension():
    text = urdf({'l': ((0, 0.2),), 'r': ((0, -0.2),)}).replace(
        '<parent link="base_link"/><child link="l_rim"/>',
        '<parent link="rocker"/><child link="l_rim"/>',
    )
    text = with_parts(text, link('rocker'), joint('rock', 'base_link', 'rocker', xyz='0 0 0'))
    found = inspect_urdf(text)
    assert found.named('suspension') == ('rock',)
    assert found.named('wheel') == ('r_wheel', 'l_wheel')


def test_a_caster_has_two_joints():
    found = inspect_urdf(BASES['diff_drive'][0])
    assert found.named('caster swivel', 'caster wheel') == ('c_steer', 'c_wheel')


def test_the_text_of_a_robot(tmp_path):
    assert set(robot_text.shipped_robots()) == {'holonomic', 'nonholonomic', 'tiago'}
    address = robot_text.robot_address('nonholonomic')
    assert "name='nonholonomic'" in robot_text.robot_text(address).replace('"', "'")
    file = tmp_path / 'arm.xacro'
    file.write_text(f'<robot xmlns:xacro="http://ros.org/wiki/xacro">{link("one")}</robot>')
    assert robot_text.robot_address(str(file)) == str(file)
    if pytest.importorskip('xacro'):
        assert '<link name="one">' in robot_text.robot_text(str(file))


@pytest.mark.parametrize(
    ('source', 'message'),
    [
        ('nonholonomicc', 'need a URDF or xacro file, .* shipped robot, which are holonomic, non'),
        ('no/such.urdf', "URDF 'no/such.urdf' is not a file"),
    ],
)
def test_no_such_robot(source, message):
    with pytest.raises(InvalidInputError, match=message):
        robot_text.robot_text(robot_text.robot_address(source))


def test_unreadable_files(tmp_path):
    file = tmp_path / 'latin.urdf'
    file.write_bytes(b'<robot name="\xe9"/>')
    with pytest.raises(InvalidInputError, match='cannot be read'):
        robot_text.robot_text(str(file))
    pytest.importorskip('xacro')
    broken = tmp_path / 'broken.xacro'
    broken.write_text('<robot><xacro:no_such_macro/></robot>')
    with pytest.raises(InvalidInputError, match='xacro failed'):
        robot_text.robot_text(str(broken))


def test_what_is_no_robot_is_refused():
    with pytest.raises(KaneDynamicsError, match='root element is <sdf>, need <robot>'):
        inspect_urdf('<sdf/>')
    with pytest.raises(KaneDynamicsError, match='cannot be read'):
        inspect_urdf(str(Path('no/such.urdf')))


FINGERS = ('one', 'two', 'three')


def arm_with_hand(finger_length='0.05'):
    """Return an arm of three joints whose last link carries three chains of two joints."""
    parts = [link(name) for name in ('a', 'b', 'palm')]
    parts += [joint('j1', 'base', 'a'), joint('j2', 'a', 'b'), joint('j3', 'b', 'palm')]
    for name in FINGERS:
        parts += [link(f'{name}_1'), link(f'{name}_2'), joint(f'{name}_a', 'palm', f'{name}_1')]
        parts += [joint(f'{name}_b', f'{name}_1', f'{name}_2', xyz=f'0 0 {finger_length}')]
    return f'<robot name="handy">{link("base")}{"".join(parts)}</robot>'


def test_finger_joints_without_a_name_of_fingers_are_a_hand():
    found = inspect_urdf(arm_with_hand())
    joints = tuple(f'{name}_{k}' for name in FINGERS for k in 'ab')
    assert [(hand.name, hand.joints) for hand in found.hands] == [('palm', joints)]
    assert found.named('finger') == joints
    assert found.named('joint') == ('j1', 'j2', 'j3')
    assert found.frames.tools == ('palm',)
    # chains as long as arms are no fingers: a torso carries them
    torso = inspect_urdf(arm_with_hand(finger_length='0.5'))
    assert (torso.hands, torso.named('finger')) == ((), ())


def test_an_srdf_beside_the_urdf_names_the_hands(tmp_path):
    text = with_parts(ARM, *HAND)
    (tmp_path / 'robots').mkdir()
    (tmp_path / 'srdf').mkdir()
    path = tmp_path / 'robots' / 'handy.urdf'
    path.write_text(text, encoding='utf-8')
    groups = (
        '<group name="arm"><chain base_link="world_link" tip_link="fore"/></group>'
        '<group name="claw"><group name="parts"/></group>'
        '<group name="parts"><link name="left_finger"/><joint name="grip_too"/></group>'
    )
    effectors = (
        '<end_effector name="e" parent_link="fore" group="claw"/>'
        # a leg, as SRDFs of quadrupeds have it: nothing hangs on its foot
        '<end_effector name="leg" parent_link="fore" group="arm"/>'
    )
    srdf = tmp_path / 'srdf' / 'other.srdf'
    srdf.write_text(f'<robot name="arm">{groups}{effectors}</robot>', encoding='utf-8')
    named = inspect_urdf(text, str(path))
    assert [(hand.name, hand.joints) for hand in named.hands] == [('claw', ('grip',))]
    assert inspect_urdf(str(path)).hands == named.hands
    srdf.write_text(f'<robot name="another">{groups}{effectors}</robot>', encoding='utf-8')
    assert [hand.name for hand in inspect_urdf(text, str(path)).hands] == ['fore']
    srdf.write_text('<robot name="arm">', encoding='utf-8')
    assert [hand.name for hand in inspect_urdf(text, str(path)).hands] == ['fore']


@pytest.mark.oracle
def test_hands_of_a_dual_arm_robot_are_no_arm_joints():
    found = inspect_urdf(
        robot_text.robot_text(
            'package://example-robot-data/robots/tiago_description/robots/tiago_dual.urdf'
        )
    )
    assert [(hand.name, len(hand.joints)) for hand in found.hands] == [
        ('arm_left_7_link', 36),
        ('arm_right_7_link', 36),
    ]
    assert len(found.named('joint')) == 17  # torso, head 2, arms 2 x 7
    assert found.frames.tools[:2] == ('hand_left_tool_link', 'hand_right_tool_link')


def test_wrong_masses_are_told_with_their_links():
    mass = '<mass value="1"/>'
    arm = with_parts(ARM, *HAND)
    assert not any('0 kg' in remark or 'in g' in remark for remark in inspect_urdf(arm).messages)
    fore = link('fore')
    massless = inspect_urdf(arm.replace(fore, '<link name="fore"/>')).messages
    assert not any('fore' in remark for remark in massless)  # tool0, fixed to it, has the mass
    alone = arm.replace(fore, '<link name="fore"/>').replace(link('tool0'), '<link name="tool0"/>')
    (told,) = [remark for remark in inspect_urdf(alone).messages if 'links of 0 kg' in remark]
    assert "'fore' ('elbow')" in told
    grams = inspect_urdf(arm.replace(fore, fore.replace(mass, '<mass value="53000"/>'))).messages
    (told,) = [remark for remark in grams if 'in kg, not in g' in remark]
    assert "in link 'fore'" in told
    text = urdf({'l': ((0, 0.2),), 'r': ((0, -0.2),)})
    base = text[text.index('<link name="base_link">') : text.index('</link>') + len('</link>')]
    (told,) = [
        remark
        for remark in inspect_urdf(text.replace(base, '<link name="base_link"/>')).messages
        if 'base has 0 kg' in remark
    ]
    assert "link 'base_link'" in told


def test_a_camera_without_inertia_is_named():
    camera = '<link name="camera"/>', joint('pan', 'fore', 'camera', axis='0 0 1')
    found = inspect_urdf(with_parts(ARM, *HAND, *camera))
    assert found.massless == ('pan',)
    (told,) = [remark for remark in found.messages if 'singular' in remark]
    assert "links ['camera']" in told and 'lock these joints' in told
