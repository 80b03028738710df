# SPDX-License-Identifier: Apache-2.0
"""Measured state and reference to efforts that begin softly, for one robot; no rclpy here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from kane_dynamics.control.effort_controller import EffortController
from kane_dynamics.control.effort_law import BaseState, Efforts
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.control.rate_limits import EffortRateLimiter
from kane_dynamics.control.reference import Reference
from kane_dynamics.control.tracking_law import term_alone
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.messages.input_monitor import InputMonitor
from kane_dynamics.robot_config.parameters.tables import (
    ComputedTorqueParameters,
    InverseDynamicsParameters,
)
from kane_dynamics.typing import Floats


class ComputedTorqueController(EffortController):
    """The effort controller with a ramp and limited rates."""

    def __init__(self, dynamics: Dynamics, guard: InputMonitor, law: str) -> None:
        super().__init__(dynamics, guard, law)
        self._rise = EffortRateLimiter(len(self.motors))
        self.share = 0.0
        self._left_out: dict[str, list[int]] = {}

    def configure(self, parameters: InverseDynamicsParameters, p: Floats, d: Floats) -> None:
        """Take over parameters and gains; errors as for `EffortController`."""
        super().configure(parameters, p, d)
        if isinstance(parameters, ComputedTorqueParameters):
            self._terms = replace(self._terms, coulomb=parameters.friction_compensation)

    def limit_rate(self, ramp_time: float, rate: Floats) -> None:
        """Let efforts grow over a time, and change at limited rates."""
        self._rise.duration, self._rise.rate = ramp_time, np.where(rate > 0.0, rate, np.inf)

    def leave_out(self, terms: Mapping[str, tuple[str, ...]]) -> None:
        """Leave terms out at some motors."""
        for term, names in terms.items():
            if missing := [name for name in names if name not in self.motors]:
                known = list(self.motors)
                raise InvalidInputError(
                    f'terms.{term}_excluded_joints: no motors {missing}; there are {known}'
                )
        indices = {k: [self.motors.index(name) for name in names] for k, names in terms.items()}
        self._left_out = {term: motors for term, motors in indices.items() if motors}

    def tracked(
        self, q: Floats, v: Floats, reference: Reference, base: BaseState | None
    ) -> Efforts:
        """Return the efforts that follow a reference, without what is left out."""
        result = super().tracked(q, v, reference, base)
        motors = result.motors.copy()
        for term, selection in self._left_out.items():
            if term in self._terms.names:
                state = q, v, reference, base, self._terms.coulomb
                part = term_alone(self._law, self.follows_by, self._gains, term, *state)
                motors[selection] -= self._parameters.feedforward_scale * part[selection]
        return Efforts(motors, result.drives)

    def halt(self) -> None:
        """Begin anew with the next state: no effort is out."""
        super().halt()
        self._rise.reset()

    def effort(
        self, time: int, q: Floats, v: Floats, base: BaseState | None = None
    ) -> Floats | None:
        """Return the efforts of the motors; parameters and errors as for `EffortController`."""
        target = super().effort(time, q, v, base)
        if target is None:
            return None
        result = self._rise.limited(time, target)
        self.share = self._rise.share(time)
        return result
