# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C in the midst of rollouts."""

import signal
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from rollout_cases import fast, states

import kane_dynamics as kd

pytestmark = pytest.mark.skipif(not hasattr(signal, 'setitimer'), reason='no interval timers')


class Interrupted(BaseException):
    """As KeyboardInterrupt, but never the user's own."""


@pytest.fixture
def alarm():
    """Return a function: seconds -> something is raised after them."""

    def on_alarm(number, frame):
        raise Interrupted

    before = signal.signal(signal.SIGALRM, on_alarm)
    yield lambda delay: signal.setitimer(signal.ITIMER_REAL, delay)
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize('count', [1, 50_000])  # one long motion, or many
def test_long_rollouts_end_at_once(count, alarm):
    q, v = (np.resize(x, (count, 2)) for x in states('arm', 1))
    kd.rollout(fast('arm'), q[:1], v[:1], 0.01)  # compiled
    told = []
    begin = time.monotonic()
    alarm(0.3)
    with pytest.raises(Interrupted):
        kd.rollout(fast('arm'), q, v, 1e5, progress=lambda *done: told.append(done))
    # ten milliseconds of work of each core; generous on a machine with other work
    assert time.monotonic() - begin < 10.0
    before = len(told)
    time.sleep(0.05)
    assert len(told) == before
    # the next ones are as they were
    again = [kd.rollout(fast('arm'), q[:20], v[:20], 0.02).q for _ in range(2)]
    assert_array_equal(*again)


@pytest.mark.parametrize('where', ['reduce', 'progress'])
def test_what_users_raise_comes_out(where):
    q, v = states('arm', 70)

    def stop(*arguments):
        raise Interrupted

    with pytest.raises(Interrupted):
        kd.rollout(fast('arm'), q, v, 0.01, **{where: stop})
