# SPDX-License-Identifier: Apache-2.0
"""What nodes share that know a base driven by velocity: its inputs, ages and diagnostics."""

from __future__ import annotations

from typing import Any

from geometry_msgs.msg import Twist, TwistStamped
from sensor_msgs.msg import Imu

from kane_dynamics.control.base_state_input import CMD_VEL, IMU, BaseMotionInput
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.messages.input_monitor import InputMonitor
from kane_dynamics.ros.base_node import DynamicsNode
from kane_dynamics.ros.messages.diagnostics import ERROR, OK, Status
from kane_dynamics.ros.qos import LATEST


class VelocityControlledBaseNode(DynamicsNode):
    """A node whose robot may have a velocity-controlled base by velocity."""

    _driven_base: BaseMotionInput | None = None

    def new_driven_base(self, dynamics: Dynamics) -> BaseMotionInput | None:
        """Return the input of the motion of a driven base, None where the base is not driven."""
        if not dynamics.model.drives:
            return None
        return BaseMotionInput(
            dynamics.model, self.parameters, lambda name: self.new_guard(name, 0.0)
        )

    def parameters_changed(self) -> None:
        """Take over changed age limits and response of the drives."""
        if self._driven_base is not None:
            self._driven_base.configure(self.parameters)

    def timed_inputs(self) -> dict[str, InputMonitor]:
        """Return the guards of the shared inputs, and of those of a driven base."""
        guards = super().timed_inputs()
        if (base := self._driven_base) is not None:
            guards.update({'timeout.cmd_vel': base.command, 'timeout.imu': base.imu})
        return guards

    def subscribe(self) -> None:
        """Listen to what moves a driven base."""
        p = self.parameters
        if p.base_command_interface != 'velocity':
            return
        if CMD_VEL in p.base_acceleration_source:
            kind = TwistStamped if p.base_cmd_vel_stamped else Twist
            self._listen(kind, 'cmd_vel', self._on_command, LATEST)
        if IMU in p.base_acceleration_source:
            self._listen(Imu, 'imu', self._on_imu, LATEST)

    def _on_command(self, message: Any) -> None:
        if self._driven_base is not None:
            self._driven_base.take_command(message)

    def _on_imu(self, message: Imu) -> None:
        if self._driven_base is not None:
            self._driven_base.take_imu(message)

    def state_problem(self) -> str:
        """Return why the measured state, or the motion of a driven base, cannot be used."""
        problem = super().state_problem()
        if problem or self._driven_base is None or self.state is None or self.state.odom is None:
            return problem
        return self._driven_base.problem(self.state.odom)

    def forget(self) -> None:
        """Drop measured state, and what moves a driven base."""
        super().forget()
        if self._driven_base is not None:
            self._driven_base.reset()

    def statuses(self) -> dict[str, Any]:
        """Return the shared components and a driven base."""
        local = (
            {'base': self._base_status}
            if self.parameters.base_command_interface == 'velocity'
            else {}
        )
        return {**super().statuses(), **local}

    def _base_status(self) -> Status:
        if self._driven_base is None or self.state is None or self.state.odom is None:
            return Status(ERROR, 'no model')
        problem = self._driven_base.problem(self.state.odom)
        values = {'acceleration from': self._driven_base.used or 'nothing yet'}
        return Status(ERROR, problem, values) if problem else Status(OK, 'ok', values)
