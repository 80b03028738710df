# SPDX-License-Identifier: Apache-2.0
"""``kane_inverse_dynamics``: joint_states, odom and a reference to wheel and arm efforts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from std_msgs.msg import Float64
from trajectory_msgs.msg import JointTrajectory

from kane_dynamics.control.base_state_input import BaseMotionInput
from kane_dynamics.control.effort_controller import EffortController
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.control.speed_scaling_input import SpeedScalingInput
from kane_dynamics.messages.input_monitor import InputMonitor
from kane_dynamics.robot_config.parameters.inverse_dynamics import (
    GAIN_D,
    GAIN_P,
    InverseDynamicsParameters,
)
from kane_dynamics.robot_config.parameters.robot import VELOCITY
from kane_dynamics.robot_config.parameters.spec import Spec
from kane_dynamics.ros.declare_parameters import declare_for_each, read_for_joints
from kane_dynamics.ros.effort_node import EffortNode
from kane_dynamics.ros.messages.diagnostics import ERROR, OK, WARN, Status, input_status
from kane_dynamics.ros.messages.drive_output import DriveOutput
from kane_dynamics.ros.messages.steering_status import steering_status
from kane_dynamics.ros.qos import COMMAND, LATEST
from kane_dynamics.ros.runtime import run
from kane_dynamics.ros.velocity_controlled_base import VelocityControlledBaseNode
from kane_dynamics.typing import Floats

GAINS = (GAIN_P, GAIN_D)


class InverseDynamicsNode(VelocityControlledBaseNode, EffortNode):
    """Publishes the efforts that follow the reference, or a safe substitute for it."""

    NAME = 'kane_inverse_dynamics'
    TABLE: type[InverseDynamicsParameters] = InverseDynamicsParameters
    JOINT_TABLE: tuple[Spec, ...] = GAINS

    def __init__(self, **options: Any) -> None:
        super().__init__(self.NAME, self.TABLE, self.JOINT_TABLE, **options)
        self._controller: EffortController | None = None
        self._pace = SpeedScalingInput(self.new_guard('pace', self.parameters.pace_timeout))
        driven = self.parameters.base_drive == VELOCITY
        self._drives = DriveOutput(self) if driven else None

    # model and parameters

    def prepare(self, dynamics: Dynamics) -> tuple[EffortController, BaseMotionInput | None]:
        """Make what depends on the robot: effort law, gains, limits, and its driven base."""
        declare_for_each(self, self.JOINT_TABLE, dynamics.model.motors)
        guard = self.new_guard('reference', self.parameters.reference_timeout)
        controller = self.new_controller(dynamics, guard)
        controller.reference.scaling = self._pace.value
        self.configure(controller)
        return controller, self.new_driven_base(dynamics)

    def take(
        self, dynamics: Dynamics, prepared: tuple[EffortController, BaseMotionInput | None]
    ) -> None:
        """Use the controller of a new model; silence has been sent under the old names."""
        controller, self._driven_base = prepared
        self._controller = controller
        self.use_motors(dynamics)
        if controller.unlimited and self.parameters.clamp_to_urdf:
            names = list(controller.unlimited)
            self.get_logger().warning(f'no effort limit in the URDF, not clamped: {names}')
        if joints_without_gain := controller.joints_without_gain():
            self.get_logger().warning(
                f'on_stale hold_position: no gain p, does not hold {joints_without_gain}'
            )

    def new_controller(self, dynamics: Dynamics, guard: InputMonitor) -> EffortController:
        """Return what turns state and reference into efforts."""
        return EffortController(dynamics, guard)

    def configure(self, controller: EffortController) -> None:
        """Hand parameters and gains to a controller."""
        p, d = (read_for_joints(self, spec, controller.motors) for spec in GAINS)
        controller.configure(self.parameters, p, d)

    def parameters_changed(self) -> None:
        """Take over changed terms, gains and time limits."""
        super().parameters_changed()
        self._pace.guard.max_age = self.parameters.pace_timeout
        if self._controller is not None:
            self.configure(self._controller)

    def timed_inputs(self) -> dict[str, InputMonitor]:
        """Return the guards of the shared inputs, and that of the pace."""
        return super().timed_inputs() | {'timeout.pace': self._pace.guard}

    # the loop

    def subscribe(self) -> None:
        """Listen to the reference, and to what moves a driven base."""
        super().subscribe()
        subscription = self.create_subscription(
            JointTrajectory, '~/reference', self._on_reference, COMMAND
        )
        self.local('subscription', subscription)
        self._listen(Float64, 'pace', self._pace.take, LATEST)

    def _on_reference(self, message: JointTrajectory) -> None:
        if self._controller is not None:
            self._controller.reference.take(message)

    def forget(self) -> None:
        """Drop measured state, reference and pace."""
        super().forget()
        self._pace.guard.reset()
        if self._controller is not None:
            self._controller.reference.reset()
            self._controller.halt()

    def effort(self, time: int, q: Floats, v: Floats) -> Floats | None:
        """Return the efforts of the present state and reference."""
        if self._controller is None:
            return None
        base = None
        moved, state = self._driven_base, self.state
        if moved is not None and state is not None and state.odom is not None:
            base = moved.at(time, state.odom, self._controller.gravity)
        effort = self._controller.effort(time, q, v, base)
        if effort is not None and self._drives is not None:
            self._drives.publish(time, self._controller.drives, self._controller.drive_effort)
        return effort

    def halt(self) -> None:
        """Forget the motion."""
        if self._controller is not None:
            self._controller.halt()

    # diagnostics

    def statuses(self) -> dict[str, Any]:
        """Return the shared components, the reference, a driven base, and what it steers by."""
        local = {'reference': self._reference_status}
        if self.parameters.steering_names:
            local['steering'] = self._steering_status
        return {**super().statuses(), **local}

    def _steering_status(self) -> Status:
        model = self.host.model
        if model is None or model.base is None or self.state is None:
            return Status(OK, 'no wheels that are steered')
        return steering_status(model.base, self.state.q, self.parameters.steering_tolerance)

    def _reference_status(self) -> Status:
        if self._controller is None:
            return input_status(None)
        status = input_status(self._controller.reference)
        status = replace(status, values={**status.values, 'pace': f'{self._pace.value():g}'})
        if status.level != ERROR:
            return status
        line = f'{status.message}; on_stale: {self._controller.on_stale}'
        return Status(WARN, line, status.values)

    def output_status(self, values: dict[str, object]) -> Status:
        """Warn while disabled or clamped."""
        status = super().output_status(values)
        if status.level != OK or self._controller is None:
            return status
        if over := self._controller.pop_saturated():
            payload = '; '.join(f'{k}: {x}' for k, x in self.payload().items())
            line = f'clamped to the effort limit: {over}' + (f' ({payload})' if payload else '')
            return Status(WARN, line, values)
        if joints_not_held := self._controller.joints_not_held():
            return Status(
                WARN, f'hold_position: no gain p, nothing holds {joints_not_held}', values
            )
        return status


def main(args: Sequence[str] | None = None) -> int:
    """Run the node; the executable ``kane_inverse_dynamics``."""
    return run(InverseDynamicsNode, args)


if __name__ == '__main__':
    sys.exit(main())
