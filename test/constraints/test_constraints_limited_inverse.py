# SPDX-License-Identifier: Apache-2.0
"""Efforts within limits and cones: where none binds, against other solvers, in conflict."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.limited_efforts import OverActuated
from support.machines import DRIVE, Y, differential_drive, inertia, planar_2r, revolute
from support.trees import BASES, tree_and_state
from support.wheeled_robots import ROBOTS, wheeled_robot

import kane_dynamics as kd
from kane_dynamics.exceptions import (
    InvalidInputError,
    NameNotFoundError,
    UnreachableAccelerationError,
)

SOLVED = 1e-8  # of quadprog, with condition numbers up to 1e4
WIDE = 1e6  # [N m or N] of limits that nothing reaches


@pytest.mark.parametrize('name', ROBOTS)
def test_without_limits_in_the_way_it_is_constrained_inverse_dynamics(name):
    robot, constraints, actuated, q, v, a = wheeled_robot(name)
    rolling = constraints[0].labels[1:]
    cones = [kd.FrictionCone([label], 0.7, WIDE) for label in rolling]
    weights = np.arange(1.0, robot.nv + 1.0)
    wrench = {robot.bodies[-1].name: (0.3, -0.2, 0.5, 4.0, -2.0, 6.0)}
    state = robot, q, v, a, constraints, actuated, weights
    found = kd.limited_inverse_dynamics(
        *state, limits=np.full(robot.nv, np.inf), cones=cones, external_wrenches=wrench
    )
    expected = kd.constrained_inverse_dynamics(*state, external_wrenches=wrench)
    assert_allclose(found.effort, expected.effort, rtol=1e-8, atol=1e-8)
    assert_allclose(found.multipliers, expected.multipliers, rtol=1e-8, atol=1e-8)
    assert found.binding == ()
    assert found.labels == expected.labels
    assert not found.deviation.any()
    assert found.residual < 1e-8
    margins = [0.7 * WIDE - abs(force) for force in found.multipliers[1:]]
    assert_allclose(found.margins, margins, rtol=1e-12)


@pytest.mark.parametrize('seed', range(40))
def test_least_efforts_against_another_solver(seed):
    """quadprog in the multipliers alone: tau = h - A' lambda."""
    quadprog = pytest.importorskip('quadprog')
    case = OverActuated(seed, BASES[seed % 3])
    A, rng, count = case.A, case.rng, len(case.A)
    inside = case.free.multipliers + 2.0 * rng.normal(size=count)
    limits, friction = case.limits_around(inside), 0.6
    load = abs(inside[0]) / friction + 0.1
    inside_normal = abs(inside[1])
    cones = [kd.FrictionCone([case.labels[0]], friction, load)]
    assert inside_normal >= 0.0
    G = [*A.T, *-A.T, np.eye(count)[0], -np.eye(count)[0]]
    h = [*(case.needed - limits), *(-case.needed - limits), *[-friction * load] * 2]
    weighted = case.weights[:, None] * A.T
    found = case.limited(limits=limits, cones=cones)
    expected = quadprog.solve_qp(
        A @ weighted, weighted.T @ case.needed, np.array(G).T, np.array(h)
    )
    scale = 1.0 + np.abs(case.needed).max()
    assert_allclose(found.multipliers, expected[0], rtol=0, atol=SOLVED * scale)
    assert found.residual < 1e-10 * scale
    at_limit = np.abs(found.effort) > limits - 1e-7 * scale
    named = {name for name, at in zip(case.robot.velocity_names, at_limit, strict=True) if at}
    assert named == set(found.binding) - set(case.labels)


