# SPDX-License-Identifier: Apache-2.0
"""One topic for the effort of each joint: what the bridge to Gazebo hands to ApplyJointForce."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rclpy.duration import Duration
from rclpy.exceptions import InvalidTopicNameException
from rclpy.node import Node
from rclpy.validate_full_topic_name import validate_full_topic_name
from std_msgs.msg import Float64

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.ros.qos import COMMAND


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
