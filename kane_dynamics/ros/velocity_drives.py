# SPDX-License-Identifier: Apache-2.0
"""
The drives of a simulated base that takes velocities, and the topic ``cmd_vel`` that gives them.

A drive pulls its base with an effort in proportion to what is lacking of the commanded speed. The
part of the speed itself is damping of the model, which integrators treat so that it cannot
diverge, however stiff the drive is; the wheels follow by their constraints.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kane_dynamics.ros.followed_twist import FollowedTwist, read_command, response
from kane_dynamics.ros.input_guard import InputGuard, RejectedInput
from kane_dynamics.ros.parameters.simulator import SimulatorParameters
from kane_dynamics.ros.robot_source import RobotModel
from kane_dynamics.typing import Floats

NANO = 1_000_000_000


class VelocityDrives:
    """
    The drives of one base.

    Parameters
    ----------
    model : RobotModel
        The robot, damped by the gain of its drives.
    parameters : SimulatorParameters
        Gain, response, age limit.

    Attributes
    ----------
    guard : InputGuard
        Counts the commands.

    """

    def __init__(self, model: RobotModel, parameters: SimulatorParameters) -> None:
        self.guard = InputGuard('cmd_vel', float('inf'), now=lambda: 0)
        self._frame, self._gain = model.child_frame, parameters.drive_gain
        self._stamped = parameters.cmd_vel_stamped
        self._lasts = round(parameters.cmd_vel_timeout * NANO)
        self._followed = FollowedTwist(response(parameters))
        self.reset()

    def reset(self) -> None:
        """Stand still at time zero."""
        self._until = 0
        self._followed.reset()
        self._followed.begin(0, np.zeros(3))

    def take(self, message: Any, time: int) -> bool:
        """Check a Twist or TwistStamped and follow it from a time [ns] on; return whether."""
        try:
            twist, _ = read_command(message, self._stamped)
        except RejectedInput as rejection:
            self.guard.reject(rejection)
            return False
        self._followed.command(time, twist)
        self._until = time + self._lasts
        self.guard.note(0)
        return True

    def effort(self, q: Floats, time: int, step: int) -> Floats:
        """Return the efforts of base_x, base_y, base_yaw in a step [ns] from a time [ns] on."""
        if time >= self._until:  # who commanded is gone
            self._followed.command(time, np.zeros(3))
        twist = self._followed.at(time + step).twist
        return self._gain * self._frame.root_velocity(q[:3], twist)

    def problem(self) -> str:
        """Return '': without a command the base stands."""
        return ''
