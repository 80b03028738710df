# SPDX-License-Identifier: Apache-2.0
"""
Joint_states, odom and a reference, or targets of a frame, to wheel and arm efforts.

``kane_inverse_dynamics`` and ``kane_computed_torque`` are this node with other defaults.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64
from trajectory_msgs.msg import JointTrajectory

from kane_dynamics.analysis.tracking import COMPUTED, FEEDFORWARD, PASSIVE
from kane_dynamics.control.effort_controller import EffortController
from kane_dynamics.control.frame_controllers import FrameTorqueController, WrenchController
from kane_dynamics.control.node_dynamics import CompileOptions, Dynamics
from kane_dynamics.messages.conversions import set_stamp
from kane_dynamics.messages.inputs import Input
from kane_dynamics.ros.declare_parameters import declare_for_each, read_for_joints
from kane_dynamics.ros.diagnostics import ERROR, OK, WARN, Status, instead, steering_status
from kane_dynamics.ros.effort_node import EffortNode
from kane_dynamics.ros.runtime import COMMAND, STATE
from kane_dynamics.typing import Floats

GAINS = {
    COMPUTED: ('acceleration_gains.<joint>.p', 'acceleration_gains.<joint>.d'),
    PASSIVE: ('passivity_gains.<joint>.lambda', 'passivity_gains.<joint>.k'),
    FEEDFORWARD: ('gains.<joint>.p', 'gains.<joint>.d'),
}
"""Parameters of each law."""


class EffortControllerNode(EffortNode):
    """Publishes the efforts that follow the reference by a law, or a safe substitute."""

    law: EffortController
    joint_controller = EffortController

    def __init__(self, name: str = 'kane_inverse_dynamics', **options: Any) -> None:
        super().__init__(name, **options)
        self._drives: Any = None
        if self.knows_driven_base():
            self._drives = self.create_lifecycle_publisher(JointState, '~/drive_effort', STATE)

    # model and parameters

    def compile_options(self) -> CompileOptions:
        """Return which law, and which frame in task space, the machine code is for."""
        p = self.parameters
        return CompileOptions(p.law == PASSIVE, p.frame if p.space == 'task' else '')

    def prepare(self, dynamics: Dynamics) -> tuple[EffortController, Mapping[str, Input]]:
        """Make what depends on the robot: effort law, gains, limits."""
        declare_for_each(self, self._table, '<joint>', dynamics.model.motors)
        controller: EffortController
        if self.parameters.space == 'task':
            controller = FrameTorqueController(dynamics, self.new_guard, self.parameters)
        else:
            controller = self.joint_controller(dynamics, self.new_guard, self.parameters.law)
        self.configure(controller)
        return controller, controller.inputs

    def take(self, dynamics: Dynamics, law: EffortController) -> None:
        """Use the controller of a new model; say what limits and gains lack."""
        super().take(dynamics, law)
        if law.unlimited and self.parameters.enforce_command_limits:
            names = list(law.unlimited)
            self.get_logger().warning(f'no effort limit in the URDF, not clamped: {names}')
        if joints_without_gain := law.joints_without_gain():
            self.get_logger().warning(
                f'timeout_action hold_position: no gain p, does not hold {joints_without_gain}'
            )

    def configure(self, law: EffortController) -> None:
        """Hand parameters and the gains of the law to a controller."""
        names = *GAINS[self.parameters.law], 'effort_rate.<joint>'
        values = (read_for_joints(self, name, law.motors) for name in names)
        law.configure(self.parameters, *values)

    # the loop

    def subscribe(self) -> None:
        """Listen to the reference, and to the targets of a frame."""
        self.listen(JointTrajectory, '~/reference', COMMAND)
        self.listen(Float64, 'speed_scaling_factor')
        if self.parameters.space == 'task':
            self.listen(PoseStamped, '~/pose', COMMAND)
            self.listen(TwistStamped, '~/twist', COMMAND)

    def effort(self, time: int, q: Floats, v: Floats) -> Floats | None:
        """Return the efforts of the present state and reference."""
        driven = self.driven_base
        base = None if driven is None else driven.at(time, self.law.gravity)
        effort = self.law.effort(time, q, v, base)
        if effort is not None and self._drives is not None:
            names, efforts = list(self.law.drives), self.law.drive_effort.tolist()
            message = JointState(name=names, effort=efforts)
            set_stamp(message.header.stamp, time)
            self._drives.publish(message)
        return effort

    # diagnostics

    def statuses(self) -> dict[str, Any]:
        """Return the shared components, the reference or pose, and what the base steers by."""
        local = {'reference': self._reference_status}
        if self.parameters.base_steering_names:
            local['steering'] = self._steering_status
        if self.parameters.space == 'task':
            local['pose'] = partial(self._target_status, 'pose')
        return {**super().statuses(), **local}

    def _steering_status(self) -> Status:
        model = self.host.model
        if model is None or model.base is None or self.state is None:
            return Status(OK, 'no wheels that are steered')
        return steering_status(model.base, self.state.q, self.parameters.base_steering_tolerance)

    def _target_status(self, name: str) -> Status:
        status = self.status_of(name)
        return status if self.state is None else instead(status, self.law.timeout_action)

    def _reference_status(self) -> Status:
        status = self._target_status('reference')
        if self.state is None:
            return status
        factor = f'{self.law.speed_scaling.value():g}'
        return status.plus({'speed scaling factor': factor})

    def output_status(self, values: dict[str, object]) -> Status:
        """Say which law is at work and what the frame can do; warn while clamped."""
        controller = self.law
        values['law'] = controller.follows_by
        values['share of the efforts'] = f'{controller.share:.2f}'
        note = ''
        if isinstance(controller, FrameTorqueController) and controller.reach is not None:
            reach, note = controller.reach, controller.note()
            values['missed acceleration'] = f'{np.abs(reach.missed).max():.3g}'
            values['rank of the frame'] = f'{reach.rank:.0f}'
            values['manipulability'] = f'{reach.manipulability:.3g}'
            values['damping'] = f'{reach.damping:.3g}'
            values['share within limits'] = f'{reach.share:.3g}'
        status = super().output_status(values)
        if status.level != OK:
            return status
        if over := controller.pop_saturated():
            payload = '; '.join(f'{k}: {x}' for k, x in self.payloads.in_words().items())
            line = f'clamped to the effort limit: {over}' + (f' ({payload})' if payload else '')
            return Status(WARN, line, values)
        if joints_not_held := controller.joints_not_held():
            note = f'hold_position: no gain p, nothing holds {joints_not_held}'
        return Status(WARN, note, values) if note else status


TARGETS = ('wrench', 'pose', 'twist')


class WrenchControlNode(EffortNode):
    """Publishes the efforts that push, yield or move as the targets say, or hold the frame."""

    law: WrenchController

    def __init__(self, name: str = 'kane_wrench_control', **options: Any) -> None:
        super().__init__(name, **options)

    # model and parameters

    def compile_options(self) -> CompileOptions:
        """Return which frame the machine code is for, and in which axes."""
        return CompileOptions(frame=self.parameters.frame, axes=self.parameters.axes)

    def prepare(self, dynamics: Dynamics) -> tuple[WrenchController, Mapping[str, Input]]:
        """Make what depends on the robot: the law, its limits, the inputs of the targets."""
        controller = WrenchController(dynamics, self.parameters, self.new_guard)
        return controller, controller.inputs

    # the loop

    def subscribe(self) -> None:
        """Listen to the targets."""
        self.listen(WrenchStamped, '~/wrench', COMMAND)
        self.listen(PoseStamped, '~/pose', COMMAND)
        self.listen(TwistStamped, '~/twist', COMMAND)

    def effort(self, time: int, q: Floats, v: Floats) -> Floats | None:
        """Return the efforts of the present state and targets."""
        return self.law.effort(q, v)

    # diagnostics

    def statuses(self) -> dict[str, Any]:
        """Return the shared components and the targets."""
        return super().statuses() | {k: partial(self._target_status, k) for k in TARGETS}

    def _target_status(self, name: str) -> Status:
        status = self.status_of(name)
        if self.state is None or status.level != ERROR:
            return status
        if not (status.values['accepted'] or status.values['rejected']):
            return Status(OK, 'none wanted', status.values)
        return instead(status, self.parameters.timeout_action)

    def output_status(self, values: dict[str, object]) -> Status:
        """Say what is refused, and what is left of the traction."""
        status = super().output_status(values)
        if status.level != OK:
            return status
        values['traction left [N]'] = f'{self.law.margin:.3f}'
        if refused := self.law.refused:
            return Status(ERROR, f'holds the frame instead: {refused}', values)
        return status
