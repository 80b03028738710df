# SPDX-License-Identifier: Apache-2.0
"""Links that form no tree, impossible bodies and wrong arguments end in one named error each."""

import numpy as np
import pytest
from urdf_text import LIMIT, arm, joint, link, refuse, robot, with_number

from kane_dynamics.exceptions import InvalidInputError, NameNotFoundError, UrdfError
from kane_dynamics.robot.urdf import load_urdf

TWO_LINKS = link('a') + link('b')


# --- structure


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        (robot(), ['no links']),
        (robot(TWO_LINKS), ['one root', "'a'", "'b'"]),
        (robot(link('a'), link('a')), ["two links are named 'a'"]),
        (
            robot(TWO_LINKS, link('c'), joint('j', 'a', 'b'), joint('j', 'b', 'c')),
            ["two joints are named 'j'"],
        ),
        (robot(TWO_LINKS, joint('j', 'x', 'b')), ["joint 'j'", "parent link 'x'", "'a', 'b'"]),
        (robot(TWO_LINKS, joint('j', 'a', 'x')), ["joint 'j'", "child link 'x'", "'a', 'b'"]),
        (arm().replace('<parent link="a"/>', ''), ["joint 'ab'", '<parent>']),
        (arm().replace('<child link="b"/>', ''), ["joint 'ab'", '<child>']),
        (
            robot(TWO_LINKS, link('c'), joint('j', 'a', 'c'), joint('k', 'b', 'c')),
            ["link 'c'", 'two parents', "'j'", "'k'"],
        ),
        (robot(TWO_LINKS, joint('j', 'a', 'b'), joint('k', 'b', 'a')), ['cycle', 'b <- a <- b']),
        (robot(link('a'), joint('j', 'a', 'a')), ['cycle', 'a <- a']),
        (
            robot(
                TWO_LINKS, link('c'), link('d'),
                joint('j', 'b', 'c'), joint('k', 'c', 'b'), joint('m', 'c', 'd'),
            ),
            ['cycle', 'c <- b <- c'],
        ),
    ],
)  # fmt: skip
def test_not_one_tree(text, words):
    refuse(text, UrdfError, *words)


def test_joint_with_the_name_of_the_base():
    text = arm(LIMIT).replace('"ab"', '"base"')
    refuse(text, UrdfError, "named 'base'", base='planar')
    assert load_urdf(text).joint_names == ('base',)
    assert load_urdf(text, base='planar', locked_joints=['base']).nv == 3


def test_joint_with_the_name_of_a_base_speed():
    refuse(arm(LIMIT).replace('"ab"', '"base_x"'), InvalidInputError, 'base_x', base='planar')


# --- mimic joints


def follower(mimic, kind='revolute', master_kind='revolute', extra=''):
    return robot(
        TWO_LINKS, link('c'),
        joint('ab', 'a', 'b', master_kind, LIMIT + extra),
        joint('bc', 'b', 'c', kind, LIMIT + f'<mimic joint="{mimic}"/>'),
    )  # fmt: skip


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        (follower('x'), ["'bc' mimics 'x'", 'does not exist', "'ab', 'bc'"]),
        (follower('bc'), ['circle', "'bc'"]),
        (follower('ab', extra='<mimic joint="bc"/>'), ['circle', "'ab'", "'bc'"]),
        (follower('ab', kind='planar'), ["'bc' is planar", 'not 1-DoF']),
        (follower('ab', kind='floating'), ["'bc' is floating", 'not 1-DoF']),
        (follower('ab', master_kind='planar'), ["'ab' is planar", 'not 1-DoF']),
        (follower('ab', master_kind='floating'), ["'ab' is floating", 'not 1-DoF']),
    ],
)
def test_bad_mimic(text, words):
    refuse(text, UrdfError, *words)


# --- mass and inertia


@pytest.mark.parametrize(
    ('name', 'value'),
    [
        ('value', '-1'), ('value', 'nan'), ('value', 'inf'), ('ixx', '-0.1'), ('iyy', '-0.1'),
        ('izz', '-1e-05'), ('ixx', 'nan'), ('ixy', 'nan'), ('iyz', 'inf'), ('izz', 'inf'),
    ],
)  # fmt: skip
@pytest.mark.parametrize('base', ['fixed', 'floating'])
def test_impossible_inertia(name, value, base):
    text = robot(
        link('good'), link('bad_one', with_number(name, value)), joint('j', 'good', 'bad_one')
    )
    refuse(text, InvalidInputError, "link 'bad_one'", value, base=base)


def test_negative_moment_of_a_link_that_a_heavier_one_or_the_world_carries():
    bad = link('bad_one', with_number('izz', '-0.001'))
    welded = robot(link('good'), bad, joint('j', 'good', 'bad_one', 'fixed', ''))
    for text in (welded, robot(bad)):
        for base in ('fixed', 'floating'):
            refuse(text, InvalidInputError, "link 'bad_one'", '-0.001', base=base)


def test_body_with_a_negative_principal_moment():
    text = robot(link('a'), link('b', with_number('ixy', '0.3')), joint('j', 'a', 'b'))
    refuse(text, InvalidInputError, "link 'b'", 'negative principal moment', '-0.2')


# --- arguments


@pytest.mark.parametrize('base', ['mobile', '', None, 'Planar'])
def test_unknown_base(base):
    refuse(arm(LIMIT), InvalidInputError, 'fixed', 'planar', 'floating', repr(base), base=base)


@pytest.mark.parametrize('gravity', [(0, 0), (0, 0, np.nan), 'down', 9.81])
def test_bad_gravity(gravity):
    refuse(arm(LIMIT), InvalidInputError, 'gravity', gravity=gravity)


@pytest.mark.parametrize('locked', [['elbow'], {'elbow': 0.1}, ['ab', 'elbow'], ['base']])
def test_unknown_locked_joint(locked):
    refuse(
        arm(LIMIT),
        NameNotFoundError,
        list(locked)[-1],
        "'ab'",
        locked_joints=locked,
        base='planar',
    )


def test_locked_joints_as_one_name():
    refuse(arm(LIMIT), InvalidInputError, 'sequence of names', "'ab'", locked_joints='ab')


@pytest.mark.parametrize('position', [np.nan, np.inf, 'up', [1.0, 2.0], []])
def test_bad_locked_position(position):
    refuse(arm(LIMIT), InvalidInputError, "locked_joints['ab']", locked_joints={'ab': position})


def test_fixed_joint_cannot_be_locked_elsewhere():
    text = arm(kind='fixed')
    refuse(text, InvalidInputError, "'ab' is fixed", '0.5', locked_joints={'ab': 0.5})
    for harmless in (['ab'], {'ab': 0.0}):
        assert load_urdf(text, locked_joints=harmless).nv == 0
