# SPDX-License-Identifier: Apache-2.0
"""Efforts are packed and sent to those who listen, and to nobody else."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

from ros_models import model_of

from kane_dynamics.ros.effort_node import EffortOutput

pytestmark = pytest.mark.ros


class Publisher:
    """Remembers the numbers that were published; has as many listeners as it is told."""

    is_activated = True

    def __init__(self):
        self.listeners, self.sent = 1, []

    def get_subscription_count(self):
        return self.listeners

    def publish(self, message):
        self.sent.append(list(getattr(message, 'effort', None) or message.data))


def test_what_nobody_hears_is_not_sent_and_the_rest_is():
    named, plain = made = Publisher(), Publisher()
    queue = list(made)
    node = SimpleNamespace(create_lifecycle_publisher=lambda *_: queue.pop(0))
    model = model_of('nonholonomic')
    output, efforts = EffortOutput(node), np.arange(1.0, 1.0 + len(model.motors))
    output.prepare(model, model.motors[::-1])
    state = np.zeros(len(efforts)), np.zeros(len(efforts))
    plain.listeners = 0
    output.publish(1, *state, efforts)
    assert (named.sent, plain.sent) == ([efforts.tolist()], [])
    assert output.pushing  # who begins to listen now must hear that it ends
    plain.listeners, named.listeners = 1, 0
    output.publish(2, *state, 2.0 * efforts)
    assert (named.sent, plain.sent) == ([efforts.tolist()], [(2.0 * efforts)[::-1].tolist()])
