# SPDX-License-Identifier: Apache-2.0
"""
The motion of a velocity-controlled base by velocity; nothing here needs rclpy.

Its speeds are those of odometry where that is fresh, else those that the drives should have by
now. Its accelerations are those of the first fresh source in the order that the parameters give:
``cmd_vel`` as the drives should follow it, ``odom`` differentiated, ``imu``.
"""

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
from kane_dynamics.messages.conversions import AXES, check_numbers, nanoseconds, rotation
from kane_dynamics.messages.inputs import Input, InputMonitor, RejectedInput
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


class TwistInput(Input):
    """Newest cmd_vel of a base, beside what odometry shows: how each goes on in time."""

    def __init__(
        self, model: RobotModel, parameters: CommandedBaseParameters, guard: InputMonitor
    ) -> None:
        super().__init__(guard)
        self.frame, self._stamped = model.child_frame, parameters.base_cmd_vel_stamped
        self._other_frames = other_frames(model, parameters)
        self.followed = FollowedTwist(response(parameters))
        self.seen = FollowedTwist(response(parameters))
        self.twist, self._odom_stamp = np.zeros(3), 0
        self.configure(parameters)

    def configure(self, parameters: CommandedBaseParameters) -> None:
        """Take over the response of the drives."""
        self.followed.drive = response(parameters)
        self.seen.drive = DriveResponse(parameters.base_response_time)

    def accept(self, message: Any) -> None:
        """Check a Twist or TwistStamped and keep it."""
        twist, stamp = read_command(message, self._stamped, self._other_frames)
        resting = not self.guard.fresh()
        self.guard.admit(stamp)
        time, self.twist = self.guard.time, twist
        if resting:  # nobody knows what the drives did meanwhile: they are where odometry is
            self.followed.begin(time, self.seen.at(time).twist)
        self.followed.command(time, twist)

    def see(self, odom: OdometryInput) -> Floats:
        """Take over odometry where it is new and fresh; return its twist of the base frame."""
        _, twist = self.frame.child_state(odom.q, odom.v)
        if odom.guard.fresh() and odom.stamp != self._odom_stamp:
            if not self._odom_stamp:
                self.seen.begin(odom.guard.time, twist)
            self.seen.command(odom.guard.time, twist)
            self._odom_stamp = odom.stamp
        return twist

    def reset(self) -> None:
        """Forget all messages."""
        super().reset()
        self.followed.reset()
        self.seen.reset()
        self.twist, self._odom_stamp = np.zeros(3), 0


class AccelerationInput(Input):
    """Newest specific force of an IMU on the base."""

    def __init__(self, model: RobotModel, prefix: str, guard: InputMonitor) -> None:
        super().__init__(guard)
        self._model, self._prefix = model, prefix
        self._sensed = (np.zeros(3), np.eye(3), np.zeros(3))

    def accept(self, message: Any) -> None:
        """Check an Imu; keep its force, and rotation and position of the sensor in the base."""
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
        self.guard.admit(nanoseconds(message.header.stamp))
        self._sensed = force, turned @ pose.rotation_matrix(), turned @ position

    def acceleration(
        self, yaw: float, yaw_rate: float, yaw_acceleration: float, gravity: Floats
    ) -> Floats:
        """Return the acceleration of the base frame that the accelerometer shows."""
        along = rotation(-yaw - self._model.child_frame.yaw) @ gravity[:2]
        return sensed_acceleration(*self._sensed, yaw_rate, yaw_acceleration, along)


class BaseMotionInput:
    """Newest motion of the base of a model."""

    def __init__(
        self,
        model: RobotModel,
        parameters: BaseMotionParameters,
        new_guard: GuardFactory,
        odom: OdometryInput,
    ) -> None:
        self._odom, self.sources = odom, parameters.base_acceleration_source
        unknown = [name for name in self.sources if name not in SOURCES]
        if unknown or not self.sources:
            raise InvalidInputError(
                f'base.acceleration_source: need some of {list(SOURCES)}, got {list(self.sources)}'
            )
        self.command = TwistInput(model, parameters, new_guard(CMD_VEL))
        self.imu = AccelerationInput(model, parameters.frame_prefix, new_guard(IMU))
        self.inputs: dict[str, Input] = {CMD_VEL: self.command, IMU: self.imu}
        self.used = ''

    def at(self, time: int, gravity: Floats) -> BaseState:
        """Return how the base moves at a time [ns], in the odometry frame, under gravity there."""
        command, odom = self.command, self._odom
        twist = command.see(odom)
        self.used = next(name for name in self.sources if self._fresh(name))
        motion = (command.followed if self.used == CMD_VEL else command.seen).at(time)
        # without odometry only cmd_vel is fresh
        speeds = twist if odom.guard.fresh() else motion.twist
        acceleration = motion.acceleration
        if self.used == IMU:
            acceleration = self.imu.acceleration(odom.q[2], speeds[2], acceleration[2], gravity)
        v = command.frame.root_velocity(odom.q, speeds)
        return BaseState(v, command.frame.root_acceleration(odom.q, v, acceleration))

    def problem(self) -> str:
        """Return why the motion is not known, or ''."""
        if any(self._fresh(name) for name in self.sources):
            return ''
        inputs = {**self.inputs, ODOM: self._odom}
        return '; '.join(inputs[name].problem() for name in self.sources)

    def _fresh(self, name: str) -> bool:
        if name == CMD_VEL:
            return self.command.guard.fresh()
        fresh = self._odom.guard.fresh()  # an IMU knows no speeds
        return fresh and (name == ODOM or self.imu.guard.fresh())
