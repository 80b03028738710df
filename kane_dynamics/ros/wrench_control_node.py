# SPDX-License-Identifier: Apache-2.0
"""``kane_wrench_control``: joint_states, odom and targets of a frame to wheel and arm efforts."""

from __future__ import annotations

from functools import partial
from typing import Any

from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped

from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.control.wrench_controller import WrenchController
from kane_dynamics.messages.input_monitor import InputMonitor
from kane_dynamics.robot_config.parameters.tables import WrenchControlParameters
from kane_dynamics.ros.effort_node import EffortNode
from kane_dynamics.ros.messages.diagnostics import ERROR, OK, WARN, Status, input_status
from kane_dynamics.ros.qos import COMMAND
from kane_dynamics.typing import Floats

TARGETS = ('wrench', 'pose', 'twist')


class WrenchControlNode(EffortNode):
    """Publishes the efforts that push, yield or move as the targets say, or hold the frame."""

    def __init__(self, **options: Any) -> None:
        self._controller: WrenchController | None = None
        super().__init__('kane_wrench_control', WrenchControlParameters, **options)

    # model and parameters

    def prepare(self, dynamics: Dynamics) -> WrenchController:
        """Make what depends on the robot: the law, its limits, the inputs of the targets."""
        return WrenchController(dynamics, self.parameters, self.new_guard)

    def take(self, dynamics: Dynamics, prepared: WrenchController) -> None:
        """Use the controller of a new model."""
        self._controller = prepared
        self.use_motors(dynamics)

    def parameters_changed(self) -> None:
        """Take over changed gains and time limits."""
        if self._controller is not None:
            self._controller.configure(self.parameters)

    def timed_inputs(self) -> dict[str, InputMonitor]:
        """Return the shared guards and those of the targets."""
        local = self._controller.inputs if self._controller is not None else {}
        return super().timed_inputs() | {f'timeout.{k}': x.guard for k, x in local.items()}

    # the loop

    def subscribe(self) -> None:
        """Listen to the targets."""
        self._listen(WrenchStamped, '~/wrench', partial(self._on_target, 'wrench'), COMMAND)
        self._listen(PoseStamped, '~/pose', partial(self._on_target, 'pose'), COMMAND)
        self._listen(TwistStamped, '~/twist', partial(self._on_target, 'twist'), COMMAND)

    def _on_target(self, name: str, message: Any) -> None:
        if self._controller is not None:
            self._controller.inputs[name].take(message)

    def forget(self) -> None:
        """Drop measured state and targets."""
        super().forget()
        if self._controller is not None:
            self._controller.reset()

    def effort(self, time: int, q: Floats, v: Floats) -> Floats | None:
        """Return the efforts of the present state and targets."""
        return self._controller.effort(q, v) if self._controller is not None else None

    def halt(self) -> None:
        """Forget posture and place: no effort is out."""
        if self._controller is not None:
            self._controller.halt()

    # diagnostics

    def statuses(self) -> dict[str, Any]:
        """Return the shared components and the targets."""
        return super().statuses() | {k: partial(self._target_status, k) for k in TARGETS}

    def _target_status(self, name: str) -> Status:
        if self._controller is None:
            return input_status(None)
        status = input_status(self._controller.inputs[name])
        if status.level != ERROR:
            return status
        if not (status.values['accepted'] or status.values['rejected']):
            return Status(OK, 'none wanted', status.values)
        line = f'{status.message}; timeout_action: {self.parameters.timeout_action}'
        return Status(WARN, line, status.values)

    def output_status(self, values: dict[str, object]) -> Status:
        """Say what is refused, and what is left of the traction."""
        status = super().output_status(values)
        if status.level != OK or self._controller is None:
            return status
        values['traction left [N]'] = f'{self._controller.margin:.3f}'
        if refused := self._controller.refused:
            return Status(ERROR, f'holds the frame instead: {refused}', values)
        return status
