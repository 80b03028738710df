# SPDX-License-Identifier: Apache-2.0
"""Sets of constraints are made once, in a thread if wished, and the motion is the same."""

import threading
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.striking import arm

import kane_dynamics as kd
from kane_dynamics import constraints as c
from kane_dynamics.exceptions import ConstraintError, DivergedError

ARM = arm()
BRAKE = c.lock(ARM, 'q2')
TAU = np.array([0.4, -0.2])
LONGEST = 60.0  # s, of a compiler on a busy machine


@pytest.fixture
def engine():
    return kd.compile(ARM)


def watched(monkeypatch, engine, before):
    """Call something before machine code of constraints is made; return of what it was made."""
    made, plain = [], type(engine).switched

    def switched(self, constraints):
        made.append([label for one in constraints for label in one.labels])
        if constraints:
            before()
        return plain(self, constraints)

    monkeypatch.setattr(type(engine), 'switched', switched)
    return made


def start(**options):
    return kd.EventSimulation(ARM, q=[0.3, 0.7], v=[0.6, -0.9], step=2e-3, **options)


def switch(simulation, times):
    """Set the brake and let it go again, several times."""
    for _ in range(times):
        simulation.add('brake', BRAKE)
        simulation.step(TAU, 5)
        simulation.remove('brake')
        simulation.step(TAU, 5)


@pytest.mark.claim(37)
def test_what_is_known_at_the_start_is_made_once(monkeypatch, engine):
    made = watched(monkeypatch, engine, lambda: None)
    simulation, other = start(dynamics=engine, precompile=[BRAKE]), start(precompile=[BRAKE])
    switch(simulation, 3)
    switch(other, 3)
    assert made == [['q2/lock']]
    # 60 steps of rk4 by two ways: h^5 (2/s)^5 each
    assert_allclose(simulation.q, other.q, rtol=0, atol=1e-10)
    assert_allclose(simulation.v, other.v, rtol=0, atol=1e-10)
    losses = [[event.energy_loss for event in one.events] for one in (simulation, other)]
    assert_allclose(*losses, rtol=0, atol=1e-10)


@pytest.mark.claim(37)
def test_what_is_new_is_made_beside(monkeypatch, engine):
    gate = threading.Event()
    made = watched(monkeypatch, engine, lambda: gate.wait(LONGEST))
    simulation = start(dynamics=engine)
    simulation.add('brake', BRAKE)
    simulation.step(TAU, 5)  # on the generic path, while the code is at work
    assert (simulation.independent_speeds, made) == (('q1',), [[], ['q2/lock']])
    gate.set()
    end, steps = time.monotonic() + LONGEST, 5
    while simulation.independent_speeds == ('q1',) and time.monotonic() < end:
        time.sleep(0.01)
        simulation.step(TAU)
        steps += 1
    assert simulation.independent_speeds == ('q1', 'q2')  # of the machine code
    simulation.step(TAU, 5)
    assert made == [[], ['q2/lock']]
    other = start()
    other.add('brake', BRAKE)
    other.step(TAU, steps + 5)
    assert_allclose(simulation.q, other.q, rtol=0, atol=1e-8)
    assert_allclose(simulation.v, other.v, rtol=0, atol=1e-8)
    simulation.remove('brake')
    simulation.add('brake', BRAKE)  # known by now
    simulation.add('other', c.lock(ARM, 'q1'))
    assert made == [[], ['q2/lock'], ['q2/lock', 'q1/lock']]


def test_what_is_new_may_be_waited_for(monkeypatch, engine):
    made = watched(monkeypatch, engine, lambda: None)
    simulation = start(dynamics=engine, compile_in_background=False)
    simulation.add('brake', BRAKE)
    assert simulation.independent_speeds == ('q1', 'q2')
    assert made == [[], ['q2/lock']]


def test_one_constraint_in_two_parts_shares_its_force(engine):
    parts = {'brake': BRAKE, 'other': BRAKE}
    simulation, other = start(dynamics=engine, constraints=parts), start(constraints=parts)
    for one in (simulation, other):
        one.step(TAU, 3)
    assert_allclose(simulation.motion.multipliers, other.motion.multipliers, atol=1e-10)
    assert_allclose(*simulation.motion.multipliers, rtol=1e-12)
    assert_allclose(simulation.q, other.q, rtol=0, atol=1e-12)


def test_what_cannot_be_made_stays_on_the_generic_path(monkeypatch, engine):
    def refuse():
        raise ConstraintError('no machine code')

    made = watched(monkeypatch, engine, refuse)
    simulation, other = start(dynamics=engine, compile_in_background=False), start()
    switch(simulation, 2)
    switch(other, 2)
    assert made == [[], ['q2/lock']]  # it is not tried again
    assert simulation.not_compiled == ("['q2/lock'] stay on the generic path: no machine code",)
    assert other.not_compiled == ()
    assert_allclose(simulation.q, other.q, rtol=0, atol=1e-12)
    assert_allclose(simulation.v, other.v, rtol=0, atol=1e-12)


def test_damping_too_stiff_for_a_set_is_refused_when_it_is_entered():
    stiff = arm(damping=1e4)  # of q1: M^-1 D is above 5e3/s
    with pytest.raises(DivergedError, match='too stiff'):
        kd.EventSimulation(stiff, step=2e-3)
    locks = {name: c.lock(stiff, name) for name in ('q1', 'q2')}
    simulation = kd.EventSimulation(stiff, locks, step=2e-3)
    simulation.step(TAU, 2)
    with pytest.raises(DivergedError, match='too stiff'):
        simulation.remove('q1')
    assert set(simulation.states) == {'q1', 'q2'}
    simulation.step(TAU)
    assert_allclose(simulation.v, 0.0, atol=1e-15)
