# SPDX-License-Identifier: Apache-2.0
"""What every kind of constraint must do: exact b, A vdot = b, no power, redundancy and scaling."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.calculus import along, derivative, relative
from support.constraint_cases import CASES, Scaled, rows_at

import kane_dynamics as kd

DIFFERENCES = 1e-10  # first derivatives of order 8, see support.calculus; measured 1e-13
SOLVED = 1e-10  # roundoff of an SVD and two triangular solves, condition of M up to 1e4


@pytest.fixture(params=CASES, ids=CASES)
def case(request):
    """Return a robot with one constraint and a state."""
    return CASES[request.param]


def some_effort(robot):
    """Return efforts that differ per joint."""
    return np.random.default_rng(2).uniform(-3.0, 3.0, robot.nv)


def motion_of(case, constraints=None, v=None):
    """Return the constrained motion of a case."""
    return kd.forward_dynamics(
        case.robot,
        case.q,
        case.v if v is None else v,
        some_effort(case.robot),
        (case.constraint,) if constraints is None else constraints,
        time=case.t,
    )


def allowed_speeds(case):
    """Return the speeds nearest to those of the case that satisfy A v = b_0."""
    rows = rows_at(case)
    return case.v + np.linalg.pinv(rows.matrix) @ (rows.velocity - rows.matrix @ case.v)


@pytest.mark.claim(28)
def test_right_side_is_the_derivative_of_the_rows_for_any_speed(case):
    # b = d/dt b_0 - dA/dt v along the motion; v does not satisfy A v = b_0
    rows = rows_at(case)
    if 'lock' not in rows.labels[0]:
        assert np.abs(rows.matrix @ case.v - rows.velocity).max() > 1e-2
    path = along(case.robot, case.q, case.v)

    def slip(s):
        moved = rows_at(case, path(s), t=case.t + s)
        return moved.matrix @ case.v - moved.velocity

    assert relative(rows.acceleration, -derivative(slip)) < DIFFERENCES


def test_rows_depend_on_configuration_and_time_only(case):
    rows, other = rows_at(case), rows_at(case, v=-2.0 * case.v)
    assert_allclose(other.matrix, rows.matrix, rtol=0, atol=1e-15)
    assert_allclose(other.velocity, rows.velocity, rtol=0, atol=0)


def test_each_row_has_its_own_label(case):
    rows = rows_at(case)
    assert rows.matrix.shape == (len(rows.labels), case.robot.nv)
    assert len(set(rows.labels)) == len(rows.labels)
    assert rows.labels == tuple(case.constraint.labels)


def test_acceleration_satisfies_the_rows(case):
    rows, motion = rows_at(case), motion_of(case)
    assert relative(rows.matrix @ motion.acceleration, rows.acceleration) < SOLVED
    assert motion.residual == pytest.approx(
        np.linalg.norm(rows.matrix @ motion.acceleration - rows.acceleration), abs=1e-14
    )
    assert motion.labels == rows.labels


@pytest.mark.claim(38)
def test_constraint_force_is_what_newton_needs(case):
    # M vdot + C v + g + friction = tau + A' lambda, the constraint force on the right
    motion = motion_of(case)
    needed = kd.inverse_dynamics(case.robot, case.q, case.v, motion.acceleration)
    force = needed - some_effort(case.robot)
    assert relative(motion.constraint_force, force) < SOLVED
    assert relative(rows_at(case).matrix.T @ motion.multipliers, force) < SOLVED


@pytest.mark.claim(16)
def test_constraint_force_does_no_work_on_allowed_speeds(case):
    v = allowed_speeds(case)
    rows = rows_at(case, v=v)
    assert_allclose(rows.matrix @ v, rows.velocity, rtol=0, atol=1e-12)
    motion = motion_of(case, v=v)
    assert relative(motion.constraint_force, np.zeros(case.robot.nv)) > 1e-3
    work = v @ motion.constraint_force - rows.velocity @ motion.multipliers
    assert abs(work) < SOLVED * (1.0 + np.abs(motion.constraint_force).max())


@pytest.mark.claim(16)
def test_repeated_rows_change_nothing(case):
    once, twice = motion_of(case), motion_of(case, (case.constraint, case.constraint))
    assert twice.rank == once.rank <= len(once.labels)
    assert relative(twice.acceleration, once.acceleration) < SOLVED
    assert relative(twice.constraint_force, once.constraint_force) < SOLVED
    shared = twice.multipliers.reshape(2, -1)
    assert_allclose(shared[0], shared[1], rtol=0, atol=SOLVED * (1 + np.abs(shared).max()))


@pytest.mark.parametrize('factor', [1e-6, -1e4])
def test_scaling_rows_changes_nothing(case, factor):
    plain, scaled = motion_of(case), motion_of(case, (Scaled(case.constraint, factor),))
    assert scaled.rank == plain.rank
    assert relative(scaled.acceleration, plain.acceleration) < SOLVED
    assert relative(factor * scaled.multipliers, plain.multipliers) < SOLVED


def another_row(robot):
    """Return one more constraint, independent of any other here: a row without a zero."""
    return kd.constraints.pfaffian(
        robot, lambda q, t: np.linspace(1.0, 2.0, robot.nv), label='one'
    )


def test_scaling_one_of_two_constraints_changes_nothing(case):
    row = another_row(case.robot)
    plain = motion_of(case, (row, case.constraint))
    scaled = motion_of(case, (Scaled(row, 1e-6), case.constraint))
    assert scaled.rank == plain.rank == motion_of(case).rank + 1
    assert relative(scaled.acceleration, plain.acceleration) < SOLVED


def test_order_of_constraints_changes_only_the_order_of_multipliers(case):
    row = another_row(case.robot)
    first, second = (
        motion_of(case, (row, case.constraint)),
        motion_of(case, (case.constraint, row)),
    )
    assert first.labels == ('one', *case.constraint.labels)
    assert second.labels == (*case.constraint.labels, 'one')
    assert relative(np.roll(second.multipliers, 1), first.multipliers) < SOLVED
