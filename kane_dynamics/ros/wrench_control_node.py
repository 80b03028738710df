# SPDX-License-Identifier: Apache-2.0
"""``kane_wrench_control``: joint_states, odom and targets of a frame to wheel and arm efforts."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped

from kane_dynamics.control.inputs import Input
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.control.wrench_controller import WrenchController
from kane_dynamics.ros.effort_node import EffortNode
from kane_dynamics.ros.messages.diagnostics import ERROR, OK, Status, instead
from kane_dynamics.ros.messages.qos import COMMAND
from kane_dynamics.typing import Floats

TARGETS = ('wrench', 'pose', 'twist')


class WrenchControlNode(EffortNode):
    """Publishes the efforts that push, yield or move as the targets say, or hold the frame."""

    _controller: WrenchController | None

    def __init__(self, name: str = 'kane_wrench_control', **options: Any) -> None:
        super().__init__(name, **options)

    # model and parameters

    def prepare(self, dynamics: Dynamics) -> tuple[WrenchController, Mapping[str, Input]]:
        """Make what depends on the robot: the law, its limits, the inputs of the targets."""
        controller = WrenchController(dynamics, self.parameters, self.new_guard)
        return controller, controller.inputs

    def parameters_changed(self) -> None:
        """Take over changed gains."""
        if self._controller is not None:
            self._controller.configure(self.parameters)

    # the loop

    def subscribe(self) -> None:
        """Listen to the targets."""
        self.listen(WrenchStamped, '~/wrench', COMMAND)
        self.listen(PoseStamped, '~/pose', COMMAND)
        self.listen(TwistStamped, '~/twist', COMMAND)

    def effort(self, time: int, q: Floats, v: Floats) -> Floats | None:
        """Return the efforts of the present state and targets."""
        return self._controller.effort(q, v) if self._controller is not None else None

    # diagnostics

    def statuses(self) -> dict[str, Any]:
        """Return the shared components and the targets."""
        return super().statuses() | {k: partial(self._target_status, k) for k in TARGETS}

    def _target_status(self, name: str) -> Status:
        status = self.status_of(name)
        if self._controller is None or status.level != ERROR:
            return status
        if not (status.values['accepted'] or status.values['rejected']):
            return Status(OK, 'none wanted', status.values)
        return instead(status, self.parameters.timeout_action)

    def output_status(self, values: dict[str, object]) -> Status:
        """Say what is refused, and what is left of the traction."""
        status = super().output_status(values)
        if status.level != OK or self._controller is None:
            return status
        values['traction left [N]'] = f'{self._controller.margin:.3f}'
        if refused := self._controller.refused:
            return Status(ERROR, f'holds the frame instead: {refused}', values)
        return status
