# SPDX-License-Identifier: Apache-2.0
"""``kane_inverse_dynamics``: joint_states, odom and a reference to wheel and arm efforts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from trajectory_msgs.msg import JointTrajectory

from kane_dynamics.ros.dynamics import Dynamics
from kane_dynamics.ros.effort_controller import EffortController
from kane_dynamics.ros.effort_node import EffortNode
from kane_dynamics.ros.messages.diagnostics import ERROR, OK, WARN, Status, input_status
from kane_dynamics.ros.parameters.declare import declare_for_each, read_for_joints
from kane_dynamics.ros.parameters.nodes import GAIN_D, GAIN_P, InverseDynamicsParameters
from kane_dynamics.ros.qos import COMMAND
from kane_dynamics.ros.runtime import run
from kane_dynamics.typing import Floats

GAINS = (GAIN_P, GAIN_D)


class InverseDynamicsNode(EffortNode):
    """Publishes the efforts that follow the reference, or a safe substitute for it."""

    def __init__(self, **options: Any) -> None:
        super().__init__('kane_inverse_dynamics', InverseDynamicsParameters, GAINS, **options)
        self._controller: EffortController | None = None

    # model and parameters

    def prepare(self, dynamics: Dynamics) -> EffortController:
        """Make what depends on the robot: effort law, gains, limits."""
        declare_for_each(self, GAINS, dynamics.model.motors)
        guard = self.new_guard('reference', self.parameters.reference_timeout)
        controller = EffortController(dynamics, guard)
        self._configure(controller)
        return controller

    def take(self, dynamics: Dynamics, prepared: EffortController) -> None:
        """Use the controller of a new model; silence has been sent under the old names."""
        self._controller = prepared
        self.use_motors(dynamics)
        if prepared.unlimited and self.parameters.clamp_to_urdf:
            names = list(prepared.unlimited)
            self.get_logger().warning(f'no effort limit in the URDF, not clamped: {names}')
        if loose := prepared.loose():
            self.get_logger().warning(f'on_stale hold_position: no gain p, does not hold {loose}')

    def _configure(self, controller: EffortController) -> None:
        p, d = (read_for_joints(self, spec, controller.motors) for spec in GAINS)
        controller.configure(self.parameters, p, d)

    def parameters_changed(self) -> None:
        """Take over changed terms, gains and time limits."""
        if self._controller is not None:
            self._configure(self._controller)

    def parameter_problem(self, name: str, value: Any) -> str:
        """Return why a value cannot be used now, or ''."""
        if name == 'gravity_compensated_joints' and self._controller is not None:
            return self._controller.compensation_problem(value)
        return super().parameter_problem(name, value)

    # the loop

    def subscribe(self) -> None:
        """Listen to the reference."""
        subscription = self.create_subscription(
            JointTrajectory, '~/reference', self._on_reference, COMMAND
        )
        self.own('subscription', subscription)

    def _on_reference(self, message: JointTrajectory) -> None:
        if self._controller is not None:
            self._controller.reference.take(message)

    def forget(self) -> None:
        """Drop measured state and reference."""
        super().forget()
        if self._controller is not None:
            self._controller.reference.reset()
            self._controller.rest()

    def effort(self, time: int, q: Floats, v: Floats) -> Floats | None:
        """Return the efforts of the present state and reference."""
        return self._controller.effort(time, q, v) if self._controller is not None else None

    def rest(self) -> None:
        """Forget the motion."""
        if self._controller is not None:
            self._controller.rest()

    # diagnostics

    def statuses(self) -> dict[str, Any]:
        """Return the shared components and the reference."""
        return {**super().statuses(), 'reference': self._reference_status}

    def _reference_status(self) -> Status:
        if self._controller is None:
            return input_status(None)
        status = input_status(self._controller.reference)
        if status.level != ERROR:
            return status
        line = f'{status.message}; on_stale: {self._controller.on_stale}'
        return Status(WARN, line, status.values)

    def output_status(self, values: dict[str, object]) -> Status:
        """Warn while disabled or clamped."""
        status = super().output_status(values)
        if status.level != OK or self._controller is None:
            return status
        if over := self._controller.clamped_since():
            return Status(WARN, f'clamped to the effort limit: {over}', values)
        if adrift := self._controller.adrift():
            return Status(WARN, f'hold_position: no gain p, nothing holds {adrift}', values)
        return status


def main(args: Sequence[str] | None = None) -> int:
    """Run the node; the executable ``kane_inverse_dynamics``."""
    return run(InverseDynamicsNode, args)


if __name__ == '__main__':
    sys.exit(main())
