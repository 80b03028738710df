# SPDX-License-Identifier: Apache-2.0
"""Real-time priority of the thread that serves a node; no rclpy here."""

from __future__ import annotations

import os


def take_priority(priority: int) -> str:
    """Give calling thread a priority of SCHED_FIFO, but not the threads that it starts later."""
    if not priority:
        return ''
    try:
        # compiling a model in a thread at this priority would stop the machine for seconds
        policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
        os.sched_setscheduler(0, policy, os.sched_param(priority))
    except (AttributeError, OSError) as error:
        return (
            f'thread_priority {priority} is refused ({error}): the node goes on with an ordinary '
            f"one; Linux grants it to users with 'rtprio {priority}' or more in "
            '/etc/security/limits.conf'
        )
    return ''
