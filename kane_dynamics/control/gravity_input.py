# SPDX-License-Identifier: Apache-2.0
r"""
gravity direction, from the orientation that odometry or an IMU reports; no rclpy here.

The base of the model moves in the plane of its wheels, at yaw psi. With R from the axes of the
base to those of the message's world, :math:`g = R_z(\psi) R^T g_{world}` in the axes of the model.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from kane_dynamics.algebra.pose import Pose
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.messages.conversions import nanoseconds, yaw_from_msg
from kane_dynamics.messages.input_monitor import InputMonitor, RejectedInput
from kane_dynamics.robot.body import WORLD
from kane_dynamics.robot_config.robot_source import RobotModel
from kane_dynamics.typing import Floats


class TiltInput:
    """Newest direction of gravity."""

    def __init__(self, model: RobotModel, source: str, prefix: str, guard: InputMonitor) -> None:
        if source == 'odom' and not model.mobile:
            raise InvalidInputError("gravity_source 'odom' needs a base_type other than none")
        self.source, self.guard = source, guard
        self._model, self._prefix = model, prefix
        self._base: Floats | None = None

    def take(self, message: Any) -> bool:
        """Check an Imu, or read an Odometry that was accepted; return whether it was used."""
        if self.source == 'odom':
            frame = self._model.child_frame.yaw
            self._base = Rotation.from_euler('z', frame).apply(
                self._gravity_in(message.pose.pose.orientation)
            )
            return True
        try:
            sensor = base_link(self._model, message.header.frame_id, self._prefix)
            if message.orientation_covariance[0] == -1.0:
                raise RejectedInput('missing', 'imu: the message says that it has no orientation')
            yaw_from_msg('imu', message.orientation)  # a unit quaternion
            self.guard.admit(nanoseconds(message.header.stamp))
        except RejectedInput as rejection:
            self.guard.reject(rejection)
            return False
        turned = np.asarray(sensor.rotation_matrix(), dtype=float)
        self._base = turned @ self._gravity_in(message.orientation)
        return True

    def problem(self) -> str:
        """Return why the direction is not known, or ''."""
        return self.guard.problem()

    def gravity(self, q: Floats) -> Floats:
        """Return gravity in the axes of the model's world, shape (3,) [m/s^2]."""
        if self._base is None:
            return np.asarray(self._model.robot.gravity)
        if not self._model.mobile:
            return self._base
        return np.asarray(Rotation.from_euler('z', q[2]).apply(self._base))

    def reset(self) -> None:
        """Forget the newest message."""
        if self.source != 'odom':
            self.guard.reset()
        self._base = None

    def _gravity_in(self, orientation: Any) -> Floats:
        """Return gravity in the axes that an orientation is that of."""
        xyzw = orientation.x, orientation.y, orientation.z, orientation.w
        world = np.array(self._model.robot.gravity)  # scipy takes no read-only arrays
        return np.asarray(Rotation.from_quat(xyzw).apply(world, inverse=True))


def base_link(model: RobotModel, frame_id: str, prefix: str) -> Pose:
    """Return the pose in the root link of an IMU."""
    link = model.robot.frames.get(frame_id.removeprefix(prefix))
    if link is None or link.body != (0 if model.mobile else WORLD):
        raise RejectedInput('frame', f"imu: frame_id '{frame_id}' is no link of the base")
    return link.pose
