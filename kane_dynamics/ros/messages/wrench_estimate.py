# SPDX-License-Identifier: Apache-2.0
"""Estimates of wrenches and payloads as messages; forces come before torques in ROS."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import WrenchStamped
from std_msgs.msg import Float64MultiArray, MultiArrayDimension, MultiArrayLayout

from kane_dynamics.analysis.contacts import ContactWrench
from kane_dynamics.analysis.payload import PayloadEstimate
from kane_dynamics.messages.conversions import set_stamp

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
