# SPDX-License-Identifier: Apache-2.0
"""Noise of simulated sensors; nothing here needs rclpy."""

from __future__ import annotations

import numpy as np

from kane_dynamics.robot_config.parameters.tables import SimulatorParameters
from kane_dynamics.typing import Floats


class Noise:
    """Normal noise that is a function of the seed and of the step."""

    def __init__(self, parameters: SimulatorParameters) -> None:
        p = self._parameters = parameters
        self._joints = np.array([p.noise_position, p.noise_velocity, p.noise_effort])
        self._base = np.array([p.noise_pose, p.noise_twist])

    def on_joints(self, step: int, state: Floats) -> Floats:
        """Return positions, velocities and efforts as measured at a step, shape (3, n)."""
        if not self._joints.any():
            return state
        draws = np.random.default_rng((self._parameters.noise_seed, step, 0))
        return state + self._joints[:, None] * draws.standard_normal(state.shape)

    def on_odometry(self, step: int, state: Floats) -> Floats:
        """Return pose and twist (x, y, yaw) of the base as measured at a step, shape (2, 3)."""
        if not self._base.any():
            return state
        draws = np.random.default_rng((self._parameters.noise_seed, step, 1))
        return state + self._base * draws.standard_normal(state.shape)
