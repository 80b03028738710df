# SPDX-License-Identifier: Apache-2.0
"""``kane_computed_torque``: the reference followed by computed torque, or by passivity."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped, TwistStamped

from kane_dynamics.analysis.tracking import COMPUTED, FEEDFORWARD, PASSIVE
from kane_dynamics.control.computed_torque_controller import ComputedTorqueController
from kane_dynamics.control.effort_controller import EffortController
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.control.targets import TargetInput
from kane_dynamics.control.task_space_controller import FrameTorqueController
from kane_dynamics.messages.input_monitor import InputMonitor
from kane_dynamics.robot_config.parameters.tables import ComputedTorqueParameters
from kane_dynamics.ros.declare_parameters import read_for_joints
from kane_dynamics.ros.inverse_dynamics_node import InverseDynamicsNode
from kane_dynamics.ros.messages.diagnostics import ERROR, OK, WARN, Status, input_status
from kane_dynamics.ros.qos import COMMAND

GAINS = {
    COMPUTED: ('acceleration_gains.<joint>.p', 'acceleration_gains.<joint>.d'),
    PASSIVE: ('passivity_gains.<joint>.lambda', 'passivity_gains.<joint>.k'),
    FEEDFORWARD: ('gains.<joint>.p', 'gains.<joint>.d'),
}
"""Parameters of each law."""
EXCLUDED = ('inertia', 'coriolis', 'friction')  # gravity: gravity_compensated_joints


class ComputedTorqueNode(InverseDynamicsNode):
    """Publishes the efforts that make the errors of the reference vanish."""

    NAME = 'kane_computed_torque'
    TABLE = ComputedTorqueParameters

    def compile_options(self) -> dict[str, Any]:
        """Return which law, and which frame in task space, the machine code is for."""
        p = self.parameters
        return {'aims': p.law == PASSIVE, 'frame': p.frame if p.space == 'task' else ''}

    def new_controller(self, dynamics: Dynamics, guard: InputMonitor) -> ComputedTorqueController:
        """Return what turns state and reference, or the pose of a frame, into efforts."""
        if self.parameters.space == 'task':
            return FrameTorqueController(dynamics, guard, self.parameters, self.new_guard)
        return ComputedTorqueController(dynamics, guard, self.parameters.law)

    def configure(self, controller: EffortController) -> None:
        """Hand parameters and the gains of the law to a controller."""
        first, second, rate = (
            read_for_joints(self, name, controller.motors)
            for name in (*GAINS[self.parameters.law], 'effort_rate.<joint>')
        )
        controller.configure(self.parameters, first, second)
        if isinstance(controller, ComputedTorqueController):
            p = self.parameters
            controller.limit_rate(p.ramp_time, rate)
            parts = (
                p.terms_inertia_excluded_joints,
                p.terms_coriolis_excluded_joints,
                p.terms_friction_excluded_joints,
            )
            controller.leave_out(dict(zip(EXCLUDED, parts, strict=True)))
        if isinstance(controller, FrameTorqueController):
            controller.take_task(self.parameters)

    def timed_inputs(self) -> dict[str, InputMonitor]:
        """Return the guards of the shared inputs, and of the targets of a frame."""
        return super().timed_inputs() | {f'timeout.{k}': x.guard for k, x in self.targets.items()}

    @property
    def targets(self) -> Mapping[str, TargetInput]:
        """Return what takes the targets of a frame."""
        controller = self._controller
        return controller.targets if isinstance(controller, FrameTorqueController) else {}

    def subscribe(self) -> None:
        """Listen to the reference, to what moves a driven base, and to the targets of a frame."""
        super().subscribe()
        if self.parameters.space == 'task':
            self._listen(PoseStamped, '~/pose', partial(self._on_target, 'pose'), COMMAND)
            self._listen(TwistStamped, '~/twist', partial(self._on_target, 'twist'), COMMAND)

    def _on_target(self, name: str, message: Any) -> None:
        if name in self.targets:
            self.targets[name].take(message)

    def forget(self) -> None:
        """Drop measured state, reference and targets."""
        super().forget()
        for target in self.targets.values():
            target.reset()

    def statuses(self) -> dict[str, Any]:
        """Return the shared components, and the pose of a frame."""
        local = {'pose': self._pose_status} if self.parameters.space == 'task' else {}
        return super().statuses() | local

    def _pose_status(self) -> Status:
        status = input_status(self.targets.get('pose'))
        if status.level != ERROR or self._controller is None:
            return status
        line = f'{status.message}; timeout_action: {self._controller.timeout_action}'
        return Status(WARN, line, status.values)

    def output_status(self, values: dict[str, Any]) -> Status:
        """Say which law is at work, and how far the efforts have grown."""
        if isinstance(self._controller, ComputedTorqueController):
            values['law'] = self._controller.follows_by
            values['share of the efforts'] = f'{self._controller.share:.2f}'
        if not isinstance(self._controller, FrameTorqueController):
            return super().output_status(values)
        reach = self._controller.reach
        if reach is None:
            return super().output_status(values)
        values['missed acceleration'] = f'{np.abs(reach.missed).max():.3g}'
        values['rank of the frame'] = f'{reach.rank:.0f}'
        values['manipulability'] = f'{reach.manipulability:.3g}'
        values['damping'] = f'{reach.damping:.3g}'
        values['share within limits'] = f'{reach.share:.3g}'
        status, note = super().output_status(values), self._controller.note()
        return Status(WARN, note, values) if status.level == OK and note else status
