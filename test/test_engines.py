# SPDX-License-Identifier: Apache-2.0
"""One interface, two engines: the same methods, signatures, docstrings and results."""

import inspect

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from support.constraint_cases import CASES
from support.random_efforts import difference_of_engines
from support.wheeled_robots import wheeled_robot

import kane_dynamics as kd
from kane_dynamics.dynamics import Dynamics
from kane_dynamics.dynamics.interface import ReferenceDynamics
from kane_dynamics.exceptions import KaneDynamicsError

SAME = 1e-12
METHODS = [
    name
    for name, method in inspect.getmembers(Dynamics, inspect.isfunction)
    if not name.startswith('_')
]


def relative(found, expected):
    """Return the largest difference, relative to the largest number."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert found.shape == expected.shape
    return np.abs(found - expected).max(initial=0.0) / (1.0 + np.abs(expected).max(initial=0.0))


@pytest.fixture(scope='module')
def engines():
    robot, constraints, actuated, *state = wheeled_robot('drive_with_arm')
    return kd.dynamics(robot, constraints), kd.compile(robot, constraints), actuated, state


@pytest.mark.parametrize('name', METHODS)
def test_methods_are_the_same(name):
    interface = getattr(Dynamics, name)
    for engine in (ReferenceDynamics, kd.CompiledDynamics):
        method = getattr(engine, name)
        assert str(inspect.signature(method)) == str(inspect.signature(interface))
        assert inspect.getdoc(method) == inspect.getdoc(interface)
        assert name in dir(engine)


def test_every_array_of_one_state_and_of_many(engines):
    reference, fast, _, (q, v, a) = engines
    rng = np.random.default_rng(4)
    rows = [np.array([x + rng.normal(0.0, 0.1, len(x)) for _ in range(3)]) for x in (q, v, a)]
    inputs = {
        'inverse_dynamics': (0, 1, 2),
        'bias_force': (0, 1),
        'gravity_force': (0,),
        'friction_force': (1,),
        'mass_matrix': (0,),
        'coriolis_matrix': (0, 1),
        'kinetic_energy': (0, 1),
        'potential_energy': (0,),
        'frame_poses': (0,),
        'frame_jacobians': (0,),
        'frame_bias_accelerations': (0, 1),
        'center_of_mass': (0,),
        'momentum': (0, 1),
        'momentum_matrix': (0,),
        'regressor': (0, 1, 2),
        'acceleration': (0, 1, 2),
        'consistent_velocity': (0, 1),
        'consistent_acceleration': (0, 1, 2),
    }
    for name, chosen in inputs.items():
        slow, quick = getattr(reference, name), getattr(fast, name)
        many = [rows[k] for k in chosen]
        together = quick(*many)
        assert relative(together, slow(*many)) < SAME, name
        for k in range(3):
            one = [x[k] for x in many]
            assert relative(quick(*one), slow(*one)) < SAME, name
            assert relative(quick(*[x.tolist() for x in one]), together[k]) < SAME, name
        if 'consistent' not in name:
            for method in (slow, quick):
                out = np.empty_like(together)
                assert method(*many, out=out) is out
                assert relative(out, together) < SAME, name
        many[0] = many[0].copy()
        many[0][1, 0] = np.nan
        for found in (quick(*many), slow(*many)):
            assert np.isnan(found).reshape(3, -1).all(axis=1).tolist() == [False, True, False]


def test_frames_by_name(engines):
    reference, fast, _, (q, v, _) = engines
    link = fast.frames[-1]
    for name, state in (
        ('frame_pose', (q,)),
        ('frame_jacobian', (q,)),
        ('frame_bias_acceleration', (q, v)),
    ):
        assert (
            relative(getattr(fast, name)(link, *state), getattr(reference, name)(link, *state))
            < SAME
        )
    turned = kd.forward_kinematics(fast.robot, q, v, np.zeros(len(v)))
    assert relative(fast.frame_jacobian(link, q) @ v, turned.twist(link)) < SAME
    with pytest.raises(kd.exceptions.NameNotFoundError, match='nose'):
        fast.frame_pose('nose', q)


def test_wrenches_on_frames(engines):
    reference, fast, _, (q, v, a) = engines
    wrench = {fast.frames[-1]: np.arange(1.0, 7.0), fast.frames[0]: np.ones(6)}
    rows = [np.tile(x, (3, 1)) for x in (q, v, a)]
    for state in ((q, v, a), rows):
        found = fast.inverse_dynamics(*state, wrench)
        assert relative(found, reference.inverse_dynamics(*state, wrench)) < SAME
        assert np.abs(found - fast.inverse_dynamics(*state)).max() > 0.1


def same_efforts(reference, fast, q, v, a, *choices, **more):
    """Compare constrained inverse dynamics of both engines; return that of the compiled one."""
    found = fast.constrained_inverse_dynamics(q, v, a, *choices, **more)
    expected = reference.constrained_inverse_dynamics(q, v, a, *choices, **more)
    for name in ('effort', 'multipliers', 'velocity', 'acceleration'):
        assert relative(getattr(found, name), getattr(expected, name)) < SAME, name
    assert_array_equal(found.rank, expected.rank)
    assert found.labels == expected.labels
    assert_allclose(found.velocity_residual, expected.velocity_residual, rtol=0, atol=1e-9)
    assert np.max(found.residual) < 1e-9
    return found


@pytest.mark.parametrize('terms', [('gravity',), ('inertia', 'friction'), ('coriolis',), ()])
def test_terms_are_switched(terms, engines):
    reference, fast, actuated, state = engines
    same_efforts(reference, fast, *state, tuple(actuated), terms=terms)


def test_terms_add_up(engines):
    _, fast, actuated, state = engines
    every = fast.constrained_inverse_dynamics(*state, actuated).effort
    parts = [
        fast.constrained_inverse_dynamics(*state, actuated, terms=(term,)).effort
        for term in ('inertia', 'coriolis', 'gravity', 'friction')
    ]
    assert relative(sum(parts), every) < SAME
    assert all(np.abs(part).max() > 1e-6 for part in parts)


def test_efforts_of_many_states(engines):
    reference, fast, actuated, (q, v, a) = engines
    rng = np.random.default_rng(8)
    states = [np.array([x + rng.normal(0.0, 0.2, len(x)) for _ in range(5)]) for x in (q, v, a)]
    choices = tuple(actuated), None, tuple(actuated)
    found = same_efforts(reference, fast, *states, *choices)
    assert found.effort.shape == (5, len(v))
    assert found.rank.tolist() == [len(v)] * 5
    states[0][2, 0] = np.nan
    found = fast.constrained_inverse_dynamics(*states, *choices)
    assert np.isnan(found.numbers).all(axis=1).tolist() == [False, False, True, False, False]
    assert found.rank.tolist() == [len(v), len(v), 0, len(v), len(v)]


@pytest.mark.parametrize('name', ['differential_drive', 'leaning_disc'])
def test_efforts_of_many_kinds_of_rows(name):
    case = CASES[name]
    robot, q, v = case.robot, case.q, case.v
    reference = kd.dynamics(robot, (case.constraint,))
    fast = kd.compile(robot, (case.constraint,), cache=False)
    v = reference.consistent_velocity(q, v, time=case.t)
    a = reference.consistent_acceleration(q, v, np.ones(robot.nv), time=case.t)
    assert relative(fast.consistent_velocity(q, v, time=case.t), v) < SAME
    weights = np.linspace(1.0, 3.0, robot.nv)
    for choices in ((robot.velocity_names,), (robot.velocity_names, weights)):
        same_efforts(reference, fast, q, v, a, *choices, time=case.t)
    assert fast.fallback_count == 0


@pytest.mark.parametrize('seed', [1])
def test_efforts_of_random_trees(seed):
    # 50 of them: make stress
    difference, asked = difference_of_engines(seed)
    assert difference < SAME
    assert asked == 0


def test_what_machine_code_is_not_sure_of_is_said_by_the_reference(engines):
    reference, fast, actuated, (q, v, a) = engines
    before = fast.fallback_count
    for engine in (reference, fast):
        with pytest.raises(KaneDynamicsError, match='violate the constraints'):
            engine.constrained_inverse_dynamics(q, v, a + np.eye(len(v))[1], actuated)
        with pytest.raises(KaneDynamicsError, match='no actuator or constraint'):
            engine.constrained_inverse_dynamics(q, v, a, actuated[:-1])
        with pytest.raises(KaneDynamicsError, match='determine'):
            engine.consistent_velocity(q, v, actuated[:-1])
        with pytest.raises(KaneDynamicsError, match='contradict'):
            engine.consistent_velocity(q, v + np.eye(len(v))[1], fast.robot.velocity_names)
        with pytest.raises(kd.exceptions.NameNotFoundError, match='nose'):
            engine.constrained_inverse_dynamics(q, v, a, ['nose'])
    assert fast.fallback_count == before + 4  # asked, though it has no answer


def test_motions_of_many_states(engines):
    reference, fast, _, (q, v, a) = engines
    states = [np.tile(x, (3, 1)) for x in (q, v, a)]
    states[1][2] = np.nan
    for engine in (reference, fast):
        motion = engine.forward_dynamics(*states)
        one = engine.forward_dynamics(q, v, a)
        assert relative(motion.acceleration[:2], [one.acceleration] * 2) < SAME
        assert motion.rank.tolist() == [one.rank, one.rank, 0]
        assert np.isnan(motion.multipliers[2]).all()
        assert motion.labels == one.labels


def test_steps_and_motions_in_time(engines):
    reference, fast, _, (q, v, a) = engines
    for integrator in ('semi_implicit', 'rk4'):
        found = fast.step(q, v, a, 1e-3, 5, integrator)
        expected = reference.step(q, v, a, 1e-3, 5, integrator)
        for x, y in zip(found, expected, strict=True):
            assert relative(x, y) < 1e-10
    law = lambda t, q, v: a * np.cos(t)  # noqa: E731
    found, expected = (x.simulate(q, v, 0.02, effort=law) for x in (fast, reference))
    assert relative(found.q, expected.q) < 1e-10
