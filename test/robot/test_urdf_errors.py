# SPDX-License-Identifier: Apache-2.0
"""Files that cannot be read and attributes that make no sense end in one named error each."""

from pathlib import Path

import pytest
from urdf_text import BALL, LIMIT, arm, link, refuse, robot, with_number

from kane_dynamics.exceptions import InvalidInputError, UrdfError, UrdfFileError

DATA = Path(__file__).resolve().parents[1] / 'data'
TWO_LINKS = link('a') + link('b')


# --- the file and its XML


@pytest.mark.parametrize('path', ['no/such.urdf', Path('no_such.urdf'), '', 'x' * 5000, '\0'])
def test_missing_file(path):
    refuse(path, UrdfFileError, 'cannot be read')


def test_missing_file_is_also_a_file_not_found_error(tmp_path):
    refuse(tmp_path / 'x.urdf', FileNotFoundError, 'x.urdf')
    refuse(tmp_path, UrdfError, 'directory')


@pytest.mark.parametrize(
    ('source', 'describe'), [(None, 'None'), (3, 'int 3'), (b'<robot/>', 'bytes'), (['a'], 'list')]
)
def test_neither_path_nor_text(source, describe):
    refuse(source, InvalidInputError, 'need a path or text', describe)


@pytest.mark.parametrize(
    ('name', 'words'),
    [
        ('bad_xml', ['bad_xml.urdf', 'is not XML', 'line 6']),
        ('bad_number', ['handlebar_to_wheel', 'origin xyz', "'0.07,' is not a number"]),
        ('bad_substitution', ['imu_joint', 'origin xyz', '$(optenv', 'substitution']),
        ('entity_bomb', ['refused']),
        ('external_entity', ['refused']),
        ('external_dtd', ['refused']),
    ],
)
def test_bad_file(name, words):
    refuse(DATA / f'{name}.urdf', UrdfError, *words)
    refuse(str(DATA / f'{name}.urdf'), UrdfError, *words)
    refuse((DATA / f'{name}.urdf').read_text(), UrdfError, *words[1:])


@pytest.mark.parametrize(
    ('name', 'words'),
    [
        ('husky/husky.urdf', ['imu_joint', 'origin', '$(optenv']),
        ('bicycle/bike.urdf', ['handlebar_to_frontwheel', 'origin', '0.07,']),
        ('humanoid/humanoid.urdf', ['is not XML', 'line 288']),
    ],
)
def test_bad_files_of_pybullet(name, words):
    data = pytest.importorskip('pybullet_data', reason='the wheel of pybullet is not installed')
    refuse(Path(data.getDataPath()) / name, UrdfError, *words)


@pytest.mark.parametrize(
    'text',
    ['<', '<robot>', '<robot/><robot/>', 'text <robot/>', '<robot a=1/>', '<\ud800/>', '<\0/>'],
)
def test_not_xml(text):
    refuse(text, UrdfError, 'is not XML')


def test_file_in_a_broken_encoding(tmp_path):
    path = tmp_path / 'x.urdf'
    path.write_bytes(b'<robot name="\xff\xfe"/>')
    refuse(path, UrdfError, 'is not XML')
    path.write_bytes(b'<?xml version="1.0" encoding="klingon"?><robot/>')
    refuse(path, UrdfError, 'is not XML')


def test_other_root_element():
    refuse('<sdf version="1.9"/>', UrdfError, '<sdf>', '<robot>')


def test_xacro_left_in():
    text = (
        '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arm/><link name="a"/></robot>'
    )
    refuse(text, UrdfError, '<xacro:arm>', 'run xacro')


# --- attributes

BAD_NUMBERS = [
    '',
    '1',
    '1 2',
    '1 2 3 4',
    '1,2,3',
    '1 2 x',
    '1 nan 0',
    '0 inf 0',
    '1_0 0 0',
    '1 ٣ 0',
]


@pytest.mark.parametrize('text', BAD_NUMBERS)
@pytest.mark.parametrize(
    'where', ['<origin xyz="{}"/>', '<origin rpy="{}"/>', '<axis xyz="{}"/>'], ids=lambda w: w[1:7]
)
def test_bad_vector_of_a_joint(where, text):
    element = where.format(text)
    refuse(arm(element, LIMIT), UrdfError, "joint 'ab'", element[:-2])


