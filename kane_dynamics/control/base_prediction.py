# SPDX-License-Identifier: Apache-2.0
"""How a base will move, from its command or its odometry; nothing here needs rclpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kane_dynamics.analysis.base_motion import BaseMotion, DriveResponse, moving
from kane_dynamics.control.base_state_input import (
    FollowedTwist,
    other_frames,
    read_command,
    response,
)
from kane_dynamics.control.state_inputs import GuardFactory, OdometryInput
from kane_dynamics.messages.input_monitor import RejectedInput
from kane_dynamics.messages.planar_frame import PlanarFrame
from kane_dynamics.robot_config.parameters.tables import TrajectoryFeedforwardParameters
from kane_dynamics.robot_config.robot_source import RobotModel
from kane_dynamics.trajectories.joint_trajectory import (
    UNNAMED,
    BaseTrajectory,
    JointTrajectory,
    Setpoint,
)
from kane_dynamics.typing import Floats


def resting(q: Floats) -> Setpoint:
    """Return the plan of a base that stands at x, y, yaw."""
    return Setpoint(np.array(q[:3], dtype=float), np.zeros(3), np.zeros(3))


class TwistTrajectory:
    """Plan of a base whose twist is known over time."""

    def __init__(
        self,
        frame: PlanarFrame,
        start: Floats,
        motion: Callable[[float], BaseMotion],
        turned: Callable[[float], float],
    ) -> None:
        self._frame, self._motion, self._turned = frame, motion, turned
        self._start = np.array(start[:3], dtype=float)

    def at(self, time: float) -> tuple[Floats, Floats, Floats]:
        """Return x, y, yaw of the root link and their derivatives at a time [s], (3,) each."""
        motion, q = self._motion(time), self._start.copy()
        q[2] += self._turned(time)
        v = self._frame.root_velocity(q, motion.twist)
        return q, v, self._frame.root_acceleration(q, v, motion.acceleration)


def following(
    frame: PlanarFrame, start: Floats, drive: DriveResponse, twist: Floats, command: Floats
) -> TwistTrajectory:
    """Return the plan of a base that follows a command that stands, from its present twist."""
    return TwistTrajectory(
        frame,
        start,
        lambda time: drive.after(twist, command, time),
        lambda time: float(drive.covered(twist, command, time)[2]),
    )


def along(frame: PlanarFrame, start: Floats, times: Floats, twists: Floats) -> TwistTrajectory:
    """Return the plan of a base whose twist is given at points of time, with lines between."""
    profile = JointTrajectory(UNNAMED, times, twists)

    def turned(time: float) -> float:
        corners = np.array([0.0, *(t for t in times if 0.0 < t < time), time])
        rates = np.array([profile.at(t)[0][2] for t in corners])
        return float(np.diff(corners) @ (rates[1:] + rates[:-1]) / 2.0)

    return TwistTrajectory(frame, start, lambda time: moving(*profile.at(time)[:2]), turned)


class Later:
    """A plan that counts from a time before or after its own zero, at which it begins."""

    def __init__(self, plan: BaseTrajectory, shift: float) -> None:
        self._plan, self._shift = plan, shift

    def at(self, time: float) -> tuple[Floats, Floats, Floats]:
        """Return coordinates of the base and their derivatives at a time [s], (3,) each."""
        return self._plan.at(max(time + self._shift, 0.0))


class BasePrediction:
    """Newest command and odometry of a velocity-controlled base, and what follows from them."""

    def __init__(
        self,
        model: RobotModel,
        parameters: TrajectoryFeedforwardParameters,
        new_guard: GuardFactory,
    ) -> None:
        self.guard, self._frame = new_guard('cmd_vel'), model.child_frame
        self._other_frames = other_frames(model, parameters)
        self._followed = FollowedTwist(response(parameters))
        self._seen = FollowedTwist(DriveResponse(parameters.base_response_time))
        self.configure(parameters)
        self.reset()

    def configure(self, parameters: TrajectoryFeedforwardParameters) -> None:
        """Take over the source, the age limit and the response."""
        self._kind, self._stamped = parameters.base_motion_source, parameters.base_cmd_vel_stamped
        self.guard.max_age = parameters.timeout_cmd_vel
        self._followed.drive = response(parameters)
        self._seen.drive = DriveResponse(parameters.base_response_time)

    def reset(self) -> None:
        """Forget all messages."""
        self.guard.reset()
        self._followed.reset()
        self._seen.reset()
        self._command, self._twist, self._stamp = np.zeros(3), np.zeros(3), 0

    def take(self, message: Any) -> bool:
        """Check a Twist or TwistStamped and keep it; return whether it was accepted."""
        try:
            command, stamp = read_command(message, self._stamped, self._other_frames)
            self.guard.admit(stamp)
        except RejectedInput as rejection:
            self.guard.reject(rejection)
            return False
        self._command = command
        self._followed.command(self.guard.time, command)
        return True

    def see(self, odom: OdometryInput) -> None:
        """Take over the newest odometry."""
        if not odom.guard.fresh() or odom.stamp == self._stamp:
            return
        _, self._twist = self._frame.child_state(odom.q, odom.v)
        if not self._stamp:
            self._seen.begin(odom.guard.time, self._twist)
        self._seen.command(odom.guard.time, self._twist)
        self._stamp = odom.stamp

    def plan(
        self, planned: JointTrajectory | None, time: int, shift: float, odom: OdometryInput
    ) -> BaseTrajectory:
        """Return how the base moves along a trajectory."""
        if (planned is not None) != (self._kind == 'planned'):
            says = 'moves' if planned is not None else 'does not say how it moves'
            raise RejectedInput(
                'base', f"base.motion_source is '{self._kind}', and the trajectory {says} the base"
            )
        if planned is not None:
            return planned
        if self._kind == 'rest':
            return resting(odom.q)
        self.see(odom)
        if self._kind == 'commanded':
            command = self._command if self.guard.fresh() else np.zeros(3)  # drivers stop then
            twist = self._twist if odom.guard.fresh() else self._followed.at(time).twist
            drive = self._followed.drive
        else:
            if problem := odom.problem():
                raise RejectedInput('stale', problem)
            command, twist, drive = self._twist, self._seen.at(time).twist, self._seen.drive
        return Later(following(self._frame, odom.q, drive, twist, command), shift)