@pytest.mark.parametrize('seed', range(40))
def test_least_efforts_in_cones_satisfy_the_conditions_of_the_least(seed):
    """At lambda the gradient of the efforts is made of what binds, with pushes of one sign."""
    pytest.importorskip('clarabel')
    case = OverActuated(seed, 'floating', rows=5)
    count = len(case.A)
    inside = case.free.multipliers + case.rng.normal(size=count)
    inside[2] = np.hypot(*inside[:2]) / 0.5 + 0.1
    cones = [kd.FrictionCone(case.labels[:2], 0.5, case.labels[2])]
    limits = case.limits_around(inside)
    found = case.limited(limits=limits, cones=cones)
    t, n, scale = found.multipliers[:2], found.multipliers[2], 1.0 + np.abs(case.needed).max()
    assert_allclose(found.margins, [0.5 * n - np.hypot(*t)], rtol=0, atol=1e-9 * scale)
    assert found.margins[0] > -1e-9 * scale
    assert (np.abs(found.effort) - limits).max() < 1e-9 * scale
    gradient = -case.A @ (case.weights * found.effort)  # of sum w tau^2/2 in lambda
    directions = [
        -np.sign(tau) * row  # of |tau| <= limit
        for tau, row, limit in zip(found.effort, -case.A.T, limits, strict=True)
        if abs(tau) > limit - 1e-7 * scale
    ]
    if found.margins[0] < 1e-7 * scale:
        directions.append(np.r_[-t / np.hypot(*t), 0.5, np.zeros(count - 3)])
        assert cones[0].name in found.binding
    columns = np.array(directions).reshape(-1, count).T
    pushes = np.linalg.lstsq(columns, gradient, rcond=None)[0]
    assert_allclose(columns @ pushes, gradient, rtol=0, atol=1e-7 * scale)
    assert pushes.min(initial=0.0) > -1e-7 * scale


def test_a_wheel_accelerates_as_far_as_its_traction_goes():
    """Straight ahead the wheels give m a = 2 mu N, whatever the wheels' inertia."""
    robot = differential_drive()
    drive = kd.constraints.differential_drive(robot, 'left', 'right', DRIVE['r'])
    q, v = np.zeros(robot.nq), np.zeros(robot.nv)
    mu, load = 0.4, 60.0
    cones = [kd.FrictionCone([label], mu, load) for label in drive.labels[1:]]
    mass = kd.mass_matrix(robot, q)[0, 0]
    most = 2.0 * mu * load / mass

    def wanted(rate):
        ahead = np.r_[rate, np.zeros(robot.nv - 1)]
        return kd.consistent_acceleration(robot, q, v, ahead, [drive], ['base_x', 'base_yaw'])

    state, options = ([drive], ['left', 'right']), {'cones': cones}
    slow = kd.limited_inverse_dynamics(robot, q, v, wanted(0.99 * most), *state, **options)
    assert slow.binding == ()
    edge = kd.limited_inverse_dynamics(robot, q, v, wanted(most), *state, **options)
    assert edge.binding == drive.labels[1:]
    with pytest.raises(UnreachableAccelerationError, match='the wanted acceleration') as caught:
        kd.limited_inverse_dynamics(robot, q, v, wanted(1.5 * most), *state, **options)
    assert set(caught.value.names) == set(drive.labels[1:])
    assert caught.value.residual == pytest.approx(0.5 * mu * load)
    options['deviation'] = np.ones(robot.nv)
    fast = kd.limited_inverse_dynamics(robot, q, v, wanted(1.5 * most), *state, **options)
    assert_allclose(fast.acceleration, wanted(most), rtol=0, atol=1e-9)
    assert_allclose(fast.deviation, wanted(most) - wanted(1.5 * most), rtol=0, atol=1e-9)
    assert fast.binding == drive.labels[1:]
    same = kd.limited_inverse_dynamics(robot, q, v, wanted(0.99 * most), *state, **options)
    assert_allclose(same.effort, slow.effort, rtol=0, atol=1e-12)
    motion = kd.forward_dynamics(robot, q, v, fast.effort, [drive])
    assert_allclose(motion.acceleration, fast.acceleration, rtol=0, atol=1e-9)
    assert_allclose(motion.multipliers, fast.multipliers, rtol=0, atol=1e-9)


