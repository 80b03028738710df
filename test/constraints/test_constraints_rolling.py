# SPDX-License-Identifier: Apache-2.0
"""Wheel rows against the velocity of the material point on the ground, and their forces."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.calculus import along, derivative, relative
from support.constraint_cases import CASES, Case, rows_at, wheeled
from support.machines import DRIVE, X, Y, Z, at, differential_drive, inertia, revolute, turned

import kane_dynamics as kd
from kane_dynamics.exceptions import ConstraintError, InvalidInputError, NameNotFoundError

DIFFERENCES = 1e-11  # first derivatives of order 8, see support.calculus
UP = np.array([0.0, 0.0, 1.0])
# joint, radius, centre and, where the joint has none, axis
CIRCLES = {
    'caster_wheel': ('wheel', 0.08, (0, 0, 0)),
    'floating_wheel': ('wheel', 0.12, (0, 0, 0)),
    'eccentric_wheel': ('wheel', 0.12, (0.05, 0.03, -0.02)),
    'leaning_disc': ('spin', 0.26, (0, 0, 0)),
    'coin': ('base', 0.26, (0, 0, 0), (0.9, 0.2, -0.4)),
}


def contact(robot, q, joint, radius, centre=(0, 0, 0), axis=None):
    """Return the link, the lowest point of its rim in its axes, and track, left, up directions."""
    body = robot.bodies[robot.body_of_joint(joint)]
    pose = kd.forward_kinematics(robot, q).pose(body.name)
    R = pose.rotation_matrix()
    n = R @ np.array(body.joint.kind.axis if axis is None else axis / np.linalg.norm(axis))
    # the rim is c + r (u cos s + w sin s); its lowest point by angle, not by a formula for e
    u = np.cross(n, (0.3, 0.5, 0.8))
    u /= np.linalg.norm(u)
    w = np.cross(n, u)
    angle = np.arctan2(-w[2], -u[2])
    arm = radius * (u * np.cos(angle) + w * np.sin(angle))
    along_track = np.cross(n, UP) / np.linalg.norm(np.cross(n, UP))
    return body.name, centre + R.T @ arm, np.array([along_track, np.cross(UP, along_track), UP])


def material_velocity(robot, q, v, link, point):
    """Return the velocity in the world of a point that is fixed in a link."""
    path = along(robot, q, v)

    def position(s):
        pose = kd.forward_kinematics(robot, path(s)).pose(link)
        return pose.position() + pose.rotation_matrix() @ point

    return derivative(position)


@pytest.mark.claim(17)
@pytest.mark.parametrize('name', CIRCLES)
def test_rolling_rows_are_the_velocity_of_the_material_point(name):
    case = CASES[name]
    rows = rows_at(case)
    link, point, directions = contact(case.robot, case.q, *CIRCLES[name])
    velocity = material_velocity(case.robot, case.q, case.v, link, point)
    expected = directions @ velocity
    assert relative(rows.matrix @ case.v, expected[: len(rows.labels)]) < DIFFERENCES
    kinds = [label.split('/')[1] for label in rows.labels]
    assert kinds == ['longitudinal', 'lateral', 'vertical'][: len(kinds)]


@pytest.mark.claim(17)
@pytest.mark.parametrize('offset', [0.0, -0.37, 0.2])
def test_no_side_slip_is_the_lateral_velocity_of_the_axle(offset):
    robot = CASES['no_side_slip'].robot
    q, v = CASES['no_side_slip'].q, CASES['no_side_slip'].v
    case = Case(robot, kd.constraints.no_side_slip(robot, offset), q, v)
    velocity = material_velocity(robot, q, v, 'base', np.array([offset, 0, 0]))
    left = np.array([-np.sin(q[2]), np.cos(q[2]), 0.0])
    assert_allclose(rows_at(case).matrix @ v, [left @ velocity], rtol=0, atol=DIFFERENCES)
    expected = np.zeros(robot.nv)
    expected[:3] = (-np.sin(q[2]), np.cos(q[2]), offset)
    assert_allclose(rows_at(case).matrix, [expected], rtol=0, atol=1e-15)  # (64)


@pytest.mark.claim(17)
def test_differential_drive_rows_are_velocities_of_three_points():
    case = CASES['differential_drive']
    robot, q, v = case.robot, case.q, case.v
    expected = []
    velocity = material_velocity(robot, q, v, 'base', np.zeros(3))
    expected.append(np.array([-np.sin(q[2]), np.cos(q[2]), 0.0]) @ velocity)
    for joint in ('left', 'right'):
        link, point, directions = contact(robot, q, joint, DRIVE['r'])
        expected.append(directions[0] @ material_velocity(robot, q, v, link, point))
    assert relative(rows_at(case).matrix @ v, np.array(expected)) < DIFFERENCES


def test_axle_offset_is_read_from_the_wheels():
    drive = differential_drive()
    moved = [
        kd.Body(
            b.name,
            b.parent,
            b.joint,
            at(-0.15, 0, 0) * b.placement if b.parent else b.placement,
            b.inertia,
        )
        for b in drive.bodies
    ]
    robot = kd.Robot('moved', moved)
    drive_rows = kd.constraints.differential_drive(robot, 'left', 'right', 0.1)
    assert drive_rows.side_slip.axle_offset == pytest.approx(-0.15, abs=1e-15)


@pytest.mark.parametrize(('speed', 'turn'), [(0.7, 0.0), (0.0, 1.3), (-0.4, 0.8)])
def test_known_motions_of_a_differential_drive(speed, turn):
    # straight run, turn on the spot, both: wheel rates (v -+ L w)/r
    robot = differential_drive()
    yaw, n = 0.9, DRIVE
    rates = (speed - n['L'] * turn) / n['r'], (speed + n['L'] * turn) / n['r']
    v = np.array([speed * np.cos(yaw), speed * np.sin(yaw), turn, *rates])
    case = Case(
        robot,
        kd.constraints.differential_drive(robot, 'left', 'right', n['r']),
        np.array([0.3, -0.2, yaw, 0.4, 1.7]),
        v,
    )
    assert_allclose(rows_at(case).matrix @ v, 0.0, atol=1e-15)
    v[3] += 1.0  # spinning faster slips backward by r
    assert_allclose(rows_at(case).matrix @ v, (0.0, -n['r'], 0.0), atol=1e-15)


@pytest.mark.claim(38)
@pytest.mark.parametrize('name', CIRCLES)
def test_multipliers_are_the_contact_force(name):
    # without the constraint, that force at the contact gives the same motion
    case = CASES[name]
    robot, q, v = case.robot, case.q, case.v
    tau = np.random.default_rng(3).uniform(-2.0, 2.0, robot.nv)
    motion = kd.forward_dynamics(robot, q, v, tau, (case.constraint,))
    link, point, directions = contact(robot, q, *CIRCLES[name])
    R = kd.forward_kinematics(robot, q).pose(link).rotation_matrix()
    force = R.T @ (motion.multipliers @ directions[: len(motion.multipliers)])
    wrench = {link: np.r_[np.cross(point, force), force]}
    pushed = kd.forward_dynamics(robot, q, v, tau, external_wrenches=wrench)
    assert relative(pushed.acceleration, motion.acceleration) < 1e-10


def test_vertical_row_where_the_wheel_can_leave_the_ground():
    on_plane, flying = wheeled('planar'), wheeled('floating')
    assert len(kd.constraints.rolling_wheel(on_plane, 'wheel', 0.08).labels) == 2
    assert len(kd.constraints.rolling_wheel(flying, 'wheel', 0.08).labels) == 3


def test_weight_of_a_resting_disc_stands_on_the_vertical_row():
    case = CASES['leaning_disc']
    q = np.array([0.2, -0.3, 0.26, 0.7, 0.0, 1.1])  # upright
    motion = kd.forward_dynamics(case.robot, q, np.zeros(6), np.zeros(6), (case.constraint,))
    assert_allclose(motion.multipliers, (0.0, 0.0, 3.43 * 9.81), rtol=0, atol=1e-12)


def test_wheel_that_follows_another_joint():
    # a mimic wheel turns twice as fast as its master: twice the track speed
    robot = differential_drive()
    left, right = robot.bodies[1:]
    follower = kd.Body(
        'idler', 'base', revolute('idler', Y), left.placement, left.inertia, kd.Mimic('right', 2.0)
    )
    geared = kd.Robot('geared', [robot.bodies[0], left, right, follower])
    case = Case(
        geared, kd.constraints.rolling_wheel(geared, 'idler', 0.1), np.zeros(5), np.ones(5)
    )
    longitudinal = rows_at(case).matrix[0]
    assert_allclose(longitudinal, (1.0, 0.0, -DRIVE['L'], 0.0, -2.0 * 0.1), rtol=0, atol=1e-15)


def test_radius_comes_from_the_robot_where_it_knows_one():
    robot = differential_drive()
    wheels = {'left': kd.WheelShape(0.2), 'right': kd.WheelShape(0.3)}
    known = kd.Robot('known', robot.bodies, wheels=wheels)
    drive = kd.constraints.differential_drive(known, 'left', 'right')
    assert (drive.left.radius, drive.right.radius) == (0.2, 0.3)
    assert kd.constraints.rolling_wheel(known, 'left').radius == 0.2
    assert kd.constraints.rolling_wheel(known, 'left', 0.5).radius == 0.5


def test_errors():
    c, robot = kd.constraints, differential_drive(arm=True)
    flying = wheeled('floating')
    with pytest.raises(ConstraintError, match='planar base, this base is floating'):
        c.no_side_slip(flying)
    with pytest.raises(InvalidInputError, match='axle_offset .* finite'):
        c.no_side_slip(robot, np.inf)
    with pytest.raises(NameNotFoundError, match='left'):
        c.rolling_wheel(robot, 'hind', 0.1)
    for radius in (np.nan, np.inf):
        with pytest.raises(InvalidInputError, match='radius .* finite'):
            c.rolling_wheel(robot, 'left', radius)
    for radius in (None, 0.0, -0.1):
        with pytest.raises(ConstraintError, match='radius > 0 m'):
            c.rolling_wheel(robot, 'left', radius)
    with pytest.raises(ConstraintError, match='perpendicular to its plane'):
        c.rolling_wheel(robot, 'shoulder', 0.1)
    with pytest.raises(ConstraintError, match='must be revolute, free or spherical, is Planar'):
        c.rolling_wheel(robot, 'base', 0.1)
    with pytest.raises(ConstraintError, match='share an axle'):
        c.differential_drive(robot, 'left', 'elbow', 0.1)
    with pytest.raises(ConstraintError, match="two wheels, got 'left' twice"):
        c.differential_drive(robot, 'left', 'left', 0.1)
    with pytest.raises(NameNotFoundError):
        c.differential_drive(robot, 'left', 'hind', 0.1)
    grounded = kd.Robot(
        'grounded',
        [kd.Body('wheel', '', revolute('w', X), turned(Z, 0.3), inertia(1, (0, 0, 0), (1, 1, 1)))],
    )
    with pytest.raises(ConstraintError, match='planar base, this base is fixed'):
        c.no_side_slip(grounded)
