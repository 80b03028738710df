# SPDX-License-Identifier: Apache-2.0
"""
Odometry of one frame of the base, to and from the planar base coordinates of the model.

The model's base is the root link R with q = (x, y, yaw) in the odometry frame O and v its time
derivative, in O. Odometry is the pose of a child frame C fixed in R, and its twist **in C**.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from kane_dynamics.messages.conversions import check_numbers, set_yaw, yaw_from_msg
from kane_dynamics.messages.input_monitor import RejectedInput
from kane_dynamics.typing import Floats

AXES = ('x', 'y', 'yaw')


def rotation(angle: float) -> Floats:
    """Return the 2-by-2 rotation matrix of an angle [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


@dataclass(frozen=True)
class PlanarFrame:
    """Pose of the odometry's child frame C in the root link R."""

    x: float = 0.0  # Origin of C in R [m]
    y: float = 0.0  # Origin of C in R [m]
    yaw: float = 0.0  # Angle from R to C [rad]

    def root_state(self, pose_C: Floats, twist_C: Floats) -> tuple[Floats, Floats]:
        """Return q, v of the planar base."""
        yaw = pose_C[2] - self.yaw
        arm_O = rotation(yaw) @ (self.x, self.y)
        q = np.append(pose_C[:2] - arm_O, yaw)
        return q, self.root_velocity(q, twist_C)

    def root_velocity(self, q: Floats, twist_C: Floats) -> Floats:
        """Return v of the planar base at coordinates q from the twist of C in C, shape (3,)."""
        rate, arm_O = twist_C[2], rotation(q[2]) @ (self.x, self.y)
        velocity_O = rotation(q[2] + self.yaw) @ twist_C[:2] - rate * _turned(arm_O)
        return np.append(velocity_O, rate)

    def child_state(self, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        """Return pose of C in O and twist of C in C; the inverse of `root_state`."""
        yaw = q[2] + self.yaw
        arm_O = rotation(q[2]) @ (self.x, self.y)
        velocity_O = v[:2] + v[2] * _turned(arm_O)
        return (np.append(q[:2] + arm_O, yaw), np.append(rotation(-yaw) @ velocity_O, v[2]))

    def child_acceleration(self, q: Floats, v: Floats, a: Floats) -> Floats:
        """Return the inertial acceleration of the origin of C, in C, and the yaw acceleration."""
        arm_O = rotation(q[2]) @ (self.x, self.y)
        acceleration_O = a[:2] + a[2] * _turned(arm_O) - v[2] ** 2 * arm_O
        return np.append(rotation(-q[2] - self.yaw) @ acceleration_O, a[2])

    def root_acceleration(self, q: Floats, v: Floats, acceleration_C: Floats) -> Floats:
        """Return a of the planar base, in O; the inverse of `child_acceleration`."""
        arm_O = rotation(q[2]) @ (self.x, self.y)
        turning = acceleration_C[2]
        acceleration_O = rotation(q[2] + self.yaw) @ acceleration_C[:2]
        return np.append(acceleration_O - turning * _turned(arm_O) + v[2] ** 2 * arm_O, turning)


def _turned(vector: Floats) -> Floats:
    """Return the vector turned by +90 degrees (e_z cross vector)."""
    return np.array([-vector[1], vector[0]])


def read_odometry(message: Any, child_frame_id: str) -> tuple[Floats, Floats]:
    """Return pose of C in O (x, y, yaw) and twist of C in C (v_x, v_y, yaw rate)."""
    if message.child_frame_id != child_frame_id:
        raise RejectedInput(
            'frame',
            (f"odom: child_frame_id is '{message.child_frame_id}', need '{child_frame_id}'"),
        )
    position, twist = message.pose.pose.position, message.twist.twist
    yaw = yaw_from_msg('odom', message.pose.pose.orientation)
    pose = np.array([position.x, position.y, yaw])
    velocity = np.array([twist.linear.x, twist.linear.y, twist.angular.z])
    check_numbers('odom: pose', pose, AXES)
    check_numbers('odom: twist', velocity, AXES)
    return pose, velocity


def fill_odometry(message: Any, pose: Floats, twist: Floats) -> None:
    """Write pose of C in O and twist of C in C into a nav_msgs Odometry."""
    position = message.pose.pose.position
    position.x, position.y = float(pose[0]), float(pose[1])
    set_yaw(message.pose.pose.orientation, pose[2])
    linear = message.twist.twist.linear
    linear.x, linear.y = float(twist[0]), float(twist[1])
    message.twist.twist.angular.z = float(twist[2])