@pytest.mark.parametrize(
    'text', ['', '1 2', '1,', 'nan', '-inf', '1e999', '${x}', '$(arg x)', '0x1']
)
@pytest.mark.parametrize(
    'where',
    [
        '<limit lower="{}" upper="1" velocity="1" effort="1"/>',
        '<limit lower="0" upper="{}" velocity="1" effort="1"/>',
        '<limit lower="0" upper="1" velocity="{}" effort="1"/>',
        '<limit lower="0" upper="1" velocity="1" effort="{}"/>',
        LIMIT + '<dynamics damping="{}"/>',
        LIMIT + '<dynamics friction="{}"/>',
        LIMIT + '<mimic joint="ab" multiplier="{}"/>',
        LIMIT + '<mimic joint="ab" offset="{}"/>',
    ],
)
def test_bad_number_of_a_joint(where, text):
    attribute = where[: where.index('="{}"')].split()[-1]
    refuse(arm(where.format(text)), UrdfError, "joint 'ab'", f'{attribute}="{text}"')


@pytest.mark.parametrize('name', ['value', 'ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'])
@pytest.mark.parametrize('text', ['', '1 2', '0.07,', '${m}'])
def test_unreadable_number_of_an_inertial(name, text):
    broken = with_number(name, text)
    refuse(robot(link('a', broken)), UrdfError, "link 'a'", 'inertial', f'{name}="{text}"')


@pytest.mark.parametrize(
    ('inner', 'words'),
    [
        (BALL.replace('<mass value="2"/>', ''), ['no <mass>']),
        (BALL.replace(' value="2"', ''), ['<mass>', "'value'"]),
        (BALL.replace('ixx="0.1"', ''), ['<inertia>', "'ixx'"]),
        (BALL.replace('izz="0.1"', ''), ['<inertia>', "'izz'"]),
        ('<origin xyz="0 0"/>' + BALL, ['origin xyz="0 0"']),
    ],
)
def test_incomplete_inertial(inner, words):
    refuse(robot(link('a', inner)), UrdfError, "link 'a'", 'inertial', *words)


def test_bad_collision_radius():
    shape = '<collision><geometry><cylinder radius="big"/></geometry></collision>'
    refuse(robot(link('a', extra=shape)), UrdfError, "link 'a'", 'cylinder', 'big')


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        (robot('<link/>'), ['link number 1', "'name'"]),
        (robot('<link name="a"/><link name=" "/>'), ['link number 2', "'name'"]),
        (robot('<link name="${prefix}a"/>'), ['substitution', '${prefix}a']),
        (robot(TWO_LINKS, '<joint type="fixed"/>'), ['joint number 1', "'name'"]),
        (arm().replace(' type="revolute"', ''), ["joint 'ab'", "'type'"]),
        (arm().replace(' link="b"', ''), ["joint 'ab'", '<child>', "'link'"]),
        (arm(LIMIT, '<mimic multiplier="2"/>'), ["joint 'ab'", '<mimic>', "'joint'"]),
    ],
)
def test_missing_name(text, words):
    refuse(text, UrdfError, *words)


@pytest.mark.parametrize('kind', ['revolute', 'continuous', 'prismatic', 'planar'])
def test_zero_axis(kind):
    refuse(arm('<axis xyz="0 0 0"/>', LIMIT, kind=kind), UrdfError, "joint 'ab'", 'axis')


@pytest.mark.parametrize(
    'kind', ['Revolute', 'spherical', 'ball', 'helical', 'screw', 'hinge', 'none']
)
def test_unknown_joint_type(kind):
    types = ['revolute', 'continuous', 'prismatic', 'fixed', 'floating', 'planar']
    refuse(arm(LIMIT, kind=kind), UrdfError, "joint 'ab'", f"'{kind}'", *types)


def test_negative_damping():
    refuse(
        arm(LIMIT, '<dynamics damping="-1"/>'), InvalidInputError, "joint 'ab'", 'damping', '-1'
    )
