# SPDX-License-Identifier: Apache-2.0
"""Contacts and payloads as messages: forces and margins, markers for RViz, wrench estimates."""

from typing import Any

import numpy as np
from geometry_msgs.msg import Point, WrenchStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension, MultiArrayLayout
from visualization_msgs.msg import Marker, MarkerArray

from kane_dynamics.analysis.contacts import ContactWrench
from kane_dynamics.analysis.payload import PayloadEstimate
from kane_dynamics.analysis.support_polygon import SupportPolygon
from kane_dynamics.analysis.wheel_forces import WheelForces
from kane_dynamics.messages.conversions import set_stamp
from kane_dynamics.messages.planar_frame import PlanarFrame, rotation
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


FORCE_FIRST = np.r_[3:6, 0:3]


def wrench_message(stamp: int, frame_id: str, result: ContactWrench) -> WrenchStamped:
    """Return a wrench at the origin of a frame, in its axes."""
    message = WrenchStamped()
    set_stamp(message.header.stamp, stamp)
    message.header.frame_id = frame_id
    torque, force = message.wrench.torque, message.wrench.force
    torque.x, torque.y, torque.z, force.x, force.y, force.z = result.wrench.tolist()
    return message


def covariance_message(result: ContactWrench) -> Float64MultiArray:
    """Return the covariance of a wrench, 6 x 6 by rows, force before torque."""
    ordered = result.covariance[np.ix_(FORCE_FIRST, FORCE_FIRST)]
    sides = [
        MultiArrayDimension(label=name, size=6, stride=stride)
        for name, stride in (('rows', 36), ('columns', 6))
    ]
    return Float64MultiArray(layout=MultiArrayLayout(dim=sides), data=ordered.ravel().tolist())


def payload_in_words(result: PayloadEstimate) -> str:
    """Return mass and centre of mass with their standard deviations, and what was visible."""
    com = ', '.join(f'{x:.4f}' for x in result.com)
    spread = ', '.join(f'{x:.4f}' for x in result.com_deviations)
    seen = ' '.join(result.visible) or 'nothing'
    return (
        f'mass {result.mass:.4f} +- {result.deviations[0]:.4f} kg, '
        f'com [{com}] +- [{spread}] m; visible: {seen}'
    )
