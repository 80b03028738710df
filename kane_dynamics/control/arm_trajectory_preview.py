# SPDX-License-Identifier: Apache-2.0
"""The trajectory that an arm is about to play, at the pace that is let through; no rclpy here."""

from __future__ import annotations

from typing import Any

import numpy as np

from kane_dynamics.control.governor import Plan
from kane_dynamics.control.reference import Motors, ReferenceInput
from kane_dynamics.messages.input_monitor import InputMonitor
from kane_dynamics.robot_config.robot_source import RobotModel
from kane_dynamics.typing import Floats, Indices


class ArmTrajectoryPreview:
    """What a JointTrajectory says of the arm from now on."""

    def __init__(self, model: RobotModel, guard: InputMonitor, tolerance: float) -> None:
        self._motors, self.tolerance = Motors(model), tolerance
        self._input = ReferenceInput(self._motors, guard, self._present)
        self._state: tuple[Floats, Floats] | None = None
        self._behind, self._before = 0, 0

    def take(self, message: Any) -> bool:
        """Check a JointTrajectory and keep it; return whether it was accepted."""
        independent_indices = self._input.take(message)
        if independent_indices:
            self._behind = 0
        return independent_indices

    def reset(self) -> None:
        """Forget the trajectory."""
        self._input.reset()
        self._state = None

    def ahead(self, time: int, scaling: float, q: Floats, v: Floats) -> Plan | None:
        """Return what the arm is about to do, None where no trajectory says it."""
        if self._before:
            self._behind += round((1.0 - scaling) * max(time - self._before, 0))
        self._before, self._state = time, (q, v)
        played = time - self._behind
        target = self._input.at(played)
        if target is None:
            return None
        gap = self._motors.error(target.motor, target.position, q[target.q_index])
        if np.abs(gap).max(initial=0.0) > self.tolerance:
            return None
        return lambda times: self._states(played, times, q, v)

    def _states(
        self, played: int, times: Floats, q: Floats, v: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Return q, v and a at times ahead [s]; joints without a trajectory rest."""
        indices, speeds = np.tile(q, (len(times), 1)), np.zeros((2, len(times), len(v)))
        for k, time in enumerate(times.tolist()):
            target = self._input.at(played + round(time * 1e9))
            if target is not None:
                indices[k, target.q_index] = target.position
                speeds[:, k, target.v_index] = target.velocity, target.acceleration
        return indices, speeds[0], speeds[1]

    def _present(self, motor: Indices) -> tuple[Floats, Floats, Floats] | None:
        """Return the measured motion of some motors."""
        if self._state is None:
            return None
        q, v = self._state
        return q[self._motors.q[motor]], v[self._motors.v[motor]], np.zeros(len(motor))
