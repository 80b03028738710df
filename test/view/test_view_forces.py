# SPDX-License-Identifier: Apache-2.0
"""Arrows are the forces that move the robot: Newton's and Euler's laws on their sum."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.machines import inertia

import kane_dynamics as kd
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.view.forces import Force, constraint_forces

C = kd.constraints
BODY = kd.Inertia(2.0, (0.05, 0.02, 0.1), np.diag([0.1, 0.2, 0.25]))


def momentum_rate(robot, q, v, a, h=1e-5):
    """Return d/dt of the momentum (about the origin of the world, linear) along a motion."""

    def momentum(t):
        place = kd.integrate(robot, q, v + 0.5 * t * a, t)
        h_com = kd.momentum(robot, place, v + t * a)
        arm = kd.center_of_mass(robot, place)
        return np.concatenate([h_com[:3] + np.cross(arm, h_com[3:]), h_com[3:]])

    return (momentum(h) - momentum(-h)) / (2.0 * h)


def total(forces):
    """Return the couple about the origin of the world and the force of all arrows."""
    couple, force = np.zeros(3), np.zeros(3)
    for one in forces:
        if one.unit == 'N m':
            couple += one.vector
        else:
            couple += np.cross(one.point, one.vector)
            force += one.vector
    return np.concatenate([couple, force])


def weight(robot, q):
    mass = sum(body.inertia.mass for body in robot.bodies)
    pull = mass * robot.gravity
    return np.concatenate([np.cross(kd.center_of_mass(robot, q), pull), pull])


def arrows_of(robot, rows, q, v, tau):
    motion = kd.forward_dynamics(robot, q, v, tau, rows)
    return motion.acceleration, constraint_forces(robot, rows, q, motion.multipliers)


def test_wheels_of_a_base_in_the_plane(robots, rng):
    robot = kd.load_urdf(robots / 'nonholonomic.urdf', base='planar')
    rows = [C.differential_drive(robot, 'wheel_left_joint', 'wheel_right_joint')]
    q, v = rng.uniform(-0.5, 0.5, (2, robot.nv))
    v = kd.consistent_velocity(robot, q, v, rows)
    tau = np.concatenate([np.zeros(3), rng.uniform(-2.0, 2.0, robot.nv - 3)])
    a, forces = arrows_of(robot, rows, q, v, tau)
    plane = [2, 3, 4]  # what a planar base can do: turn about z, move along x and y
    # central difference with h = 1e-5: truncation 1e-10 of numbers of size 100, roundoff 1e-9
    expected = momentum_rate(robot, q, v, a)[plane]
    assert_allclose(total(forces)[plane], expected, rtol=0, atol=1e-6)
    heights = [force.point[2] for force in forces]
    assert_allclose(heights, 0.0, atol=1e-12)
    centre = kd.forward_kinematics(robot, q).pose('wheel_left_link').position()
    assert_allclose(forces[1].point[:2], centre[:2], atol=1e-12)


@pytest.mark.parametrize('shape', ['coin', 'ball', 'points'])
def test_a_free_body_on_the_ground(shape, rng):
    body = kd.Body('body', '', kd.Joint('base', kd.Free()), inertia=BODY)
    robot = kd.Robot('body', [body])
    rows = {
        'coin': [C.rolling_wheel(robot, 'base', radius=0.3, axis=(0, 1, 0), centre=(0, 0, 0))],
        'ball': [C.rolling_ball(robot, 'base', radius=0.3, centre=(0, 0, 0))],
        'points': [C.point_contact(robot, 'body', p) for p in ((1, 0, 0), (0, 1, 0), (-1, 0, 0))],
    }[shape]
    wxyz = np.array([1.0, 0.2, -0.1, 0.3])
    q = np.concatenate([(0.4, -0.2, 0.3), wxyz / np.linalg.norm(wxyz)])
    v = kd.consistent_velocity(robot, q, rng.uniform(-1.0, 1.0, 6), rows)
    a, forces = arrows_of(robot, rows, q, v, np.zeros(6))
    expected = momentum_rate(robot, q, v, a) - weight(robot, q)
    assert_allclose(total(forces), expected, rtol=0, atol=1e-6)
    assert all(force.unit == 'N' and force.state == 'holds' for force in forces)


@pytest.mark.parametrize('joint', ['ball', 'fixed'])
def test_a_body_that_hangs_on_a_loop(joint, rng):
    ground = kd.Frame(-1, kd.Pose.from_rotation_and_position((1, 0, 0, 0), (0.1, 0.2, 0.9)))
    body = kd.Body('body', '', kd.Joint('base', kd.Free()), inertia=BODY)
    robot = kd.Robot('body', [body], frames={'hook': ground})
    rows = [C.loop_closure(robot, 'hook', 'body', joint)]
    q = np.array([0.1, 0.2, 0.9, 1.0, 0.0, 0.0, 0.0])
    v = kd.consistent_velocity(robot, q, rng.uniform(-1.0, 1.0, 6), rows)
    a, forces = arrows_of(robot, rows, q, v, np.zeros(6))
    expected = momentum_rate(robot, q, v, a) - weight(robot, q)
    assert_allclose(total(forces), expected, rtol=0, atol=1e-6)


def test_a_lock_is_a_couple_about_its_axis_or_a_force_along_it():
    place = kd.Pose.from_rotation_and_position((1, 0, 0, 0), (1.0, 0.0, 0.5))
    bodies = [
        kd.Body('link', '', kd.Joint('hinge', kd.Revolute((0, 1, 0))), inertia=inertia(1.0)),
        kd.Body('rod', 'link', kd.Joint('slide', kd.Prismatic((0, 0, 1))), place, inertia(1.0)),
    ]
    robot = kd.Robot('arm', bodies)
    rows = [C.lock(robot, 'hinge'), C.lock(robot, 'slide')]
    hinge, slide = constraint_forces(robot, rows, [0.0, 0.2], [3.0, -4.0], {'slide/lock': 'open'})
    assert hinge.unit == 'N m' and slide.unit == 'N'
    assert_allclose(hinge.vector, (0.0, 3.0, 0.0), atol=1e-15)
    assert_allclose(hinge.point, 0.0, atol=1e-15)
    assert_allclose(slide.vector, (0.0, 0.0, -4.0), atol=1e-15)
    assert_allclose(slide.point, (1.0, 0.0, 0.7), atol=1e-15)
    assert (hinge.state, slide.state) == ('holds', 'open')


def test_a_contact_with_friction_has_its_rows_in_order(rng):
    body = kd.Body('body', '', kd.Joint('base', kd.Free()), inertia=BODY)
    robot = kd.Robot('body', [body])
    foot = C.contact(C.point_contact(robot, 'body'), C.point_slip(robot, 'body'), friction=0.5)
    forces = constraint_forces(robot, [foot], robot.neutral(), [5.0, 1.0, 2.0])
    assert [force.name for force in forces] == list(foot.labels)
    vectors = np.array([force.vector for force in forces])
    assert_allclose(vectors @ vectors.T, np.diag([25.0, 1.0, 4.0]), atol=1e-14)
    assert_allclose(vectors[0], (0.0, 0.0, 5.0), atol=1e-14)


def test_no_force_has_no_direction(robots):
    robot = kd.load_urdf(robots / 'nonholonomic.urdf', base='planar')
    rows = [C.no_side_slip(robot)]
    (force,) = constraint_forces(robot, rows, robot.neutral(), [0.0])
    assert isinstance(force, Force) and not force.vector.any()
    with pytest.raises(InvalidInputError, match=r"need shape \(1,\) for \['base/no_side_slip'\]"):
        constraint_forces(robot, rows, robot.neutral(), [0.0, 1.0])


@pytest.mark.parametrize('change', [{'rows': 'abc'}, {'rows': [1]}, {'rows': None}, {'states': 1}])
def test_what_is_no_constraint_and_no_state(robots, change):
    """Regression: each was an AttributeError or a TypeError."""
    robot = kd.load_urdf(robots / 'nonholonomic.urdf', base='planar')
    x = {'rows': [C.no_side_slip(robot)], 'states': None, **change}
    with pytest.raises(InvalidInputError, match='constraints|states'):
        constraint_forces(robot, x['rows'], robot.neutral(), [0.0], x['states'])
