# SPDX-License-Identifier: Apache-2.0
"""Redundant, contradictory, vanishing and time-dependent rows in compiled solves."""

import dataclasses

import numpy as np
import pytest
from kernel_cases import AGREEMENT, DEAD_CENTRE, agree, agree_in_steps, error
from numpy.testing import assert_allclose
from support.constraint_cases import Scaled
from support.machines import (
    differential_drive,
    four_bar,
    four_bar_coordinates,
    planar_2r,
    planar_body,
    turned,
)
from support.trees import random_state

import kane_dynamics as kd
from kane_dynamics.compiler.graphs.row_plan import row_plan
from kane_dynamics.constraints.base import Row
from kane_dynamics.exceptions import InconsistentConstraintsError


def rows_kept(fast):
    """Return how many constraint rows the compiled solve has."""
    return len(fast._plan.order)


@pytest.fixture(scope='module')
def machine():
    robot = differential_drive()
    c = kd.constraints
    rolling = tuple(c.rolling_wheel(robot, joint, 0.0975) for joint in ('left', 'right'))
    return robot, rolling, kd.compile(robot, rolling, cache=False)


class TestTwoWheelsOnOneAxle:
    """Each wheel says that the axle does not slip sideways: four rows of rank three."""

    def test_same_accelerations(self, machine, rng):
        robot, rolling, fast = machine
        assert rows_kept(fast) == 3
        for _ in range(5):
            q, v, tau = random_state(robot, rng)
            v = kd.simulation.project(robot, rolling, q, v, 0.0)[1]
            assert agree(robot, rolling, fast, q, v, tau).rank == 3
        assert fast.fallback_count == 0

    def test_multipliers_are_shared_out_as_by_the_reference(self, machine, rng):
        robot, rolling, fast = machine
        q, _, tau = random_state(robot, rng)
        motion = fast.forward_dynamics(q, np.zeros(5), tau)
        assert len(motion.multipliers) == len(motion.labels) == 4
        lateral = [k for k, label in enumerate(motion.labels) if label.endswith('lateral')]
        assert motion.multipliers[lateral[0]] == pytest.approx(motion.multipliers[lateral[1]])

    def test_steps(self, machine):
        robot, rolling, fast = machine
        start = [0, 0, 0.3, 0, 0], [0.5, 0.2, 0.4, 3.0, 5.0]
        agree_in_steps(robot, rolling, fast, start, [0, 0, 0, 0.3, 0.1], 20)


def test_planar_loop_keeps_half_of_its_rows(pair, rng):
    case, fast = pair('linkage')
    assert rows_kept(fast) == 3
    before = fast.fallback_count
    for _ in range(10):
        agree(case.robot, case.constraints, fast, *case.state(rng))
    assert fast.fallback_count == before


def test_loop_in_a_tilted_plane():
    """Regression: three of its rows are roundoff, which scaled to unit length passed for rows."""
    flat, turn = four_bar(), turned((3**-0.5,) * 3, 0.7)
    bodies = [
        body if body.parent else dataclasses.replace(body, placement=turn * body.placement)
        for body in flat.bodies
    ]
    ends = {name: flat.frames[name] for name in ('coupler_end', 'rocker_end')}
    robot = kd.Robot('tilted', bodies, (1.0, -9.0, 2.0), ends)
    loop = (kd.constraints.loop_closure(robot, *ends),)
    assert len(row_plan(kd.constraints.ConstraintSet(robot, loop)).order) == 3
    fast, q = kd.compile(robot, loop, cache=False), four_bar_coordinates(1.1)
    v = kd.simulation.project(robot, loop, q, np.array([1.0, 0, 0, 0]), 0.0)[1]
    assert agree(robot, loop, fast, q, v, np.array([0.1, 0.2, 0.3, 0.4])).rank == 3
    assert fast.fallback_count == 0


@pytest.mark.parametrize('crank', [0.0, np.pi])
def test_rows_that_vanish_at_a_dead_centre(crank, pair):
    """Regression: stretched along one line a row of the loop is zero (0/0 passed for a healthy
    pivot), folded it is 1e-16 (which passed for a row)."""
    case, fast = pair('linkage')
    q, at_rest, tau = np.array([crank, 0, 0, 0]), np.zeros(4), np.array([0.1, 0.2, 0.3, 0.4])
    before = fast.fallback_count
    expected = kd.forward_dynamics(case.robot, q, at_rest, tau, case.constraints)
    assert expected.rank == 2
    assert error(fast.acceleration(q, at_rest, tau), expected.acceleration) < AGREEMENT
    assert fast.fallback_count == before
    found = fast.forward_dynamics(q, at_rest, tau)
    assert error(found.multipliers, expected.multipliers) < AGREEMENT
    rows = fast.acceleration(np.tile(q, (9, 1)), at_rest, tau)
    assert error(rows, np.tile(expected.acceleration, (9, 1))) < AGREEMENT
    assert fast.fallback_count == before


