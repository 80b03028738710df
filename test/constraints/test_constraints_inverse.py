# SPDX-License-Identifier: Apache-2.0
"""Efforts under constraints: back through forward dynamics, and what cannot be reached."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import null_space
from support.calculus import relative
from support.constraint_cases import Scaled
from support.machines import four_bar, four_bar_coordinates, shopping_cart, sled_with_arm
from support.wheeled_robots import ROBOTS, wheeled_robot

import kane_dynamics as kd
from kane_dynamics.exceptions import (
    InconsistentConstraintsError,
    InvalidInputError,
    NameNotFoundError,
    UnreachableAccelerationError,
)

# Roundoff of tau (1e-16 of 2 N m) over the smallest inertia (TIAGo's last joint: 4e-6 kg m^2), as
# it stands after a chain of 15; measured 1e-10.
BACK = 1e-9


@pytest.fixture(params=ROBOTS)
def problem(request):
    """Return a wheeled robot, its constraints, actuated names, and an allowed q, v, a."""
    return wheeled_robot(request.param)


def test_forward_dynamics_gives_the_accelerations_back(problem):
    robot, constraints, actuated, q, v, a = problem
    result = kd.constrained_inverse_dynamics(robot, q, v, a, constraints, actuated)
    passive = [n for n in robot.velocity_names if n not in actuated]
    assert not result.effort[[robot.velocity_index(n) for n in passive]].any()
    motion = kd.forward_dynamics(robot, q, v, result.effort, constraints)
    assert relative(motion.acceleration, a) < BACK
    assert result.labels == motion.labels
    force = kd.constraints.ConstraintSet(robot, constraints).rows(q.tolist(), v.tolist(), 0.0)
    assert relative(force.matrix.T @ result.multipliers, motion.constraint_force) < BACK
    assert relative(result.multipliers, motion.multipliers) < BACK
    assert result.residual < 1e-9
    assert result.rank == robot.nv


def test_external_wrench_is_balanced(problem):
    robot, constraints, actuated, q, v, a = problem
    wrench = {robot.bodies[-1].name: (0.3, -0.2, 0.5, 4.0, -2.0, 6.0)}
    result = kd.constrained_inverse_dynamics(
        robot, q, v, a, constraints, actuated, external_wrenches=wrench
    )
    motion = kd.forward_dynamics(robot, q, v, result.effort, constraints, external_wrenches=wrench)
    assert relative(motion.acceleration, a) < BACK


def test_completed_acceleration_keeps_what_is_given(problem):
    robot, constraints, actuated, q, v, _ = problem
    wished = np.random.default_rng(8).uniform(-1, 1, robot.nv)
    a = kd.consistent_acceleration(robot, q, v, wished, constraints, actuated)
    columns = [robot.velocity_index(n) for n in actuated]
    assert_array_equal(a[columns], wished[columns])
    rows = kd.constraints.ConstraintSet(robot, constraints).rows(q.tolist(), v.tolist(), 0.0)
    assert relative(rows.matrix @ a, rows.acceleration) < 1e-12
    again = kd.consistent_acceleration(robot, q, v, a, constraints, robot.velocity_names)
    assert_array_equal(again, a)


def test_acceleration_that_breaks_the_constraints(problem):
    robot, constraints, actuated, q, v, a = problem
    sideways = a.copy()
    sideways[:2] += 0.5 * np.array([-np.sin(q[2]), np.cos(q[2])])
    with pytest.raises(UnreachableAccelerationError, match='violate the constraints') as caught:
        kd.constrained_inverse_dynamics(robot, q, v, sideways, constraints, actuated)
    assert caught.value.names == ('base/no_side_slip',)
    assert caught.value.residual == pytest.approx(0.5)
    wish = (robot, q, v, sideways, constraints, robot.velocity_names)
    with pytest.raises(InconsistentConstraintsError, match='contradict') as caught:
        kd.consistent_acceleration(*wish)
    assert caught.value.residual == pytest.approx(0.5)


def test_acceleration_that_no_actuator_makes(problem):
    robot, constraints, actuated, q, v, a = problem
    last = actuated[-1]
    without = [name for name in actuated if name != last]
    with pytest.raises(UnreachableAccelerationError, match='no actuator or constraint') as caught:
        kd.constrained_inverse_dynamics(robot, q, v, a, constraints, without)
    assert caught.value.names == (last,)
    force = kd.constrained_inverse_dynamics(robot, q, v, a, constraints, actuated)
    expected = abs(force.effort[robot.velocity_index(last)])
    assert caught.value.residual == pytest.approx(expected, rel=1e-6)


def test_a_name_given_twice_counts_once(problem):
    """Regression: an actuator named twice lost half of its effort, a given one counted twice."""
    robot, constraints, actuated, q, v, a = problem
    twice = [*actuated, *actuated]
    once = kd.constrained_inverse_dynamics(robot, q, v, a, constraints, actuated)
    result = kd.constrained_inverse_dynamics(robot, q, v, a, constraints, twice)
    assert_allclose(result.effort, once.effort, rtol=0, atol=1e-12)
    assert_array_equal(
        kd.consistent_acceleration(robot, q, v, a, constraints, twice),
        kd.consistent_acceleration(robot, q, v, a, constraints, actuated),
    )


def test_undetermined_acceleration(problem):
    robot, constraints, actuated, q, v, a = problem
    with pytest.raises(UnreachableAccelerationError, match='determine 3 of these') as caught:
        kd.consistent_acceleration(robot, q, v, a, constraints, actuated[:-1])
    assert actuated[-1] in caught.value.names
    with pytest.raises(UnreachableAccelerationError, match='determine 0 of these'):
        kd.consistent_acceleration(robot, q, v, a, (), actuated)


def test_unconstrained_robot_with_all_actuators(problem):
    robot, _, _, q, v, a = problem
    names = robot.velocity_names
    result = kd.constrained_inverse_dynamics(robot, q, v, a, (), names)
    assert relative(result.effort, kd.inverse_dynamics(robot, q, v, a)) < 1e-12
    assert_array_equal(kd.consistent_acceleration(robot, q, v, a, (), names), a)
    with pytest.raises(UnreachableAccelerationError):
        kd.constrained_inverse_dynamics(robot, q, v, a, (), names[3:])


def test_more_actuators_than_freedoms():
    # a four-bar linkage with all joints driven: one freedom, rank 4 of 4 + 6 columns
    robot, q = four_bar(), four_bar_coordinates(0.9)
    loop = kd.constraints.loop_closure(robot, 'coupler_end', 'rocker_end')
    v, tau = np.zeros(4), np.array([1.0, 0.0, 0.0, 0.0])
    a = kd.forward_dynamics(robot, q, v, tau, (loop,)).acceleration
    crank_only = kd.constrained_inverse_dynamics(robot, q, v, a, (loop,), ['crank'])
    assert_allclose(crank_only.effort, tau, rtol=0, atol=1e-10)
    every = kd.constrained_inverse_dynamics(robot, q, v, a, (loop,), robot.velocity_names)
    assert every.rank == 4
    motion = kd.forward_dynamics(robot, q, v, every.effort, (loop,))
    assert_allclose(motion.acceleration, a, rtol=0, atol=1e-9)
    # the split is a choice of norm, but not one of how the user scales the rows
    scaled = kd.constrained_inverse_dynamics(
        robot, q, v, a, (Scaled(loop, 1e3),), robot.velocity_names
    )
    assert_allclose(scaled.effort, every.effort, rtol=0, atol=1e-12)


def test_terms_are_those_of_the_equation_of_motion(problem):
    robot, _, _, q, v, a = problem
    expected = {
        'inertia': kd.mass_matrix(robot, q) @ a,
        'coriolis': kd.coriolis_matrix(robot, q, v) @ v,
        'gravity': kd.gravity_force(robot, q),
        'friction': kd.friction_force(robot, v),
    }
    for name, force in expected.items():
        found = kd.constrained_inverse_dynamics(
            robot, q, v, a, (), robot.velocity_names, terms=(name,)
        )
        assert relative(found.effort, force) < 1e-12, name
    with pytest.raises(InvalidInputError, match=r"terms must be one of \['inertia'"):
        kd.constrained_inverse_dynamics(robot, q, v, a, (), robot.velocity_names, terms=('mass',))


def test_parts_of_the_result(problem):
    robot, constraints, actuated, q, v, a = problem
    found = kd.constrained_inverse_dynamics(robot, q, v, a, constraints, actuated)
    count = len(found.labels)
    parts = found.effort, found.multipliers, found.velocity, found.acceleration
    assert [len(part) for part in parts] == [robot.nv, count, robot.nv, robot.nv]
    assert_array_equal(np.concatenate(parts), found.numbers[:-3])
    assert_array_equal(found.numbers[-3:], [found.rank, found.residual, found.velocity_residual])
    assert found.rank == robot.nv
    assert isinstance(found.residual, float)
    driven = [robot.velocity_index(name) for name in actuated]
    assert found.residual < 1e-9 < np.abs(found.effort[driven]).min()
    shaken = v + 1e-3  # off the rows
    a = kd.consistent_acceleration(robot, q, shaken, a, constraints, actuated)
    found = kd.constrained_inverse_dynamics(robot, q, shaken, a, constraints, actuated)
    rows = kd.constraints.ConstraintSet(robot, constraints).rows(q.tolist(), shaken.tolist(), 0.0)
    violation = np.linalg.norm(rows.matrix @ shaken - rows.velocity)
    assert found.velocity_residual == pytest.approx(violation)
    assert violation > 1e-5
    assert 'effort=array' in repr(found)


def test_speeds_beside_a_row_that_moves():
    robot = sled_with_arm()
    row = kd.constraints.pfaffian(robot, lambda q, t: np.eye(robot.nv)[3], lambda q, t: 0.3)
    at_rest = np.zeros(robot.nv)
    state = robot.neutral(), 0.5 * np.eye(robot.nv)[3], at_rest
    found = kd.constrained_inverse_dynamics(robot, *state, (row,), robot.velocity_names)
    assert found.velocity_residual == pytest.approx(0.2)


@pytest.mark.parametrize('weight', [1.0, 10.0])
def test_shared_efforts_are_the_least(weight):
    # of all efforts that move the linkage so: what moves it not, e = A' y, only adds to them
    robot, q = four_bar(), four_bar_coordinates(0.9)
    loop = kd.constraints.loop_closure(robot, 'coupler_end', 'rocker_end')
    v, names = np.zeros(4), robot.velocity_names
    a = kd.forward_dynamics(robot, q, v, np.array([1.0, 0.0, 0.0, 0.0]), (loop,)).acceleration
    weights = np.array([weight, 1.0, 2.0, 1.0])
    result = kd.constrained_inverse_dynamics(robot, q, v, a, (loop,), names, weights)
    rows = kd.constraints.ConstraintSet(robot, (loop,)).rows(q.tolist(), v.tolist(), 0.0)
    # least sum w tau^2 among tau + A' y: A W tau = 0
    assert_allclose(rows.matrix @ (weights * result.effort), 0.0, rtol=0, atol=1e-12)
    assert np.abs(result.effort).max() > 1e-2
    motion = kd.forward_dynamics(robot, q, v, result.effort, (loop,))
    assert_allclose(motion.acceleration, a, rtol=0, atol=1e-9)


def test_weights_are_positive(problem):
    robot, constraints, actuated, q, v, a = problem
    weights = np.ones(robot.nv)
    weights[robot.velocity_index(actuated[0])] = 0.0
    with pytest.raises(InvalidInputError, match='weights: need numbers > 0, got 0'):
        kd.constrained_inverse_dynamics(robot, q, v, a, constraints, actuated, weights)
    unused = [k for k in range(robot.nv) if robot.velocity_names[k] not in actuated]
    weights = np.ones(robot.nv)
    weights[unused] = -1.0
    kd.constrained_inverse_dynamics(robot, q, v, a, constraints, actuated, weights)


def test_motion_is_completed_from_what_is_known(problem):
    robot, constraints, actuated, q, v, a = problem
    vague_v, vague_a = v.copy(), a.copy()
    rest = [k for k in range(robot.nv) if robot.velocity_names[k] not in actuated]
    vague_v[rest], vague_a[rest] = 7.0, -5.0
    result = kd.constrained_inverse_dynamics(
        robot, q, vague_v, vague_a, constraints, actuated, known=actuated
    )
    expected = kd.constrained_inverse_dynamics(robot, q, v, a, constraints, actuated)
    assert_allclose(result.velocity, v, rtol=0, atol=1e-12)
    assert_allclose(result.acceleration, a, rtol=0, atol=1e-11)
    assert relative(result.effort, expected.effort) < 1e-11
    assert_allclose(
        kd.consistent_velocity(robot, q, vague_v, constraints, actuated), v, rtol=0, atol=1e-12
    )


def test_nearest_speeds_are_what_an_impulse_leaves(problem):
    # M (v+ - v) = A' p: the change has no part along any motion that the rows allow
    robot, constraints, _, q, v, a = problem
    for after, x, side in (
        (kd.consistent_velocity(robot, q, 1.3 * v + a, constraints), 1.3 * v + a, 'velocity'),
        (kd.consistent_acceleration(robot, q, v, 1.3 * a, constraints), 1.3 * a, 'acceleration'),
    ):
        rows = kd.constraints.ConstraintSet(robot, constraints).rows(q.tolist(), v.tolist(), 0.0)
        assert relative(rows.matrix @ after, getattr(rows, side)) < 1e-11
        allowed = null_space(rows.matrix)
        impulse = kd.mass_matrix(robot, q) @ (after - x)
        assert relative(allowed.T @ impulse, np.zeros(allowed.shape[1])) < 1e-11
        assert np.abs(after - x).max() > 1e-3


def test_rheonomic_rows_use_the_time():
    robot = shopping_cart()
    q, v = np.zeros(4), np.zeros(4)
    driven = (
        kd.constraints.pfaffian(robot, lambda q, t: np.eye(4)[2], lambda q, t: t**2, 'turn'),
    )
    a = kd.consistent_acceleration(
        robot, q, v, np.zeros(4), driven, ['base_x', 'base_y', 'caster'], time=0.5
    )
    assert_allclose(a, (0, 0, 1.0, 0), rtol=0, atol=1e-13)
    result = kd.constrained_inverse_dynamics(
        robot, q, v, a, driven, ['base_x', 'base_y', 'caster'], time=0.5
    )
    motion = kd.forward_dynamics(robot, q, v, result.effort, driven, time=0.5)
    assert_allclose(motion.acceleration, a, rtol=0, atol=1e-13)
    with pytest.raises(UnreachableAccelerationError):
        kd.constrained_inverse_dynamics(
            robot, q, v, a, driven, ['base_x', 'base_y', 'caster'], time=0.7
        )


def test_bad_arguments(problem):
    robot, constraints, actuated, q, v, a = problem
    for function in (kd.constrained_inverse_dynamics, kd.consistent_acceleration):
        with pytest.raises(NameNotFoundError, match='nose'):
            function(robot, q, v, a, constraints, ['nose'])
        with pytest.raises(InvalidInputError, match=r'^a: '):
            function(robot, q, v, a[:-1], constraints, actuated)
        with pytest.raises(InvalidInputError, match=r'^q: '):
            function(robot, q * np.nan, v, a, constraints, actuated)
        with pytest.raises(InvalidInputError, match='time'):
            function(robot, q, v, a, constraints, actuated, time=np.inf)


def test_arguments_are_not_written(problem):
    robot, constraints, actuated, *state = problem
    kept = [x.copy() for x in state]
    kd.constrained_inverse_dynamics(robot, *state, constraints, actuated)
    kd.consistent_acceleration(robot, *state, constraints, actuated)
    for x, before in zip(state, kept, strict=True):
        assert_array_equal(x, before)
