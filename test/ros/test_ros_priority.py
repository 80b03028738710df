# SPDX-License-Identifier: Apache-2.0
"""The real-time priority of a node's thread."""

import os
import threading

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

from ros_models import PENDULUM_URDF as ARM

from kane_dynamics.ros.runtime import take_priority

pytestmark = pytest.mark.ros
PRIORITY = 7


def in_a_thread(function):
    """Return what a function returns in a thread of its own, which ends with its priority."""
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def policies():
    """Return the answer, and the policies of a thread with a priority and of one it starts."""
    problem = take_priority(PRIORITY)
    of = os.sched_getscheduler
    return problem, of(0) & ~os.SCHED_RESET_ON_FORK, in_a_thread(lambda: of(0))


def test_threads_that_are_started_later_are_ordinary():
    problem, own, later = in_a_thread(policies)
    expected = os.SCHED_OTHER if problem else os.SCHED_FIFO
    assert (own, later) == (expected, os.SCHED_OTHER)


def test_none_is_taken_unless_asked_for():
    assert take_priority(0) == ''
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


def test_a_refusal_says_what_goes_on_and_who_grants_it(monkeypatch):
    def refuse(*_):
        raise PermissionError(1, 'Operation not permitted')

    monkeypatch.setattr(os, 'sched_setscheduler', refuse)
    text = take_priority(PRIORITY)
    assert all(word in text for word in ('7', 'not permitted', 'ordinary', 'limits.conf'))


def test_a_node_has_it_or_says_why_not(bench):
    given = {'robot_description': f"'{ARM}'", 'compiled': 'never', 'thread_priority': PRIORITY}
    process = bench.start('inverse_dynamics_node', params=given)
    bench.status_where('kane_inverse_dynamics: model', lambda level, *_: level == b'\x00')
    if 'thread_priority' not in process.log.read_text():
        assert os.sched_getscheduler(process.pid) & ~os.SCHED_RESET_ON_FORK == os.SCHED_FIFO
        assert os.sched_getparam(process.pid).sched_priority == PRIORITY
    assert bench.terminate(process) == 0
