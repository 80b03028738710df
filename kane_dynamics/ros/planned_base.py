# SPDX-License-Identifier: Apache-2.0
"""The motion of a base in the time that a trajectory takes; nothing here needs rclpy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kane_dynamics.control.base_motion import BaseMotion, DriveResponse, moving
from kane_dynamics.control.trajectory import Setpoint, Trajectory
from kane_dynamics.ros.messages.planar_frame import PlanarFrame
from kane_dynamics.typing import Floats

PARTS = 16
"""Into how many the time is divided where a yaw rate is integrated: even, for Simpson's rule."""


def resting(q: Floats) -> Setpoint:
    """Return the plan of a base that stands at x, y, yaw."""
    return Setpoint(np.array(q[:3], dtype=float), np.zeros(3), np.zeros(3))


class TwistPlan:
    """
    Plan of a base whose twist is known over time.

    On level ground neither place nor heading matters to the efforts; the heading counts on a
    slope and is integrated, the place stays where it was.

    Parameters
    ----------
    frame : PlanarFrame
        Frame of the twist in the root link.
    start : ndarray, shape (3,)
        x, y, yaw of the root link at time zero.
    motion : callable
        motion(times) returns the `BaseMotion` of the frame at times [s], one a row.

    """

    def __init__(
        self, frame: PlanarFrame, start: Floats, motion: Callable[[Floats], BaseMotion]
    ) -> None:
        self._frame, self._motion = frame, motion
        self._start = np.array(start[:3], dtype=float)

    def at(self, time: float) -> tuple[Floats, Floats, Floats]:
        """Return x, y, yaw of the root link and their derivatives at a time [s], (3,) each."""
        motion = self._motion(np.linspace(0.0, time, PARTS + 1))
        weights = np.array([1.0, *[4.0, 2.0] * (PARTS // 2 - 1), 4.0, 1.0]) * time / (3 * PARTS)
        q = self._start.copy()
        q[2] += weights @ motion.twist[:, 2]
        v = self._frame.root_velocity(q, motion.twist[-1])
        return q, v, self._frame.root_acceleration(q, v, motion.acceleration[-1])


def following(
    frame: PlanarFrame, start: Floats, drive: DriveResponse, twist: Floats, command: Floats
) -> TwistPlan:
    """Return the plan of a base that follows a command that stands, from its present twist."""

    def motion(times: Floats) -> BaseMotion:
        ones = np.ones((len(times), 1))
        return drive.after(ones * twist, ones * command, times)

    return TwistPlan(frame, start, motion)


def along(frame: PlanarFrame, start: Floats, twists: Trajectory) -> TwistPlan:
    """Return the plan of a base whose twist is given at points of time, with lines between."""

    def motion(times: Floats) -> BaseMotion:
        rows = [twists.at(float(time)) for time in times]
        return moving(np.array([row[0] for row in rows]), np.array([row[1] for row in rows]))

    return TwistPlan(frame, start, motion)
