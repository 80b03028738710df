# SPDX-License-Identifier: Apache-2.0
"""Constraint multipliers and residuals as a JointState: one entry per constraint row."""

from __future__ import annotations

import numpy as np
from sensor_msgs.msg import JointState

from kane_dynamics.ros.dynamics import Dynamics
from kane_dynamics.ros.messages.conversions import set_doubles, set_stamp
from kane_dynamics.typing import Floats


class ConstraintMessage:
    """
    A JointState: name = row labels, effort = multipliers, velocity = A v - b0, position = Phi.

    Position is 0 for nonholonomic rows, which have no violation in positions.

    Parameters
    ----------
    dynamics : Dynamics
        Algorithms and model.

    """

    def __init__(self, dynamics: Dynamics) -> None:
        self._dynamics = dynamics
        labels = dynamics.engine.labels
        zeros = [0.0] * len(labels)
        self._message = JointState(name=list(labels), position=zeros, velocity=zeros, effort=zeros)

    def filled(self, stamp: int, q: Floats, v: Floats, multipliers: Floats) -> JointState:
        """Return the message, reused from call to call, for a state and its multipliers."""
        message = self._message
        set_stamp(message.header.stamp, stamp)
        if not message.name:
            return message
        rows = self._dynamics.engine.constraint_rows(q, v)
        set_doubles(message.effort, np.asarray(multipliers, dtype=float))
        set_doubles(message.velocity, np.asarray(rows.matrix @ v - rows.velocity, dtype=float))
        set_doubles(message.position, np.array([p or 0.0 for p in rows.positions], dtype=float))
        return message
