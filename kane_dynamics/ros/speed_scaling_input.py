# SPDX-License-Identifier: Apache-2.0
"""The factor by which trajectories are slowed, from ``kane_governor``; no rclpy here."""

from __future__ import annotations

from typing import Any

from kane_dynamics.messages.input_monitor import InputMonitor, RejectedInput


class SpeedScalingInput:
    """Newest factor; 1 where there is none, or it is too old."""

    def __init__(self, guard: InputMonitor) -> None:
        self.guard, self._newest = guard, 1.0

    def take(self, message: Any) -> bool:
        """Check a Float64 and keep it; return whether it was accepted."""
        try:
            if not 0.0 <= message.data <= 1.0:  # refuses NaN too
                reason = f'speed_scaling_factor: need 0 to 1, got {message.data:g}'
                raise RejectedInput('range', reason)
            self.guard.admit(0)
        except RejectedInput as rejection:
            self.guard.reject(rejection)
            return False
        self._newest = float(message.data)
        return True

    def value(self) -> float:
        """Return the factor that counts now."""
        return self._newest if self.guard.fresh() else 1.0
