# SPDX-License-Identifier: Apache-2.0
"""Gravity and payloads of a compiled robot that change at run time."""

import functools

import numpy as np
import pytest
from kernel_cases import (
    CASES,
    DEAD_CENTRE,
    FUNCTIONS,
    Case,
    compiled_value,
    error,
    reference,
)
from numpy.testing import assert_array_equal
from support.machines import Y, at, inertia, revolute
from support.trees import random_state

import kane_dynamics as kd
from kane_dynamics.compiler.derivatives import of_forward_dynamics, of_inverse_dynamics
from kane_dynamics.compiler.graphs.row_plan import row_plan
from kane_dynamics.compiler.graphs.trace import Tracer
from kane_dynamics.compiler.llvm import native
from kane_dynamics.exceptions import InvalidInputError, NameNotFoundError, SingularMassMatrixError
from studies.random_robots import random_inertia

GRAVITY = np.array([1.7, -2.9, -8.8])
AGREEMENT = 1e-12  # of the largest entry; sums of some hundred products
METHODS = ('newton_euler', 'gibbs_appell', 'lagrange', 'kane', 'nonminimal', 'canonical')


@functools.cache
def compiled(name):
    """Return a case, its compiled robot, and the frames that carry payloads."""
    case = _long_chain() if name == 'long_chain' else CASES[name]()
    bodies = [body.name for body in case.robot.bodies]
    # the frame of a link beside that of its body: two payloads on one body
    frames = dict.fromkeys([bodies[-1], bodies[len(bodies) // 2], *case.robot.frames])
    frames = tuple(name for name in frames if case.robot.frames[name].body >= 0)[-3:]
    more = name == 'drive'  # with all methods and derivatives
    options = {'payloads': frames, 'methods': more, 'derivatives': more, 'cache': False}
    return case, kd.compile(case.robot, case.constraints, **options), frames


def _long_chain():
    """Return a chain that is too long for straight-line solves."""
    return Case(kd.serial_chain(25))


@pytest.fixture(
    params=['drive', 'dead_centre', 'free_tree']
    + [pytest.param(x, marks=pytest.mark.thorough) for x in ('linkage', 'long_chain')]
)
def loaded(request, rng):
    """Return a case of the robot built with gravity and payloads, and a fast one set to them."""
    case, fast, frames = compiled(request.param)
    yield _set(case, fast, frames, rng), fast
    fast.set_gravity(case.robot.gravity)
    for frame in frames:
        fast.set_payload(frame, 0.0)


def _set(case, fast, frames, rng):
    """Set gravity and payloads, and return the case of a robot built with them."""
    fast.set_gravity(GRAVITY)
    robot = case.robot.with_gravity(GRAVITY)
    for frame in frames:
        load = random_inertia(rng)
        fast.set_payload(frame, load.mass, load.com, load.tensor)
        robot = robot.with_payload(frame, load.mass, load.com, load.tensor)
    return Case(robot, case.constraints, case.coordinates)


def test_every_function_of_a_state(loaded, rng):
    case, fast = loaded
    for _ in range(2):
        state = case.state(rng)
        for function in FUNCTIONS:
            expected = reference(case, function, *state)
            assert error(compiled_value(fast, function, *state), expected) < AGREEMENT, function


def test_every_function_of_a_batch(loaded, rng):
    case, fast = loaded
    states = [case.state(rng) for _ in range(5)]  # whole vectors, and what is left of them
    rows = [np.array(part) for part in zip(*states, strict=True)]
    for function in FUNCTIONS:
        for state, found in zip(states, compiled_value(fast, function, *rows), strict=True):
            assert error(found, reference(case, function, *state)) < AGREEMENT, function


def test_forward_dynamics_under_constraints(loaded, rng):
    case, fast = loaded
    for _ in range(2):
        q, v, tau = case.state(rng)
        expected = kd.forward_dynamics(case.robot, q, v, tau, case.constraints)
        size = 10.0  # conditions of M here: a digit of the accelerations
        assert error(fast.acceleration(q, v, tau), expected.acceleration) < size * AGREEMENT
        motion = fast.forward_dynamics(q, v, tau)
        assert error(motion.constraint_force, expected.constraint_force) < size * AGREEMENT
        many = fast.acceleration(np.tile(q, (5, 1)), v, tau)
        assert error(many[-1], expected.acceleration) < size * AGREEMENT


def test_every_method_of_forward_dynamics(rng):
    case, fast, frames = compiled('drive')
    built = _set(case, fast, frames, rng)
    q, v, tau = built.state(rng)
    for method in METHODS:
        expected = kd.forward_dynamics(built.robot, q, v, tau, built.constraints, method=method)
        found = fast.forward_dynamics(q, v, tau, method=method)
        assert error(found.acceleration, expected.acceleration) < 10.0 * AGREEMENT, method


def test_derivatives(rng):
    """Against the graph of the derivatives with gravity and payloads as constants."""
    case, fast, frames = compiled('drive')
    built = _set(case, fast, frames, rng)
    q, v, tau = built.state(rng)
    motion = kd.forward_dynamics(built.robot, q, v, tau, built.constraints)
    graph = Tracer(built.robot, built.constraints, ()).balance_derivatives().function
    state = q, v, motion.acceleration
    mass, A = kd.mass_matrix(built.robot, q), fast.constraint_rows(q, v).matrix
    order = list(row_plan(kd.constraints.ConstraintSet(built.robot, built.constraints)).order)
    pairs = [
        (
            fast.inverse_dynamics_derivatives(*state),
            of_inverse_dynamics(graph(*state, 0.0, 0.0)[0].full(), mass),
        ),
        (
            fast.forward_dynamics_derivatives(q, v, tau),
            of_forward_dynamics(
                graph(*state, motion.multipliers[order], 0.0)[0].full(), mass, A[order]
            ),
        ),
    ]
    for found, expected in pairs:
        for part in ('dq', 'dv', 'dx'):
            assert error(getattr(found, part), getattr(expected, part)) < 100.0 * AGREEMENT


@pytest.mark.parametrize('integrator', ['rk4', 'semi_implicit', 'midpoint'])
def test_time_steps(loaded, integrator, rng):
    case, fast = loaded
    q, v, tau = case.state(rng)
    options = {'step': 1e-3, 'integrator': integrator, 'effort': tau}
    found = fast.simulate(q, v, 5e-3, **options)
    expected = kd.simulate(case.robot, q, v, 5e-3, constraints=case.constraints, **options)
    assert error(found.q, expected.q) < AGREEMENT
    assert error(found.v, expected.v) < 100.0 * AGREEMENT  # of accelerations
    simulation = kd.Simulation(
        case.robot, case.constraints, 1e-3, integrator, engine=fast.engine(integrator)
    )
    simulation.reset(q, v)
    simulation.step(tau, 5)
    assert error(simulation.q, expected.q[-1]) < AGREEMENT


def test_states_of_dense_rows_follow(rng):
    """Where rows coincide dense rows are solved for, and they are the loaded robot's."""
    case, fast, frames = compiled('dead_centre')
    q, v = DEAD_CENTRE
    tau = rng.uniform(-1.0, 1.0, case.robot.nv)
    built = _set(case, fast, frames, rng)
    before = fast.fallback_count
    expected = kd.forward_dynamics(built.robot, q, v, tau, built.constraints).acceleration
    assert error(fast.acceleration(q, v, tau), expected) < AGREEMENT
    steps = fast.simulate(q, v, 2e-3, effort=tau)
    by_reference = kd.simulate(built.robot, q, v, 2e-3, effort=tau, constraints=built.constraints)
    assert error(steps.v, by_reference.v) < AGREEMENT
    assert fast.fallback_count == before


@pytest.mark.parametrize(
    ('name', 'state'),
    [
        ('dead_centre', DEAD_CENTRE),
        pytest.param('long_chain', None, marks=pytest.mark.thorough),
    ],
)
def test_an_engine_made_before_follows(name, state, rng):
    case, fast, frames = compiled(name)
    engine = fast.engine('rk4')
    built = _set(case, fast, frames, rng)
    q, v = state or built.state(rng)[:2]
    tau = rng.uniform(-1.0, 1.0, case.robot.nv)
    found = engine.advance(q, v, tau, 0.0, 1e-3, 1)
    expected = kd.simulate(built.robot, q, v, 1e-3, effort=tau, constraints=built.constraints)
    assert error(found[1], expected.v[-1]) < AGREEMENT


def test_a_simulation_starts_again_in_the_metric_of_the_load(rng):
    """Speeds off the constraints are projected with the mass that there is now."""
    case, fast, frames = compiled('drive')
    simulation = kd.Simulation(case.robot, case.constraints, engine=fast.engine())
    built = _set(case, fast, frames, rng)
    q, v, _ = random_state(case.robot, rng)
    simulation.reset(q, v)
    expected = kd.simulation.project(built.robot, case.constraints, q, v, 0.0)
    assert error(simulation.v, expected[1]) < AGREEMENT
    bare = kd.simulation.project(case.robot, case.constraints, q, v, 0.0)
    assert error(simulation.v, bare[1]) > 1e-3
    assert_array_equal(simulation.robot.gravity, GRAVITY)


def test_what_is_taken_off_leaves_no_trace(rng):
    case, fast, frames = compiled('drive')
    robot, (q, v, a) = case.robot, case.state(rng)
    fast.set_gravity(robot.gravity)
    for frame in frames:
        fast.set_payload(frame, 0.0)
    before = fast.inverse_dynamics(q, v, a)
    _set(case, fast, frames, rng)
    assert error(fast.inverse_dynamics(q, v, a), before) > 1e-3
    fast.set_gravity(robot.gravity)
    for frame in frames:
        fast.set_payload(frame, 0.0, (1.0, 2.0, 3.0), np.eye(3))  # whatever it was
    assert_array_equal(fast.inverse_dynamics(q, v, a), before)
    assert error(before, kd.inverse_dynamics(robot, q, v, a)) < AGREEMENT


def test_effort_law_and_load_in_one_step(rng):
    """A law that was traced into the steps acts on the loaded robot."""
    robot = CASES['planar_2r']().robot
    law = lambda t, q, v: [-3.0 * q[0] - v[0], 0.5 * q[1]]  # noqa: E731
    fast = kd.compile(robot, effort=law, payloads=['c2'], cache=False)
    fast.set_payload('c2', 1.5, (0.1, 0.0, 0.2))
    q, v, _ = random_state(robot, rng)
    loaded = robot.with_payload('c2', 1.5, (0.1, 0.0, 0.2))
    expected = kd.simulate(loaded, q, v, 1e-3, effort=law, integrator='semi_implicit')
    found = fast.simulate(q, v, 1e-3, integrator='semi_implicit')
    assert error(found.v, expected.v) < AGREEMENT


def test_nothing_is_compiled_and_no_memory_is_kept(monkeypatch):
    """10^5 settings; `test/stress/parameters_for_ever.py` makes 10^6."""
    case, fast, (frame, *_) = compiled('drive')
    robot = case.robot

    def refuse(*arguments):
        raise AssertionError('LLVM was called')

    monkeypatch.setattr(native.LlvmCall, '__init__', refuse)
    q, v, a = case.state(np.random.default_rng(0))
    vector, out = np.array([0.0, 0.0, -9.81]), np.empty(robot.nv)

    def work(count):
        for k in range(count):
            vector[0] = k
            fast.set_gravity(vector)
            fast.inverse_dynamics(q, v, a, out=out)
        for k in range(count // 100):
            fast.set_payload(frame, float(k))
        return _resident()

    before = work(10_000)
    # pages, of which the allocator may take some; one number kept for each call would be 800 kB
    assert work(100_000) - before < 200e3
    fast.set_payload(frame, 0.0)
    fast.set_gravity(robot.gravity)


def _resident():
    """Return the memory of this process [bytes]."""
    with open('/proc/self/statm') as file:
        return int(file.read().split()[1]) * 4096


def test_mistakes_are_named_errors_and_change_nothing(rng):
    case, fast, frames = compiled('drive')
    q, v, a = case.state(rng)
    before = fast.inverse_dynamics(q, v, a)
    for vector in ((0, 0), (0, 0, np.nan), (0, 0, np.inf), 'down', None, 9.81):
        with pytest.raises(InvalidInputError, match='gravity'):
            fast.set_gravity(vector)
    with pytest.raises(NameNotFoundError, match="no frame named 'gripper'"):
        fast.set_payload('gripper', 1.0)
    other = next(name for name in case.robot.frames if name not in frames)
    with pytest.raises(InvalidInputError, match='must be named when compiling'):
        fast.set_payload(other, 1.0)
    with pytest.raises(InvalidInputError, match='mass'):
        fast.set_payload(frames[0], -1.0)
    with pytest.raises(InvalidInputError, match='negative principal moment'):
        fast.set_payload(frames[0], 1.0, (0, 0, 0), -np.eye(3))
    assert_array_equal(fast.inverse_dynamics(q, v, a), before)


@pytest.mark.parametrize(
    ('payloads', 'error', 'message'),
    [
        (('gripper',), NameNotFoundError, "no frame named 'gripper'"),
        (('c2', 'c2'), InvalidInputError, 'different frames'),
        ('c2', InvalidInputError, 'sequence of names'),
        ((2,), InvalidInputError, 'need names'),
    ],
)
def test_frames_that_no_robot_can_be_compiled_with(payloads, error, message):
    with pytest.raises(error, match=message):
        kd.compile(CASES['planar_2r']().robot, payloads=payloads, cache=False)


def test_the_cache_knows_the_frames_but_not_the_gravity(cache_folder, rng):
    robot = CASES['planar_2r']().robot
    q, v, a = random_state(robot, rng)
    assert kd.compile(robot).source == 'compiled'
    tilted = robot.with_gravity(GRAVITY)
    fast = kd.compile(tilted)
    assert fast.source == 'cache'
    expected = kd.inverse_dynamics(tilted, q, v, a)
    assert error(fast.inverse_dynamics(q, v, a), expected) < AGREEMENT
    assert kd.compile(robot, payloads=['c2']).source == 'compiled'
    fast = kd.compile(robot, payloads=['c2'])
    assert fast.source == 'cache'
    fast.set_payload('c2', 2.0)
    expected = kd.inverse_dynamics(robot.with_payload('c2', 2.0), q, v, a)
    assert error(fast.inverse_dynamics(q, v, a), expected) < AGREEMENT


def test_a_link_without_mass_moves_when_it_carries_a_payload(rng):
    """Alone it has no forward dynamics in either engine; under a payload both agree."""
    bodies = [
        kd.Body('arm', '', revolute('shoulder', Y), inertia=inertia(2.0, (0, 0, 0.2))),
        kd.Body('hook', 'arm', revolute('wrist', Y), at(0, 0, 0.4)),
    ]
    robot = kd.Robot('crane', bodies)
    lock = kd.constraints.lock(robot, 'shoulder')
    fast = kd.compile(robot, [lock], payloads=['hook'], cache=False)
    q, v, tau = np.array([0.3, -0.4]), np.array([0.0, 0.7]), np.array([0.1, 0.2])
    with pytest.raises(SingularMassMatrixError):
        fast.forward_dynamics(q, v, tau)
    fast.set_payload('hook', 3.0, (0.1, 0.0, 0.5))
    loaded = robot.with_payload('hook', 3.0, (0.1, 0.0, 0.5))
    before = fast.fallback_count
    expected = kd.forward_dynamics(loaded, q, v, tau, [lock]).acceleration
    assert error(fast.acceleration(q, v, tau), expected) < AGREEMENT
    assert fast.fallback_count == before
