# SPDX-License-Identifier: Apache-2.0
"""The time of a node: one and the same within a callback, the present one outside."""

from types import SimpleNamespace

import pytest

from kane_dynamics.messages.inputs import NodeTime


class Clock:
    """A clock that goes on by 1 ns with each look, and counts the looks."""

    def __init__(self):
        self.looks, self.ros_time_is_active = 0, True

    def now(self):
        self.looks += 1
        return SimpleNamespace(nanoseconds=self.looks)


def test_within_a_callback_time_stands_still_and_is_read_once():
    clock = Clock()
    time = NodeTime(clock)
    assert [time.now(), time.now()] == [1, 2]
    with time:
        clock.ros_time_is_active = False
        assert [time.now(), time.now()] == [3, 3]
        assert time.simulated()
    assert clock.looks == 3
    assert not time.simulated()
    assert time.now() == 5


def test_time_goes_on_after_a_callback_that_failed():
    time = NodeTime(Clock())
    with pytest.raises(KeyError), time:
        raise KeyError('callback')
    assert [time.now(), time.now()] == [2, 3]


def test_time_zero_of_a_simulation_that_waits_for_its_clock_is_held_too():
    clock = Clock()
    clock.looks = -1
    time = NodeTime(clock)
    with time:
        assert [time.now(), time.now()] == [0, 0]
    assert clock.looks == 0
