# SPDX-License-Identifier: Apache-2.0
"""``kane_governor``: commands of a base that keep reserves of its limits; contact forces."""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from geometry_msgs.msg import Point, Twist, TwistStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import Marker, MarkerArray

from kane_dynamics.analysis.support_polygon import SupportPolygon
from kane_dynamics.analysis.wheel_forces import WheelForces
from kane_dynamics.control.governed_base import ArmTrajectoryPreview, GovernedBase
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.messages.conversions import PlanarFrame, fill_twist, rotation, set_stamp
from kane_dynamics.messages.inputs import Input
from kane_dynamics.robot_config.robot_source import base_frame
from kane_dynamics.ros.base_node import DynamicsNode
from kane_dynamics.ros.diagnostics import ERROR, OK, WARN, Status
from kane_dynamics.ros.effort_node import LAST_WORD_TIMEOUT
from kane_dynamics.ros.runtime import COMMAND, STATE
from kane_dynamics.typing import Floats

PARTS = ('normal', 'longitudinal', 'lateral')
METRES_PER_NEWTON = 1e-3
GREEN, RED, GREY = (0.1, 0.7, 0.2), (0.85, 0.1, 0.1), (0.6, 0.6, 0.6)


def forces_message(stamp: int, picture: WheelForces) -> JointState:
    """Return the parts of each contact's force [N], and position = part of mu N that is used."""
    message = JointState()
    set_stamp(message.header.stamp, stamp)
    for name, contact in picture.contacts.items():
        for part in PARTS:
            message.name.append(f'{name}/{part}')
            message.effort.append(float(getattr(contact, part)))
            message.position.append(float(contact.use))
    return message


def markers_message(
    stamp: int,
    frame_id: str,
    frame: PlanarFrame,
    q: Floats,
    picture: WheelForces,
    polygon: SupportPolygon,
) -> MarkerArray:
    """Return arrows for the forces, the support polygon and the zero-moment point."""
    pose, _ = frame.child_state(q[:3], np.zeros(3))
    to_base = np.eye(3)
    to_base[:2, :2] = rotation(-pose[2])
    origin = np.array([pose[0], pose[1], 0.0])

    def placed(point: Floats) -> Point:
        x, y, z = (to_base @ (point - origin)).tolist()
        return Point(x=x, y=y, z=z)

    markers = []
    for name, contact in picture.contacts.items():
        tip = contact.point + METRES_PER_NEWTON * contact.force
        slips = contact.use >= 1.0
        arrow = _marker(Marker.ARROW, name, RED if slips else GREEN, (0.015, 0.03, 0.0))
        arrow.points = [placed(contact.point), placed(tip)]
        markers.append(arrow)
    tips = not picture.margins.margin > 0.0
    edge = _marker(Marker.LINE_STRIP, 'support polygon', RED if tips else GREY, (0.01, 0.0, 0.0))
    corners = [polygon.points[k] for k in (*polygon.corners, polygon.corners[0])]
    edge.points = [placed(corner) for corner in corners]
    markers.append(edge)
    zmp = picture.margins.zero_moment_point
    if np.isfinite(zmp).all():
        ball = _marker(
            Marker.SPHERE_LIST, 'zero-moment point', RED if tips else GREEN, (0.04,) * 3
        )
        ball.points = [placed(zmp)]
        markers.append(ball)
    for number, marker in enumerate(markers):
        marker.id, marker.header.frame_id = number, frame_id
        set_stamp(marker.header.stamp, stamp)
    return MarkerArray(markers=markers)


def _marker(
    kind: int, name: str, colour: tuple[float, float, float], size: tuple[float, float, float]
) -> Any:
    marker = Marker(type=kind, ns=name, action=Marker.ADD)
    marker.pose.orientation.w = 1.0
    marker.scale.x, marker.scale.y, marker.scale.z = size
    marker.color.r, marker.color.g, marker.color.b = colour
    marker.color.a = 1.0
    marker.lifetime.sec = 1
    return marker


BRAKING_PERIOD = 0.02
"""Time [s] between commands that brake the base to rest before the node ends."""