def test_rows_that_coincide_at_a_special_state(pair, rng):
    case, fast = pair('dead_centre')
    q, v = DEAD_CENTRE
    assert rows_kept(fast) == 2
    before = fast.fallback_count
    for _ in range(3):
        tau = rng.uniform(-1, 1, 4)
        assert agree(case.robot, case.constraints, fast, q, v, tau).rank == 1
    assert (
        fast.fallback_count == before + 3
    )  # a Motion of rows that may repeat is the rule's anyway


@pytest.mark.parametrize('angle', [0.3, 0.1, 0.05, 0.03, 0.02, 0.01, 1e-3, 1e-4])
def test_rows_that_nearly_coincide(angle, pair, rng):
    # on both sides of the limit of the compiled solve the contract holds; right above it the
    # squared angle costs six digits
    case, fast = pair('dead_centre')
    before = fast.fallback_count
    for _ in range(10):
        q = np.r_[angle, rng.uniform(-1, 1, 3)]
        start, tau = rng.uniform(-1, 1, (2, 4))
        v = kd.simulation.project(case.robot, case.constraints, q, start, 0.0)[1]
        expected = kd.forward_dynamics(case.robot, q, v, tau, case.constraints)
        assert error(fast.acceleration(q, v, tau), expected.acceleration) < AGREEMENT
    assert fast.fallback_count == before


def test_contradiction_at_a_special_state_raises(pair):
    case, fast = pair('dead_centre')
    # the second row asks for -v0^2 more than the first; below a hundredth of the accelerations
    # themselves that passes for drift, and is in the residual
    q, v = DEAD_CENTRE[0], 3.0 * np.array([1.0, -1.0, 1.0, 0.0])
    drift = fast.forward_dynamics(q, v / 3.0, np.ones(4))
    assert (drift.rank, drift.residual) == (1, pytest.approx(1.0))
    for solve in (fast.acceleration, fast.forward_dynamics):
        with pytest.raises(InconsistentConstraintsError, match='rank 1'):
            solve(q, v, np.ones(4))


def test_contradictory_rows_raise_at_the_state():
    robot, c, zero = planar_body(1.0, 1.0, 0.0), kd.constraints, np.zeros(3)
    one = c.pfaffian(robot, lambda q, t: [1.0, 0.0, 0.0], lambda q, t: 1.0)
    two = c.pfaffian(robot, lambda q, t: [2.0, 0.0, 0.0], lambda q, t: 1.0)
    fast = kd.compile(robot, (one, two), cache=False)
    for solve in (fast.acceleration, fast.forward_dynamics):
        with pytest.raises(InconsistentConstraintsError, match='speed'):
            solve(zero, np.array([1.0, 0.0, 0.0]), zero)
    push = c.pfaffian(robot, lambda q, t: [1.0, 0.0, 0.0], lambda q, t: t)
    fast = kd.compile(robot, (push, c.lock(robot, 'base')), cache=False)
    with pytest.raises(InconsistentConstraintsError):
        fast.acceleration(zero, zero, zero, 0.5)
    assert fast.fallback_count == 1  # the reference was asked, although it has no answer


def test_violations_of_positions_and_speeds(rng):
    # Phi = y - 0.3 t - 0.1 is violated by what it is, and time is in nothing else
    robot = planar_body(1.0, 1.0, 0.0)
    ramp = kd.constraints.holonomic(robot, lambda q, t: q[1] - 0.3 * t - 0.1)
    blade = kd.constraints.no_side_slip(robot)
    fast = kd.compile(robot, (ramp, blade), cache=False)
    q, v, tau = rng.uniform(-1.0, 1.0, (3, 3))
    motion = agree(robot, (ramp, blade), fast, q, v, tau, 0.7)
    assert_allclose(motion.position_violation, [q[1] - 0.31, 0.0], atol=1e-15)
    slip = [v[1] - 0.3, v[1] * np.cos(q[2]) - v[0] * np.sin(q[2])]
    assert_allclose(motion.velocity_violation, slip, atol=1e-15)
    assert motion.velocity_residual == pytest.approx(np.linalg.norm(slip))


def test_repeated_and_scaled_rows(pair, rng):
    case, _ = pair('sled')
    (blade,) = case.constraints
    both = (Scaled(blade, -40.0), blade, Scaled(blade, 1e-4))
    fast = kd.compile(case.robot, both, cache=False)
    assert rows_kept(fast) == 1
    q, v, tau = case.state(rng)
    expected = kd.forward_dynamics(case.robot, q, v, tau, both)
    assert error(fast.acceleration(q, v, tau), expected.acceleration) < AGREEMENT
    assert error(fast.forward_dynamics(q, v, tau).multipliers, expected.multipliers) < AGREEMENT


