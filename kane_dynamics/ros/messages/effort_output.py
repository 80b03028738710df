# SPDX-License-Identifier: Apache-2.0
"""The effort topics: one JointState by name, one plain array for a controller, one a joint."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from rclpy.duration import Duration
from rclpy.exceptions import InvalidTopicNameException
from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node
from rclpy.validate_full_topic_name import validate_full_topic_name
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, Float64MultiArray

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.messages.conversions import set_doubles, set_stamp
from kane_dynamics.robot_config.robot_source import RobotModel
from kane_dynamics.ros.messages.qos import COMMAND, STATE
from kane_dynamics.typing import Floats


def joint_topic(joint: str) -> str:
    """Return the topic of the effort of a joint, relative to the namespace."""
    topic = f'{joint}/effort'
    try:
        validate_full_topic_name(f'/{topic}')
    except InvalidTopicNameException as error:
        raise InvalidInputError(
            f"joint_topics: joint '{joint}' cannot have the topic '{topic}': {error}"
        ) from error
    return topic


class JointTopics:
    """Publishes efforts on ``<joint>/effort``."""

    def __init__(self, node: Node) -> None:
        self._node, self._message = node, Float64()
        self._publishers: dict[str, Any] = {}

    def prepare(self, joints: Sequence[str]) -> None:
        """Publish for these joints, in this order, from now on."""
        before = self._publishers
        self._publishers = {
            name: before.pop(name, None)
            or self._node.create_publisher(Float64, joint_topic(name), COMMAND)
            for name in joints
        }
        for publisher in before.values():
            self._node.destroy_publisher(publisher)

    def publish(self, efforts: Sequence[float]) -> None:
        """Publish an effort [N m or N] for each joint."""
        for publisher, effort in zip(self._publishers.values(), efforts, strict=True):
            self._message.data = effort
            publisher.publish(self._message)

    def flush(self, timeout: Duration) -> None:
        """Wait until the subscribers have the last messages."""
        for publisher in self._publishers.values():
            publisher.wait_for_all_acked(timeout)


LAST_WORD_TIMEOUT = Duration(seconds=0.5)
"""Longest wait for the subscribers to confirm the last message before the process ends."""


class EffortOutput:
    """Publishes efforts on ``~/effort`` and ``~/commands``, reusing the message objects."""

    def __init__(self, node: LifecycleNode, joint_topics: bool = False) -> None:
        self.pushing = False
        self._node = node
        self._state, self._commands = JointState(), Float64MultiArray()
        self._order = np.zeros(0, dtype=np.intp)
        self._publishers: tuple[Any, Any] = (
            node.create_lifecycle_publisher(JointState, '~/effort', STATE),
            node.create_lifecycle_publisher(Float64MultiArray, '~/commands', COMMAND),
        )
        self._joints = JointTopics(node) if joint_topics else None

    def prepare(self, model: RobotModel, command_joints: tuple[str, ...]) -> None:
        """Fit the messages to a robot's motors; `command_joints` orders ``~/commands``."""
        motors = model.motors
        ordered = command_joints or motors
        self._order = np.array([motors.index(name) for name in ordered], dtype=np.intp)
        self._state.name = list(motors)
        zeros = [0.0] * len(motors)
        self._state.position, self._state.velocity, self._state.effort = zeros, zeros, zeros
        self._commands.data = [0.0] * len(ordered)
        if self._joints is not None:
            self._joints.prepare(ordered)

    def publish(
        self,
        stamp: int,
        position: Floats,
        velocity: Floats,
        effort: Floats,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """Publish efforts and the state they belong to."""
        set_stamp(self._state.header.stamp, stamp)
        set_doubles(self._state.position, position)
        set_doubles(self._state.velocity, velocity)
        self._send(effort, check)
        self.pushing = True

    def silence(self) -> None:
        """Publish zeros once, if an effort is out; receivers hold the last one for ever."""
        if not self.pushing:
            return
        set_stamp(self._state.header.stamp, self._node.get_clock().now().nanoseconds)
        self._send(np.zeros(len(self._state.name)))
        self.pushing = False

    def flush(self) -> None:
        """Wait until the subscribers have the last message."""
        for publisher in self._publishers:
            publisher.wait_for_all_acked(LAST_WORD_TIMEOUT)
        if self._joints is not None:
            self._joints.flush(LAST_WORD_TIMEOUT)

    def _send(self, effort: Floats, check: Callable[[], None] = lambda: None) -> None:
        set_doubles(self._state.effort, effort)
        set_doubles(self._commands.data, effort[self._order])
        check()
        for publisher, message in zip(
            self._publishers, (self._state, self._commands), strict=True
        ):
            if publisher.get_subscription_count():  # a message to nobody costs as much as one
                publisher.publish(message)
        if self._joints is not None and self._publishers[0].is_activated:
            self._joints.publish(self._commands.data)
