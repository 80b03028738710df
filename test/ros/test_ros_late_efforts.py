# SPDX-License-Identifier: Apache-2.0
"""Efforts that are ready too late are not sent: in wall time, and where time is simulated."""

import time

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

import rclpy
from rclpy.context import Context
from rclpy.parameter import Parameter
from ros_bench import START_TIMEOUT, domain_id
from ros_models import PENDULUM_URDF
from sensor_msgs.msg import JointState

from kane_dynamics.messages.conversions import set_stamp
from kane_dynamics.ros.effort_controller_node import EffortControllerNode

pytestmark = pytest.mark.ros
TIMEOUT = 0.3  # [s] of joint_states; a busy machine takes a part of it
LATE = 1.3 * TIMEOUT


class Busy(EffortControllerNode):
    """A node whose processor others have for a while."""

    delay = 0.0

    def effort(self, time_, q, v):
        found = super().effort(time_, q, v)
        time.sleep(self.delay)
        return found


@pytest.fixture
def node():
    context = Context()
    rclpy.init(context=context, domain_id=domain_id())
    given = {
        'robot_description': PENDULUM_URDF,
        'compiled': 'never',
        'timeout_action': 'hold_gravity',
    }
    given['timeout.joint_states'] = TIMEOUT
    made = Busy(
        context=context,
        use_global_arguments=False,
        parameter_overrides=[Parameter(k, value=v) for k, v in given.items()],
    )
    made.start()
    yield made
    made.destroy_node()
    context.try_shutdown()


def listen(node):
    """Return the efforts that go out; what nobody hears is not sent."""
    heard = []
    node.create_subscription(JointState, '~/effort', heard.append, 10)
    publisher = node._output._publishers[0]
    end = time.monotonic() + START_TIMEOUT
    while not publisher.get_subscription_count() and time.monotonic() < end:
        time.sleep(0.01)
    return heard


def tell(node, age=0.0):
    """Give the node a state, as its subscription does."""
    message = JointState(name=['hinge'], position=[1.0], velocity=[0.0])
    set_stamp(message.header.stamp, node.get_clock().now().nanoseconds - round(age * 1e9))
    node._on_joint_states(message)


@pytest.mark.parametrize('simulated', [False, True])
def test_efforts_that_took_too_long_are_taken_back(node, simulated, monkeypatch):
    listen(node)
    if simulated:  # its time stands still while the thread is busy
        now = node.get_clock().now()
        monkeypatch.setattr(node.time, '_read', lambda: (now.nanoseconds, True))
    tell(node)
    assert node._output.pushing
    node.delay = LATE
    tell(node)
    assert not node._output.pushing  # zeros went out
    values = node._output_status()
    assert values.values['failed computations'] == 1
    assert values.values['outputs'] == 1
    assert values.level == b'\x02'
    assert 'longer than timeout.joint_states' in values.message
    node.delay = 0.0
    if not simulated:
        tell(node)
        assert node._output.pushing


def test_a_state_that_is_old_when_its_efforts_are_ready_is_not_answered(node):
    listen(node)
    node.delay = 0.5 * TIMEOUT
    tell(node)
    assert node._output.pushing
    node.delay = 0.7 * TIMEOUT
    tell(node, age=0.5 * TIMEOUT)  # fresh when it came; 1.2 time limits old when answered
    assert not node._output.pushing
    assert 'would be late' in node._output_status().message


@pytest.mark.parametrize(('age', 'sent'), [(0.98, True), (0.995, False)])
def test_a_moment_of_the_time_limit_is_left_for_sending(node, monkeypatch, age, sent):
    """The state is fresh in both cases, when it comes and when its efforts are ready."""
    listen(node)
    now = node.get_clock().now().nanoseconds
    monkeypatch.setattr(node.time, '_read', lambda: (now, False))
    message = JointState(name=['hinge'], position=[1.0], velocity=[0.0])
    set_stamp(message.header.stamp, now - round(age * TIMEOUT * 1e9))
    node._on_joint_states(message)
    assert node._output.pushing == sent
    assert sent or 'when they leave' in node._output_status().message