class GovernorNode(DynamicsNode):
    """Lets a command of the base through as far as reserves are kept."""

    law: GovernedBase

    def __init__(self, name: str = 'kane_governor', **options: Any) -> None:
        super().__init__(name, **options)
        self._moving, self._sent, self._wall = False, 0, 0.0
        self._kind = TwistStamped if self.parameters.base_cmd_vel_stamped else Twist
        self._command = self.create_lifecycle_publisher(self._kind, 'cmd_vel', COMMAND)
        self._pace = self.create_lifecycle_publisher(Float64, '~/speed_scaling_factor', STATE)
        self._forces = self.create_lifecycle_publisher(JointState, '~/contact_forces', STATE)
        self._markers = self.create_lifecycle_publisher(MarkerArray, '~/markers', STATE)

    def prepare(self, dynamics: Dynamics) -> tuple[GovernedBase, Mapping[str, Input]]:
        """Make the governor of a robot."""
        p, arm = self.parameters, None
        if p.arm_trajectory_topic:
            guard = self.new_guard('arm_trajectory', '')
            arm = ArmTrajectoryPreview(dynamics.model, guard, p.arm_tolerance)
        governed = GovernedBase(dynamics, p, self.new_guard('cmd_vel'), arm)
        return governed, governed.inputs

    def take(self, dynamics: Dynamics, law: GovernedBase) -> None:
        """Use the governor of a new model, which goes on with the motion of the base."""
        if self.law is not None:
            law.take_over(self.law)
        super().take(dynamics, law)

    def subscribe(self) -> None:
        """Listen to the command that is wanted."""
        self.listen(self._kind, 'cmd_vel_in', name='cmd_vel')
        if topic := self.parameters.arm_trajectory_topic:
            self.listen(JointTrajectory, topic, COMMAND, name='arm_trajectory')

    def forget(self) -> None:
        """Drop measured state and command."""
        super().forget()
        if self.state is not None:
            self.law.reset()

    def compute(self, stamp: int, q: Floats, v: Floats) -> None:
        """Publish the command that is let through, and what it asks of the contacts."""
        now = max(stamp, self.get_clock().now().nanoseconds)
        self._send(now, self.law.admit(now, q, v))
        self._moving = True
        if self.law.newest is not None:
            self._pace.publish(Float64(data=self.law.newest.speed_scaling))
        self._show(stamp, q, v)

    def _show(self, stamp: int, q: Floats, v: Floats) -> None:
        """Publish the contact picture, if somebody looks."""
        forces, markers = (
            publisher.get_subscription_count() > 0 for publisher in (self._forces, self._markers)
        )
        if not (forces or markers):
            return
        picture = self.law.picture(q, v)
        if forces:
            self._forces.publish(forces_message(stamp, picture))
        if markers:
            frame_id, polygon = base_frame(self.parameters), self.law.polygon(q)
            message = markers_message(stamp, frame_id, self.law.frame, q, picture, polygon)
            self._markers.publish(message)

    def state_lost(self) -> None:
        """Brake the base: where it stands when nothing is measured is safe."""
        if not self._moving:
            return
        now = self.get_clock().now().nanoseconds
        wall = time.monotonic() - self._wall
        elapsed = (now - self._sent) * 1e-9 or wall  # simulated time may stand
        command = self.law.brake(max(elapsed, 0.0))
        self._send(now, command)
        if not command.any():
            self._moving = False
            self.law.halt()

    def _rest(self) -> None:
        """Brake the base to rest before the node falls silent."""
        while self._active and self._moving:
            self.state_lost()
            time.sleep(BRAKING_PERIOD * self._moving)
        self._command.wait_for_all_acked(LAST_WORD_TIMEOUT)  # or the base drives on
        super()._rest()

    def _send(self, now: int, command: Floats) -> None:
        self._sent, self._wall = now, time.monotonic()
        message = self._kind()
        fill_twist(message, command, base_frame(self.parameters), now)
        self._command.publish(message)

    # diagnostics

    def statuses(self) -> dict[str, Any]:
        """Return the shared components and the command."""
        return {**super().statuses(), 'cmd_vel_in': self._command_status}

    def _command_status(self) -> Status:
        status = self.status_of('cmd_vel')
        if self.state is None or status.level != ERROR:
            return status
        return Status(WARN, f'{status.message}: standing', status.values)

    def output_status(self, values: dict[str, object]) -> Status:
        """Tell what binds."""
        newest = self.law.newest
        if newest is None:
            return super().output_status(values)
        values['let through'] = f'{newest.fraction:g}'
        values['speed scaling factor of the arm'] = f'{newest.speed_scaling:g}'
        values['headroom'] = f'{newest.headroom:.3f}'
        if not newest.limit:
            return Status(OK, 'ok', values)
        level = WARN if newest.headroom < 0.0 else OK
        return Status(level, f'bound by {newest.limit}', values)
