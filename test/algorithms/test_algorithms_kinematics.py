# SPDX-License-Identifier: Apache-2.0
"""Twists, accelerations and Jacobians against differences of poses."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.calculus import along, derivative, relative
from support.machines import X, Z, prismatic, revolute, turned
from support.trees import BASES, tree_and_state

import kane_dynamics as kd
from kane_dynamics.algebra import pure, vec3
from kane_dynamics.algebra.dual_quaternion import vec6
from kane_dynamics.algorithms.mass_matrix import body_jacobians
from kane_dynamics.robot.motion import coordinate_rates, frame_motion, frame_rate_along

DIFFERENCES = 1e-11  # first derivatives of order 8, see support.calculus
ROUNDOFF = 1e-13  # products of about ten poses of order 1


@pytest.fixture(params=range(9))
def case(request):
    """Return a robot with a state, three of each base."""
    return tree_and_state(request.param, BASES[request.param % 3])


def moving_links(robot):
    """Return the names of all frames but the one in the world."""
    return [name for name, frame in robot.frames.items() if frame.body >= 0]


def numeric_twist(robot, q, v, link):
    """Return (omega, v) in the link's axes from the poses of a moving robot."""
    path = along(robot, q, v)

    def pose(s):
        return kd.forward_kinematics(robot, path(s)).pose(link)

    R = pose(0.0).rotation_matrix()
    spin = R.T @ derivative(lambda s: pose(s).rotation_matrix())
    omega = (spin[2, 1], spin[0, 2], spin[1, 0])
    return np.r_[omega, R.T @ derivative(lambda s: pose(s).position())]


@pytest.mark.claim(6)
def test_twists_are_rates_of_poses(case):
    robot, q, v, _ = case
    kin = kd.forward_kinematics(robot, q, v)
    for link in moving_links(robot):
        assert relative(kin.twist(link), numeric_twist(robot, q, v, link)) < DIFFERENCES


@pytest.mark.claim(6)
def test_twist_rates_are_rates_of_twists(case):
    robot, q, v, a = case
    kin = kd.forward_kinematics(robot, q, v, a)
    path = along(robot, q, v)
    for link in moving_links(robot):
        rate = derivative(
            lambda s, link=link: kd.forward_kinematics(robot, path(s), v + s * a).twist(link)
        )
        assert relative(kin.twist_rate(link), rate) < DIFFERENCES


@pytest.mark.claim(6)
def test_accelerations_are_rates_of_world_velocities(case):
    robot, q, v, a = case
    kin = kd.forward_kinematics(robot, q, v, a)
    path = along(robot, q, v)

    def in_world(s, link):
        moved = kd.forward_kinematics(robot, path(s), v + s * a)
        R = moved.pose(link).rotation_matrix()
        return np.r_[R @ moved.twist(link)[:3], R @ moved.twist(link)[3:]]

    for link in moving_links(robot):
        R = kin.pose(link).rotation_matrix()
        rate = derivative(lambda s, link=link: in_world(s, link))
        expected = np.r_[R.T @ rate[:3], R.T @ rate[3:]]
        assert relative(kin.acceleration(link), expected) < DIFFERENCES  # (23)


@pytest.mark.claim(11)
def test_jacobians_give_twists_and_twist_rates(case):
    robot, q, v, a = case
    kin = kd.forward_kinematics(robot, q, v, a)
    bias = kd.forward_kinematics(robot, q, v)
    for link in moving_links(robot):
        J = kin.jacobian(link)
        assert relative(J @ v, kin.twist(link)) < ROUNDOFF  # (33)
        assert relative(J @ a + bias.twist_rate(link), kin.twist_rate(link)) < ROUNDOFF  # (34)


def test_jacobians_of_an_engine_are_those_of_each_link(case):
    robot, q, v, _ = case
    engine, kin = kd.dynamics(robot), kd.forward_kinematics(robot, q, v)
    for link, jacobian in zip(engine.frames, engine.frame_jacobians(q), strict=True):
        assert relative(jacobian, kin.jacobian(link)) < ROUNDOFF


def test_rates_of_jacobians_along_any_speeds(case):
    robot, q, v, x = case
    path = along(robot, q, v)
    for link in moving_links(robot):
        rate = frame_rate_along(robot, robot.frame(link), q, v, x)
        expected = derivative(
            lambda s, link=link: kd.forward_kinematics(robot, path(s)).jacobian(link) @ x
        )
        assert relative(vec6(rate), expected) < DIFFERENCES


