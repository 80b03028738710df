# SPDX-License-Identifier: Apache-2.0
"""Small URDF texts for tests."""

import numpy as np
import pytest

from kane_dynamics.exceptions import KaneDynamicsError
from kane_dynamics.robot.urdf import load_urdf

BALL = '<mass value="2"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>'
LIMIT = '<limit lower="-1" upper="2" velocity="3" effort="4"/>'


def link(name, inertial=BALL, extra=''):
    """Return a link; a ball of 2 kg if nothing else is said, massless with inertial=None."""
    inner = '' if inertial is None else f'<inertial>{inertial}</inertial>'
    return f'<link name="{name}">{inner}{extra}</link>'


def joint(name, parent, child, kind='revolute', inner=LIMIT):
    """Return a joint."""
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{inner}</joint>'


def robot(*parts):
    """Return a robot description."""
    return f'<robot name="r">{"".join(parts)}</robot>'


def arm(*inner, kind='revolute', base_link=BALL, last_link=BALL):
    """Return a robot of two links 'a' and 'b' and the joint 'ab' with the given inner elements."""
    return robot(
        link('a', base_link), link('b', last_link), joint('ab', 'a', 'b', kind, ''.join(inner))
    )


def with_number(name, value):
    """Return BALL with one number replaced."""
    old = BALL[BALL.index(f'{name}="') :].split('"')[1]
    return BALL.replace(f'{name}="{old}"', f'{name}="{value}"')


def refuse(source, error, *words, **options):
    """Check that loading ends in an error whose message holds all words."""
    with pytest.raises(error) as caught:
        load_urdf(source, **options)
    assert isinstance(caught.value, KaneDynamicsError)
    for word in words:
        assert word in str(caught.value)


def numbers(values):
    """Return numbers as an attribute, with all their digits."""
    return ' '.join(repr(float(value)) for value in values)


def origin(xyz, rpy):
    """Return an origin."""
    return f'<origin xyz="{numbers(xyz)}" rpy="{numbers(rpy)}"/>'


def random_origin(rng):
    """Return any origin within 0.5 m in each direction."""
    return origin(rng.uniform(-0.5, 0.5, 3), rng.uniform(-3.0, 3.0, 3))


def random_inertial(rng):
    """Return mass and moments of a cuboid in a shifted, turned frame that is not principal."""
    sides = rng.uniform(0.1, 0.5, 3) ** 2
    mass = rng.uniform(0.5, 3.0)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    tensor = turn @ np.diag(mass / 12.0 * (sides.sum() - sides)) @ turn.T
    moments = dict(
        zip(('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'), tensor[np.triu_indices(3)], strict=True)
    )
    attributes = ' '.join(f'{key}="{float(value)!r}"' for key, value in moments.items())
    return f'{random_origin(rng)}<mass value="{mass!r}"/><inertia {attributes}/>'


def random_robot(rng, kinds, followers=0):
    """
    Return a tree with joints of the given kinds, one link below each, in shuffled file order.

    Links are link_0 (the root) ..., joints joint_1 ...; the last `followers` joints, which must be
    1-DoF, mimic joint_1.
    """
    links = [link(f'link_{i}', random_inertial(rng)) for i in range(len(kinds) + 1)]
    joints = []
    for i, kind in enumerate(kinds, start=1):
        inner = f'{random_origin(rng)}<axis xyz="{numbers(rng.normal(size=3))}"/>{LIMIT}'
        if i > len(kinds) - followers:
            ratio, offset = rng.uniform(-2.0, 2.0, 2).tolist()
            inner += f'<mimic joint="joint_1" multiplier="{ratio!r}" offset="{offset!r}"/>'
        joints.append(joint(f'joint_{i}', f'link_{rng.integers(i)}', f'link_{i}', kind, inner))
    parts = links + joints
    return robot(*(parts[i] for i in rng.permutation(len(parts))))
