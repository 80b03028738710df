# SPDX-License-Identifier: Apache-2.0
"""Locks, couplings and loops: what their rows mean, and planar and spatial closed chains."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.calculus import along, derivative, relative
from support.constraint_cases import CASES, Case, rows_at
from support.machines import (
    X,
    at,
    four_bar,
    four_bar_coordinates,
    inertia,
    revolute,
    shopping_cart,
)
from support.trees import tree_and_state

import kane_dynamics as kd
from kane_dynamics.exceptions import (
    ConstraintError,
    InconsistentConstraintsError,
    InvalidInputError,
    NameNotFoundError,
)
from studies.random_robots import random_pose

DIFFERENCES = 1e-11  # first derivatives of order 8, see support.calculus


@pytest.mark.parametrize('name', ['lock', 'lock_planar', 'lock_spherical'])
def test_lock_rows_are_unit_rows(name):
    case = CASES[name]
    rows = rows_at(case)
    joint = rows.labels[0].split('_joint')[0] + '_joint'
    own = [n for n in case.robot.velocity_names if n.startswith(joint)]
    columns = [case.robot.velocity_index(n) for n in own]
    assert_allclose(rows.matrix, np.eye(case.robot.nv)[columns], rtol=0, atol=0)
    assert not rows.velocity.any()
    assert not rows.acceleration.any()
    assert rows.labels == tuple(f'{n}/lock' for n in own)


def test_locked_joint_behaves_like_a_fixed_one():
    # the arm with its elbow locked moves like an arm that was built in one piece
    robot, q, v, a = tree_and_state(
        3, 'planar', kinds=('revolute', 'spherical', 'prismatic'), mimic=False
    )
    k = robot.velocity_index('prismatic_joint')
    v[k] = 0.0
    locked = kd.forward_dynamics(robot, q, v, a, (kd.constraints.lock(robot, 'prismatic_joint'),))
    assert locked.acceleration[k] == pytest.approx(0.0, abs=1e-14)
    stiff = 1e12 * np.eye(robot.nv)[k]
    M = kd.mass_matrix(robot, q) + np.diag(stiff)
    force = a - kd.bias_force(robot, q, v) - kd.friction_force(robot, v)
    # a rotor of 1e12 kg moves 1e-12 as much
    assert_allclose(locked.acceleration, np.linalg.solve(M, force), rtol=0, atol=1e-9)


def test_coupling_row_is_the_rate_of_its_violation():
    case = CASES['coupling']
    robot, path = case.robot, along(case.robot, case.q, case.v)
    k, m = (robot.coordinate_index(n) for n in ('helical_joint', 'prismatic_joint'))

    def violation(s):
        return path(s)[k] + 1.7 * path(s)[m] - 0.2

    rows = rows_at(case)
    assert rows.positions[0] == pytest.approx(violation(0.0), abs=1e-15)
    assert_allclose(rows.matrix @ case.v, [derivative(violation)], rtol=0, atol=DIFFERENCES)


def test_coupled_joints_share_their_inertia():
    # two flywheels geared 1 : -3 and driven at the master: tau = (I1 + 9 I2) a, tooth load lambda
    wheel = [inertia(0, (0, 0, 0), (i, i, i)) for i in (0.5, 0.2)]
    bodies = [kd.Body(n, '', revolute(n, X), inertia=w) for n, w in zip('ab', wheel, strict=True)]
    robot = kd.Robot('gears', bodies)
    gears = kd.constraints.coupling(robot, 'b', 'a', -3.0)
    motion = kd.forward_dynamics(robot, (0, 0), (0, 0), (4.6, 0), (gears,))
    assert_allclose(motion.acceleration, (2.0, -6.0), rtol=1e-14)
    assert_allclose(motion.multipliers, [-1.2], rtol=1e-14)  # on b along +q_b
    assert_allclose(motion.constraint_force, (-3.6, -1.2), rtol=1e-14)


@pytest.mark.parametrize('name', ['loop_planar', 'loop_open', 'loop_spatial', 'loop_to_world'])
def test_loop_rows_are_the_relative_twist(name):
    # (5) of the relative pose, from differences of poses; holds for open loops as well
    case = CASES[name]
    path = along(case.robot, case.q, case.v)
    a, b = case.constraint.labels[0].split('/')[0].split('=')

    def relative_pose(s):
        kin = kd.forward_kinematics(case.robot, path(s))
        return kin.pose(a).conjugate() * kin.pose(b)

    R, p = relative_pose(0.0).rotation_matrix(), relative_pose(0.0).position()
    spin = derivative(lambda s: relative_pose(s).rotation_matrix()) @ R.T
    omega = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
    velocity = derivative(lambda s: relative_pose(s).position()) + np.cross(p, omega)
    rows = rows_at(case)
    assert relative(rows.matrix @ case.v, np.r_[omega, velocity]) < DIFFERENCES
    assert_allclose(rows.positions[3:], p, rtol=0, atol=1e-14)
    axis = np.sign(relative_pose(0.0).rotation.w) * relative_pose(0.0).rotation.vec
    assert_allclose(rows.positions[:3], 2.0 * axis, rtol=0, atol=1e-14)


def test_loop_through_a_joint_and_its_follower():
    # both turn the tip: their entries in the row of the one speed add up
    bodies = [
        kd.Body('one', '', revolute('hinge')),
        kd.Body('two', 'one', revolute('half'), at(0.5, 0, 0), mimic=kd.Mimic('hinge', 0.5)),
    ]
    post = {'post': kd.Frame(-1, at(0, 0, 0)), 'tip': kd.Frame(1, at(0.4, 0, 0))}
    robot = kd.Robot('fold', bodies, frames=post)
    loop = kd.constraints.loop_closure(robot, 'post', 'tip')
    matrix = rows_at(Case(robot, loop, np.zeros(1), np.zeros(1))).matrix
    # straight out: spin 1.5; the body-fixed point at the origin of the post does not see 'hinge'
    # and moves with -0.5 (0.5 m) along y because of 'half'
    assert_allclose(matrix.ravel(), (0, 0, 1.5, 0, -0.25, 0), rtol=0, atol=1e-15)


@pytest.mark.claim(38)
def test_loop_multipliers_are_the_wrench_on_frame_b():
    case = CASES['loop_spatial']
    robot, q, v = case.robot, case.q, case.v
    tau = np.random.default_rng(4).uniform(-2, 2, robot.nv)
    motion = kd.forward_dynamics(robot, q, v, tau, (case.constraint,))
    kin = kd.forward_kinematics(robot, q)
    x_b_a = kin.pose('spherical').conjugate() * kin.pose('free')
    moment, force = motion.multipliers[:3], motion.multipliers[3:]
    R, p = x_b_a.rotation_matrix(), x_b_a.position()
    on_b = np.r_[R.T @ (moment - np.cross(p, force)), R.T @ force]
    wrenches = {'free': on_b, 'spherical': -motion.multipliers}
    pushed = kd.forward_dynamics(robot, q, v, tau, external_wrenches=wrenches)
    assert relative(pushed.acceleration, motion.acceleration) < 1e-10


def closed_speeds(q, crank_rate):
    """Return v of the closed four-bar linkage, from its geometry by differences."""
    slope = derivative(lambda s: four_bar_coordinates(q[0] + s))
    curvature = derivative(lambda s: derivative(lambda r: four_bar_coordinates(q[0] + s + r)))
    return slope, slope * crank_rate, curvature * crank_rate**2


def test_four_bar_linkage_against_its_closed_form():
    # one freedom: d/dt of T and V in the crank angle alone give its acceleration
    robot, c = four_bar(), kd.constraints
    q, rate = four_bar_coordinates(0.9), 1.4
    slope, v, convective = closed_speeds(q, rate)
    loop = c.loop_closure(robot, 'coupler_end', 'rocker_end')
    rows = rows_at(Case(robot, loop, q, v))
    assert_allclose(rows.positions, 0.0, atol=1e-15)
    assert_allclose(rows.matrix @ v, 0.0, atol=1e-11)
    tau = np.array([3.0, 0.0, 0.0, -1.0])
    motion = kd.forward_dynamics(robot, q, v, tau, (loop,))
    assert motion.rank == 3  # of six rows: a planar loop
    M, bias = kd.mass_matrix(robot, q), kd.bias_force(robot, q, v)
    crank = (slope @ (tau - bias - M @ convective)) / (slope @ M @ slope)
    assert_allclose(motion.acceleration, slope * crank + convective, rtol=0, atol=1e-8)


def test_planar_loop_in_a_tilted_plane():
    """Regression: rows of roundoff were blown up to unit rows and contradicted the others."""
    level, q = four_bar(), four_bar_coordinates(0.9)
    x_W = random_pose(np.random.default_rng(0))
    bodies = [
        dataclasses.replace(b, placement=x_W * b.placement) if b.parent == '' else b
        for b in level.bodies
    ]
    tilted = kd.Robot('tilted', bodies, x_W.rotation_matrix() @ level.gravity, level.frames)
    v = closed_speeds(q, 1.4)[1]
    motions = [
        kd.forward_dynamics(
            robot,
            q,
            v,
            np.ones(4),
            (kd.constraints.loop_closure(robot, 'coupler_end', 'rocker_end'),),
        )
        for robot in (level, tilted)
    ]
    assert [motion.rank for motion in motions] == [3, 3]
    assert_allclose(motions[1].acceleration, motions[0].acceleration, rtol=0, atol=1e-9)
    assert_allclose(motions[1].multipliers, motions[0].multipliers, rtol=0, atol=1e-9)
    known = kd.consistent_acceleration(
        tilted,
        q,
        v,
        motions[1].acceleration,
        (kd.constraints.loop_closure(tilted, 'coupler_end', 'rocker_end'),),
        ['crank'],
    )
    assert_allclose(known, motions[1].acceleration, rtol=0, atol=1e-9)


def test_loop_turned_by_half_a_turn_is_not_closed():
    """Regression: with r.w = 0 the violation of the rotation rows was zero."""
    robot = kd.Robot(
        'hinge',
        [kd.Body('leaf', '', revolute('hinge'), inertia=inertia(1, (0, 0, 0), (1, 1, 1)))],
        frames={'post': kd.Frame(-1, kd.Pose.from_rotation_and_position((0, 0, 0, 1), (0, 0, 0)))},
    )
    loop = kd.constraints.loop_closure(robot, 'post', 'leaf')
    rows = rows_at(Case(robot, loop, np.zeros(1), np.zeros(1)))
    assert abs(rows.positions[2]) == pytest.approx(2.0)


def test_two_locks_that_contradict_the_motion():
    robot = shopping_cart()
    c = kd.constraints
    turning = c.pfaffian(robot, lambda q, t: [0, 0, 1, 0], lambda q, t: 0.5, 'turning')
    with pytest.raises(InconsistentConstraintsError, match='no speed satisfies'):
        kd.forward_dynamics(
            robot, np.zeros(4), np.zeros(4), np.zeros(4), (c.lock(robot, 'base'), turning)
        )


def test_errors():
    c = kd.constraints
    robot, *_ = tree_and_state(3, 'planar')
    with pytest.raises(NameNotFoundError, match='helical_joint'):
        c.lock(robot, 'nose')
    with pytest.raises(ConstraintError, match='lock its master'):
        c.lock(robot, 'follower_joint')
    with pytest.raises(ConstraintError, match='itself'):
        c.coupling(robot, 'helical_joint', 'helical_joint', 2.0)
    with pytest.raises(NameNotFoundError):
        c.coupling(robot, 'helical_joint', 'nose', 2.0)
    for pair in (('spherical_joint', 'helical_joint'), ('helical_joint', 'follower_joint')):
        with pytest.raises(ConstraintError, match='exactly one speed'):
            c.coupling(robot, *pair, 2.0)
    for numbers in ((np.nan, 0.0), (1.0, np.inf)):
        with pytest.raises(InvalidInputError, match='finite'):
            c.coupling(robot, 'helical_joint', 'prismatic_joint', *numbers)
    with pytest.raises(NameNotFoundError, match='tool'):
        c.loop_closure(robot, 'tool', 'nose')
    with pytest.raises(ConstraintError, match='same body'):
        c.loop_closure(robot, 'tool', robot.bodies[-1].name)
    with pytest.raises(ConstraintError, match='same body'):
        c.loop_closure(
            kd.Robot(
                'x',
                robot.bodies,
                frames={'p': kd.Frame(-1, at(0, 0, 0)), 'q': kd.Frame(-1, at(1, 0, 0))},
            ),
            'p',
            'q',
        )
