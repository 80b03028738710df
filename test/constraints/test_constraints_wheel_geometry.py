# SPDX-License-Identifier: Apache-2.0
"""Where wheels touch the ground: shapes beside their joints, eccentric wheels, wrong axles."""

import dataclasses
import importlib.util
import warnings
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.calculus import derivative
from support.constraint_cases import Case, free_body, rows_at
from support.machines import X, Y, Z, at, inertia, prismatic, revolute, turned

import kane_dynamics as kd
from kane_dynamics.exceptions import ConstraintError, InvalidInputError, ModelWarning

HALF_TRACK, RADIUS = 0.2, 0.1
WHEEL = """
  <link name="{side}"><inertial><mass value="0.5"/>
    <inertia ixx="1e-3" ixy="0" ixz="0" iyy="2e-3" iyz="0" izz="1e-3"/></inertial>
    <collision><origin xyz="{across} {along} 0" rpy="1.5707963267948966 0 0"/>
      <geometry><cylinder radius="0.1" length="0.04"/></geometry></collision></link>
  <joint name="{side}_joint" type="continuous"><parent link="trunk"/><child link="{side}"/>
    <origin xyz="0.15 {place} 0.1"/><axis xyz="{axis}"/>
    <limit effort="1" velocity="9"/></joint>"""


def cart(along=0.0, across=0.0, axes=('0 1 0', '0 1 0')):
    """Return a two-wheeled cart; its collision cylinders stand `along` further out."""
    text = """<robot name="cart"><link name="trunk"><inertial><mass value="9"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.2"/></inertial></link>"""
    for side, sign, axis in (('left', 1, axes[0]), ('right', -1, axes[1])):
        text += WHEEL.format(
            side=side, along=sign * along, across=across, place=sign * HALF_TRACK, axis=axis
        )
    return kd.load_urdf(text + '</robot>', 'planar')


def yaw_rate(robot, rows, left, right):
    """Return the yaw rate of the cart when its wheels turn at these rates [rad/s]."""
    known = kd.constraints.holonomic(
        robot, lambda q, t: [q[3] - left * t, q[4] - right * t], 'motors'
    )
    _, v = kd.simulation.project(robot, (*rows, known), robot.neutral(), np.zeros(5), 0.0)
    return v[2]


@pytest.mark.parametrize('constraint', ['differential_drive', 'rolling_wheel'])
@pytest.mark.parametrize('radius', [None, RADIUS])
def test_contact_is_under_the_collision_cylinder(constraint, radius):
    """Regression: 8 cm outboard the yaw rate was that of the joints' track, 0.500 instead of
    0.357."""
    robot, c = cart(along=0.08), kd.constraints
    with pytest.warns(ModelWarning, match='0.08 m along the axis from its joint') as caught:
        if constraint == 'differential_drive':
            rows = (c.differential_drive(robot, 'left_joint', 'right_joint', radius),)
        else:
            rows = tuple(c.rolling_wheel(robot, f'{s}_joint', radius) for s in ('left', 'right'))
    assert len(caught) == 2
    assert all(entry.filename == __file__ for entry in caught)
    turn = RADIUS * 2.0 / (2 * (HALF_TRACK + 0.08))
    assert turn == pytest.approx(0.357, abs=2e-4)
    assert yaw_rate(robot, rows, -1.0, 1.0) == pytest.approx(turn, abs=1e-14)


def test_centred_wheels_are_no_news():
    robot = cart()
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        drive = kd.constraints.differential_drive(robot, 'left_joint', 'right_joint')
    assert drive.side_slip.axle_offset == 0.15
    assert yaw_rate(robot, (drive,), -1.0, 1.0) == pytest.approx(0.5, abs=1e-14)


def test_an_axle_is_where_it_is_on_the_base_wherever_that_is_placed():
    robot = cart()
    trunk = dataclasses.replace(robot.bodies[0], placement=turned(Z, 0.7, (2.0, -1.0, 0.0)))
    placed = dataclasses.replace(robot, bodies=(trunk, *robot.bodies[1:]))
    drive = kd.constraints.differential_drive(placed, 'left_joint', 'right_joint')
    assert drive.side_slip.axle_offset == pytest.approx(0.15, abs=1e-14)


def test_centre_of_ones_own():
    robot = cart(along=0.08)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        rows = tuple(
            kd.constraints.rolling_wheel(robot, f'{side}_joint', centre=(0, sign * 0.3, 0))
            for side, sign in (('left', 1), ('right', -1))
        )
    assert yaw_rate(robot, rows, -1.0, 1.0) == pytest.approx(RADIUS / 0.5, abs=1e-14)


