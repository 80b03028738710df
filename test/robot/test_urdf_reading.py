# SPDX-License-Identifier: Apache-2.0
"""What a URDF says arrives in the robot: names, order, axes, bounds, frames, wheels."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from urdf_text import BALL, LIMIT, arm, joint, link, origin, robot

from kane_dynamics.algorithms.kinematics import body_poses
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.body import WheelShape
from kane_dynamics.robot.joint_kinds import Free, Planar, Prismatic, Revolute
from kane_dynamics.robot.urdf import load_urdf

GRIPPER_ARM = Path(__file__).resolve().parents[1] / 'data' / 'gripper_arm.urdf'


@pytest.fixture(scope='module')
def gripper_arm():
    with pytest.warns(match="joint 'wrist': effort limit 0"):
        return load_urdf(GRIPPER_ARM)


def axis(*xyz):
    return f'<axis xyz="{" ".join(map(str, xyz))}"/>'


def link_poses(loaded, q=None):
    q = loaded.neutral() if q is None else np.asarray(q, dtype=float)
    poses = body_poses(loaded, q.tolist())
    return {
        name: frame.pose if frame.body < 0 else poses[frame.body] * frame.pose
        for name, frame in loaded.frames.items()
    }


# --- sources


@pytest.mark.filterwarnings('ignore::kane_dynamics.exceptions.ModelWarning')
def test_path_str_and_text_are_the_same(gripper_arm):
    text = GRIPPER_ARM.read_text()
    for source in (GRIPPER_ARM, str(GRIPPER_ARM), text, '\n\ufeff ' + text, '\ufeff' + text):
        loaded = load_urdf(source)
        assert loaded.velocity_names == gripper_arm.velocity_names
        assert loaded.name == 'gripper_arm'
        masses = [(body.inertia.mass, *body.inertia.com) for body in loaded.bodies]
        assert masses == [(body.inertia.mass, *body.inertia.com) for body in gripper_arm.bodies]


def test_encodings_and_blank_lines_in_files(tmp_path):
    text = arm(LIMIT).replace('"ab"', '"ellbögen"')
    for encoding in ('utf-8', 'utf-16', 'latin-1'):
        head = f'<?xml version="1.0" encoding="{encoding}"?>'
        path = tmp_path / f'{encoding}.urdf'
        path.write_bytes((head + text).encode(encoding))
        assert load_urdf(path).joint_names == ('ellbögen',)
    path.write_bytes(b'\n <?xml version="1.0"?>' + text.encode())
    assert load_urdf(path).joint_names == ('ellbögen',)


def test_robot_without_a_name():
    assert load_urdf('<robot><link name="a"/></robot>').name == 'robot'


def test_what_does_not_concern_us_is_ignored():
    extra = (
        '<gazebo reference="b"><link name="b"/></gazebo><material name="m"/>'
        '<transmission name="t"><joint name="ab"/></transmission>'
        '<ros2_control name="x"><joint name="ab"/></ros2_control>'
    )
    inner = LIMIT + '<safety_controller k_velocity="$(arg k)"/><calibration rising="0"/>'
    text = arm(inner).replace('</robot>', extra + '</robot>')
    mesh = '<collision><geometry><mesh filename="$(find p)/x.stl"/></geometry></collision>'
    assert load_urdf(text.replace('</link>', mesh + '</link>', 1)).nv == 1


# --- order and names


def test_depth_first_with_siblings_in_file_order():
    links = [link(name) for name in 'gfedcba']
    joints = [
        joint('cf', 'c', 'f'), joint('ad', 'a', 'd'), joint('ab', 'a', 'b'),
        joint('de', 'd', 'e'), joint('bg', 'b', 'g'), joint('bc', 'b', 'c'),
    ]  # fmt: skip
    expected = ('ad', 'de', 'ab', 'bg', 'bc', 'cf')
    for text in (robot(*links, *joints), robot(*joints, *links[::-1])):
        loaded = load_urdf(text)
        assert loaded.velocity_names == loaded.joint_names == expected
        assert [body.name for body in loaded.bodies] == ['d', 'e', 'b', 'g', 'c', 'f']
        assert loaded.parents == (-1, 0, -1, 2, 2, 4)


def test_a_long_chain_needs_no_recursion():
    n = 1999
    links = [link(f'l{i}', None) for i in range(n + 1)]
    joints = [joint(f'j{i}', f'l{i}', f'l{i + 1}', 'fixed', '') for i in range(n)]
    assert len(load_urdf(robot(*links, *joints)).frames) == n + 1


@pytest.mark.parametrize(
    ('base', 'names', 'coordinates'),
    [
        ('fixed', (), ()),
        ('planar', ('base_x', 'base_y', 'base_yaw'), ('base_x', 'base_y', 'base_yaw')),
        (
            'floating',
            ('base_wx', 'base_wy', 'base_wz', 'base_vx', 'base_vy', 'base_vz'),
            ('base_x', 'base_y', 'base_z', 'base_qw', 'base_qx', 'base_qy', 'base_qz'),
        ),
    ],
)
def test_bases(base, names, coordinates):
    loaded = load_urdf(arm(LIMIT), base=base)
    assert loaded.base == base
    assert loaded.velocity_names == (*names, 'ab')
    assert loaded.coordinate_names == (*coordinates, 'ab')
    assert loaded.joint_names == ('ab',) if base == 'fixed' else ('base', 'ab')
    assert [body.name for body in loaded.bodies] == (['b'] if base == 'fixed' else ['a', 'b'])
    assert loaded.frames['a'].body == (-1 if base == 'fixed' else 0)


def test_root_without_joints():
    for base, nv in (('fixed', 0), ('planar', 3), ('floating', 6)):
        assert load_urdf(robot(link('a')), base=base).nv == nv


@pytest.mark.parametrize(
    ('kind', 'expected'),
    [
        ('revolute', Revolute((1, 0, 0))),
        ('continuous', Revolute((1, 0, 0))),
        ('prismatic', Prismatic((1, 0, 0))),
        ('planar', Planar()),
        ('floating', Free()),
    ],
)
def test_joint_types_and_the_default_axis(kind, expected):
    assert load_urdf(arm(LIMIT, kind=kind)).bodies[0].joint.kind == expected


def test_axis_is_normalised():
    loaded = load_urdf(arm(axis(0, -3, 4), LIMIT))
    assert_allclose(loaded.bodies[0].joint.kind.axis, (0, -0.6, 0.8), rtol=1e-16)


def test_zero_axis_of_joints_that_have_none():
    for kind in ('fixed', 'floating'):
        load_urdf(arm(axis(0, 0, 0), kind=kind))


def test_friction_and_bounds(gripper_arm):
    expected = {
        'lower': [-1.5, -np.inf, 0.0],
        'upper': [2.5, np.inf, 0.04],
        'velocity_limit': [1.5, 2.0, 0.2],
        'effort_limit': [40.0, np.inf, 20.0],
        'damping': [0.0, 0.25, 0.0],
        'friction': [0.0, 0.125, 0.0],
        'armature': [0.0, 0.0, 0.0],
    }
    assert gripper_arm.velocity_names == ('elbow', 'wrist', 'left_finger_joint')
    assert {name: getattr(gripper_arm, name).tolist() for name in expected} == expected


def test_gravity():
    assert_array_equal(load_urdf(arm(LIMIT)).gravity, (0, 0, -9.81))
    assert_array_equal(load_urdf(arm(LIMIT), gravity=[1, 2, 3]).gravity, (1, 2, 3))


# --- frames


def test_rpy_is_roll_then_pitch_then_yaw_about_fixed_axes():
    roll, pitch, yaw = 0.3, -0.5, 1.1
    (cr, cp, cy), (sr, sp, sy) = np.cos([roll, pitch, yaw]), np.sin([roll, pitch, yaw])
    expected = (
        np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
        @ np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
        @ np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    )
    text = arm(origin((1, 2, 3), (roll, pitch, yaw)), kind='fixed')
    x = link_poses(load_urdf(text))['b']
    assert_allclose(x.rotation_matrix(), expected, rtol=0, atol=1e-15)
    assert_array_equal(x.position(), (1, 2, 3))


def test_every_link_has_a_frame(gripper_arm):
    poses = link_poses(gripper_arm, [0.0, np.pi / 2, 0.01])
    assert set(poses) == {
        'base_link', 'forearm', 'hand', 'sensor', 'left_finger', 'right_finger',
    }  # fmt: skip
    # hand: 0.8 m up, pitched by 90 degrees, then turned by 90 degrees about its z (world x)
    assert_allclose(poses['hand'].position(), (0, 0, 0.8), atol=1e-15)
    # fingers: 0.1 m ahead, 0.03 m to either side
    assert_allclose(poses['left_finger'].position(), (0.1, 0, 0.83), atol=1e-15)
    assert_allclose(poses['right_finger'].position(), (0.1, 0, 0.77), atol=1e-15)
    # sensor: (0.01, 0.02, 0.03) of the hand
    assert_allclose(poses['sensor'].position(), (0.03, 0.01, 0.82), atol=1e-15)


def test_the_body_frame_is_the_link_frame(gripper_arm):
    for body in gripper_arm.bodies:
        x = gripper_arm.frames[body.name].pose
        assert_array_equal(x.rotation_matrix(), np.eye(3))
        assert_array_equal(x.position(), 0.0)


@pytest.mark.parametrize('normal', [(0, 0, 1), (0, 0, -2), (1, 0, 0), (-1, 2, -3), (1e-9, 0, -1)])
def test_planar_joint_moves_across_its_axis(normal, rng):
    place = origin((0.1, 0.2, 0.3), (0.4, 0.5, 0.6))
    text = arm(place, axis(*normal), kind='planar')
    loaded = load_urdf(text)
    at_rest = link_poses(load_urdf(arm(place, kind='fixed')))['b']
    neutral = link_poses(loaded)['b']
    assert_allclose(neutral.rotation_matrix(), at_rest.rotation_matrix(), atol=1e-15)
    assert_allclose(neutral.position(), at_rest.position(), atol=1e-15)
    x, y, yaw = q = rng.uniform(-1.0, 1.0, 3)
    moved = at_rest.conjugate() * link_poses(loaded, q)['b']  # from the joint frame
    n = np.array(normal) / np.linalg.norm(normal)
    assert moved.position() @ n == pytest.approx(0.0, abs=1e-15)
    assert np.linalg.norm(moved.position()) == pytest.approx(np.hypot(x, y))
    cross = np.cross(n, np.eye(3)).T
    expected = np.eye(3) + np.sin(yaw) * cross + (1.0 - np.cos(yaw)) * cross @ cross
    assert_allclose(moved.rotation_matrix(), expected, rtol=0, atol=1e-15)


# --- wheels


def wheel(shape, place='', wheel_axis=(0, 0, 1), kind='continuous'):
    """Return the wheel known for the joint 'ab' with one collision shape on link b."""
    extra = f'<collision>{place}<geometry>{shape}</geometry></collision>'
    drive = joint('ab', 'a', 'b', kind, axis(*wheel_axis) + LIMIT)
    return load_urdf(robot(link('a'), link('b', BALL, extra), drive)).wheels.get('ab')


CYLINDER = '<cylinder radius="0.3" length="0.1"/>'
SPHERE = '<sphere radius="0.2"/>'
ON_X = '<origin rpy="0 1.5707963 0"/>'


def test_wheel_of_a_cylinder_around_the_axis():
    for found in (wheel(CYLINDER), wheel(CYLINDER, kind='revolute')):
        assert (found.radius, found.centre, found.axis) == (0.3, (0, 0, 0), (0, 0, 1))
    assert wheel(CYLINDER, wheel_axis=(0, 0, -1)).radius == 0.3
    found = wheel(CYLINDER, ON_X, wheel_axis=(1, 0, 0))
    assert found.radius == 0.3
    assert_allclose(found.axis, (1, 0, 0), rtol=0, atol=1e-7)


def test_centre_of_a_wheel_is_that_of_its_shape():
    """Regression: the contact was left at the joint."""
    assert wheel(CYLINDER, '<origin xyz="0 0 0.05"/>').centre == (0, 0, 0.05)
    assert wheel(SPHERE, '<origin xyz="0 0 -0.08"/>').centre == (0, 0, -0.08)
    found = wheel(CYLINDER, '<origin xyz="0.05 0 0" rpy="0 1.5707963 0"/>', wheel_axis=(-1, 0, 0))
    assert found.centre == (0.05, 0, 0)


def test_off_the_axis_by_printed_digits_or_eccentric():
    # on the axis up to 1e-4 radii; then the wheel turns about a point beside its centre
    assert wheel(CYLINDER, '<origin xyz="0.00002 0 0.05"/>').centre == (0, 0, 0.05)
    assert wheel(CYLINDER, '<origin xyz="0.00004 0 0.05"/>').centre == (0.00004, 0, 0.05)
    assert wheel(CYLINDER, '<origin xyz="0.1 0 0"/>').centre == (0.1, 0, 0)
    assert wheel(SPHERE, '<origin xyz="0.1 0 0"/>').centre == (0.1, 0, 0)


def test_no_wheel_of_a_shape_that_is_not_around_the_axis():
    assert wheel(CYLINDER, ON_X) is None
    assert wheel(CYLINDER, wheel_axis=(0, 0.002, 1)) is None
    assert wheel(CYLINDER, '<origin xyz="0.31 0 0"/>') is None
    assert wheel(SPHERE, '<origin xyz="0 0.21 0"/>') is None
    assert wheel('<box size="1 1 1"/>') is None
    assert wheel('<mesh filename="package://wheel.stl"/>') is None
    assert wheel(CYLINDER.replace('0.3', '0')) is None
    assert wheel(CYLINDER, kind='prismatic') is None


def test_slightly_tilted_cylinder_and_sphere_count():
    assert wheel(CYLINDER, wheel_axis=(0, 0.0009, 1)).radius == 0.3
    assert wheel(SPHERE, ON_X).radius == 0.2


def test_first_shape_of_all_links_that_turn_with_the_wheel():
    shape = '<collision>{}<geometry>{}</geometry></collision>'
    hub = link('hub', BALL, shape.format(ON_X, CYLINDER) + shape.format('', SPHERE))
    tyre = link('tyre', BALL, shape.format('', CYLINDER))
    parts = [
        link('a'), joint('drive', 'a', 'hub', 'continuous', axis(0, 0, 1)), tyre,
        joint('rim', 'hub', 'tyre', 'fixed', '<origin rpy="0 0 1"/>'),
    ]  # fmt: skip

    def wheels(text):
        return {name: shape.radius for name, shape in load_urdf(text).wheels.items()}

    assert wheels(robot(*parts, hub)) == {'drive': 0.2}
    assert wheels(robot(*parts, link('hub'))) == {'drive': 0.3}
    far = '<origin xyz="0.4 0 0"/>'
    assert wheels(robot(*parts, link('hub')).replace('<origin rpy="0 0 1"/>', far)) == {}
    # one that is centred goes before an eccentric one
    beside = shape.format('<origin xyz="0.1 0 0"/>', CYLINDER)
    both = link('hub', BALL, beside + shape.format('', SPHERE))
    assert wheels(robot(*parts[:2], both)) == {'drive': 0.2}


def test_single_shape_of_a_body_that_moves_freely():
    shape = '<collision><origin xyz="0.1 0.2 0.3" rpy="1.5707963 0 0"/><geometry>{}</geometry>'
    coin, ball = (
        load_urdf(robot(link('a', BALL, shape.format(s) + '</collision>')), 'floating')
        for s in (CYLINDER, SPHERE)
    )
    assert coin.wheels['base'].centre == ball.wheels['base'].centre == (0.1, 0.2, 0.3)
    assert_allclose(coin.wheels['base'].axis, (0, -1, 0), rtol=0, atol=1e-7)
    assert (ball.wheels['base'].axis, ball.wheels['base'].radius) == (None, 0.2)
    two = link('a', BALL, 2 * (shape.format(CYLINDER) + '</collision>'))
    assert dict(load_urdf(robot(two), 'floating').wheels) == {}
    assert dict(load_urdf(robot(two), 'planar').wheels) == {}


@pytest.mark.parametrize(
    ('numbers', 'message'),
    [
        ((0.0,), 'radius of a wheel'),
        ((-1.0,), 'radius of a wheel'),
        ((np.nan,), 'radius of a wheel'),
        ((None,), 'radius of a wheel'),
        ((1.0, (0.0, np.inf, 0.0)), 'centre of a wheel'),
        ((1.0, (0.0, 0.0)), 'centre of a wheel'),
        ((1.0, None), 'centre of a wheel'),
        ((1.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)), 'axis'),
        ((1.0, (0.0, 0.0, 0.0), 'y'), 'axis'),
    ],
)
def test_wheels_are_checked(numbers, message):
    """Regression: a centre of two numbers was taken, other mistakes were errors of NumPy."""
    with pytest.raises(InvalidInputError, match=message):
        WheelShape(*numbers)


def test_a_wheel_takes_arrays_and_keeps_what_nobody_changes():
    """Regression: an axis of NumPy was a ValueError, a centre stayed the caller's array."""
    centre = np.array([0.1, 0.0, 0.2])
    shape = WheelShape(1, centre, np.array([0.0, 2.0, 0.0]))
    centre[:] = 7.0
    assert shape == WheelShape(1.0, (0.1, 0.0, 0.2), (0.0, 1.0, 0.0))
    assert hash(shape) == hash(dataclasses.replace(shape))


def test_robot_is_read_only(gripper_arm):
    with pytest.raises(dataclasses.FrozenInstanceError):
        gripper_arm.name = 'x'
    for mapping in (gripper_arm.frames, gripper_arm.wheels):
        with pytest.raises(TypeError):
            mapping['x'] = 1.0
    with pytest.raises(ValueError, match='read-only'):
        gripper_arm.damping[0] = 1.0
