# SPDX-License-Identifier: Apache-2.0
"""Presets of config/robots: sheets, and URDF texts that stand in for those of the robots."""

import itertools
import re
import runpy

from ros_models import ROOT, preset

FILES = {path.stem: path for path in sorted((ROOT / 'config' / 'robots').glob('*.yaml'))}
PAGE = runpy.run_path(str(ROOT / 'doc' / 'update_robots.py'))
ARM = 0.1, 0.0, 0.3  # [m]: where the arm stands on the base
LENGTH = 0.2  # [m] of each link of the arm


def facts_of(robot):
    """Return the facts of a sheet."""
    return PAGE['sheet'](FILES[robot].read_text())[1]


def values_of(robot):
    """Return the parameters of a preset by full name."""
    return preset(f'robots/{robot}')


def geometry(robot):
    """Return radius, track and wheelbase [m] of a sheet; the last is 0 on one axle."""
    found = [
        re.search(rf'{name} ([\d.]+) m', facts_of(robot)['Wheels'])
        for name in ('radius', 'track', 'wheelbase')
    ]
    return tuple(float(match[1]) if match else 0.0 for match in found)


def places(robot):
    """Return wheel joint -> (x, y) [m] in the base, or {} where the preset names no wheels."""
    values, (_, track, wheelbase) = values_of(robot), geometry(robot)
    x, y = wheelbase / 2, track / 2
    corners = ((x, y), (x, -y), (-x, y), (-x, -y))
    kind = values['base_type']
    if kind == 'mecanum':
        return dict(zip(values['base.wheel_names'], corners, strict=True))
    if kind == 'swerve':
        return dict(zip(values['base.steered_wheel_names'], corners[1:3], strict=True))
    sides = values.get('base.left_wheel_names', []), values.get('base.right_wheel_names', [])
    found = {}
    for side, names in zip((y, -y), sides, strict=True):
        ends = ((), (0.0,), (x, -x))[len(names)]
        found |= {name: (end, side) for name, end in zip(names, ends, strict=True)}
    return found


def _link(name, mass, offset=0.0, shape=''):
    return (
        f'<link name="{name}"><inertial><origin xyz="{offset} 0 {offset}"/><mass value="{mass}"/>'
        '<inertia ixx="0.05" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial>'
        f'{shape}</link>'
    )


def _joint(name, parent, place, axis, kind='revolute'):
    x, y, z = place
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{name}_link"/>'
        f'<origin xyz="{x} {y} {z}"/><axis xyz="{axis}"/>'
        '<limit lower="-3" upper="3" effort="1000" velocity="5"/></joint>'
    )


def _wheels(robot, root):
    """Return the wheels of the base, steered where the preset steers them."""
    values, (radius, _, _) = values_of(robot), geometry(robot)
    shape = (
        '<collision><origin rpy="1.5707963267948966 0 0"/><geometry>'
        f'<cylinder radius="{radius}" length="0.04"/></geometry></collision>'
    )
    steering = dict(
        zip(
            values.get('base.steered_wheel_names', []),
            values.get('base.steering_names', []),
            strict=True,
        )
    )
    parts = []
    for wheel, (x, y) in places(robot).items():
        parent, place = root, (x, y, radius)
        if wheel in steering:
            steer = steering[wheel]
            parts += [_joint(steer, root, place, '0 0 1', 'continuous')]
            parts += [_link(f'{steer}_link', 0.5)]
            parent, place = f'{steer}_link', (0, 0, 0)
        parts += [_joint(wheel, parent, place, '0 1 0', 'continuous')]
        parts += [_link(f'{wheel}_link', 1.0, shape=shape)]
    return parts


def stand_in(robot, axes=('0 1 0',)):
    """
    Return the URDF of a robot with the joints that a preset names.

    The joints with a motor are one chain, about these axes in turn; locked ones hang on the base.
    """
    values = values_of(robot)
    root = values['base_frame_id']
    parts = [_link(root, 60.0), *_wheels(robot, root)]
    for name in values.get('locked_joints', []):
        parts += [_joint(name, root, (-0.1, 0, 0.1), '0 0 1'), _link(f'{name}_link', 0.2)]
    parent, place = root, ARM
    for name, axis in zip(values['joints'], itertools.cycle(axes), strict=False):
        parts += [_joint(name, parent, place, axis), _link(f'{name}_link', 1.0, LENGTH / 2)]
        parent, place = f'{name}_link', (LENGTH, 0, 0)
    return f'<robot name="stand_in">{"".join(parts)}</robot>'
