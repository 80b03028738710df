# SPDX-License-Identifier: Apache-2.0
"""Estimates of wrenches and payloads as messages; forces come before torques in ROS."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import WrenchStamped
from std_msgs.msg import Float64MultiArray, MultiArrayDimension, MultiArrayLayout

from kane_dynamics.identification.contact_wrench import ContactWrench
from kane_dynamics.identification.payload import PayloadEstimate
from kane_dynamics.ros.messages.conversions import set_stamp

FORCE_FIRST = np.r_[3:6, 0:3]


def wrench_message(stamp: int, frame_id: str, found: ContactWrench) -> WrenchStamped:
    """Return a wrench at the origin of a frame, in its axes."""
    message = WrenchStamped()
    set_stamp(message.header.stamp, stamp)
    message.header.frame_id = frame_id
    torque, force = message.wrench.torque, message.wrench.force
    torque.x, torque.y, torque.z, force.x, force.y, force.z = found.wrench.tolist()
    return message


def covariance_message(found: ContactWrench) -> Float64MultiArray:
    """Return the covariance of a wrench, 6 x 6 by rows, force before torque."""
    ordered = found.covariance[np.ix_(FORCE_FIRST, FORCE_FIRST)]
    sides = [
        MultiArrayDimension(label=name, size=6, stride=stride)
        for name, stride in (('rows', 36), ('columns', 6))
    ]
    return Float64MultiArray(layout=MultiArrayLayout(dim=sides), data=ordered.ravel().tolist())


def payload_in_words(found: PayloadEstimate) -> str:
    """Return mass and centre of mass with their standard deviations, and what was visible."""
    com = ', '.join(f'{x:.4f}' for x in found.com)
    spread = ', '.join(f'{x:.4f}' for x in found.com_deviations)
    seen = ' '.join(found.visible) or 'nothing'
    return (
        f'mass {found.mass:.4f} +- {found.deviations[0]:.4f} kg, '
        f'com [{com}] +- [{spread}] m; visible: {seen}'
    )
