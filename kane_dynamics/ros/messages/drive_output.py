# SPDX-License-Identifier: Apache-2.0
"""The topic of the efforts that the drives of a base will need."""

from __future__ import annotations

from rclpy.lifecycle import LifecycleNode
from sensor_msgs.msg import JointState

from kane_dynamics.messages.conversions import set_stamp
from kane_dynamics.ros.qos import STATE
from kane_dynamics.typing import Floats


class DriveOutput:
    """Publishes ``~/drive_effort``, for those who size, limit or watch drives; nobody obeys it."""

    def __init__(self, node: LifecycleNode) -> None:
        self._message = JointState()
        self._publisher = node.create_lifecycle_publisher(JointState, '~/drive_effort', STATE)

    def publish(self, stamp: int, names: tuple[str, ...], effort: Floats) -> None:
        """Publish the efforts of drives [N m or N] with a stamp [ns]."""
        set_stamp(self._message.header.stamp, stamp)
        self._message.name, self._message.effort = list(names), effort.tolist()
        self._publisher.publish(self._message)
