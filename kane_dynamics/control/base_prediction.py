# SPDX-License-Identifier: Apache-2.0
"""How a base will move, from its command or its odometry; nothing here needs rclpy."""

from collections.abc import Callable

import numpy as np

from kane_dynamics.analysis.base_motion import BaseMotion, DriveResponse, moving
from kane_dynamics.control.base_state_input import TwistInput
from kane_dynamics.control.state_inputs import OdometryInput
from kane_dynamics.messages.input_monitor import RejectedInput
from kane_dynamics.messages.planar_frame import PlanarFrame
from kane_dynamics.trajectories.joint_trajectory import (
    UNNAMED,
    BaseTrajectory,
    JointTrajectory,
    Setpoint,
)
from kane_dynamics.typing import Floats


def resting(q: Floats) -> Setpoint:
    """Return the plan of a base that stands at x, y, yaw."""
    return Setpoint(np.array(q[:3], dtype=float), np.zeros(3), np.zeros(3))


class TwistTrajectory:
    """Plan of a base whose twist is known over time."""

    def __init__(
        self,
        frame: PlanarFrame,
        start: Floats,
        motion: Callable[[float], BaseMotion],
        turned: Callable[[float], float],
        shift: float = 0.0,
    ) -> None:
        self._frame, self._motion, self._turned = frame, motion, turned
        self._shift = shift  # from the time of a caller to that of the plan
        self._start = np.array(start[:3], dtype=float)

    def at(self, time: float) -> tuple[Floats, Floats, Floats]:
        """Return x, y, yaw of the root link and their derivatives at a time [s], (3,) each."""
        elapsed = max(time + self._shift, 0.0)
        motion, q = self._motion(elapsed), self._start.copy()
        q[2] += self._turned(elapsed)
        v = self._frame.root_velocity(q, motion.twist)
        return q, v, self._frame.root_acceleration(q, v, motion.acceleration)


def following(
    frame: PlanarFrame,
    start: Floats,
    drive: DriveResponse,
    twist: Floats,
    command: Floats,
    shift: float = 0.0,
) -> TwistTrajectory:
    """Return the plan of a base that follows a command that stands, from its present twist."""
    return TwistTrajectory(
        frame,
        start,
        lambda time: drive.after(twist, command, time),
        lambda time: float(drive.covered(twist, command, time)[2]),
        shift,
    )


def along(frame: PlanarFrame, start: Floats, times: Floats, twists: Floats) -> TwistTrajectory:
    """Return the plan of a base whose twist is given at points of time, with lines between."""
    profile = JointTrajectory(UNNAMED, times, twists)

    def turned(time: float) -> float:
        corners = np.array([0.0, *(t for t in times if 0.0 < t < time), time])
        rates = np.array([profile.at(t)[0][2] for t in corners])
        return float(np.diff(corners) @ (rates[1:] + rates[:-1]) / 2.0)

    return TwistTrajectory(frame, start, lambda time: moving(*profile.at(time)[:2]), turned)


class BasePrediction(TwistInput):
    """Newest command and odometry of a velocity-controlled base, and what follows from them."""

    def plan(
        self,
        kind: str,
        planned: JointTrajectory | None,
        time: int,
        shift: float,
        odom: OdometryInput,
    ) -> BaseTrajectory:
        """Return how the base moves along a trajectory."""
        if (planned is not None) != (kind == 'planned'):
            says = 'moves' if planned is not None else 'does not say how it moves'
            raise RejectedInput(
                'base', f"base.motion_source is '{kind}', and the trajectory {says} the base"
            )
        if planned is not None:
            return planned
        if kind == 'rest':
            return resting(odom.q)
        present = self.see(odom)
        if kind == 'commanded':
            command = self.twist if self.guard.fresh() else np.zeros(3)  # drivers stop then
            twist = present if odom.guard.fresh() else self.followed.at(time).twist
            drive = self.followed.drive
        else:
            if problem := odom.problem():
                raise RejectedInput('stale', problem)
            command, twist, drive = present, self.seen.at(time).twist, self.seen.drive
        return following(self.frame, odom.q, drive, twist, command, shift)
