# SPDX-License-Identifier: Apache-2.0
"""URDF texts of mobile bases with a lift, and the parameters of nodes that describe them."""

import yaml

CORNERS = {'fl': (0.3, 0.2), 'fr': (0.3, -0.2), 'rl': (-0.3, 0.2), 'rr': (-0.3, -0.2)}
RADIUS = 0.1


def _link(name, mass=1.0, shape=''):
    body = f'<inertial><mass value="{mass}"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" '
    return f'<link name="{name}">{body}ixz="0" iyz="0"/></inertial>{shape}</link>'


def _joint(name, parent, child, xyz, axis, kind='continuous', yaw=0.0):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz[0]} {xyz[1]} {xyz[2]}" rpy="0 0 {yaw}"/><axis xyz="{axis}"/>'
        '<limit lower="0" upper="1" effort="100" velocity="5"/></joint>'
    )


def _wheel(name, place, yaw=0.0, steered=False, trail=0.0):
    across = 'rpy="1.5707963267948966 0 0"'
    shape = f'<collision><origin {across}/><geometry><cylinder radius="{RADIUS}" length="0.04"/>'
    text = _link(f'{name}_rim', shape=f'{shape}</geometry></collision>')
    where = (*place, RADIUS)
    if not steered:
        return text + _joint(f'{name}_wheel', 'base_link', f'{name}_rim', where, '0 1 0', yaw=yaw)
    text += _link(f'{name}_fork') + _joint(
        f'{name}_steer', 'base_link', f'{name}_fork', where, '0 0 1'
    )
    return text + _joint(f'{name}_wheel', f'{name}_fork', f'{name}_rim', (-trail, 0, 0), '0 1 0')


def urdf(wheels):
    """Return a base on wheels, name -> arguments of a wheel, with a lift that slides upwards."""
    parts = [_link('base_link', 20.0), _link('lift', 2.0)]
    parts.append(_joint('lift_joint', 'base_link', 'lift', (0, 0, 0.3), '0 0 1', 'prismatic'))
    parts += [_wheel(name, *spec) for name, spec in wheels.items()]
    return f'<robot name="base">{"".join(parts)}</robot>'


def _plain(steered=()):
    return {name: (xy, 0.0, name in steered) for name, xy in CORNERS.items()}


def _names(*wheels):
    return [f'{name}_wheel' for name in wheels]


def _steers(*wheels):
    return [f'{name}_steer' for name in wheels]


_SIDES = {
    'base.left_wheel_names': _names('fl', 'rl'),
    'base.right_wheel_names': _names('fr', 'rr'),
}
_STEERED = {
    'base.steering_names': _steers('fl', 'fr'),
    'base.steered_wheel_names': _names('fl', 'fr'),
}
# base_type: URDF, parameters, motors of the base, its kind, mobility and steerability
BASES = {
    'diff_drive': (
        urdf({'l': ((0, 0.2),), 'r': ((0, -0.2),), 'c': ((0.3, 0), 0.0, True, 0.05)}),
        {
            'base.left_wheel_names': ['l_wheel'],
            'base.right_wheel_names': ['r_wheel'],
            'base.caster_swivel_names': ['c_steer'],
            'base.caster_wheel_names': ['c_wheel'],
        },
        ('l_wheel', 'r_wheel'),
        ('differential', 2, 0),
    ),
    'skid_steer': (
        urdf(_plain()),
        {**_SIDES, 'base.wheel_separation_multiplier': 1.5},
        (*_names('fl', 'fr', 'rl', 'rr'),),
        ('skid_steer', 2, 0),
    ),
    'mecanum': (
        urdf(_plain()),
        {
            'base.wheel_names': _names(*CORNERS),
            'base.roller_angles': [-0.7853981633974483, 0.7853981633974483]
            + [0.7853981633974483, -0.7853981633974483],
        },
        (*_names(*CORNERS),),
        ('mecanum', 3, 0),
    ),
    'omni': (
        urdf(
            {
                'a': ((0.3, 0.0), 1.5707963267948966),
                'b': ((-0.15, 0.26), 3.665191429188092),
                'c': ((-0.15, -0.26), 5.759586531581287),
            }
        ),
        {'base.wheel_names': _names('a', 'b', 'c')},
        (*_names('a', 'b', 'c'),),
        ('omni', 3, 0),
    ),
    'ackermann': (
        urdf(_plain(('fl', 'fr'))),
        {'base.wheel_names': _names('rl', 'rr'), **_STEERED},
        (*_names('rl', 'rr'), *_steers('fl', 'fr')),
        ('ackermann', 1, 1),
    ),
    'swerve': (
        urdf(_plain(tuple(CORNERS))),
        {
            'base.steering_names': _steers(*CORNERS),
            'base.steered_wheel_names': _names(*CORNERS),
        },
        (*_names(*CORNERS), *_steers(*CORNERS)),
        ('swerve', 1, 2),
    ),
}


def write_preset(kind, folder, **more):
    """Write the URDF of a base and its parameters into a folder; return the file of parameters."""
    text, settings, *_ = BASES[kind]
    urdf, file = folder / f'{kind}.urdf', folder / f'{kind}.yaml'
    urdf.write_text(text, encoding='utf-8')
    given = {'urdf_file': str(urdf), 'base_type': kind, **settings, **more}
    file.write_text(yaml.safe_dump({'/**': {'ros__parameters': given}}), encoding='utf-8')
    return file
