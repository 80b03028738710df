# SPDX-License-Identifier: Apache-2.0
"""When lockstep waits, repeats and goes on alone. No ROS needed."""

from kane_dynamics.plant.timing import RETRY_PERIOD, Lockstep


class Loop(Lockstep):
    """Lockstep on a clock that the test sets."""

    def __init__(self, wanted):
        self.now = 0.0
        super().__init__(wanted, lambda: self.now)


def test_a_state_is_repeated_until_somebody_answers():
    loop = Loop(True)
    loop.publish()
    assert loop.waiting()
    assert loop.alone()
    assert not loop.repeat()
    loop.now = 1.1 * RETRY_PERIOD
    assert loop.repeat()
    loop.now = 100.0
    assert not loop.lost(0.5)  # nobody was ever there
    loop.answer()
    assert not loop.waiting()
    assert not loop.alone()
    assert not loop.repeat()


def test_a_controller_that_falls_silent_is_given_up():
    loop = Loop(True)
    loop.publish()
    loop.answer()
    loop.now = 10.0
    assert not loop.lost(0.5)  # the answer is there
    loop.publish()
    loop.now = 10.4
    assert not loop.lost(0.5)
    loop.now = 10.6
    assert loop.lost(0.5)
    loop.publish()
    assert not loop.lost(0.5)


def test_without_lockstep_nothing_waits():
    loop = Loop(False)
    loop.publish()
    loop.now = 100.0
    assert not (loop.waiting() or loop.alone() or loop.repeat() or loop.lost(0.5))
