# SPDX-License-Identifier: Apache-2.0
"""Measured state and reference to efforts that begin softly, for one robot; no rclpy here."""

from __future__ import annotations

import numpy as np

from kane_dynamics.control.effort_rise import EffortRise
from kane_dynamics.ros.dynamics import Dynamics
from kane_dynamics.ros.effort_controller import EffortController
from kane_dynamics.ros.effort_law import BaseState
from kane_dynamics.ros.input_guard import InputGuard
from kane_dynamics.typing import Floats


class ComputedTorqueController(EffortController):
    """
    The effort controller with a ramp and limited rates.

    Parameters as for `EffortController`.
    """

    def __init__(self, dynamics: Dynamics, guard: InputGuard, law: str) -> None:
        super().__init__(dynamics, guard, law)
        self._rise = EffortRise(len(self.motors))
        self.share = 0.0

    def limit_rise(self, ramp_time: float, rate: Floats) -> None:
        """
        Let efforts grow over a time, and change at limited rates.

        Parameters
        ----------
        ramp_time : float
            [s].
        rate : ndarray, shape (number of motors,)
            [N m/s or N/s]; 0: not limited.

        """
        self._rise.duration, self._rise.rate = ramp_time, np.where(rate > 0.0, rate, np.inf)

    def rest(self) -> None:
        """Begin anew with the next state: no effort is out."""
        super().rest()
        self._rise.rest()

    def effort(
        self, time: int, q: Floats, v: Floats, base: BaseState | None = None
    ) -> Floats | None:
        """Return the efforts of the motors; parameters and errors as for `EffortController`."""
        wanted = super().effort(time, q, v, base)
        if wanted is None:
            return None
        found = self._rise.limited(time, wanted)
        self.share = self._rise.share(time)
        return found
