# SPDX-License-Identifier: Apache-2.0
"""Constraint multipliers and residuals as a JointState: one entry per constraint row."""

from __future__ import annotations

from sensor_msgs.msg import JointState

import kane_dynamics as kd
from kane_dynamics.messages.conversions import set_doubles, set_stamp
from kane_dynamics.plant.plant import Readings


class ConstraintMessage:
    """A JointState: name = labels, effort = multipliers, velocity = A v - b0, position = Phi."""

    def __init__(self, labels: tuple[str, ...]) -> None:
        zeros = [0.0] * len(labels)
        self._message = JointState(name=list(labels), position=zeros, velocity=zeros, effort=zeros)

    @property
    def labels(self) -> list[str]:
        """Return the names of the rows."""
        return list(self._message.name)

    def filled(self, stamp: int, motion: kd.Motion | Readings) -> JointState:
        """Return the message of a motion, reused from call to call."""
        message = self._message
        set_stamp(message.header.stamp, stamp)
        if message.name:
            set_doubles(message.effort, motion.multipliers)
            set_doubles(message.velocity, motion.velocity_violation)
            set_doubles(message.position, motion.position_violation)
        return message
