# SPDX-License-Identifier: Apache-2.0
"""What the ground gives is what changes the momentum, besides gravity and pushes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.trees import BASES, tree_and_state

import kane_dynamics as kd
from kane_dynamics.exceptions import InvalidInputError, NameNotFoundError


def momentum_about_origin(robot, q, v):
    angular, linear = np.split(np.asarray(kd.momentum(robot, q, v)), 2)
    return np.r_[angular + np.cross(kd.center_of_mass(robot, q), linear), linear]


@pytest.mark.parametrize('base', BASES)
@pytest.mark.parametrize('seed', range(4))
def test_it_changes_the_momentum(seed, base):
    robot, q, v, a = tree_and_state(seed, base)
    h = 1e-5
    ahead, behind = (
        momentum_about_origin(robot, kd.integrate(robot, q, v + 0.5 * s * a, s), v + s * a)
        for s in (h, -h)
    )
    weight = sum(body.inertia.mass for body in robot.bodies) * robot.gravity
    pull = np.r_[np.cross(kd.center_of_mass(robot, q), weight), weight]
    found = kd.ground_wrench(robot, q, v, a)
    # central differences: h^2 of the third derivative, and roundoff over h
    scale = 1.0 + np.abs(found).max()
    assert_allclose(found, (ahead - behind) / (2.0 * h) - pull, rtol=0, atol=1e-7 * scale)


def test_pushes_from_elsewhere_take_their_part():
    robot, q, v, a = tree_and_state(3, 'planar')
    link, push = robot.bodies[-1].name, np.array([0.3, -0.4, 0.5, 6.0, -7.0, 8.0])
    pose = kd.forward_kinematics(robot, q).pose(link)
    R, p = pose.rotation_matrix(), pose.position()
    in_world = np.r_[R @ push[:3] + np.cross(p, R @ push[3:]), R @ push[3:]]
    found = kd.ground_wrench(robot, q, v, a, {link: push})
    assert_allclose(found, kd.ground_wrench(robot, q, v, a) - in_world, rtol=0, atol=1e-12)


def test_the_moment_is_about_the_point_asked_for():
    robot, q, v, a = tree_and_state(4, 'floating')
    at_origin, point = kd.ground_wrench(robot, q, v, a), np.array([0.4, -0.7, 0.2])
    moved = kd.ground_wrench(robot, q, v, a, about=point)
    assert_allclose(moved[3:], at_origin[3:], rtol=0, atol=0)
    expected = at_origin[:3] - np.cross(point, at_origin[3:])
    assert_allclose(moved[:3], expected, rtol=0, atol=1e-12)


def test_a_planar_base_takes_from_it_what_it_moves_along():
    """The first efforts of inverse dynamics are parts of the wrench, in the world's axes."""
    robot, q, v, a = tree_and_state(5, 'planar')
    effort = kd.inverse_dynamics(robot, q, v, a)
    found = kd.ground_wrench(robot, q, v, a, about=[q[0], q[1], 0.0])
    drag = robot.damping[:3] * v[:3] + robot.friction[:3] * np.sign(v[:3])
    armature = robot.armature[:3] * a[:3]
    assert_allclose(effort[:3] - drag - armature, found[[3, 4, 2]], rtol=0, atol=1e-11)


def test_bad_arguments_are_named():
    robot, q, v, a = tree_and_state(0, 'planar')
    with pytest.raises(InvalidInputError, match=r'about \[m\]'):
        kd.ground_wrench(robot, q, v, a, about=[0.0, 1.0])
    with pytest.raises(InvalidInputError, match='robot'):
        kd.ground_wrench('robot', q, v, a)
    with pytest.raises(NameNotFoundError, match='no frame'):
        kd.ground_wrench(robot, q, v, a, {'nothing': np.zeros(6)})
