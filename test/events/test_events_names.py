# SPDX-License-Identifier: Apache-2.0
"""Names, errors and refusals: what fails leaves everything as it was."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from support.machines import inertia, prismatic
from support.striking import arm, two_bodies

import kane_dynamics as kd
from kane_dynamics import constraints as c
from kane_dynamics.events import hybrid_motion
from kane_dynamics.exceptions import (
    ConstraintError,
    DivergedError,
    InconsistentConstraintsError,
    InvalidInputError,
    NameNotFoundError,
    StepError,
)

ARM = arm(lower=-2.0, upper=2.0)
LOCK = c.lock(ARM, 'q2')
STOP = c.contact(c.joint_limit(ARM, 'q2', 'upper'))
OTHERS = c.lock(two_bodies()[0], 'A')
Q, V = (0.3, 0.7), (1.2, -3.1)


def everything(simulation):
    """Return all that a simulation shows of its state."""
    arrays = simulation.q, simulation.v, simulation.motion.acceleration
    others = simulation.time, simulation.states, simulation.labels, simulation.events
    return [x.tolist() for x in arrays], *others, list(simulation.constraints), simulation.forces


@pytest.fixture
def moving():
    """Return an arm that turns, with a lock on its first joint."""
    simulation = kd.EventSimulation(ARM, {'stop': STOP, 'hold': c.lock(ARM, 'q1')}, Q, V)
    simulation.step([0.1, 0.2], 2)
    return simulation


@pytest.mark.parametrize(
    ('options', 'error', 'said'),
    [
        ({'step': 0.0}, InvalidInputError, 'step'),
        ({'rest_speed': -1.0}, InvalidInputError, 'rest_speed'),
        ({'law': 'hooke'}, InvalidInputError, 'poisson'),
        ({'dynamics': kd.dynamics}, InvalidInputError, 'need what kd.dynamics'),
        ({'dynamics': kd.dynamics(ARM, [LOCK])}, InvalidInputError, 'q2/lock'),
        ({'constraints': [LOCK]}, InvalidInputError, 'constraints'),
        ({'constraints': {'': LOCK}}, InvalidInputError, 'name'),
        ({'constraints': {'lock': OTHERS}}, ConstraintError, 'another robot'),
        ({'q': [0.0]}, InvalidInputError, 'q'),
        ({'v': [0.0, np.nan]}, InvalidInputError, 'v'),
        ({'constraints': {'stop': STOP}, 'q': [0.0, 2.1]}, ConstraintError, 'below zero'),
    ],
)
def test_a_start_that_is_refused(options, error, said):
    with pytest.raises(error, match=said):
        kd.EventSimulation(ARM, **options)


@pytest.mark.claim(37)
@pytest.mark.parametrize(
    ('arguments', 'error', 'said'),
    [
        (('stop', LOCK), ConstraintError, r"'stop' already; there are \['hold', 'stop'\]"),
        (('', LOCK), InvalidInputError, 'name'),
        (('lock', LOCK, 0.0), InvalidInputError, 'limit'),
        (('again', STOP, 1.0), InvalidInputError, 'only valid for constraints, not contacts'),
        (('lock', OTHERS), ConstraintError, 'another robot'),
        (('bent', c.coupling(ARM, 'q2', 'q1', 1.0)), ConstraintError, 'violated by'),
        (('lock', 3.0), InvalidInputError, 'float 3.0'),
        (
            ('drive', c.pfaffian(ARM, lambda q, t: [1.0, 0.0], lambda q, t: 0.5)),
            InconsistentConstraintsError,
            'pfaffian',
        ),
    ],
)
def test_what_cannot_be_added_changes_nothing(moving, arguments, error, said):
    before = everything(moving)
    with pytest.raises(error, match=said):
        moving.add(*arguments)
    assert everything(moving) == before


def test_a_name_that_is_not_there(moving):
    before = everything(moving)
    with pytest.raises(NameNotFoundError, match=r"'brake'.*\['hold', 'stop'\]"):
        moving.remove('brake')
    with pytest.raises(NameNotFoundError):
        moving.remove(['hold'])
    assert everything(moving) == before


@pytest.mark.parametrize(
    ('tau', 'n'), [([0.0], 1), ([0.0, np.inf], 1), ([0.0, 0.0], -1), ([0.0, 0.0], 1.5)]
)
def test_a_step_with_wrong_arguments(moving, tau, n):
    before = everything(moving)
    with pytest.raises(InvalidInputError):
        moving.step(tau, n)
    assert everything(moving) == before


def test_a_step_that_leaves_all_bounds(moving):
    moving.remove('hold')
    before = everything(moving)
    with pytest.raises(DivergedError):
        moving.step([1e300, -1e300])
    assert everything(moving) == before


def bouncing():
    body = kd.Body('ball', '', prismatic('z', (0, 0, 1)), inertia=inertia(1))
    robot = kd.Robot('ball', [body], (0, 0, -9.81))
    floor = c.contact(c.point_contact(robot, 'ball'), restitution=0.9)
    return kd.EventSimulation(robot, {'floor': floor}, [0.1], step=0.6)


@pytest.mark.claim(37)
def test_a_step_without_an_end_of_events(monkeypatch):
    simulation, other = bouncing(), bouncing()
    simulation.step([0.0])
    before = everything(simulation)
    with monkeypatch.context() as patch:
        patch.setattr(hybrid_motion, '_MOST_INTERVALS', 2)
        with pytest.raises(StepError, match=r"after 2 events.*\['floor'\]"):
            simulation.step([0.0])
    assert everything(simulation) == before
    simulation.step([0.0])  # and it goes on, as if nothing had been
    other.step([0.0], 2)
    assert everything(simulation)[:2] == everything(other)[:2]
    times = [[event.time for event in one.events] for one in (simulation, other)]
    assert times[0] == times[1]


def painleve(law):
    """Return a rod that slides ahead of so much friction that it has no motion but a support."""
    half, theta, mu = 0.5, np.arctan(2.0), 1.6
    tensor = (0, 0, half**2 / 3)
    body = kd.Body('rod', '', kd.Joint('base', kd.Planar()), inertia=inertia(1, (0, 0, 0), tensor))
    robot = kd.Robot('rod', [body], (0, -9.81, 0))
    end, up = (-half, 0, 0), (0, 1, 0)
    ground = c.contact(
        c.point_contact(robot, 'rod', end, up),
        c.point_slip(robot, 'rod', end, up, (1, 0, 0)),
        friction=mu,
    )
    support = c.pfaffian(robot, lambda q, t: [0.0, 0.0, 1.0], label='support')
    place = [half * np.cos(theta), half * np.sin(theta), theta]
    parts = {'support': support, 'ground': ground}
    return kd.EventSimulation(robot, parts, place, [-1.0, 0.0, 0.0], law=law)


@pytest.mark.claim(38)
@pytest.mark.parametrize('law', ['newton', 'poisson', 'energetic'])
def test_paradox_of_painleve(law):
    simulation = painleve(law)
    assert simulation.states == {'support': 'holds', 'ground': 'slips'}
    assert_allclose(simulation.forces['rod/contact'], 9.81)
    assert_allclose(simulation.motion.acceleration, [1.6 * 9.81, 0.0, 0.0], atol=1e-12)
    event = simulation.remove('support')  # an impact without collision
    assert dict(event.states) == {'ground': 'sticks', 'support': ''}
    assert_allclose(simulation.v, (-0.6, 0.3, 1.341640786), rtol=0, atol=1e-9)
    assert_allclose(event.impulse[:2], (0.4, 0.3), rtol=0, atol=1e-9)
    assert_allclose(event.energy_loss, 0.2, rtol=0, atol=1e-9)
    simulation.step(np.zeros(3), 10)


def test_reset_starts_again(moving):
    moving.add('lock', LOCK)
    moving.step([0.0, 0.0])
    moving.reset()
    first = kd.EventSimulation(ARM, {'stop': STOP, 'hold': c.lock(ARM, 'q1')}, Q, V)
    for found, expected in zip(everything(moving)[0], everything(first)[0], strict=True):
        assert_allclose(found, expected, rtol=0, atol=1e-15)
    assert everything(moving)[1:-1] == everything(first)[1:-1]
    moving.reset([0.1, 0.2], [0.0, 1.0], time=4.0)
    assert (moving.time, moving.events) == (4.0, ())
    assert_array_equal(moving.q, [0.1, 0.2])
    with pytest.raises(ConstraintError, match='below zero'):
        moving.reset([0.0, 2.5])
    with pytest.raises(InvalidInputError, match='time'):
        moving.reset(time=np.nan)


def test_what_is_shown_cannot_be_written(moving):
    for array in (moving.q, moving.v, moving.add('lock', LOCK).v):
        with pytest.raises(ValueError, match='read-only'):
            array[0] = 1.0
    moving.constraints.clear()
    moving.states.clear()
    assert list(moving.constraints) == list(moving.states) == ['stop', 'hold', 'lock']
    assert moving.constraints['lock'] is LOCK and moving.constraints['stop'] is STOP


def test_an_event_tells_in_words(moving):
    event = moving.add('lock', LOCK)
    assert str(event).startswith("at t = 0.002 s added: ['lock']; lock holds, ")
    assert str(moving.remove('lock')).startswith("at t = 0.002 s removed: ['lock']; lock is gone")


@pytest.mark.parametrize('name', ['effort', 'passive_force'])
def test_forces_of_the_engine_would_act_in_some_modes_only(name):
    """Regression: a passive force was refused as an effort law."""
    engine = kd.compile(ARM, **{name: lambda t, q, v: [0.0, -q[1]]})
    with pytest.raises(InvalidInputError, match='without an effort law or a passive force'):
        kd.EventSimulation(ARM, dynamics=engine)


def test_events_are_taken_once(moving):
    moving.add('lock', LOCK)
    moving.remove('lock')
    kept = moving.events
    assert [event.kind for event in kept] == ['added', 'removed']
    assert moving.take_events() == kept
    assert moving.events == moving.take_events() == ()
    added = moving.add('lock', LOCK)
    assert moving.events == (added,)
