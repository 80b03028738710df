# SPDX-License-Identifier: Apache-2.0
"""Damping that is too stiff for the steps of some rollouts."""

import numpy as np
import pytest
from support.machines import X, Y, at, inertia, revolute

import kane_dynamics as kd
from kane_dynamics.constraints.constraint_set import ConstraintSet
from kane_dynamics.exceptions import DivergedError
from kane_dynamics.simulation.step_checks import STABLE, fastest_decay

COUNT = 6


@pytest.fixture(scope='module')
def arm():
    """Return a damped arm, one of whose speeds is held, and states of different rates."""
    bodies = [
        kd.Body('upper', '', revolute('a', Y, damping=0.3), inertia=inertia(2.0, (0, 0, 0.2))),
        kd.Body(
            'lower',
            'upper',
            revolute('b', Y, damping=0.5),
            at(0, 0, 0.5),
            inertia(1.0, (0, 0, 0.3), (0.01, 0.02, 0.01)),
        ),
        kd.Body(
            'hand',
            'lower',
            revolute('c', X, damping=0.02),
            at(0, 0.1, 0.6),
            inertia(0.3, (0.1, 0, 0.05), (0.01, 0.01, 0.01)),
        ),
    ]
    robot = kd.Robot('damped', bodies, frames={'tip': kd.Frame(2, at(0, 0, 0.1))})
    lock = kd.constraints.lock(robot, 'a')
    q = np.zeros((COUNT, 3))
    q[:, 1:] = np.random.default_rng(0).uniform(-2.0, 2.0, (COUNT, 2))
    return robot, (lock,), q


def rates(robot, constraints, q):
    rows = ConstraintSet.of(robot, constraints)
    masses = [kd.mass_matrix(robot, row) for row in q]
    states = zip(q, masses, strict=True)
    return np.array([fastest_decay(robot, rows, row, 0.0, M)[0] for row, M in states])


@pytest.mark.parametrize('held', [False, True])
def test_the_rollout_whose_damping_is_too_stiff_is_named(arm, held):
    robot, lock, q = arm
    constraints = lock if held else ()
    dynamics, found = kd.dynamics(robot, constraints), rates(robot, constraints, q)
    assert np.ptp(found) > 1e-3 * found.max()
    fastest = int(np.argmax(found))
    second = np.sort(found)[-2]
    between = 2.0 * STABLE['rk4'] / (found[fastest] + second)  # [s], too long for one alone
    with pytest.raises(DivergedError, match=rf'rollout {fastest}: the damping of .* too stiff'):
        kd.rollout(dynamics, q, np.zeros(3), between, step=between)
    others = np.delete(q, fastest, axis=0)
    assert (kd.rollout(dynamics, others, np.zeros(3), between, step=between).steps == 1).all()
    implicit = {'integrator': 'semi_implicit', 'step': between}
    assert (kd.rollout(dynamics, q, np.zeros(3), between, **implicit).steps == 1).all()


def test_payloads_slow_damping_down(arm):
    robot, _, q = arm
    bare = rates(robot, (), q[:1])[0]
    loaded = rates(robot.with_payload('tip', 2.0), (), q[:1])[0]
    assert loaded < 0.99 * bare
    between = 2.0 * STABLE['rk4'] / (bare + loaded)
    dynamics = kd.dynamics(robot)
    call = dynamics, q[0], np.zeros(3), between
    heavy = kd.rollout(*call, step=between, payloads={'tip': {'mass': [2.0, 2.0]}})
    assert (heavy.steps == 1).all()
    with pytest.raises(DivergedError, match='rollout 1: '):
        kd.rollout(*call, step=between, payloads={'tip': {'mass': [2.0, 0.0]}})
    dynamics.set_payload('tip', 2.0)
    assert (kd.rollout(*call, step=between).steps == 1).all()
    with pytest.raises(DivergedError, match='rollout 1: '):
        kd.rollout(*call, step=between, payloads={'tip': {'mass': [3.0, 0.0]}})
