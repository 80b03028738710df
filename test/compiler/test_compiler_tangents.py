# SPDX-License-Identifier: Apache-2.0
"""Derivatives of robots whose code is loops, against Pinocchio, differences and graphs."""

import numpy as np
import pytest
from kernel_cases import CASES, DEAD_CENTRE, error
from support.calculus import along, derivative
from support.trees import random_state, tree_and_state

import kane_dynamics as kd
from kane_dynamics.compiler import recipe
from kane_dynamics.exceptions import InvalidInputError, PerformanceWarning
from studies.random_robots import KINDS

pytestmark = pytest.mark.filterwarnings('ignore::kane_dynamics.exceptions.PerformanceWarning')
EXACT = 1e-10  # relative to the largest entry; two solves of condition 1e4 in other orders


def with_derivatives(monkeypatch, robot, rows=()):
    """Return a robot compiled as if it were large."""
    with monkeypatch.context() as patch:
        patch.setattr(recipe, 'MOST_COUPLED_PAIRS', 0)
        fast = kd.compile(robot, rows, derivatives=True, cache=False)
    assert 'balance_derivatives' not in fast.instructions
    return fast


def agree(got, expected, bound=EXACT):
    for name in ('dq', 'dv', 'dx'):
        assert error(getattr(got, name), getattr(expected, name)) < bound, name


def against_differences(fast, q, v, x, rng):
    """Compare with differences of order 8 along a few directions."""
    robot, n = fast.robot, fast.robot.nv
    for function, derivatives in (
        (fast.inverse_dynamics, fast.inverse_dynamics_derivatives),
        (fast.acceleration, fast.forward_dynamics_derivatives),
    ):
        got = derivatives(q, v, x)
        for way in rng.uniform(-1.0, 1.0, (3, 3, n)):
            path = along(robot, q, way[0])
            expected = derivative(
                lambda s, w=way, p=path, f=function: f(p(s), v + s * w[1], x + s * w[2])
            )
            found = got.dq @ way[0] + got.dv @ way[1] + got.dx @ way[2]
            assert error(found, expected) < 1e-8  # of the differences, see `derivatives`


@pytest.mark.oracle
def test_a_chain_of_30_was_refused(rng):
    """Regression: above 24 speeds compile refused to give derivatives."""
    pin = pytest.importorskip('pinocchio', reason='the extra "oracle" is not installed')
    from studies.peers.pinocchio_twin import PinocchioTwin

    robot = kd.serial_chain(30)
    fast = kd.compile(robot, derivatives=True, cache=False)
    q, v, a = random_state(robot, rng)
    twin, friction = PinocchioTwin(robot), np.diag(robot.damping)
    model, state = twin.model, (twin.coordinates(q), v)
    got = fast.inverse_dynamics_derivatives(q, v, a)
    dq, dv, dx = pin.computeRNEADerivatives(model, twin.data, *state, a)
    assert error(got.dq, dq) < EXACT
    assert error(got.dv, dv + friction) < EXACT
    assert error(got.dx, np.triu(dx) + np.triu(dx, 1).T) < EXACT
    tau = fast.inverse_dynamics(q, v, a)
    got = fast.forward_dynamics_derivatives(q, v, tau)
    free = tau - kd.friction_force(robot, v)
    dq, dv, dx = pin.computeABADerivatives(model, twin.data, *state, free)
    assert error(got.dq, dq) < EXACT
    assert error(got.dv, dv - dx @ friction) < EXACT
    assert error(got.dx, dx) < EXACT


@pytest.mark.parametrize(
    ('base', 'kinds'),
    [
        pytest.param('floating', ('revolute', 'helical'), id='small'),
        pytest.param('floating', KINDS, marks=pytest.mark.thorough, id='floating'),  # a minute
        pytest.param('planar', KINDS, marks=pytest.mark.thorough, id='planar'),
    ],
)
def test_trees_with_followers_against_the_graph_of_all_bodies(base, kinds, monkeypatch):
    robot, q, v, a = tree_and_state(3, base, kinds=kinds)
    small = kd.compile(robot, derivatives=True, cache=False)
    large = with_derivatives(monkeypatch, robot)
    for name in ('inverse_dynamics_derivatives', 'forward_dynamics_derivatives'):
        agree(getattr(large, name)(q, v, a), getattr(small, name)(q, v, a))


@pytest.mark.parametrize(
    'name', ['drive', 'dead_centre', pytest.param('linkage', marks=pytest.mark.thorough)]
)
def test_constraints_against_the_graph_of_all_bodies(name, monkeypatch, rng):
    case = CASES[name]()
    q, v, tau = case.state(rng)
    small = kd.compile(case.robot, case.constraints, derivatives=True, cache=False)
    large = with_derivatives(monkeypatch, case.robot, case.constraints)
    for name in ('inverse_dynamics_derivatives', 'forward_dynamics_derivatives'):
        agree(getattr(large, name)(q, v, tau), getattr(small, name)(q, v, tau))


def test_rows_that_repeat_others_and_depend_on_time(monkeypatch, rng):
    robot = kd.serial_chain(4)
    make = kd.constraints
    first, second, third, _ = robot.joint_names
    law = make.pfaffian(robot, lambda q, t: [1.0 + t, np.sin(q[0]), 0, 0], lambda q, t: t * q[1])
    rows = [make.coupling(robot, *pair, 1.0) for pair in ((first, second), (second, third))]
    rows += [make.coupling(robot, first, third, 1.0), law]
    large = with_derivatives(monkeypatch, robot, rows)
    q, v, tau = random_state(robot, rng)
    got = large.forward_dynamics_derivatives(q, v, tau, 0.4)
    small = kd.compile(robot, rows, derivatives=True, cache=False)
    agree(got, small.forward_dynamics_derivatives(q, v, tau, 0.4))


def test_no_derivative_where_rows_coincide(monkeypatch):
    case = CASES['dead_centre']()
    fast = with_derivatives(monkeypatch, case.robot, case.constraints)
    with pytest.raises(InvalidInputError, match='rows are dependent at this state'):
        fast.forward_dynamics_derivatives(*DEAD_CENTRE, np.ones(4))
    q, v = DEAD_CENTRE
    with pytest.raises(InvalidInputError, match='one state|need shape'):
        fast.inverse_dynamics_derivatives(np.tile(q, (8, 1)), v, np.ones(4))


@pytest.mark.thorough
def test_two_arms_with_hands_on_wheels(rng):
    """TIAGo with two arms and hands: 94 speeds, 3 rows."""
    from studies.robots import of_speeds

    case = of_speeds(94)
    with pytest.warns(PerformanceWarning):
        fast = kd.compile(case.robot, case.constraints, derivatives=True, cache=False)
    v = rng.uniform(0.2, 1.0, 94) * rng.choice([-1.0, 1.0], 94)
    against_differences(fast, case.q, v, case.tau, rng)
    assert fast.fallback_count == 0
