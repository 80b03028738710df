# SPDX-License-Identifier: Apache-2.0
"""Parts of a compiled motion are computed when they are read, of the state of the call."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import kane_dynamics as kd
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot_config.robot_source import model_of_file

PARTS = ('multipliers', 'constraint_force', 'velocity_violation', 'position_violation')


@pytest.fixture(scope='module')
def case():
    """Return a compiled robot on wheels, its reference, and a state with efforts."""
    model = model_of_file('nonholonomic')
    rng = np.random.default_rng(7)
    q, v, tau = (rng.normal(size=n) for n in (model.robot.nq, model.robot.nv, model.robot.nv))
    engine = kd.compile(model.robot, model.constraints)
    return engine, kd.dynamics(model.robot, model.constraints), (q, v, tau)


def assert_same(motion, expected):
    for part in ('acceleration', *PARTS):
        size = np.abs(getattr(expected, part)).max()
        assert_allclose(getattr(motion, part), getattr(expected, part), atol=1e-11 * (1 + size))
    assert (motion.rank, motion.labels) == (expected.rank, expected.labels)
    assert motion.independent_labels == expected.independent_labels
    assert motion.residual < 1e-12


@pytest.mark.parametrize('first', [*PARTS, 'rank', 'labels', 'residual', 'velocity_residual'])
def test_it_is_that_of_the_reference_whatever_is_read_first(case, first):
    engine, reference, state = case
    motion = engine.forward_dynamics(*state)
    assert_array_equal(motion.acceleration, engine.acceleration(*state))
    getattr(motion, first)
    assert_same(motion, reference.forward_dynamics(*state))


def test_it_is_that_of_the_call_whatever_happens_afterwards(case):
    engine, reference, state = case
    expected = reference.forward_dynamics(*state)
    arrays = [x.copy() for x in state]
    motions = [engine.forward_dynamics(*arrays) for _ in range(2)]
    for x in arrays:
        x[:] = np.nan
    assert_same(motions[0], expected)
    gravity = engine.robot.gravity
    engine.set_gravity((0.0, 0.0, -1.6))
    try:
        assert_same(motions[1], expected)
        assert (
            np.abs(engine.forward_dynamics(*state).acceleration - expected.acceleration).max() > 1
        )
    finally:
        engine.set_gravity(gravity)


def test_copies_have_all_of_it(case):
    engine, reference, state = case
    expected = reference.forward_dynamics(*state)
    for made in (copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)), replace):
        assert_same(made(engine.forward_dynamics(*state)), expected)


def test_lists_and_numbers_are_taken_and_what_is_wrong_is_refused(case):
    engine, reference, (q, v, tau) = case
    motion = engine.forward_dynamics([0] * len(q), v.tolist(), [0] * len(tau))
    assert_same(motion, reference.forward_dynamics(0 * q, v, 0 * tau))
    with pytest.raises(InvalidInputError, match='q: need finite numbers'):
        engine.forward_dynamics(q * np.nan, v, tau)
    with pytest.raises(AttributeError, match='nothing'):
        engine.forward_dynamics(q, v, tau).nothing  # noqa: B018
