# SPDX-License-Identifier: Apache-2.0
"""``kane_inverse_dynamics``: joint_states, odom and a reference to wheel and arm efforts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory

from kane_dynamics.ros.base_node import DynamicsNode
from kane_dynamics.ros.dynamics import Dynamics
from kane_dynamics.ros.effort_controller import EffortController
from kane_dynamics.ros.messages.diagnostics import ERROR, WARN, Status, input_status
from kane_dynamics.ros.messages.effort_output import EffortOutput
from kane_dynamics.ros.parameters.declare import declare_for_joints, read_for_joints
from kane_dynamics.ros.parameters.nodes import GAIN_D, GAIN_P, InverseDynamicsParameters
from kane_dynamics.ros.qos import COMMAND
from kane_dynamics.ros.runtime import run
from kane_dynamics.typing import Floats

GAINS = (GAIN_P, GAIN_D)


class InverseDynamicsNode(DynamicsNode):
    """Publishes the efforts that follow the reference, or a safe substitute for it."""

    def __init__(self, **options: Any) -> None:
        super().__init__('kane_inverse_dynamics', InverseDynamicsParameters, GAINS, **options)
        self._output = EffortOutput(self)
        self._controller: EffortController | None = None
        self._enabled = True
        self.create_service(SetBool, '~/enable', self._on_enable)
        self.create_service(Trigger, '~/print_model', self._on_print_model)

    # model and parameters

    def joint_fields(self) -> tuple[str, ...]:
        """Read positions and velocities."""
        return ('position', 'velocity')

    def prepare(self, dynamics: Dynamics) -> EffortController:
        """Make what depends on the robot: effort law, gains, limits."""
        declare_for_joints(self, GAINS, dynamics.model.motors)
        guard = self.new_guard('reference', self.parameters.reference_timeout)
        controller = EffortController(dynamics, guard)
        self._configure(controller)
        return controller

    def take(self, dynamics: Dynamics, prepared: EffortController) -> None:
        """Use the controller of a new model; silence has been sent under the old names."""
        self._controller = prepared
        self._motor_q = dynamics.model.q_index(prepared.motors)
        self._motor_v = dynamics.model.v_index(prepared.motors)
        self._output.prepare(dynamics.model, self.parameters.command_joints)
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

    def compute(self, stamp: int, q: Floats, v: Floats) -> None:
        """Publish the efforts of the present state and reference."""
        if self._controller is None or not self._enabled:
            self.state_lost()
            return
        # simulated time may arrive after the state that it belongs to
        time = max(stamp, self.get_clock().now().nanoseconds)
        effort = self._controller.effort(time, q, v)
        if effort is None:
            self._output.silence()
        else:
            self._output.publish(stamp, q[self._motor_q], v[self._motor_v], effort)

    def state_lost(self) -> None:
        """Take the efforts back: without a measured state nothing is known to be safe."""
        self._output.silence()
        if self._controller is not None:
            self._controller.rest()

    def stop(self) -> None:
        """Take the efforts back and wait until the receivers know."""
        super().stop()
        self._output.flush()

    # services and diagnostics

    def _on_enable(self, request: SetBool.Request, response: SetBool.Response) -> Any:
        self._enabled = request.data
        if not self._enabled:
            self.state_lost()
        response.success, response.message = True, 'on' if self._enabled else 'off: zero effort'
        return response

    def _on_print_model(self, request: Trigger.Request, response: Trigger.Response) -> Any:
        model = self.host.model
        response.success = model is not None
        response.message = model.summary() if model is not None else self.host.status().message
        return response

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
        over = self._controller.clamped_since() if self._controller is not None else []
        if not self._enabled:
            return Status(WARN, 'disabled by ~/enable', values)
        if over:
            return Status(WARN, f'clamped to the effort limit: {over}', values)
        if self._controller is not None and (adrift := self._controller.adrift()):
            return Status(WARN, f'hold_position: no gain p, nothing holds {adrift}', values)
        return super().output_status(values)


def main(args: Sequence[str] | None = None) -> int:
    """Run the node; the executable ``kane_inverse_dynamics``."""
    return run(InverseDynamicsNode, args)


if __name__ == '__main__':
    sys.exit(main())
