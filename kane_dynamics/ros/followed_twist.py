# SPDX-License-Identifier: Apache-2.0
"""The twist of a base that follows ``cmd_vel`` in time; nothing here needs rclpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from kane_dynamics.control.base_motion import BaseMotion, DriveResponse, moving
from kane_dynamics.model.joint_tables import known_limits
from kane_dynamics.ros.messages.conversions import check_numbers, nanoseconds
from kane_dynamics.ros.messages.planar_frame import AXES
from kane_dynamics.ros.parameters.robot import CommandedBaseParameters
from kane_dynamics.typing import Floats


def response(parameters: CommandedBaseParameters) -> DriveResponse:
    """Return how the drives of a base follow their command."""
    limit = known_limits(np.array(parameters.acceleration_limit))
    return DriveResponse(parameters.response_time, limit)


def read_command(message: Any, stamped: bool) -> tuple[Floats, int]:
    """
    Return the twist of a cmd_vel message, and its stamp [ns]; 0 where it has none.

    Raises
    ------
    RejectedInput
        If a number is not finite, or too large for any robot.

    """
    twist = message.twist if stamped else message
    value = np.array([twist.linear.x, twist.linear.y, twist.angular.z], dtype=float)
    check_numbers('cmd_vel', value, AXES)
    return value, nanoseconds(message.header.stamp) if stamped else 0


class FollowedTwist:
    """
    A twist that follows its command in time.

    Parameters
    ----------
    drive : DriveResponse
        How.

    """

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