@pytest.mark.claim(11)
def test_body_jacobians_of_gauss_at_the_centres_of_mass(case):
    robot, q, v, a = case
    for i, (body, at_com) in enumerate(
        zip(robot.bodies, body_jacobians(robot, q.tolist(), v.tolist()), strict=True)
    ):
        com = kd.Pose.from_rotation_and_position((1, 0, 0, 0), body.inertia.com)
        motion = frame_motion(robot, kd.Frame(i, com), q, v, a)
        twist, rate = motion.twist, motion.twist_rate
        expected = np.r_[vec3(twist.primary), vec3(twist.dual)]
        assert relative(at_com.jacobian @ v, expected) < ROUNDOFF
        expected = np.r_[vec3(rate.primary), vec3(rate.dual)]
        assert relative(at_com.jacobian @ a + at_com.rate @ v, expected) < ROUNDOFF
        R = motion.pose.rotation_matrix().T
        assert_allclose(at_com.from_world, R, rtol=0, atol=ROUNDOFF)
        turned = motion.from_world(pure([0.3, -0.5, 0.8]))
        assert_allclose(vec3(turned), R @ [0.3, -0.5, 0.8], rtol=0, atol=ROUNDOFF)


@pytest.mark.claim(11)
def test_rate_of_the_body_jacobians(case):
    robot, q, v, _ = case
    path = along(robot, q, v)
    rates = derivative(
        lambda s: [b.jacobian for b in body_jacobians(robot, path(s).tolist(), v.tolist())]
    )
    for body, rate in zip(body_jacobians(robot, q.tolist(), v.tolist()), rates, strict=True):
        assert relative(body.rate, rate) < DIFFERENCES


def test_kinetic_energy_from_moving_points(case):
    # independent of all twists: velocities of centres of mass and spins from poses alone
    robot, q, v, _ = case
    total = 0.5 * v @ (robot.armature * v)
    for body in robot.bodies:
        m, com, tensor = body.inertia.mass, body.inertia.com, body.inertia.tensor
        twist = numeric_twist(robot, q, v, body.name)
        velocity = twist[3:] + np.cross(twist[:3], com)
        total += 0.5 * (m * velocity @ velocity + twist[:3] @ tensor @ twist[:3])
    assert kd.kinetic_energy(robot, q, v) == pytest.approx(total, rel=1e-10)


def test_potential_energy_from_positions(case):
    robot, q, _, _ = case
    kin = kd.forward_kinematics(robot, q)
    total = 0.0
    for body in robot.bodies:
        pose = kin.pose(body.name)
        com = pose.position() + pose.rotation_matrix() @ body.inertia.com
        total -= body.inertia.mass * (robot.gravity @ com)
    assert kd.potential_energy(robot, q) == pytest.approx(total, rel=1e-12)


def test_frame_in_the_world_does_not_move(case):
    robot, q, v, a = case
    kin = kd.forward_kinematics(robot, q, v, a)
    expected = robot.frames['anchor'].pose.position()
    assert_allclose(kin.pose('anchor').position(), expected, rtol=0, atol=0)
    assert not kin.twist('anchor').any()
    assert not kin.acceleration('anchor').any()
    assert not kin.jacobian('anchor').any()


def test_coordinate_rates_are_rates_of_the_moving_coordinates(case):
    robot, q, v, _ = case
    rate = derivative(along(robot, q, v))
    assert relative(coordinate_rates(robot, q, v), rate) < DIFFERENCES


def test_followers_are_where_their_masters_put_them():
    # slide = -0.7 q + 0.2 along x, then a turn of 1.3 slide - 0.4 about z, by hand
    bodies = [
        kd.Body('one', '', revolute('hinge', Z)),
        kd.Body('two', '', prismatic('slide', X), mimic=kd.Mimic('hinge', -0.7, 0.2)),
        kd.Body('three', 'two', revolute('turn', Z), mimic=kd.Mimic('slide', 1.3, -0.4)),
    ]
    robot = kd.Robot('followers', bodies)
    kin = kd.forward_kinematics(robot, [0.9], [2.0])
    slide = -0.7 * 0.9 + 0.2
    angle = 1.3 * slide - 0.4
    expected = turned(Z, angle, (slide, 0, 0))
    assert_allclose(kin.pose('three').position(), (slide, 0, 0), rtol=0, atol=1e-15)
    R = expected.rotation_matrix()
    assert_allclose(kin.pose('three').rotation_matrix(), R, rtol=0, atol=1e-15)
    speed = R.T @ (-0.7 * 2.0, 0, 0)
    assert_allclose(kin.twist('three'), (0, 0, -0.91 * 2.0, *speed), rtol=0, atol=1e-15)


def test_integrate_there_and_back(case):
    robot, q, v, _ = case
    back = kd.integrate(robot, kd.integrate(robot, q, v, 0.7), v, -0.7)
    assert_allclose(back, q, rtol=0, atol=1e-14)
