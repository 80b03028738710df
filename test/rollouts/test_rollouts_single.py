# SPDX-License-Identifier: Apache-2.0
"""Rollouts with accelerations in single precision: errors, what stays in double, who may."""

import functools

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from rollout_cases import error, fast, law, robot_of, states

import kane_dynamics as kd
from kane_dynamics.compiler.graphs.row_plan import row_plan
from kane_dynamics.compiler.recipe import Recipe
from kane_dynamics.exceptions import InvalidInputError

COUNT = 37  # more than one group of 16 lanes, the last one not full
SINGLE = {'precision': 'float32'}


@functools.cache
def single(name):
    """Return a robot that is compiled for both precisions, with a law of two gains."""
    robot, constraints = robot_of(name)
    how = {'effort': law, 'gains': (0.5, 0.1), 'cache': False}
    return kd.compile(robot, constraints, **how, **SINGLE)


@pytest.fixture(scope='module')
def sleds():
    """Return arguments of rollouts that differ in everything."""
    rng = np.random.default_rng(1)
    rows = {
        'effort': rng.normal(size=(COUNT, 5, 5)),
        'gains': rng.uniform(0.0, 2.0, (COUNT, 2)),
        'gravity': rng.normal(size=(COUNT, 3)),
    }
    return *states('sled', COUNT), rows


def test_errors_are_those_of_accelerations(sleds):
    q, v, rows = sleds
    exact = kd.rollout(single('sled'), q, v, 0.05, every=10, **rows)
    found = kd.rollout(single('sled'), q, v, 0.05, every=10, **rows, **SINGLE)
    assert found.fallback_count == 0
    # accelerations up to 100 with errors of 2e-6, over 0.05 s
    assert 1e-12 < error(found.v, exact.v) < 5e-6
    assert 1e-13 < error(found.q, exact.q) < 2e-7
    # no row of the constraints is left by more than in double
    robot, constraints = robot_of('sled')
    for state in zip(found.q[:5, -1], found.v[:5, -1], strict=True):
        slip = kd.constraints.ConstraintSet(robot, constraints).rows(*state, 0.05)
        assert np.abs(slip.matrix @ state[1]).max() < 1e-12


def test_positions_keep_their_digits_far_from_the_origin(sleds):
    q, v, rows = sleds
    near = kd.rollout(
        single('sled'), q, v, 0.05, effort=rows['effort'], gains=(0.0, 0.0), **SINGLE
    )
    far = q + [1000.0, -2000.0, 0.0, 0.0, 0.0]
    found = kd.rollout(
        single('sled'), far, v, 0.05, effort=rows['effort'], gains=(0.0, 0.0), **SINGLE
    )
    # floats have steps of 1e-4 m there; the rows of the sled do not hold its place
    moved, expected = found.q - far, near.q - q
    np.testing.assert_allclose(moved, expected, rtol=0, atol=1e-11)


def test_same_bits_alone_and_in_chunks(sleds):
    q, v, rows = sleds
    whole = kd.rollout(single('sled'), q, v, 0.02, **rows, **SINGLE)
    for chosen in ([3], [36, 0, 7], list(range(1, 30))):
        own = {name: x[chosen] for name, x in rows.items()}
        found = kd.rollout(single('sled'), q[chosen], v[chosen], 0.02, **own, **SINGLE)
        assert_array_equal(found.q, whole.q[chosen])
        assert_array_equal(found.v, whole.v[chosen])


def test_ill_steps_are_the_references(sleds):
    q, v, _ = sleds
    q = q.copy()
    q[5, 3] = 2e4  # an angle that single precision has no digits for
    exact = kd.rollout(single('sled'), q, v, 0.003, gains=(0.0, 0.0))
    found = kd.rollout(single('sled'), q, v, 0.003, gains=(0.0, 0.0), **SINGLE)
    assert found.fallback_count == 3
    assert exact.fallback_count == 0
    assert error(found.v, exact.v) < 1e-6


def test_who_may_not():
    q, v = states('sled', 2)
    with pytest.raises(InvalidInputError, match='precision must be one of'):
        kd.rollout(single('sled'), q, v, 0.01, precision='single')
    with pytest.raises(InvalidInputError, match="needs integrator 'rk4'.*got 'midpoint'"):
        kd.rollout(single('sled'), q, v, 0.01, integrator='midpoint', **SINGLE)
    for dynamics in (fast('sled'), kd.dynamics(*robot_of('sled'))):
        with pytest.raises(InvalidInputError, match=r"needs kd.compile\(precision='float32'\)"):
            kd.rollout(dynamics, q, v, 0.01, **SINGLE)


def test_rows_that_stay_in_double():
    servo = kd.constraints.pfaffian(
        robot_of('arm')[0], lambda q, t: [[1.0, 0.5]], lambda q, t: [np.sin(9.0 * t)]
    )
    cases = {'repeated': robot_of('linkage'), 'timed': (robot_of('arm')[0], (servo,))}
    for case, (robot, constraints) in cases.items():
        rows = kd.constraints.ConstraintSet(robot, constraints)
        recipe = Recipe(robot, rows, row_plan(rows), (), (), False, **SINGLE)
        with pytest.raises(InvalidInputError, match='rows that repeat others, may drop or depend'):
            recipe.check_steps_in_single('rk4', case == 'timed')
