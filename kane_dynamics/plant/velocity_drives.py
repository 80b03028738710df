# SPDX-License-Identifier: Apache-2.0
"""The drives of a base that velocities command, as efforts on it; nothing here needs rclpy."""

from typing import Any

import numpy as np

from kane_dynamics.control.base_state_input import (
    FollowedTwist,
    other_frames,
    read_command,
    response,
)
from kane_dynamics.messages.conversions import PlanarFrame
from kane_dynamics.messages.inputs import EventInput
from kane_dynamics.robot_config.parameters.tables import SimulatorParameters
from kane_dynamics.robot_config.robot_source import RobotModel
from kane_dynamics.typing import Floats

_ROOT = PlanarFrame()
NANO = 1_000_000_000


class VelocityDrives(EventInput):
    """
    The drives of one base under velocity commands.

    Wheels that are steered turn together towards the command, at a limited rate, and the base
    moves as far as they allow (`WheeledBase.steer_towards`). A drive pulls its base with an effort
    in proportion to what is lacking of the commanded speed; the part of the speed itself is
    damping of the model, which integrators treat so that it cannot diverge, however stiff it is.
    """

    def __init__(self, model: RobotModel, parameters: SimulatorParameters) -> None:
        super().__init__('cmd_vel')
        self._frame, self._gain = model.child_frame, parameters.base_drive_gain
        self._stamped = parameters.base_cmd_vel_stamped
        self._other_frames = other_frames(model, parameters)
        self._lasts = round(parameters.timeout_cmd_vel * NANO)
        self._followed = FollowedTwist(response(parameters))
        self._rate_limit, self._nv = parameters.base_steering_rate_limit, model.robot.nv
        self._base = model.base if model.base is not None and model.base.centred else None
        self._steering = () if self._base is None else self._base.steering
        self._at = model.q_index(self._steering), model.v_index(self._steering)
        self.reset()

    def reset(self) -> None:
        """Stand still at time zero."""
        self._until = 0
        self._followed.reset()
        self._followed.begin(0, np.zeros(3))

    def accept(self, message: Any, time: int) -> None:
        """Check a Twist or TwistStamped and follow it from a time [ns] on."""
        twist, _ = read_command(message, self._stamped, self._other_frames)
        self._followed.command(time, twist)
        self._until = time + self._lasts

    def commanded(self, time: int) -> bool:
        """Return whether somebody commands the base at a time [ns]."""
        return time < self._until

    def effort(self, q: Floats, time: int, step: int) -> Floats:
        """Return the efforts of base and steering in a step [ns] from a time [ns] on, (nv,)."""
        if not self.commanded(time):  # who commanded is gone
            self._followed.command(time, np.zeros(3))
        twist = self._followed.at(time + step).twist
        effort = np.zeros(self._nv)
        if self._base is None:
            effort[:3] = self._gain * self._frame.root_velocity(q[:3], twist)
            return effort
        seconds, (indices, speeds) = step * 1e-9, self._at
        target = self._frame.root_velocity(np.zeros(3), twist)
        following = self._base.steer_towards(target, q, self._rate_limit * seconds)
        effort[:3] = self._gain * _ROOT.root_velocity(q[:3], following.twist)
        effort[speeds] = self._gain * (following.angles - q[indices]) / seconds
        return effort
