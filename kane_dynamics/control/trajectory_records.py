# SPDX-License-Identifier: Apache-2.0
"""Messages to plain mappings, and trajectories back into messages; nothing here needs rclpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kane_dynamics.trajectories.joint_trajectory import JointTrajectory
from kane_dynamics.trajectories.trajectory_files import BILLION, nanoseconds_of, point_fields


def record_of(message: Any) -> Any:
    """Return a message as nested mappings and lists, by the names of its fields."""
    fields = getattr(message, 'get_fields_and_field_types', None)
    names = vars(message) if fields is None and hasattr(message, '__dict__') else ()
    names = fields() if fields is not None else names
    if names:
        return {name: record_of(getattr(message, name)) for name in names}
    if isinstance(message, (list, tuple)):
        return [record_of(one) for one in message]
    return message


def fill_trajectory(message: Any, points: JointTrajectory, new_point: Callable[[], Any]) -> None:
    """Write points into a trajectory_msgs/JointTrajectory; its header stays."""
    listed = []
    for i, time in enumerate(nanoseconds_of(points)):
        point = new_point()
        since = point.time_from_start
        since.sec, since.nanosec = divmod(time, BILLION)
        for field, values in point_fields(points, i).items():
            setattr(point, field, values)
        listed.append(point)
    message.joint_names, message.points = list(points.names), listed
