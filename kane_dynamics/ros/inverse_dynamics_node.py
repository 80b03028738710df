# SPDX-License-Identifier: Apache-2.0
"""``kane_inverse_dynamics``: joint_states, odom and a reference to wheel and arm efforts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from std_msgs.msg import Float64
from trajectory_msgs.msg import JointTrajectory

from kane_dynamics.control.base_state_input import BaseMotionInput
from kane_dynamics.control.effort_controller import EffortController
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.messages.input_monitor import InputMonitor
from kane_dynamics.robot_config.parameters.tables import InverseDynamicsParameters
from kane_dynamics.ros.declare_parameters import declare_for_each, read_for_joints
from kane_dynamics.ros.effort_node import EffortNode
from kane_dynamics.ros.messages.diagnostics import ERROR, OK, WARN, Status, input_status
from kane_dynamics.ros.messages.effort_output import DriveOutput
from kane_dynamics.ros.messages.steering_status import steering_status
from kane_dynamics.ros.qos import COMMAND, LATEST
from kane_dynamics.ros.speed_scaling_input import SpeedScalingInput
from kane_dynamics.ros.velocity_controlled_base import VelocityControlledBaseNode
from kane_dynamics.typing import Floats


class InverseDynamicsNode(VelocityControlledBaseNode, EffortNode):
    """Publishes the efforts that follow the reference, or a safe substitute for it."""

    NAME = 'kane_inverse_dynamics'
    TABLE: type[InverseDynamicsParameters] = InverseDynamicsParameters

    def __init__(self, **options: Any) -> None:
        super().__init__(self.NAME, self.TABLE, **options)
        self._controller: EffortController | None = None
        self._speed_scaling = SpeedScalingInput(
            self.new_guard('speed_scaling_factor', self.parameters.timeout_speed_scaling_factor)
        )
        driven = self.parameters.base_command_interface == 'velocity'
        self._drives = DriveOutput(self) if driven else None

    # model and parameters

    def prepare(self, dynamics: Dynamics) -> tuple[EffortController, BaseMotionInput | None]:
        """Make what depends on the robot: effort law, gains, limits, and its driven base."""
        declare_for_each(self, self.TABLE, '<joint>', dynamics.model.motors)
        guard = self.new_guard('reference', self.parameters.timeout_reference)
        controller = self.new_controller(dynamics, guard)
        controller.reference.scaling = self._speed_scaling.value
        self.configure(controller)
        return controller, self.new_driven_base(dynamics)

    def take(
        self, dynamics: Dynamics, prepared: tuple[EffortController, BaseMotionInput | None]
    ) -> None:
        """Use the controller of a new model; silence has been sent under the old names."""
        controller, self._driven_base = prepared
        self._controller = controller
        self.use_motors(dynamics)
        if controller.unlimited and self.parameters.enforce_command_limits:
            names = list(controller.unlimited)
            self.get_logger().warning(f'no effort limit in the URDF, not clamped: {names}')
        if joints_without_gain := controller.joints_without_gain():
            self.get_logger().warning(
                f'timeout_action hold_position: no gain p, does not hold {joints_without_gain}'
            )

    def new_controller(self, dynamics: Dynamics, guard: InputMonitor) -> EffortController:
        """Return what turns state and reference into efforts."""
        return EffortController(dynamics, guard)

    def configure(self, controller: EffortController) -> None:
        """Hand parameters and gains to a controller."""
        p, d = (read_for_joints(self, f'gains.<joint>.{k}', controller.motors) for k in 'pd')
        controller.configure(self.parameters, p, d)

    def parameters_changed(self) -> None:
        """Take over changed terms, gains and time limits."""
        super().parameters_changed()
        self._speed_scaling.guard.max_age = self.parameters.timeout_speed_scaling_factor
        if self._controller is not None:
            self.configure(self._controller)

    def timed_inputs(self) -> dict[str, InputMonitor]:
        """Return the guards of the shared inputs, and that of the speed scaling factor."""
        return super().timed_inputs() | {'timeout.speed_scaling_factor': self._speed_scaling.guard}

    # the loop

    def subscribe(self) -> None:
        """Listen to the reference, and to what moves a driven base."""
        super().subscribe()
        subscription = self.create_subscription(
            JointTrajectory, '~/reference', self._on_reference, COMMAND
        )
        self.local('subscription', subscription)
        self._listen(Float64, 'speed_scaling_factor', self._speed_scaling.take, LATEST)

    def _on_reference(self, message: JointTrajectory) -> None:
        if self._controller is not None:
            self._controller.reference.take(message)

    def forget(self) -> None:
        """Drop measured state, reference and speed scaling factor."""
        super().forget()
        self._speed_scaling.guard.reset()
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
        if self.parameters.base_steering_names:
            local['steering'] = self._steering_status
        return {**super().statuses(), **local}

    def _steering_status(self) -> Status:
        model = self.host.model
        if model is None or model.base is None or self.state is None:
            return Status(OK, 'no wheels that are steered')
        return steering_status(model.base, self.state.q, self.parameters.base_steering_tolerance)

    def _reference_status(self) -> Status:
        if self._controller is None:
            return input_status(None)
        status = input_status(self._controller.reference)
        status = replace(
            status,
            values={**status.values, 'speed scaling factor': f'{self._speed_scaling.value():g}'},
        )
        if status.level != ERROR:
            return status
        line = f'{status.message}; timeout_action: {self._controller.timeout_action}'
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
