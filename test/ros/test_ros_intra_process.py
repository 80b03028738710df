# SPDX-License-Identifier: Apache-2.0
"""Nodes of one process hand messages over; others see the same topics on DDS."""

import time
from array import array
from collections import deque
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

import rclpy
from nav_msgs.msg import Odometry
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message, serialize_message
from ros_bench import START_TIMEOUT, domain_id
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from kane_dynamics.messages.intra_process import MOST_IN_TURN, IntraProcess, copied
from kane_dynamics.ros.runtime import ComposableNode, fast_executor, new_intra_process

pytestmark = pytest.mark.ros
NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
TOPIC = 'states'


def state(number):
    message = JointState(name=['a', 'b'], position=[0.5, float(number)])
    message.header.stamp.sec = number
    return message


def numbers(messages):
    return [message.header.stamp.sec for message in messages]


# what waits, without DDS


@pytest.mark.parametrize(
    'message',
    [
        state(3),
        Odometry(child_frame_id='base'),
        JointTrajectory(joint_names=['a'], points=[JointTrajectoryPoint(positions=[1.0])]),
    ],
)
def test_a_copy_is_what_dds_would_bring(message):
    before = serialize_message(message)
    copy = copied(message)
    assert copy == deserialize_message(before, type(message))
    overwrite(copy)
    assert copy != message and serialize_message(message) == before


def overwrite(message):
    """Change everything that a message refers to, in place."""
    for slot in message.__slots__:
        value = getattr(message, slot)
        if hasattr(value, '__slots__'):
            overwrite(value)
        elif isinstance(value, list) and value and hasattr(value[0], '__slots__'):
            overwrite(value[0])
        elif isinstance(value, list):
            value.append('another')
        elif isinstance(value, array | np.ndarray) and len(value):
            value[0] += 1.0
        elif type(value) is int:
            setattr(message, slot, value + 1)


class Bus:
    """Publishers and subscriptions without DDS; tasks run when `run` is called."""

    def __init__(self):
        self.tasks, self.sent = deque(), []
        self.process = IntraProcess(serialize_message, deserialize_message)
        self.process.create_task = self.tasks.append
        self.listeners = 0

    def publisher(self, topic):
        made = SimpleNamespace(
            topic_name=topic,
            msg_type=JointState,
            publish=self.sent.append,
            get_subscription_count=lambda: self.listeners,
        )
        self.process.connect(made)
        return made

    def subscribe(self, topic, callback, depth=10):
        profile = SimpleNamespace(depth=depth)

        class Subscription(SimpleNamespace):
            __hash__ = object.__hash__

        def create(received):
            return Subscription(
                topic_name=topic, msg_type=JointState, qos_profile=profile, received=received
            )

        self.listeners += 1
        return self.process.subscribe(create, JointState, callback)

    def run(self):
        for _ in range(len(self.tasks)):
            self.tasks.popleft()()


def test_callbacks_wait_for_the_executor_and_keep_the_order():
    bus, seen = Bus(), []
    first, second = bus.publisher('first'), bus.publisher('second')
    bus.subscribe('second', lambda m: seen.append(('second', m.header.stamp.sec)))
    bus.listeners = 0
    bus.subscribe('first', lambda m: seen.append(('first', m.header.stamp.sec)))
    message = state(1)
    first.publish(message)
    message.header.stamp.sec = 2  # senders fill the same message again
    second.publish(message)
    message.header.stamp.sec = 3
    first.publish(message)
    assert seen == [] and bus.sent == []
    bus.run()
    assert seen == [('first', 1), ('second', 2), ('first', 3)]


def test_a_queue_keeps_the_newest():
    bus, seen = Bus(), []
    publisher = bus.publisher(TOPIC)
    bus.subscribe(TOPIC, seen.append, depth=2)
    for number in range(5):
        publisher.publish(state(number))
    bus.run()
    assert numbers(seen) == [3, 4]


def test_answers_follow_at_once_but_not_for_ever():
    bus = Bus()
    there, back = bus.publisher('there'), bus.publisher('back')
    bus.subscribe('there', back.publish)
    bus.listeners = 0
    bus.subscribe('back', there.publish)
    there.publish(state(1))
    for turn in range(1, 4):
        assert len(bus.tasks) == 1
        bus.run()
        assert bus.process.served == turn * MOST_IN_TURN


def test_an_echo_is_left_out_and_what_others_send_is_not():
    bus, seen = Bus(), []
    publisher = bus.publisher(TOPIC)
    subscription = bus.subscribe(TOPIC, seen.append)
    bus.listeners = 2
    for number in range(3):
        publisher.publish(state(number))
    bus.run()
    assert numbers(seen) == [0, 1, 2]
    assert len(bus.sent) == 3
    for data in bus.sent[1:]:  # the first one was lost
        subscription.received(data)
    subscription.received(serialize_message(state(7)))
    subscription.received(bus.sent[2])  # somebody sends the same once more
    assert numbers(seen) == [0, 1, 2, 7, 2]


