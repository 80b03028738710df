# SPDX-License-Identifier: Apache-2.0
"""``kane_computed_torque``: the reference followed by computed torque, or by passivity."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from kane_dynamics.ros.computed_torque_controller import ComputedTorqueController
from kane_dynamics.ros.dynamics import Dynamics
from kane_dynamics.ros.effort_controller import EffortController
from kane_dynamics.ros.input_guard import InputGuard
from kane_dynamics.ros.inverse_dynamics_node import InverseDynamicsNode
from kane_dynamics.ros.messages.diagnostics import Status
from kane_dynamics.ros.parameters.computed_torque import (
    EFFORT_RATE,
    GAINS_OF,
    JOINT_TABLE,
    ComputedTorqueParameters,
)
from kane_dynamics.ros.parameters.declare import read_for_joints
from kane_dynamics.ros.runtime import run


class ComputedTorqueNode(InverseDynamicsNode):
    """Publishes the efforts that make the errors of the reference vanish."""

    NAME = 'kane_computed_torque'
    TABLE = ComputedTorqueParameters
    JOINT_TABLE = JOINT_TABLE

    def new_controller(self, dynamics: Dynamics, guard: InputGuard) -> ComputedTorqueController:
        """Return what turns state and reference into efforts."""
        return ComputedTorqueController(dynamics, guard, self.parameters.law)

    def configure(self, controller: EffortController) -> None:
        """Hand parameters and the gains of the law to a controller."""
        first, second, rate = (
            read_for_joints(self, spec, controller.motors)
            for spec in (*GAINS_OF[self.parameters.law], EFFORT_RATE)
        )
        controller.configure(self.parameters, first, second)
        if isinstance(controller, ComputedTorqueController):
            controller.limit_rise(self.parameters.ramp_time, rate)

    def output_status(self, values: dict[str, Any]) -> Status:
        """Say which law is at work, and how far the efforts have grown."""
        if isinstance(self._controller, ComputedTorqueController):
            values['law'] = self._controller.follows_by
            values['share of the efforts'] = f'{self._controller.share:.2f}'
        return super().output_status(values)


def main(args: Sequence[str] | None = None) -> int:
    """Run the node; the executable ``kane_computed_torque``."""
    return run(ComputedTorqueNode, args)


if __name__ == '__main__':
    sys.exit(main())