def test_rows_that_are_always_zero(pair, rng):
    robot = pair('planar_2r')[0].robot
    empty = kd.constraints.pfaffian(robot, lambda q, t: np.zeros(2), label='empty')
    fast = kd.compile(robot, (empty,), cache=False)
    assert rows_kept(fast) == 0
    q, v, tau = random_state(robot, rng)
    agree(robot, (empty,), fast, q, v, tau)
    agree_in_steps(robot, (empty,), fast, (q, v), tau, 3)


def test_every_speed_is_held(pair, rng):
    robot = pair('planar_2r')[0].robot
    hold = tuple(kd.constraints.lock(robot, name) for name in robot.joint_names)
    fast = kd.compile(robot, hold, cache=False)
    q, _, tau = random_state(robot, rng)
    expected = agree(robot, hold, fast, q, np.zeros(2), tau)
    assert_allclose(fast.acceleration(q, np.zeros(2), tau), 0.0, atol=1e-14)
    holding = kd.bias_force(robot, q, np.zeros(2)) - tau
    assert_allclose(expected.constraint_force, holding, rtol=1e-12)


@pytest.fixture(scope='module')
def driven():
    robot = planar_2r()
    law = kd.constraints.pfaffian(
        robot,
        lambda q, t: t * np.array([1.0, np.cos(q[1])]),
        lambda q, t: np.sin(3.0 * t) + q[0] * t,
        'law',
    )
    return robot, (law,), kd.compile(robot, (law,), cache=False)


class TestTimeDependentRows:
    """A row whose coefficients are zero at t = 0 and whose right side moves with t."""

    @pytest.mark.parametrize('t', [0.05, 0.7, 20.0])
    def test_same_accelerations(self, t, driven, rng):
        robot, law, fast = driven
        assert rows_kept(fast) == 1
        q, start, tau = random_state(robot, rng)
        v = kd.simulation.project(robot, law, q, start, t)[1]
        agree(robot, law, fast, q, v, tau, t)
        assert fast.fallback_count == 0

    def test_batch_with_one_or_with_many_times(self, driven, rng):
        robot, law, fast = driven
        q, v, tau = rng.uniform(-1, 1, (3, 6, 2))
        times = rng.uniform(0.5, 2.0, (6, 1))
        rows = fast.acceleration(q, v, tau, times)
        for k in range(6):
            expected = kd.forward_dynamics(robot, q[k], v[k], tau[k], law, time=times[k, 0])
            assert error(rows[k], expected.acceleration) < AGREEMENT
        same = fast.acceleration(q, v, tau, times[2, 0])
        assert error(same[2], rows[2]) < 1e-13
        assert error(fast.acceleration(q, v, tau, time=times[2, 0])[2], rows[2]) < 1e-13

    def test_times_are_numbers(self, driven):
        _, _, fast = driven
        nothing = np.zeros(2)
        for wrong in (np.zeros((2, 2)), 'soon', np.nan):
            with pytest.raises(kd.exceptions.InvalidInputError, match=r'time \[s\]: need'):
                fast.acceleration(nothing, nothing, nothing, wrong)

    @pytest.mark.parametrize('integrator', ['semi_implicit', 'rk4', 'midpoint'])
    def test_steps_follow_the_law(self, integrator, driven):
        robot, law, fast = driven
        start = [0.3, -0.4], [0.5, 0.2], 0.5
        simulation = agree_in_steps(
            robot, law, fast, start, [0.1, -0.2], 20, integrator=integrator
        )
        q, v, t = simulation.q, simulation.v, simulation.time
        slip = t * (v[0] + np.cos(q[1]) * v[1]) - np.sin(3.0 * t) - q[0] * t
        assert abs(slip) < 1e-13

    def test_vanishing_at_the_start(self, driven):
        # at t = 0 the row is 0 v = 0 with b = 3 + q_0 - (v_0 + cos q_1 v_1)
        robot, law, fast = driven
        q, v, tau = np.array([0.2, 0.0]), np.array([3.2, 0.0]), np.array([0.3, 0.4])
        before = fast.fallback_count
        expected = kd.forward_dynamics(robot, q, v, tau, law).acceleration
        assert error(fast.acceleration(q, v, tau, 0.0), expected) < AGREEMENT
        assert fast.fallback_count == before


@dataclasses.dataclass(frozen=True)
class UnevenTrack:
    """A user's own constraint: the first speed is a function of the second coordinate."""

    labels = ('track',)

    def rows(self, robot, q, v, t):
        return [Row({0: 1.0, 1: q[1] * q[1]}, 0.0, -2.0 * q[1] * v[1] * v[1])]


def test_a_constraint_of_a_users_class(pair, rng):
    robot = pair('planar_2r')[0].robot
    fast = kd.compile(robot, (UnevenTrack(),), cache=False)
    for _ in range(3):
        agree(robot, (UnevenTrack(),), fast, *random_state(robot, rng))