def test_nothing_reaches_a_subscription_that_is_gone():
    bus, seen = Bus(), []
    publisher = bus.publisher(TOPIC)
    subscription = bus.subscribe(TOPIC, seen.append)
    publisher.publish(state(1))
    bus.process.forget(subscription)
    bus.run()
    publisher.publish(state(2))
    assert seen == [] and numbers(bus.sent) == [2]


def test_an_inactive_publisher_hands_nothing_over():
    bus, seen = Bus(), []
    publisher = bus.publisher(TOPIC)
    publisher.is_activated = False
    bus.subscribe(TOPIC, seen.append)
    publisher.publish(state(1))
    bus.run()
    assert seen == []


# with DDS


class Pair:
    """Two nodes of a process, and one of another participant."""

    def __init__(self):
        domain = domain_id()
        self.contexts = [Context(), Context()]
        for context in self.contexts:
            rclpy.init(context=context, domain_id=domain)
        process = self.process = new_intra_process()
        self.taken = []  # from DDS
        plain = process._deserialize
        process._deserialize = lambda *given: self.taken.append(1) or plain(*given)
        chosen = {'context': self.contexts[0], 'intra_process': process}
        self.nodes = [ComposableNode(name, **chosen) for name in ('one', 'two')]
        self.executor = fast_executor(*self.nodes)
        process.create_task = self.executor.create_task
        self.other = rclpy.create_node('other', context=self.contexts[1])
        self.outside = SingleThreadedExecutor(context=self.contexts[1])
        self.outside.add_node(self.other)
        for node in self.nodes:
            self.executor.add_node(node)

    def until(self, condition):
        end = time.monotonic() + START_TIMEOUT
        while not condition():
            assert time.monotonic() < end
            self.spin(0.01)

    def spin(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.002)
            self.outside.spin_once(timeout_sec=0.002)

    def close(self):
        self.executor.shutdown()
        self.outside.shutdown()
        for node in (*self.nodes, self.other):
            node.destroy_node()
        for context in self.contexts:
            context.try_shutdown()


@pytest.fixture
def pair():
    made = Pair()
    yield made
    made.close()


def test_dds_carries_nothing_that_nobody_else_wants(pair):
    seen = []
    publisher = pair.nodes[0].create_publisher(JointState, TOPIC, 10)
    pair.nodes[1].create_subscription(JointState, TOPIC, seen.append, NEWEST)
    pair.until(lambda: publisher.get_subscription_count() == 1)
    for number in range(20):
        publisher.publish(state(number))
        pair.until(lambda: seen and numbers(seen)[-1] == number)  # noqa: B023
    assert numbers(seen) == list(range(20))
    assert pair.taken == [] and pair.process.served == 20


def test_others_hear_each_message_once_and_so_does_the_process(pair):
    seen, heard = [], []
    publisher = pair.nodes[0].create_publisher(JointState, TOPIC, 10)
    pair.nodes[1].create_subscription(JointState, TOPIC, seen.append, 10)
    pair.other.create_subscription(JointState, TOPIC, heard.append, 10)
    speaker = pair.other.create_publisher(JointState, TOPIC, 10)
    pair.until(lambda: publisher.get_subscription_count() == 2)
    pair.until(lambda: speaker.get_subscription_count() == 2)
    for number in range(20):
        publisher.publish(state(number))
        pair.spin(0.005)
    pair.until(lambda: len(heard) == 20)
    speaker.publish(state(20))
    pair.until(lambda: len(seen) >= 21)
    pair.spin(0.1)
    assert numbers(seen) == list(range(21))
    assert numbers(heard) == list(range(21))
    assert pair.taken == [1]  # only that of the other


def test_a_latched_topic_stays_with_dds(pair):
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    seen = []
    pair.nodes[0].create_publisher(JointState, TOPIC, latched).publish(state(5))
    pair.nodes[1].create_subscription(JointState, TOPIC, seen.append, latched)
    pair.until(lambda: seen)
    assert numbers(seen) == [5] and pair.process.served == 0


def test_a_failing_callback_ends_the_loop_as_with_dds(pair):
    def fail(message):
        raise ValueError('callback')

    publisher = pair.nodes[0].create_publisher(JointState, TOPIC, 10)
    pair.nodes[1].create_subscription(JointState, TOPIC, fail, 10)
    publisher.publish(state(1))
    with pytest.raises(ValueError, match='callback'):
        pair.spin(START_TIMEOUT)
