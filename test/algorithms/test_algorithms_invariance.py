# SPDX-License-Identifier: Apache-2.0
"""Results do not depend on where the world frame is, nor on how a body is cut into parts."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.calculus import relative
from support.machines import X, planar_body
from support.trees import tree_and_state, with_gravity

import kane_dynamics as kd
from studies.random_robots import random_inertia, random_pose, random_tree

ROUNDOFF = 1e-12  # see test_algorithms_equation_of_motion


def turned_world(robot, x_W):
    """Return the robot whose fixed roots and field are seen from a world moved by x_W."""
    bodies = [
        dataclasses.replace(body, placement=x_W * body.placement) if body.parent == '' else body
        for body in robot.bodies
    ]
    return kd.Robot(robot.name, bodies, x_W.rotation_matrix() @ robot.gravity)


@pytest.mark.parametrize('base', ['fixed', 'planar', 'floating'])
@pytest.mark.parametrize('seed', range(4))
def test_turning_world_and_field_changes_nothing(seed, base):
    robot, q, v, a = tree_and_state(seed, base)
    moved = turned_world(robot, random_pose(np.random.default_rng(seed)))
    before, after = (kd.inverse_dynamics(r, q, v, a) for r in (robot, moved))
    assert relative(after, before) < ROUNDOFF
    assert relative(kd.mass_matrix(moved, q), kd.mass_matrix(robot, q)) < ROUNDOFF
    assert relative(kd.coriolis_matrix(moved, q, v), kd.coriolis_matrix(robot, q, v)) < ROUNDOFF


@pytest.mark.claim(8)
@pytest.mark.parametrize('seed', range(6))
def test_translating_a_planar_base_changes_nothing(seed):
    # E1: the printed torque of the base fails this
    robot, q, v, a = tree_and_state(seed, 'planar')
    moved = q.copy()
    moved[:2] += (20.0, -30.0)
    assert (
        relative(kd.inverse_dynamics(robot, moved, v, a), kd.inverse_dynamics(robot, q, v, a))
        < 1e-11
    )
    assert relative(kd.mass_matrix(robot, moved), kd.mass_matrix(robot, q)) < 1e-11


@pytest.mark.parametrize('seed', range(6))
def test_turning_a_planar_base_turns_its_forces(seed):
    robot, q, v, a = tree_and_state(seed, 'planar')
    robot = with_gravity(robot, (0, 0, -9.81))  # vertical: the plane is level
    angle = 0.9
    R = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])

    def turned(x, shift=0.0):
        return np.r_[R @ x[:2], x[2] + shift, x[3:]]

    tau = kd.inverse_dynamics(robot, q, v, a)
    friction = kd.friction_force(robot, v)
    assert not friction[:3].any()
    after = kd.inverse_dynamics(robot, turned(q, angle), turned(v), turned(a))
    assert relative(after, turned(tau)) < ROUNDOFF


@pytest.mark.parametrize('seed', range(2, 12, 3))
def test_moving_a_floating_base_changes_nothing(seed):
    robot, q, v, a = tree_and_state(seed, 'floating')
    moved = q.copy()
    moved[:3] += (3.0, -7.0, 5.0)
    assert (
        relative(kd.inverse_dynamics(robot, moved, v, a), kd.inverse_dynamics(robot, q, v, a))
        < 1e-11
    )


def test_printed_torque_of_the_base_is_wrong_away_from_the_origin():
    # E1, minimal case: one body at (2, 1), pushed along x without gravity
    robot = planar_body(mass=3.0, tensor_zz=0.4, com_x=0.0)
    tau = kd.inverse_dynamics(robot, (2, 1, 0.7), (0, 0, 0), (1, 0, 0))
    assert_allclose(tau, (3.0, 0.0, 0.0), rtol=0, atol=1e-15)


@pytest.mark.parametrize('seed', range(4))
def test_linear_in_the_inertia_parameters(seed):
    # two bodies welded together need the sum of their efforts
    robot, q, v, a = tree_and_state(seed, 'floating', armature=False, friction=False)
    rng = np.random.default_rng(seed)
    extra = [random_inertia(rng) for _ in robot.bodies]

    def carrying(inertias):
        parts = [
            dataclasses.replace(body, inertia=inertia)
            for body, inertia in zip(robot.bodies, inertias, strict=True)
        ]
        return kd.Robot(robot.name, parts, robot.gravity)

    welded = carrying([b.inertia + e for b, e in zip(robot.bodies, extra, strict=True)])
    separate = [kd.inverse_dynamics(r, q, v, a) for r in (robot, carrying(extra))]
    assert relative(kd.inverse_dynamics(welded, q, v, a), sum(separate)) < ROUNDOFF


@pytest.mark.parametrize('base', ['fixed', 'planar', 'floating'])
def test_massless_body_with_a_locked_joint_changes_nothing(base):
    robot, q, v, a = tree_and_state(5, base)
    last = robot.bodies[-1]
    extra = kd.Body(
        'extra',
        last.name,
        kd.Joint('extra', kd.Revolute(X)),
        random_pose(np.random.default_rng(1)),
    )
    longer = kd.Robot('longer', [*robot.bodies, extra], robot.gravity)
    tau = kd.inverse_dynamics(longer, np.r_[q, 0.3], np.r_[v, 0.0], np.r_[a, 0.0])
    assert relative(tau[:-1], kd.inverse_dynamics(robot, q, v, a)) < ROUNDOFF
    assert abs(tau[-1]) < ROUNDOFF


@pytest.mark.claim(10)
def test_order_of_branches_changes_only_the_order_of_speeds():
    robot, q, v, a = tree_and_state(3, 'fixed', mimic=False)
    first = robot.bodies[0]
    rest = sorted(robot.bodies[1:], key=lambda body: (depth(robot, body), body.name))
    other = kd.Robot('other', [first, *rest], robot.gravity)
    columns = [robot.velocity_index(name) for name in other.velocity_names]
    rows = [robot.coordinate_index(name) for name in other.coordinate_names]
    tau = kd.inverse_dynamics(other, q[rows], v[columns], a[columns])
    assert relative(tau, kd.inverse_dynamics(robot, q, v, a)[columns]) < ROUNDOFF
    M = kd.mass_matrix(robot, q)[np.ix_(columns, columns)]
    assert relative(kd.mass_matrix(other, q[rows]), M) < ROUNDOFF


def depth(robot, body):
    """Return how many bodies carry this one."""
    return len(robot.ancestors(robot.bodies.index(body)))


def test_helical_joint_without_pitch_is_revolute():
    rng = np.random.default_rng(8)
    robot = random_tree(rng, 'floating', kinds=('helical', 'prismatic'), mimic=False)
    q = kd.integrate(robot, robot.neutral(), rng.uniform(-1, 1, robot.nv), 1.0)
    v, a = rng.uniform(-1, 1, (2, robot.nv))

    def with_kind(kind):
        bodies = [
            dataclasses.replace(
                b, joint=dataclasses.replace(b.joint, kind=kind(b.joint.kind.axis))
            )
            if b.name == 'helical'
            else b
            for b in robot.bodies
        ]
        return kd.Robot('x', bodies, robot.gravity)

    tau = [kd.inverse_dynamics(with_kind(kind), q, v, a) for kind in (kd.Helical, kd.Revolute)]
    assert_allclose(*tau, rtol=0, atol=0)
