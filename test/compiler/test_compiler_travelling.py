# SPDX-License-Identifier: Apache-2.0
"""Compiled dynamics show what they are, are copied, and travel to other processes."""

import copy
import inspect
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from kernel_cases import CASES
from numpy.testing import assert_array_equal

import kane_dynamics as kd


@pytest.fixture(scope='module')
def sled():
    """Return a compiled sled with an arm that carries something, and a state."""
    case = CASES['sled']()
    frame = case.robot.bodies[-1].name
    fast = kd.compile(case.robot, case.constraints, payloads=[frame])
    fast.set_payload(frame, 0.7, [0.1, 0.0, 0.2])
    fast.set_gravity([0.5, 0.0, -9.0])
    return fast, case.state(np.random.default_rng(4))


def same(one, other, q, v, a):
    """Check that two give the same bits."""
    assert_array_equal(one.inverse_dynamics(q, v, a), other.inverse_dynamics(q, v, a))
    assert_array_equal(one.acceleration(q, v, a), other.acceleration(q, v, a))
    assert_array_equal(one.consistent_velocity(q, v), other.consistent_velocity(q, v))


def test_a_copy_has_the_load_and_keeps_its_own(sled):
    fast, state = sled
    for made in (copy.copy(fast), copy.deepcopy(fast), pickle.loads(pickle.dumps(fast))):
        assert made.source == 'cache'
        assert made.labels == fast.labels
        same(made, fast, *state)
        made.set_gravity([0.0, 0.0, 0.0])
        assert np.abs(made.gravity_force(state[0]) - fast.gravity_force(state[0])).max() > 1.0


def hold(t, q, v, gains):
    """Return the efforts of springs and dampers at zero."""
    return [-gains[0] * x - gains[1] * rate for x, rate in zip(q, v, strict=True)]


def test_a_law_and_more_functions_travel_too():
    made = {'effort': hold, 'gains': (5.0, 0.1), 'derivatives': True, 'methods': True}
    fast = kd.compile(kd.serial_chain(2), **made)
    other = pickle.loads(pickle.dumps(fast))
    q, v = np.array([[0.1, 0.2], [0.3, 0.4]])
    assert (other.effort, other.gains) == (hold, (5.0, 0.1))
    assert_array_equal(other.simulate(q, v, 0.01).q, fast.simulate(q, v, 0.01).q)
    derivatives = (x.inverse_dynamics_derivatives(q, v, v).dq for x in (other, fast))
    assert_array_equal(*derivatives)
    assert_array_equal(*[x.acceleration(q, v, v) for x in (other, fast)])
    assert other.forward_dynamics(q, v, v, method='kane').rank == 0


def test_methods_alone_are_pickled(sled):
    fast, (q, v, a) = sled
    for name in ('inverse_dynamics', 'acceleration', 'momentum'):
        inputs = (q, v, a)[: 2 if name == 'momentum' else 3]
        method = pickle.loads(pickle.dumps(getattr(fast, name)))
        assert_array_equal(method(*inputs), getattr(fast, name)(*inputs))


def test_a_pool_of_processes_computes(sled):
    fast, (q, v, a) = sled
    several = [(q, v, k * a) for k in range(3)]
    context = multiprocessing.get_context('spawn')
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        found = list(pool.map(fast.inverse_dynamics, *zip(*several, strict=True)))
    for result, inputs in zip(found, several, strict=True):
        assert_array_equal(result, fast.inverse_dynamics(*inputs))


def test_what_it_is_is_shown(sled):
    fast, _ = sled
    said = repr(fast)
    for part in (f"'{fast.robot.name}'", 'planar base', fast.labels[0], "device='cpu'"):
        assert part in said


DIRECT = [
    name for name, row in kd.dynamics.table.FUNCTIONS.items() if row.compiled == 'at the start'
]


@pytest.mark.parametrize('name', DIRECT)
def test_machine_code_has_signature_and_docstring_of_the_interface(name, sled):
    entry, method = getattr(sled[0], name), getattr(kd.Dynamics, name)
    assert inspect.isbuiltin(entry)
    assert inspect.getdoc(entry) == inspect.getdoc(method)
    _, *wanted = inspect.signature(method).parameters.values()
    found = inspect.signature(entry).parameters.values()
    as_found = [(x.name, x.kind, x.default) for x in found]
    assert as_found == [(x.name, x.kind, x.default) for x in wanted]
    assert name in dir(sled[0])
