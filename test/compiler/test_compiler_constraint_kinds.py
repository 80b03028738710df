# SPDX-License-Identifier: Apache-2.0
"""Compiled holonomic rows, loops closed by joints, coins and balls agree with the reference."""

import dataclasses

import numpy as np
import pytest
from kernel_cases import agree, agree_in_steps, error
from support.constraint_cases import CASES, Case, free_body, rows_at
from support.machines import planar_2r

import kane_dynamics as kd
from kane_dynamics.exceptions import ConstraintError

ROUNDOFF = 1e-12  # of a few hundred operations on numbers of size 1 to 100


def driven():
    """Return an arm whose second joint follows a law of time."""
    robot = planar_2r()
    drive = kd.constraints.holonomic(robot, lambda q, t: q[1] - np.sin(3.0 * t) * np.cos(q[0]))
    return Case(robot, drive, np.array([0.3, 0.9]), np.array([0.4, -0.2]), 0.7)


KINDS = {'holonomic': driven(), **{name: CASES[name] for name in ('hinge_door', 'round_tyre')}}


@pytest.mark.parametrize('name', CASES)
def test_traced_rows_of_every_kind(name):
    case = CASES[name]
    function = kd.casadi_function(case.robot, 'constraint_rows', (case.constraint,))
    A, b0, b, phi = (np.array(x) for x in function(case.q, case.v, case.t))
    rows = rows_at(case)
    assert error(A, rows.matrix) < ROUNDOFF
    assert error(b0.ravel(), rows.velocity) < ROUNDOFF
    assert error(b.ravel(), rows.acceleration) < ROUNDOFF
    for found, known in zip(phi.ravel(), rows.positions, strict=True):
        assert found == pytest.approx(known or 0.0, abs=ROUNDOFF)


@pytest.fixture(scope='module', params=KINDS)
def kind(request):
    case = KINDS[request.param]
    rows = (case.constraint,)
    q, v = kd.simulation.project(case.robot, rows, case.q, case.v, case.t)
    fast = kd.compile(case.robot, rows, cache=False)
    return dataclasses.replace(case, q=q, v=v), rows, fast


def test_motion(kind):
    case, rows, fast = kind
    tau = np.random.default_rng(1).uniform(-2, 2, case.robot.nv)
    agree(case.robot, rows, fast, case.q, case.v, tau, case.t, ROUNDOFF)
    assert fast.fallback_count == 0


def test_steps_with_projection(kind):
    case, rows, fast = kind
    start = case.q, case.v, case.t
    agree_in_steps(case.robot, rows, fast, start, np.zeros(case.robot.nv), 10)


def test_a_flat_coin_is_said_by_both_engines():
    """Regression: the compiled solve ended in NaN in silence."""
    body = free_body()
    coin = (kd.constraints.rolling_wheel(body, 'base', 0.1, (0, 0, 1)),)
    fast = kd.compile(body, coin, cache=False)
    flat, v = body.neutral(), np.zeros(6)
    for engine in (fast.acceleration, lambda *x: kd.forward_dynamics(body, *x, coin)):
        with pytest.raises(ConstraintError, match='the wheel lies flat'):
            engine(flat, v, v)
    tilted = flat.copy()
    tilted[3:5] = np.cos(0.3), np.sin(0.3)
    both, at_rest = np.array([tilted, flat]), np.zeros((2, 6))
    with pytest.raises(ConstraintError, match='state 1 of the batch.*the wheel lies flat'):
        fast.acceleration(both, at_rest, at_rest)
    assert np.isnan(fast.acceleration(flat * np.nan, v, v)).all()
