# SPDX-License-Identifier: Apache-2.0
"""
The motion of a velocity-controlled base by velocity; nothing here needs rclpy.

Its speeds are those of odometry where that is fresh, else those that the drives should have by
now. Its accelerations are those of the first fresh source in the order that the parameters give:
``cmd_vel`` as the drives should follow it, ``odom`` differentiated, ``imu``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kane_dynamics.analysis.base_motion import (
    BaseMotion,
    DriveResponse,
    moving,
    sensed_acceleration,
)
from kane_dynamics.control.effort_law import BaseState
from kane_dynamics.control.state_inputs import GuardFactory, OdometryInput, base_link
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.messages.conversions import check_numbers, nanoseconds
from kane_dynamics.messages.input_monitor import RejectedInput
from kane_dynamics.messages.planar_frame import AXES, rotation
from kane_dynamics.robot.joint_tables import known_limits
from kane_dynamics.robot_config.parameters.tables import (
    BaseMotionParameters,
    CommandedBaseParameters,
)
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


CMD_VEL, ODOM, IMU = SOURCES = ('cmd_vel', 'odom', 'imu')


class BaseMotionInput:
    """Newest motion of the base of a model."""

    def __init__(
        self, model: RobotModel, parameters: BaseMotionParameters, new_guard: GuardFactory
    ) -> None:
        self.sources = parameters.base_acceleration_source
        unknown = [name for name in self.sources if name not in SOURCES]
        if unknown or not self.sources:
            raise InvalidInputError(
                f'base.acceleration_source: need some of {list(SOURCES)}, got {list(self.sources)}'
            )
        self.command, self.imu = new_guard(CMD_VEL), new_guard(IMU)
        self.used = ''
        self._model, self._stamped = model, parameters.base_cmd_vel_stamped
        self._prefix = parameters.frame_prefix
        self._other_frames = other_frames(model, parameters)
        self._followed = FollowedTwist(response(parameters))
        self._seen = FollowedTwist(DriveResponse(parameters.base_response_time))
        self._odom_stamp = 0
        self._sensed = (np.zeros(3), np.eye(3), np.zeros(3))
        self.configure(parameters)

    def configure(self, parameters: BaseMotionParameters) -> None:
        """Take over age limits and response."""
        self.command.max_age = parameters.timeout_cmd_vel
        self.imu.max_age = parameters.timeout_imu
        self._followed.drive = response(parameters)
        self._seen.drive = DriveResponse(parameters.base_response_time)

    def take_command(self, message: Any) -> bool:
        """Check a Twist or TwistStamped and keep it; return whether it was accepted."""
        try:
            twist, stamp = read_command(message, self._stamped, self._other_frames)
            resting = not self.command.fresh()
            self.command.admit(stamp)
        except RejectedInput as rejection:
            self.command.reject(rejection)
            return False
        time = self.command.time
        if resting:  # nobody knows what the drives did meanwhile: they are where odometry is
            self._followed.begin(time, self._seen.at(time).twist)
        self._followed.command(time, twist)
        return True

    def take_imu(self, message: Any) -> bool:
        """Check an Imu and keep its acceleration; return whether it was accepted."""
        try:
            sensed = self._read_imu(message)
            self.imu.admit(nanoseconds(message.header.stamp))
        except RejectedInput as rejection:
            self.imu.reject(rejection)
            return False
        self._sensed = sensed
        return True

    def at(self, time: int, odom: OdometryInput, gravity: Floats) -> BaseState:
        """Return how the base moves at a time [ns], in the odometry frame, under gravity there."""
        frame, fresh = self._model.child_frame, odom.guard.fresh()
        _, twist = frame.child_state(odom.q, odom.v)
        if fresh and odom.stamp != self._odom_stamp:
            if not self._odom_stamp:
                self._seen.begin(odom.guard.time, twist)
            self._seen.command(odom.guard.time, twist)
            self._odom_stamp = odom.stamp
        self.used = next(name for name in self.sources if self._fresh(name, odom))
        motion = (self._followed if self.used == CMD_VEL else self._seen).at(time)
        speeds = twist if fresh else motion.twist  # without odometry only cmd_vel is fresh
        acceleration = motion.acceleration
        if self.used == IMU:
            acceleration = self._of_imu(odom.q[2], speeds[2], acceleration[2], gravity)
        v = frame.root_velocity(odom.q, speeds)
        return BaseState(v, frame.root_acceleration(odom.q, v, acceleration))

    def problem(self, odom: OdometryInput) -> str:
        """Return why the motion is not known, or ''."""
        if any(self._fresh(name, odom) for name in self.sources):
            return ''
        guards = {CMD_VEL: self.command, ODOM: odom.guard, IMU: self.imu}
        return '; '.join(guards[name].problem() for name in self.sources)

    def reset(self) -> None:
        """Forget all messages."""
        self.command.reset()
        self.imu.reset()
        self._followed.reset()
        self._seen.reset()
        self._odom_stamp = 0

    def _read_imu(self, message: Any) -> tuple[Floats, Floats, Floats]:
        """Return specific force, and rotation and position of the sensor in the base frame."""
        if message.linear_acceleration_covariance[0] == -1.0:
            raise RejectedInput('missing', 'imu: the message says that it has no acceleration')
        pose = base_link(self._model, message.header.frame_id, self._prefix)
        linear = message.linear_acceleration
        force = np.array([linear.x, linear.y, linear.z], dtype=float)
        check_numbers('imu: linear_acceleration', force, ('x', 'y', 'z'))
        frame = self._model.child_frame
        turned = np.eye(3)
        turned[:2, :2] = rotation(-frame.yaw)
        position = pose.position() - np.array([frame.x, frame.y, 0.0])
        return force, turned @ pose.rotation_matrix(), turned @ position

    def _of_imu(
        self, yaw: float, yaw_rate: float, yaw_acceleration: float, gravity: Floats
    ) -> Floats:
        """Return the acceleration of the base frame that the accelerometer shows."""
        along = rotation(-yaw - self._model.child_frame.yaw) @ gravity[:2]
        return sensed_acceleration(*self._sensed, yaw_rate, yaw_acceleration, along)

    def _fresh(self, name: str, odom: OdometryInput) -> bool:
        if name == CMD_VEL:
            return self.command.fresh()
        fresh = odom.guard.fresh()  # an IMU knows no speeds
        return fresh and (name == ODOM or self.imu.fresh())
