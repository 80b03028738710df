# SPDX-License-Identifier: Apache-2.0
"""The watch over the machine that judges deadlines. No ROS needed."""

import os
import signal
import time

import pytest
from held_up import AROUND, LATE, HeldUp, Sleepers


def test_a_sleeper_that_is_stopped_comes_late():
    sleepers = Sleepers()
    sleepers.start()
    time.sleep(1.0)  # they start
    victim = sleepers._processes[0].pid
    begin = time.monotonic()
    os.kill(victim, signal.SIGSTOP)
    time.sleep(0.2)
    os.kill(victim, signal.SIGCONT)
    end = time.monotonic()
    time.sleep(0.1)
    found = sleepers.stop()
    assert max(found.delays) > 0.15
    assert found.between(begin, end)
    assert all(delay > LATE for delay in found.delays)
    assert list(found.times) == sorted(found.times)
    assert 0.0 <= found.stolen <= 1.0


@pytest.mark.parametrize(
    ('begin', 'end', 'held'),
    [
        (0.0, 1.0 - 1.01 * AROUND, False),
        (0.0, 1.0 - 0.99 * AROUND, True),
        (0.5, 1.5, True),
        (1.0 + 0.99 * AROUND, 1.9, True),
        (1.0 + 1.01 * AROUND, 3.0 - 1.01 * AROUND, False),
        (3.0 + 1.01 * AROUND, 9.0, False),
    ],
)
def test_what_counts_as_held_up(begin, end, held):
    assert HeldUp((1.0, 3.0), (0.001, 0.002), 0.0).between(begin, end) == held


def test_in_words():
    words = HeldUp((1.0, 3.0), (0.001, 0.0205), 0.031).in_words()
    assert words.startswith('2 times longer than 0.5 ms, longest 20.5 ms; the host kept 3.1 %')
    assert HeldUp((), (), 0.0).in_words().startswith('0 times')
    assert not HeldUp((), (), 0.0).between(0.0, 9.0)
