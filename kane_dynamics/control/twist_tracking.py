# SPDX-License-Identifier: Apache-2.0
"""The twist of a base that follows ``cmd_vel`` in time; nothing here needs rclpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from kane_dynamics.analysis.base_motion import BaseMotion, DriveResponse, moving
from kane_dynamics.messages.conversions import check_numbers, nanoseconds
from kane_dynamics.messages.input_monitor import RejectedInput
from kane_dynamics.messages.planar_frame import AXES
from kane_dynamics.robot.joint_tables import known_limits
from kane_dynamics.robot_config.parameters.tables import CommandedBaseParameters
from kane_dynamics.robot_config.robot_source import RobotModel, base_frame
from kane_dynamics.typing import Floats


def response(parameters: CommandedBaseParameters) -> DriveResponse:
    """Return how the drives of a base follow their command."""
    limit = known_limits(np.array(parameters.base_acceleration_limit))
    return DriveResponse(parameters.base_response_time, limit)


WORLD_FRAMES = ('map', 'odom', 'earth', 'world')  # of REP 105, and the usual fixed frame


def other_frames(model: RobotModel, parameters: Any) -> frozenset[str]:
    """Return frame_ids whose axes are known to be other ones than those of the base."""
    yaw, prefix = model.child_frame.yaw, parameters.frame_prefix
    ahead = np.array([np.cos(yaw), np.sin(yaw), 0.0])
    turned = {
        prefix + name
        for name, frame in model.robot.frames.items()
        if frame.body != 0 or not np.allclose(frame.pose.rotation_matrix()[:, 0], ahead, atol=1e-6)
    }
    world = {*WORLD_FRAMES, getattr(parameters, 'odom_frame_id', 'odom')}
    return frozenset((turned | world) - {'', base_frame(parameters)})


def read_command(message: Any, stamped: bool, others: frozenset[str]) -> tuple[Floats, int]:
    """Return the twist of a cmd_vel message, and its stamp [ns]."""
    twist = message.twist if stamped else message
    value = np.array([twist.linear.x, twist.linear.y, twist.angular.z], dtype=float)
    check_numbers('cmd_vel', value, AXES)
    if not stamped or not value.any():
        return value, 0
    if message.header.frame_id in others:
        raise RejectedInput(
            'frame', f"cmd_vel: frame_id '{message.header.frame_id}' has other axes than the base"
        )
    return value, nanoseconds(message.header.stamp)


class FollowedTwist:
    """A twist that follows its command in time."""

    def __init__(self, drive: DriveResponse) -> None:
        self.drive = drive
        self.reset()

    def reset(self) -> None:
        """Forget twist and command."""
        self._motion = BaseMotion(np.zeros(3), np.zeros(3))
        self._command, self._time = np.zeros(3), -1

    def begin(self, time: int, twist: Floats) -> None:
        """Go on from a twist at a time [ns], which is its own command at first."""
        self._motion, self._command, self._time = moving(twist, np.zeros(3)), twist, time

    def command(self, time: int, twist: Floats) -> None:
        """Follow another command from a time [ns] on."""
        self.at(time)
        self._command = twist

    def at(self, time: int) -> BaseMotion:
        """Return the motion at a time [ns]; times before the newest one count as that."""
        if self._time < 0:
            self._time = time
        passed = max(time - self._time, 0)
        self._motion = self.drive.after(self._motion.twist, self._command, passed * 1e-9)
        self._time += passed
        return self._motion