def test_racecar():
    # its collision cylinders stand 22.5 mm inside their joints, which carry rpy="1.5708 0 0"
    found = importlib.util.find_spec('pybullet_data')
    if found is None or found.origin is None:
        pytest.skip('pybullet_data is not installed')
    path = Path(found.origin).parent / 'racecar' / 'racecar.urdf'
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)
        robot = kd.load_urdf(path, 'planar')
    with pytest.warns(ModelWarning, match='0.0225 m along the axis'):
        drive = kd.constraints.differential_drive(
            robot, 'left_rear_wheel_joint', 'right_rear_wheel_joint'
        )
    kin = kd.forward_kinematics(robot, robot.neutral())
    for wheel, side in ((drive.left, 1.0), (drive.right, -1.0)):
        body = robot.bodies[wheel.wheel.body].name
        y = (kin.pose(body) * wheel.wheel.pose).position()[1]
        joint = kin.pose(body).position()[1]
        assert y - joint == pytest.approx(side * 0.0225, abs=1e-6)


def test_eccentric_wheels_on_a_planar_base_are_refused():
    robot = cart(across=0.002)
    for build in (
        lambda: kd.constraints.rolling_wheel(robot, 'left_joint'),
        lambda: kd.constraints.differential_drive(robot, 'left_joint', 'right_joint'),
    ):
        with (
            pytest.warns(ModelWarning, match='0.002 m off the axis of its joint: an eccentric'),
            pytest.raises(ConstraintError, match='eccentric: its centre is 0.002 m off the axis'),
        ):
            build()
    # with a radius it is a circle about the axis
    drive = kd.constraints.differential_drive(robot, 'left_joint', 'right_joint', RADIUS)
    assert yaw_rate(robot, (drive,), -1.0, 1.0) == pytest.approx(0.5, abs=1e-14)


ECCENTRICITY = np.array([0.03, 0.0, -0.02])


def eccentric_roller():
    """Return a wheel on slides x and z whose circle has its centre beside the hub."""
    load = inertia(2.0, (0.01, 0, 0.015), (0.01, 0.02, 0.01))
    bodies = [
        kd.Body('x', '', prismatic('x', X)),
        kd.Body('z', 'x', prismatic('z', Z), inertia=inertia(0.7)),
        kd.Body('wheel', 'z', revolute('spin', Y), inertia=load),
    ]
    shape = kd.WheelShape(RADIUS, tuple(ECCENTRICITY), Y)
    return kd.Robot('roller', bodies, wheels={'spin': shape})


def rolled(angle):
    """Return q of the eccentric wheel on the ground: its centre is r angle along, r up."""
    c, s = np.cos(angle), np.sin(angle)
    x, _, z = ECCENTRICITY
    centre = np.array([c * x + s * z, -s * x + c * z])
    return np.array([RADIUS * angle - centre[0], RADIUS - centre[1], angle])


def test_eccentric_wheel_against_its_closed_form():
    # one freedom: d/dt of T and V in its angle alone give the acceleration
    robot, angle, rate = eccentric_roller(), 0.8, 7.0
    with pytest.warns(ModelWarning, match='0.0360555 m off the axis'):
        roll = kd.constraints.rolling_wheel(robot, 'spin')
    assert [label.split('/')[1] for label in roll.labels] == [
        'longitudinal',
        'lateral',
        'vertical',
    ]
    q = rolled(angle)
    slope = derivative(lambda s: rolled(angle + s))
    curvature = derivative(lambda s: derivative(lambda r: rolled(angle + s + r)))
    v, convective = slope * rate, curvature * rate**2
    rows = rows_at(Case(robot, roll, q, v))
    assert_allclose(rows.matrix @ v, 0.0, atol=1e-11)
    assert rows.positions[2] == pytest.approx(0.0, abs=1e-15)
    tau = np.array([0.3, -0.2, 0.1])
    M, bias = kd.mass_matrix(robot, q), kd.bias_force(robot, q, v)
    spin = (slope @ (tau - bias - M @ convective)) / (slope @ M @ slope)
    motion = kd.forward_dynamics(robot, q, v, tau, (roll,))
    assert_allclose(motion.acceleration, slope * spin + convective, rtol=0, atol=1e-7)


@pytest.mark.parametrize(
    ('axes', 'message'),
    [
        (('1 0 0', '1 0 0'), 'do not lie along the axle, which is y of the base frame'),
        (('0 1 0', '1 0 0'), 'are not parallel to each other'),
        (('0.1 1 0', '-0.1 1 0'), 'are not parallel to each other'),
        (('0 1 0.1', '0 1 0.1'), "wheel 'left_joint' in the base frame is not horizontal"),
        (('0 -1 0', '0 1 -0.1'), "wheel 'right_joint' in the base frame is not horizontal"),
    ],
)
def test_wheels_that_make_no_differential_drive(axes, message):
    """Regression: wheels about x were taken, and the base could not move."""
    with pytest.raises(ConstraintError, match=message):
        kd.constraints.differential_drive(cart(axes=axes), 'left_joint', 'right_joint', RADIUS)


@pytest.mark.parametrize('axes', [('0 1 0', '0 -1 0'), ('0.0007 1 0', '0 1 0.0007')])
def test_wheels_may_turn_either_way_and_be_turned_by_printed_angles(axes):
    drive = kd.constraints.differential_drive(cart(axes=axes), 'left_joint', 'right_joint', 0.1)
    assert drive.side_slip.axle_offset == pytest.approx(0.15, abs=1e-15)


