# SPDX-License-Identifier: Apache-2.0
"""The soak's measures: a leak is no heap that still fills; what nodes refuse is counted."""

import math
import os
from types import SimpleNamespace

import numpy as np
import pytest
from soak_memory import LIFE, Memory
from soak_record import Refusals


def lived(*lives):
    """Return the memory of processes that lived one after the other: (seconds, MB/min) each."""
    memory, start = Memory(), 0.0
    for pid, (seconds, leak) in enumerate(lives):
        for age in np.arange(0.0, seconds + 1.0):
            heap = 190.0 - 20.0 * math.exp(-age / 15.0)  # is full after a minute
            memory.samples.append((pid, start + age, heap + leak * age / 60.0))
        start += seconds + 3.0
    return memory


@pytest.mark.parametrize('leak', [0.0, 0.3, 1.0, -1.0])
def test_a_leak_of_a_long_life_is_found_and_a_heap_that_fills_is_none(leak):
    memory = lived((600.0, leak))
    rate, lives = memory.growth()
    assert lives == 1
    assert memory.leaks() == (abs(leak) > 0.5)  # 2 percent in the last 7 minutes are 0.57
    assert rate == pytest.approx(leak, abs=1e-4)


def test_short_lives_do_not_count_and_that_is_said():
    memory = lived(*[(55.0, 0.0)] * 10)
    assert math.isnan(memory.growth()[0])
    assert 'in 0 lives of 10 min' in memory.in_words()
    assert not memory.leaks()
    rate, lives = lived((55.0, 0.0), (1.5 * LIFE, 0.2), (55.0, 0.0)).growth()
    assert lives == 1
    assert rate == pytest.approx(0.2, abs=2e-2)


def test_long_lives_count_by_their_minutes():
    first, second = (2.0 * LIFE, 0.1), (6.0 * LIFE, 0.5)
    rate, lives = lived(first, second).growth()
    assert lives == 2
    assert rate == pytest.approx(0.25 * 0.1 + 0.75 * 0.5, abs=1e-3)


@pytest.mark.skipif(not os.path.exists('/proc/self/statm'), reason='tells memory by /proc')
def test_samples_are_of_this_machine_and_of_the_living():
    memory = Memory()
    block = np.ones(4_000_000)  # 32 MB
    memory.take(SimpleNamespace(pid=os.getpid()), 1.0)
    before = memory.samples[0][2]
    more = np.ones_like(block)
    memory.take(SimpleNamespace(pid=os.getpid()), 2.0)
    assert memory.samples[1][2] - before == pytest.approx(more.nbytes / 1e6, rel=0.05)
    memory.take(SimpleNamespace(pid=2**30), 3.0)  # no process has such a number
    assert len(memory.samples) == 2


def test_refused_messages_and_refused_trajectories_count():
    refusals = Refusals()
    told = {'a: odom': {'rejected': '2'}, 'b: trajectories': {'refused': '3'}, 'b: output': {}}
    assert refusals.new({name: (0, '', v) for name, v in told.items()}) == {'a': 2, 'b': 3}
    told['b: trajectories']['refused'] = '4'
    told['a: odom']['rejected'] = '1'  # of a node that was started again
    assert refusals.new({name: (0, '', v) for name, v in told.items()}) == {'a': 1, 'b': 1}
