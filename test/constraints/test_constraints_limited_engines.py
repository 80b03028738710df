# SPDX-License-Identifier: Apache-2.0
"""Efforts within limits and cones by both engines: the same numbers, names and errors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.limited_efforts import OverActuated
from support.trees import BASES, tree_and_state
from support.wheeled_robots import ROBOTS, wheeled_robot

import kane_dynamics as kd
from kane_dynamics.algebra.inertia import Inertia
from kane_dynamics.dynamics.limited_problem import LimitedInverse
from kane_dynamics.exceptions import (
    InvalidInputError,
    KaneDynamicsError,
    NameNotFoundError,
    UnreachableAccelerationError,
)
from kane_dynamics.robot.joint_kinds import Prismatic

SAME = 1e-10
# forces that no motion shows count for 1e-10 beside it: roundoff moves them
UNSEEN = 1e-5
NUMBERS = ('effort', 'multipliers', 'acceleration', 'deviation', 'margins')
SOME = [pytest.param(k, marks=[pytest.mark.thorough] if k >= 1 else []) for k in range(30)]


def asked(engine, *state, **options):
    """Return what an engine says, which may be an error."""
    try:
        return engine.limited_inverse_dynamics(*state, **options)
    except KaneDynamicsError as error:
        return error


def same(engines, *state, forces=SAME, **options):
    """Compare engines; return what they say."""
    expected, found = (asked(engine, *state, **options) for engine in engines)
    assert type(found) is type(expected)
    if isinstance(expected, UnreachableAccelerationError):
        assert (found.names, str(found)[:40]) == (expected.names, str(expected)[:40])
        assert found.residual == pytest.approx(expected.residual, rel=1e-8, abs=1e-8)
    if isinstance(expected, KaneDynamicsError):
        return found
    assert (found.binding, found.labels) == (expected.binding, expected.labels)
    for name in NUMBERS:
        ours, theirs = getattr(found, name), getattr(expected, name)
        scale = 1.0 + np.abs(theirs).max(initial=0.0)
        most = SAME if name in NUMBERS[2:4] else forces
        assert_allclose(ours, theirs, rtol=0, atol=most * scale, err_msg=name)
    assert max(np.max(found.residual), np.max(expected.residual)) < 1e-8
    return found


def both_engines(robot, constraints):
    return kd.dynamics(robot, constraints), kd.compile(robot, constraints, cache=False)


@pytest.mark.parametrize('seed', SOME)
def test_least_efforts_of_random_trees(seed):
    """Inside, at limits and cones, in conflict, and the nearest where nothing does."""
    case = OverActuated(seed, BASES[seed % 3], repeated=(0,) * (seed % 2))
    engines = both_engines(case.robot, case.constraints)
    state = *case.state[1:4], case.state[5], case.weights
    inside = case.free.multipliers + 2.0 * case.rng.normal(size=len(case.A))
    limits = case.limits_around(inside)
    push = 1.2 * abs(inside[0]) + 0.1
    cones = [kd.FrictionCone(case.labels[:1], 0.5, 2.0 * push)]
    nearest = case.rng.uniform(0.5, 2.0, case.robot.nv)
    free = same(engines, *state, limits=np.full(case.robot.nv, np.inf))
    assert free.binding == ()
    same(engines, *state, limits=limits)
    same(engines, *state, limits=limits, cones=cones)
    same(engines, *state, limits=0.3 * limits)
    same(engines, *state, limits=0.3 * limits, cones=cones, deviation=nearest, forces=UNSEEN)
    elsewhere = (*state[:2], state[2] + 1.0, *state[3:])
    same(engines, *elsewhere, limits=limits)
    near = same(engines, *elsewhere, limits=limits, deviation=nearest, forces=UNSEEN)
    assert np.abs(near.deviation).max() > 1e-3


@pytest.mark.parametrize('seed', SOME)
def test_the_nearest_accelerations_of_random_trees(seed):
    robot, q, v, a = tree_and_state(seed, BASES[seed % 3])
    engines, rng = both_engines(robot, ()), np.random.default_rng(seed)
    needed, weights = kd.inverse_dynamics(robot, q, v, a), rng.uniform(0.5, 2.0, robot.nv)
    limits = rng.uniform(0.2, 1.5, robot.nv) * np.abs(needed) + 0.01
    options = {'limits': limits, 'deviation': weights}
    for names in (robot.velocity_names, robot.velocity_names[1:]):
        same(engines, q, v, a, names, **options)
        same(engines, q, v, a, names, limits=limits)


@pytest.mark.parametrize(
    'name', [pytest.param(x, marks=[pytest.mark.thorough] * (x == 'tiago')) for x in ROBOTS]
)
def test_of_mobile_manipulators(name):
    """One state and many, inside, at and beyond what motors and tyres give; NaN; no fallback."""
    robot, constraints, actuated, q, v, a = wheeled_robot(name)
    engines = both_engines(robot, constraints)
    needed = kd.constrained_inverse_dynamics(robot, q, v, a, constraints, actuated)
    force = np.abs(needed.multipliers[1:]).max() + 1.0
    wide, narrow = (
        [kd.FrictionCone([label], 0.5, load * force) for label in constraints[0].labels[1:]]
        for load in (3.0, 0.5)
    )
    limits, weights = 1.1 * np.abs(needed.effort) + 0.1, np.ones(robot.nv)
    state = q, v, a, actuated
    assert same(engines, *state, limits=limits, cones=wide).binding == ()
    assert engines[1].fallback_count == 0
    assert isinstance(same(engines, *state, limits=limits, cones=narrow), KaneDynamicsError)
    same(engines, *state, limits=limits, cones=narrow, deviation=weights)
    same(engines, *state, limits=0.5 * limits, deviation=weights)
    rows = [np.tile(x, (3, 1)) for x in (q, v, a)]
    rows[2][1] *= 0.5
    rows[2] = engines[0].consistent_acceleration(*rows, actuated)
    options = {'limits': 0.9 * limits, 'cones': wide, 'deviation': weights}
    many = same(engines, *rows, actuated, **options)
    for k in range(3):
        one = same(engines, *(x[k] for x in rows), actuated, **options)
        assert many.binding[k] == one.binding
        for name in NUMBERS:
            assert_allclose(getattr(many, name)[k], getattr(one, name), rtol=0, atol=1e-9)
    rows[1][2, 0] = np.nan
    for engine in engines:
        found = engine.limited_inverse_dynamics(*rows, actuated, **options)
        for name in (*NUMBERS, 'residual'):
            numbers = np.reshape(getattr(found, name), (3, -1))
            assert np.isnan(numbers).all(axis=1).tolist() == [False, False, True]
        assert found.binding[2] == ()


def test_the_same_is_refused():
    robot, constraints, actuated, q, v, a = wheeled_robot('drive_with_arm')
    engines = both_engines(robot, constraints)
    nan, side = np.full(robot.nv, np.nan), kd.FrictionCone(['nose'], 0.5, 1.0)
    for state, options, kind in (
        ((q, nan, a, actuated), {}, InvalidInputError),
        ((q, v[:-1], a, actuated), {}, InvalidInputError),
        ((q, v, a, 'left'), {}, InvalidInputError),
        ((q, v, a, ['nose']), {}, NameNotFoundError),
        ((q, v, a, actuated), {'cones': [side]}, NameNotFoundError),
        ((q, v, a, actuated), {'limits': nan}, InvalidInputError),
        ((q, v, a, actuated), {'deviation': -nan}, InvalidInputError),
        ((q, v, a, actuated, 0.0 * a), {}, InvalidInputError),
        ((q, v, a + np.eye(robot.nv)[1], actuated), {}, UnreachableAccelerationError),
        ((q, v, a, actuated[:-1]), {}, UnreachableAccelerationError),
    ):
        assert isinstance(same(engines, *state, **options), kind), (state, options)


def test_within_all_limits_nothing_else_is_asked_for(monkeypatch):
    robot, constraints, actuated, q, v, a = wheeled_robot('drive_with_arm')
    reference = kd.dynamics(robot, constraints)
    known = reference.constrained_inverse_dynamics(q, v, a, actuated)

    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr(LimitedInverse, 'effort', refuse)
    exactly = np.abs(known.effort)
    found = reference.limited_inverse_dynamics(q, v, a, actuated, limits=exactly)
    assert (found.effort == known.effort).all()
    assert set(found.binding) == set(actuated)
    exactly[robot.velocity_index(actuated[-1])] *= 1.0 - 1e-15
    with pytest.raises(AssertionError):
        reference.limited_inverse_dynamics(q, v, a, actuated, limits=exactly)


def test_limits_are_kept_by_what_they_hold():
    """Not by the arrays and cones that hold it: these may change."""
    robot = kd.serial_chain(2)
    d, x = kd.dynamics(robot), np.zeros(2)
    limits = np.full(2, 1e3)
    state = x, x, x, list(robot.joint_names)
    assert d.limited_inverse_dynamics(*state, limits=limits).binding == ()
    limits[:] = 1e-3
    with pytest.raises(UnreachableAccelerationError):
        d.limited_inverse_dynamics(*state, limits=limits)


@pytest.mark.parametrize('big', [1e6, 1e10, 1e20, 1e300])
def test_a_limit_that_nothing_reaches_loosens_no_other(big):
    """Regression: limits were kept to 1e-9 of the largest, beside 1e10 N m not at all."""
    case = OverActuated(3, 'fixed')
    engines = both_engines(case.robot, case.constraints)
    limits = case.limits_around(case.free.multipliers + 2.0 * case.rng.normal(size=len(case.A)))
    idle = int(np.argmin(np.abs(case.free.effort) - limits))
    state = *case.state[1:4], case.state[5], case.weights
    limits[idle] = np.inf
    expected = engines[0].limited_inverse_dynamics(*state, limits=limits)
    assert len(expected.binding) > 2
    limits[idle] = big
    result = same(engines, *state, limits=limits)
    assert result.binding == expected.binding
    assert_allclose(result.effort, expected.effort, rtol=0, atol=1e-8)
    robot, constraints, actuated, q, v, a = wheeled_robot('drive_with_arm')
    needed = kd.constrained_inverse_dynamics(robot, q, v, a, constraints, actuated)
    last = robot.velocity_index(actuated[-1])
    limits = np.full(robot.nv, big)
    limits[last] = 0.5 * abs(needed.effort[last])
    state, nearest = (q, v, a, actuated), np.ones(robot.nv)
    result = same(both_engines(robot, constraints), *state, limits=limits, deviation=nearest)
    assert result.binding == (actuated[-1],)
    assert abs(result.effort[last]) <= limits[last] * (1.0 + 1e-9)


@pytest.mark.parametrize('seed', SOME)
def test_units_of_rows_change_no_effort(seed):
    """Regression: of rows in other units directions were cut off like roundoff."""
    case = OverActuated(seed, BASES[seed % 3], rows=2)
    units = np.array([[1e5], [1e-3]])[: len(case.A)]
    robot, A = case.robot, case.A
    others = (kd.constraints.pfaffian(robot, lambda q, t: units * A, label='row'),)
    limits = case.limits_around(case.free.multipliers + case.rng.normal(size=len(A)))
    state = *case.state[1:4], case.state[5], case.weights
    for scale in (1.0, 0.5):
        results = []
        for engine in (*both_engines(robot, case.constraints), *both_engines(robot, others)):
            results.append(asked(engine, *state, limits=scale * limits))
        assert len({type(x) for x in results}) == 1
        if isinstance(results[0], KaneDynamicsError):
            continue
        for other in results[1:]:
            assert other.binding == results[0].binding
            scale = 1.0 + np.abs(results[0].effort).max()
            assert_allclose(other.effort, results[0].effort, rtol=0, atol=1e-8 * scale)


@pytest.mark.parametrize('ratio', [1.0, 1e3, 1e6, 1e9])
def test_light_links_leave_a_heavy_base_its_motion(ratio):
    """Regression: the share of the efforts outweighed what heavy bodies miss."""
    masses = np.array([ratio, 1.0, 1.0])
    slides = [
        kd.Body(
            f'b{k}',
            '',
            kd.Joint(f'x{k}', Prismatic((1.0, 0.0, 0.0))),
            inertia=Inertia(m, np.zeros(3), np.eye(3)),
        )
        for k, m in enumerate(masses)
    ]
    robot = kd.Robot('slides', slides, (0.0, 0.0, 0.0))
    # the last two together: their difference is an effort that moves nothing
    both = (kd.constraints.pfaffian(robot, lambda q, t: [[0.0, 1.0, -1.0]], label='both'),)
    still, names = np.zeros(3), robot.joint_names
    for engine in both_engines(robot, both):
        for limits, acceleration, effort in (
            ([np.inf, 2.0, 0.5], [1.0, 1.25, 1.25], [ratio, 2.0, 0.5]),
            ([0.5 * ratio, 9.0, 9.0], [0.5, 2.0, 2.0], [0.5 * ratio, 3.0, 1.0]),
        ):
            result = engine.limited_inverse_dynamics(
                still,
                still,
                [1.0, 2.0, 2.0],
                names,
                weights=[1.0, 1.0, 3.0],
                limits=limits,
                deviation=np.ones(3),
            )
            assert_allclose(result.acceleration, acceleration, rtol=1e-7)
            assert_allclose(result.effort, effort, rtol=UNSEEN)