def test_a_turn_that_no_effort_makes_slower():
    """At a given speed on a given arc the side force is m v w, whatever the motors do."""
    robot = differential_drive()
    drive = kd.constraints.differential_drive(robot, 'left', 'right', DRIVE['r'])
    turn = kd.constraints.pfaffian(robot, lambda q, t: np.eye(5)[2], lambda q, t: 0.8, 'turn')
    q, rest = np.zeros(robot.nq), np.zeros(robot.nv)
    rows, known = [drive, turn], ['base_x', 'base_yaw']
    v = kd.consistent_velocity(robot, q, [1.5, 0.0, 0.8, 0.0, 0.0], rows, known)
    ahead = np.r_[1.0, rest[1:]]
    a = kd.consistent_acceleration(robot, q, v, ahead, rows, known)
    side, state = drive.labels[0], (robot, q, v, a, rows, ['left', 'right'])
    free = kd.limited_inverse_dynamics(*state).multipliers
    needed = abs(free[0])
    assert needed > 1.0
    gripping, slipping = (kd.FrictionCone([side], 1.0, part * needed) for part in (1.1, 0.7))
    kd.limited_inverse_dynamics(*state, cones=[gripping])
    with pytest.raises(UnreachableAccelerationError, match='gives any acceleration') as caught:
        kd.limited_inverse_dynamics(*state, cones=[slipping], deviation=np.ones(robot.nv))
    assert caught.value.names == (side,)
    assert caught.value.residual == pytest.approx(0.3 * needed, rel=1e-6)
    weak = kd.FrictionCone(drive.labels[1:2], 1.0, 0.1)  # with less speed it would do
    with pytest.raises(UnreachableAccelerationError, match='gives any acceleration') as caught:
        kd.limited_inverse_dynamics(*state, cones=[slipping, weak], deviation=np.ones(robot.nv))
    assert caught.value.names == (side,)
    assert abs(free[1]) - 0.1 > 0.3 * needed
    assert caught.value.residual == pytest.approx(abs(free[1]) - 0.1, rel=1e-6)


@pytest.mark.parametrize('seed', range(20))
def test_the_nearest_acceleration_against_another_solver(seed):
    """quadprog in the efforts of a tree without rows, where they give every acceleration."""
    quadprog = pytest.importorskip('quadprog')
    robot, q, v, a = tree_and_state(seed, BASES[seed % 3])
    rng = np.random.default_rng(seed)
    needed, weights = kd.inverse_dynamics(robot, q, v, a), rng.uniform(0.5, 2.0, robot.nv)
    limits = rng.uniform(0.2, 1.5, robot.nv) * np.abs(needed) + 0.01
    state = robot, q, v, a, (), robot.velocity_names
    found = kd.limited_inverse_dynamics(*state, limits=limits, deviation=weights)
    moves = np.linalg.inv(kd.mass_matrix(robot, q))
    metric = moves.T @ (weights[:, None] * moves)
    sides = np.vstack([np.eye(robot.nv), -np.eye(robot.nv)])
    expected = quadprog.solve_qp(metric, metric @ needed, sides.T, -np.tile(limits, 2))[0]
    missed = [np.sum(weights * (moves @ (x - needed)) ** 2) for x in (found.effort, expected)]
    assert missed[0] <= missed[1] * (1.0 + 1e-6) + 1e-9
    assert (np.abs(found.effort) <= limits * (1.0 + 1e-9)).all()
    assert_allclose(found.deviation, moves @ (found.effort - needed), rtol=1e-8, atol=1e-8)
    motion = kd.forward_dynamics(robot, q, v, found.effort)
    assert_allclose(motion.acceleration, found.acceleration, rtol=1e-8, atol=1e-8)


def test_limits_of_the_urdf_hold_where_none_are_given():
    turn = revolute('turn', Y, effort_limit=1.5)
    bar = kd.Robot('bar', [kd.Body('bar', '', turn, inertia=inertia(1.0, (0.2, 0, 0)))])
    state = bar, [0.0], [0.0], [0.0], (), ['turn']
    with pytest.raises(UnreachableAccelerationError, match='these are in conflict') as caught:
        kd.limited_inverse_dynamics(*state)  # 9.81 * 0.2 = 1.962 N m
    assert caught.value.names == ('turn',)
    assert caught.value.residual == pytest.approx(1.962 - 1.5)
    stronger = kd.limited_inverse_dynamics(*state, limits=[2.0])
    assert_allclose(stronger.effort, [-1.962], rtol=1e-12)
    falling = kd.limited_inverse_dynamics(*state, deviation=[1.0])
    assert_allclose(falling.effort, [-1.5], rtol=1e-9)
    assert falling.binding == ('turn',)
    assert_allclose(falling.acceleration, [(1.962 - 1.5) / 0.04], rtol=1e-9)