def test_the_axle_does_not_depend_on_where_the_base_is_placed():
    robot = cart()
    base, *others = robot.bodies
    moved = dataclasses.replace(base, placement=turned((0.0, 0.0, 1.0), 0.7) * at(0.4, -0.3, 0.1))
    placed = dataclasses.replace(robot, bodies=(moved, *others))
    drive = kd.constraints.differential_drive(placed, 'left_joint', 'right_joint', 0.1)
    assert drive.side_slip.axle_offset == pytest.approx(0.15, abs=1e-15)


def test_the_same_wheel_twice_is_said():
    with pytest.raises(ConstraintError, match="needs two wheels, got 'left_joint' twice"):
        kd.constraints.differential_drive(cart(), 'left_joint', 'left_joint')


def test_wheels_behind_each_other_share_no_axle():
    base, left, right = cart().bodies
    ahead = dataclasses.replace(right, placement=at(0.01, 0, 0) * right.placement)
    robot = kd.Robot('bicycle', (base, left, ahead))
    with pytest.raises(ConstraintError, match='do not share an axle: x = 0.15 m and 0.16 m'):
        kd.constraints.differential_drive(robot, 'left_joint', 'right_joint', RADIUS)


def test_free_bodies_need_an_axis_and_hinges_have_one():
    c, body = kd.constraints, free_body()
    with pytest.raises(ConstraintError, match='need an axis.*see rolling_ball'):
        c.rolling_wheel(body, 'base', 0.1)
    with pytest.raises(ConstraintError, match='turns about the axis of its revolute joint'):
        c.rolling_wheel(cart(), 'left_joint', 0.1, (0, 1, 0))
    with pytest.raises(ConstraintError, match='radius > 0 m'):
        c.rolling_wheel(body, 'base', axis=(0, 1, 0))
    with pytest.raises(ConstraintError, match='radius > 0 m'):
        c.rolling_ball(body, 'base')
    for axis in ((0, 0, 0), (1, 2), (0, np.inf, 1)):
        with pytest.raises(InvalidInputError, match='3 finite numbers'):
            c.rolling_wheel(body, 'base', 0.1, axis)
    with pytest.raises(InvalidInputError, match=r'centre \[m\]'):
        c.rolling_wheel(body, 'base', 0.1, (0, 1, 0), centre=(0, 1))
    with pytest.raises(InvalidInputError, match=r'centre \[m\]'):
        c.rolling_ball(body, 'base', 0.1, (np.nan, 0, 0))


def test_a_coin_that_lies_flat_has_no_lowest_point():
    body = free_body()
    coin = kd.constraints.rolling_wheel(body, 'base', 0.1, (0, 0, 1))
    with pytest.raises(ConstraintError, match='base/longitudinal.*lies flat'):
        kd.forward_dynamics(body, body.neutral(), np.zeros(6), np.zeros(6), (coin,))
    tilted = turned(X, 1e-3)
    r = tilted.rotation
    q = np.array([0, 0, 0.1, r.w, r.x, r.y, r.z])
    motion = kd.forward_dynamics(body, q, np.zeros(6), np.zeros(6), (coin,))
    assert np.isfinite(motion.acceleration).all()


def test_the_angle_of_a_round_wheel_plays_no_part():
    robot = cart()
    rows = kd.constraints.ConstraintSet(robot, [kd.constraints.rolling_wheel(robot, 'left_joint')])
    v, q = [0.3, -0.2, 0.7, 1.1, -0.4], [0.1, 0.2, 0.9, 0.0, 0.0]
    still, turned_by = rows.rows(q, v, 0.0), rows.rows([*q[:3], 2.3, -1.7], v, 0.0)
    assert (still.matrix == turned_by.matrix).all()
    assert (still.acceleration == turned_by.acceleration).all()


@pytest.mark.filterwarnings('ignore::kane_dynamics.exceptions.ModelWarning')
@pytest.mark.parametrize(('radius', 'same'), [(None, False), (RADIUS, True)])
def test_the_angle_of_an_eccentric_wheel_does(radius, same):
    robot = eccentric_roller()
    rows = kd.constraints.ConstraintSet(
        robot, [kd.constraints.rolling_wheel(robot, 'spin', radius)]
    )
    at = [rows.rows([0.1, 0.2, angle], [0.3, 0.1, 2.0], 0.0).matrix for angle in (0.0, 1.0)]
    assert (at[0] == at[1]).all() == same


def test_rows_of_a_differential_drive_take_few_operations():
    # [-s, c, x], [c, s, -+d, .., -r, ..] and their rates
    robot = cart()
    drive = kd.constraints.differential_drive(robot, 'left_joint', 'right_joint')
    q, v = ca.SX.sym('q', 5), ca.SX.sym('v', 5)
    rows = kd.constraints.ConstraintSet(robot, [drive]).rows(ca.vertsplit(q), ca.vertsplit(v), 0.0)
    whole = ca.vertcat(*[ca.SX(x) for x in (*rows.matrix.ravel(), *rows.acceleration)])
    assert not ca.depends_on(whole, q[3:])
    function = ca.Function('rows', [q, v], [ca.cse([whole])[0]])
    assert function.n_nodes() < 50
