# SPDX-License-Identifier: Apache-2.0
"""What is wrong with rollouts is named."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from rollout_cases import fast, law, robot_of, states, with_law

import kane_dynamics as kd
from kane_dynamics.exceptions import (
    DivergedError,
    InvalidInputError,
    ModelWarning,
    NameNotFoundError,
)
from kane_dynamics.simulation.step_checks import STABLE

WRONG = {
    'q': ({'q': np.zeros(3)}, r'q: need shape \(2,\) or \(B, 2\), got \(3,\)'),
    'rows': ({'q': np.zeros((3, 2)), 'v': np.zeros((4, 2))}, 'rows differ, q: 3, v: 4'),
    'part of a step': ({'duration': 0.0105}, r'whole number of steps of 0\.001 s, got 0\.0105'),
    'backwards': ({'duration': -0.01}, 'must be >= 0'),
    'step': ({'step': 0.0}, 'must be > 0'),
    'integrator': ({'integrator': 'euler'}, 'integrator must be one of'),
    'never': ({'every': 0}, 'every: need a whole number >= 1'),
    'half': ({'every': 0.5}, 'every: need a whole number'),
    'law': ({'effort': lambda t, q, v: q}, r'kd\.compile\(\.\.\., effort=\)'),
    'efforts': (
        {'effort': np.zeros((1, 2, 3))},
        r'effort: need shape \(2,\) or \(B, 2\) or \(B, K, 2\)',
    ),
    'no pieces': (
        {'effort': np.zeros((1, 0, 2))},
        '10 steps are not a whole number for each of 0',
    ),
    'pieces': ({'effort': np.zeros((1, 3, 2))}, '10 steps are not a whole number for each of 3'),
    'endless': ({'effort': [np.inf, 0.0]}, 'effort: need finite'),
    'gains': ({'gains': [1.0]}, 'need dynamics with a law that takes them'),
    'gravity': ({'gravity': [0.0, np.nan, 1.0]}, 'gravity .*need finite'),
    'payload': ({'payloads': {'link_2': 3.0}}, 'need a mapping'),
    'no mass': ({'payloads': {'link_2': {}}}, "need 'mass'"),
    'more': ({'payloads': {'link_2': {'mass': 1.0, 'weight': 2.0}}}, 'and perhaps'),
    'reduce': ({'reduce': lambda q: q}, r'reduce\(times, q, v\)'),
    'reduced': ({'reduce': lambda t, q, v: 1.0}, 'need an array with 1 rows'),
    'memory': ({'memory': 0.0}, 'must be > 0'),
    'precision': ({'precision': 'half'}, 'precision must be one of'),
    'progress': ({'progress': 1.0}, r'progress\(done, total\)'),
}


@pytest.mark.parametrize('wrong', WRONG)
def test_wrong_arguments(wrong):
    change, message = WRONG[wrong]
    given = {'q': [0.0, 0.0], 'v': [0.0, 0.0], 'duration': 0.01, **change}
    with pytest.raises(InvalidInputError, match=message):
        kd.rollout(kd.dynamics(*robot_of('arm')), **given)


def test_no_dynamics():
    with pytest.raises(InvalidInputError, match=r'dynamics: need what kd\.dynamics'):
        kd.rollout(robot_of('arm')[0], [0.0, 0.0], [0.0, 0.0], 0.01)


def test_wrong_gains():
    with pytest.raises(InvalidInputError, match=r'gains: need shape \(2,\) or \(B, 2\)'):
        kd.rollout(with_law('sled'), *states('sled', 1), 0.01, gains=[1.0])
    with pytest.raises(InvalidInputError, match='no effort law that takes 1 gains'):
        kd.compile(robot_of('arm')[0], gains=[1.0])
    with pytest.raises(InvalidInputError, match=r'need a function effort\(t, q, v\)'):
        kd.compile(robot_of('arm')[0], effort=law)


def test_payloads_that_cannot_be():
    dynamics, state = fast('arm'), ([0.0, 0.0], [0.0, 0.0], 0.01)
    with pytest.raises(NameNotFoundError, match='hook'):
        kd.rollout(dynamics, *state, payloads={'hook': {'mass': 1.0}})
    with pytest.raises(InvalidInputError, match='must be named when compiling'):
        kd.rollout(dynamics, *state, payloads={robot_of('arm')[0].bodies[1].name: {'mass': 1.0}})
    slow = kd.dynamics(*robot_of('arm'))
    frame = robot_of('arm')[0].bodies[1].name
    with pytest.raises(InvalidInputError, match='row 2: '):
        kd.rollout(slow, *state, payloads={frame: {'mass': [1.0, 2.0, -1.0]}})
    possible, wrong = np.diag([0.1, 0.2, 0.3]), np.diag([0.1, 0.2, 0.2])
    wrong[0, 1] = 0.05
    for tensor, message in ((wrong, 'symmetric'), (np.diag([0.1, -0.1, 0.1]), 'negative')):
        payload = {'mass': 1.0, 'inertia': [0.0 * possible, possible, tensor]}
        with pytest.raises(InvalidInputError, match=f'row 2: .*{message}'):
            kd.rollout(slow, *state, payloads={frame: payload})
    payload = {'mass': 1.0, 'inertia': [possible, np.diag([0.1, 0.2, 0.4])]}
    with pytest.warns(ModelWarning, match='triangle'):
        kd.rollout(slow, *state, payloads={frame: payload})


def test_quaternions_that_are_not_unit():
    q, v = states('floating', 3)
    q[2, 3:7] *= 1.1
    with pytest.raises(InvalidInputError, match='unit quaternion .* in row 2'):
        kd.rollout(fast('floating'), q, v, 0.01)


@pytest.mark.parametrize('engine', ['reference', 'compiled'])
def test_rollouts_that_diverge_end_alone(engine):
    q, v = states('arm', 4)
    v[2] = 1e8  # a step of 5 ms is too long for the forces at this speed
    dynamics = fast('arm') if engine == 'compiled' else kd.dynamics(*robot_of('arm'))
    found = kd.rollout(dynamics, q, v, 0.05, step=0.005, every=1)
    assert list(found.failures) == [2]
    assert isinstance(found.failures[2], DivergedError)
    taken = found.steps[2]
    assert taken < 10
    assert np.isfinite(found.q[2, : taken + 1]).all() and np.isnan(found.q[2, taken + 1 :]).all()
    assert_array_equal(found.steps[[0, 1, 3]], 10)
    assert np.isfinite(found.q[[0, 1, 3]]).all()
    last = kd.rollout(dynamics, q, v, 0.05, step=0.005)
    assert np.isnan(last.q[2]).all()
    assert taken == kd.rollout(kd.dynamics(*robot_of('arm')), q[2], v[2], 0.05, step=0.005).steps


def test_damping_is_too_stiff_above_the_largest_rate_not_the_sum():
    chain = kd.serial_chain(3)
    bodies = [replace(body, joint=replace(body.joint, damping=0.5)) for body in chain.bodies]
    robot = replace(chain, bodies=bodies)
    dynamics, q, v = kd.dynamics(robot), np.zeros((3, 3)), np.zeros((3, 3))
    q[1] = [0.3, -0.5, 0.9]
    rates = np.linalg.eigvals(np.linalg.solve(dynamics.mass_matrix(q), 0.5 * np.eye(3))).real
    largest, limit, row = rates.max(), STABLE['rk4'], rates.max(axis=1).argmax()
    assert rates[row].sum() > 1.02 * largest
    kd.rollout(dynamics, q, v, 0.99 * limit / largest, step=0.99 * limit / largest)
    with pytest.raises(DivergedError, match=f'rollout {row}: '):
        kd.rollout(dynamics, q, v, 1.01 * limit / largest, step=1.01 * limit / largest)
    with pytest.raises(InvalidInputError, match='precision must be'):  # said before
        kd.rollout(dynamics, q, v, 1.0, step=1.0, precision='half')