def test_a_hand_on_a_table_only_pushes():
    """A two-link arm that leans on a table: no effort lets the table pull."""
    arm = planar_2r().with_gravity((0.0, 0.0, 0.0))
    link = arm.bodies[-1].name
    table = kd.constraints.point_contact(arm, link, (0.3, 0.0, 0.0), (0.0, 1.0, 0.0), 0.0)
    cone = kd.FrictionCone([], 0.0, table.labels[0])
    q, rest = np.array([0.4, -0.9]), np.zeros(2)
    state = arm, q, rest, rest, [table], list(arm.velocity_names)
    row = kd.constraints.ConstraintSet(arm, [table]).rows(q, rest, 0.0).matrix[0]
    assert not kd.limited_inverse_dynamics(*state, cones=[cone]).effort.any()
    rotation = kd.forward_kinematics(arm, q).pose(link).rotation_matrix()
    for force, carried in ((-5.0, True), (5.0, False)):  # on the hand, down and up
        local = rotation.T @ (0.0, force, 0.0)
        wrench = {link: np.r_[np.cross((0.3, 0.0, 0.0), local), local]}
        found = kd.limited_inverse_dynamics(*state, cones=[cone], external_wrenches=wrench)
        assert found.multipliers[0] == pytest.approx(-force if carried else 0.0, abs=1e-12)
        assert_allclose(found.effort, 0.0 if carried else -force * row, rtol=0, atol=1e-12)
        assert found.binding == (() if carried else (cone.name,))


def test_what_is_no_limit_is_refused():
    robot, constraints, actuated, q, v, a = wheeled_robot('drive_with_arm')
    state = robot, q, v, a, constraints, actuated
    names = constraints[0].labels
    with pytest.raises(InvalidInputError, match='limits .*: need shape'):
        kd.limited_inverse_dynamics(*state, limits=[1.0])
    with pytest.raises(InvalidInputError, match="limits .*: need numbers >= 0, got -1 for 'left'"):
        kd.limited_inverse_dynamics(*state, limits=[1, 1, 1, -1, *[1] * (robot.nv - 4)])
    with pytest.raises(InvalidInputError, match="got nan for 'base_yaw'"):
        kd.limited_inverse_dynamics(*state, limits=[0, 0, np.nan, *[1] * (robot.nv - 3)])
    with pytest.raises(InvalidInputError, match='deviation: need numbers > 0'):
        kd.limited_inverse_dynamics(*state, deviation=np.zeros(robot.nv))
    with pytest.raises(NameNotFoundError, match="no constraint row named 'nose'"):
        kd.limited_inverse_dynamics(*state, cones=[kd.FrictionCone(['nose'], 0.5, 1.0)])
    with pytest.raises(InvalidInputError, match='cones: need a sequence of FrictionCone'):
        kd.limited_inverse_dynamics(*state, cones=kd.FrictionCone([names[0]], 0.5, 1.0))
    with pytest.raises(InvalidInputError, match='cones: need a sequence of FrictionCone'):
        kd.limited_inverse_dynamics(*state, cones=['ice'])
    with pytest.raises(InvalidInputError, match='friction must be >= 0'):
        kd.FrictionCone([names[0]], -0.5, 1.0)
    with pytest.raises(InvalidInputError, match='normal load .* must be >= 0'):
        kd.FrictionCone([names[0]], 0.5, -1.0)
    with pytest.raises(InvalidInputError, match='need rows for its friction, or friction 0'):
        kd.FrictionCone([], 0.5, names[0])
    with pytest.raises(InvalidInputError, match='share of row'):
        kd.FrictionCone({names[0]: np.inf}, 0.5, 1.0)


def test_a_contact_may_carry_a_share_of_a_row():
    names = ('side', 'left', 'right')
    cone = kd.FrictionCone({'left': 1.0, 'side': 0.5}, 0.5, 100.0).at(names)
    assert cone.margin(np.array([8.0, 3.0, 70.0])) == pytest.approx(50.0 - 5.0)
    assert (
        kd.FrictionCone(['left'], 0.5, 'side').at(names).margin(np.array([8.0, 3.0, 70.0])) == 1.0
    )
