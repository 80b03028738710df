# SPDX-License-Identifier: Apache-2.0
"""The rank rule in compiled solves: the reference's decisions, at every state and at any time."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.base_robots import Spot, robot_on, steering_of
from support.machines import planar_2r, planar_body

import kane_dynamics as kd
from kane_dynamics.algorithms.row_elimination import eliminate, sparse_rows
from kane_dynamics.algorithms.traced_inverse_solve import PivotedSolve
from kane_dynamics.compiler.graphs.row_plan import row_plan, sample_at
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.constraints.row_selection import select_rows
from kane_dynamics.exceptions import InconsistentConstraintsError
from studies.rank_changes import gaps, mechanisms, steered_wheels

AGREEMENT = 1e-10


def test_both_engines_decide_alike_near_rank_changes():
    """The others, and 10^4 states: `python -m studies.rank_changes`."""
    mechanism = next(m for m in mechanisms() if m.robot.name == 'tilted_loop')
    found = gaps(mechanism, 40, seed=3, cache=False)
    assert 0 < found.dropped < found.states
    assert found.compiled < AGREEMENT
    assert found.worst < 1e-8


def brake(robot, joint, start):
    """Return a row that is zero before `start` [s] and stops a joint from then on."""
    unit = np.eye(robot.nv)[robot.velocity_index(joint)]
    return kd.constraints.pfaffian(
        robot, lambda q, t: unit * 0.5 * (1.0 + np.tanh(40.0 * (t - start))), label='brake'
    )


def ramp(x):
    """Return x where it is positive, else zero."""
    return 0.5 * (x + np.fabs(x))


def test_a_row_that_begins_to_bind_later_binds():
    """Regression: rows that were zero in the samples, t in [0, 1], were left out for good."""
    robot = planar_2r()
    rows = (brake(robot, robot.joint_names[1], 5.0),)
    assert row_plan(kd.constraints.ConstraintSet(robot, rows)).order == (0,)
    fast = kd.compile(robot, rows, cache=False)
    q, v, tau = np.array([0.3, -0.4]), np.zeros(2), np.array([3.0, -2.0])
    free = kd.forward_dynamics(robot, q, v, tau).acceleration
    for t, braked in ((0.0, False), (2.0, False), (6.0, True), (60.0, True)):
        got = fast.acceleration(q, v, tau, t)
        expected = kd.forward_dynamics(robot, q, v, tau, rows, time=t)
        assert_allclose(got, expected.acceleration, rtol=AGREEMENT, atol=AGREEMENT)
        assert expected.rank == int(braked)
        assert fast.forward_dynamics(q, v, tau, t).rank == int(braked)
        if braked:
            assert abs(got[1]) < 1e-12
        else:
            assert_allclose(got, free, rtol=AGREEMENT)
    assert fast.fallback_count == 0  # off or on, it is clear


def test_rows_that_contradict_from_some_time_on_raise_then():
    robot, zero = planar_body(2.0, 0.3, 0.0), np.zeros(3)
    c = kd.constraints
    late = c.pfaffian(robot, lambda q, t: np.eye(3)[0], lambda q, t: ramp(t - 5.0) ** 2)
    rows = (late, c.lock(robot, 'base'))
    fast = kd.compile(robot, rows, cache=False)
    assert_allclose(fast.acceleration(zero, zero, np.ones(3), 4.0), 0.0)
    for solve in (
        lambda: fast.acceleration(zero, zero, np.ones(3), 6.0),
        lambda: kd.forward_dynamics(robot, zero, zero, np.ones(3), rows, time=6.0),
    ):
        with pytest.raises(InconsistentConstraintsError):
            solve()


def test_what_repeats_others_in_the_samples_is_watched():
    """Two couplings that are one, but for a switch that no sample sees: both are solved for."""
    robot, c = planar_2r(), kd.constraints
    first = c.pfaffian(robot, lambda q, t: [1.0, 1.0], label='first')
    bent = c.pfaffian(robot, lambda q, t: [1.0, 1.0 + ramp(q[0] - 2.0)], label='bent')
    plan = row_plan(kd.constraints.ConstraintSet(robot, (first, bent)))
    assert plan.order == (0, 1)  # a switch: never left out
    smooth = c.pfaffian(robot, lambda q, t: [2.0, 2.0], label='smooth')
    plan = row_plan(kd.constraints.ConstraintSet(robot, (first, smooth)))
    assert (plan.order, plan.repeated) == ((0,), (1,))
    fast = kd.compile(robot, (first, bent), cache=False)
    for q0, rank in ((0.5, 1), (2.5, 2)):
        q, v, tau = np.array([q0, 0.3]), np.zeros(2), np.array([1.0, -2.0])
        expected = kd.forward_dynamics(robot, q, v, tau, (first, bent))
        assert expected.rank == rank
        got = fast.acceleration(q, v, tau)
        assert_allclose(got, expected.acceleration, rtol=AGREEMENT, atol=AGREEMENT)


def test_rows_of_what_cannot_move_have_one_choice():
    # no way to walk: roundoff of speeds must not send the samples anywhere
    robot, lock = planar_body(2.0, 0.3, 0.0), kd.constraints.lock
    twice = (lock(robot, 'base'), lock(robot, 'base'))
    plan = row_plan(kd.constraints.ConstraintSet(robot, twice))
    assert (plan.order, plan.repeated, plan.second) == ((0, 1, 2), (3, 4, 5), ())
    assert plan.solved == plan.order


def test_acceleration_and_motion_are_the_same():
    """Regression: of one compiled robot `motion` gave 15.5 rad/s^2 where the other gave 0."""
    mechanism = steered_wheels(3)
    robot, rng = mechanism.robot, np.random.default_rng(7)
    fast = kd.compile(robot, mechanism.constraints, cache=False)
    for turn in (0.0, 1e-9, 1e-6, 1e-4, 3e-2):
        q = mechanism.place(rng.uniform(-1, 1, robot.nq), turn, rng)
        tau, at_rest = rng.uniform(-5, 5, robot.nv), np.zeros(robot.nv)
        got = fast.acceleration(q, at_rest, tau)
        batch = fast.acceleration(np.tile(q, (9, 1)), at_rest, tau)
        motion = fast.forward_dynamics(q, at_rest, tau)
        bound = AGREEMENT * max(1.0, np.abs(got).max())  # where nothing moves, of roundoff alone
        assert_allclose(got, motion.acceleration, rtol=0, atol=bound)
        assert_allclose(batch, np.tile(got, (9, 1)), rtol=0, atol=bound)
        assert motion.rank == (9 if turn == 3e-2 else 8)


def swerve(half_length=0.3, half_width=0.2, radius=0.06):
    """Return the rows of a base on four steered wheels."""
    spots = [
        Spot(f'{end}{side}', x * half_length, y * half_width, steered=True, radius=radius, b=0.02)
        for end, x in (('f', 1), ('r', -1))
        for side, y in (('l', 1), ('r', -1))
    ]
    return kd.bases.swerve(robot_on(spots, arm=1), steering_of(spots))


def test_steered_wheels_are_solved_for_where_they_agree():
    # at random their angles never do; when the base moves they do, and two rows say it all
    base = swerve()
    rows = ConstraintSet(base.robot, base.constraints)
    plan = row_plan(rows)
    assert (len(plan.order), len(plan.agreeing), len(plan.balance.repeated)) == (7, 6, 2)
    rng, solved = np.random.default_rng(3), []
    along = np.arctan2(0.2, 0.3) + 0.5 * np.pi  # across a diagonal two lateral rows are one
    across = [(np.cos(one), np.sin(one), 0.0) for one in (along, -along, along + 0.05)]
    for twist in [*across, *rng.uniform(-1, 1, (40, 3))]:
        q = base.at_angles(base.steering_angles(twist).angles)
        found = rows.rows(q, np.zeros(base.robot.nv), 0.0)
        entries = [{k: x for k, x in enumerate(row) if x != 0.0} for row in found.matrix.tolist()]
        choices = plan.balance.system(found, entries).choices
        # good to 1e-10, see row_elimination
        solved.append([PivotedSolve(one, base.robot.nv).rcond > 1e-6 for one in choices])
    assert np.any(solved, axis=1).all()
    assert not np.all(solved[:3], axis=1).any()
    assert row_plan(ConstraintSet(base.robot, base.constraints[:2])).agreeing == ()


@pytest.mark.parametrize('size', [(0.3, 0.2), (0.25, 0.15), (0.6, 0.2), (0.35, 0.35)])
def test_forward_dynamics_of_steered_wheels_is_solved_where_they_agree(size):
    """Regression: rows that no sample found weak were certain; where the base moves all are."""
    base = swerve(*size)
    rows, rng, solved = ConstraintSet(base.robot, base.constraints), np.random.default_rng(3), []
    plan = row_plan(rows)
    for twist in rng.uniform(-1, 1, (40, 3)):
        q = base.at_angles(base.steering_angles(twist).angles)
        found, mass = sample_at(rows, q, np.zeros(base.robot.nv), 0.0)
        system = plan.system(found, sparse_rows(found.matrix))
        A = found.matrix[system.eliminated]
        gram = np.tril(A @ np.linalg.solve(mass, A.T)).tolist()
        lower = [line[: k + 1] for k, line in enumerate(gram)]
        solved.append(eliminate(system, lower).rcond > 1e-6)
    assert np.mean(solved) > 0.5


def test_rows_of_small_wheels_are_taken_in_any_order():
    # a wheel's own speed keeps its row apart from all others, however many there are
    for radius in (0.02, 0.06, 0.2):
        base = swerve(radius=radius)
        found = ConstraintSet(base.robot, base.constraints).rows(
            base.robot.neutral(), np.zeros(base.robot.nv), 0.0
        )
        rng = np.random.default_rng(0)
        taken = {
            len(select_rows(found.take(rng.permutation(8).tolist())).independent_indices)
            for _ in range(20)
        }
        assert taken == {6}
