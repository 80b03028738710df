# SPDX-License-Identifier: Apache-2.0
"""``kane_inverse_dynamics``: joint_states, odom and a reference to wheel and arm efforts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.ros.base_node import DynamicsNode
from kane_dynamics.ros.diagnostics import ERROR, OK, WARN, Status, input_status
from kane_dynamics.ros.dynamics import Dynamics
from kane_dynamics.ros.effort_law import EffortLaw, Terms, clamped, known_limits
from kane_dynamics.ros.effort_output import EffortOutput
from kane_dynamics.ros.parameters import declare_for_joints, read_for_joints
from kane_dynamics.ros.qos import COMMAND
from kane_dynamics.ros.reference import Reference, ReferenceInput
from kane_dynamics.ros.runtime import run
from kane_dynamics.ros.tables import GAIN_D, GAIN_P, InverseDynamicsParameters

Floats = NDArray[np.float64]
GAINS = (GAIN_P, GAIN_D)


class InverseDynamicsNode(DynamicsNode):
    """Publishes the efforts that follow the reference, or a safe substitute for it."""

    def __init__(self, **options: Any) -> None:
        super().__init__('kane_inverse_dynamics', InverseDynamicsParameters, GAINS, **options)
        self._output = EffortOutput(self)
        self._reference: ReferenceInput | None = None
        self._motors: tuple[str, ...] = ()
        self._enabled = True
        self._clamped: set[str] = set()
        self.create_service(SetBool, '~/enable', self._on_enable)
        self.create_service(Trigger, '~/print_model', self._on_print_model)

    # model and parameters

    def joint_fields(self) -> tuple[str, ...]:
        """Read positions and velocities."""
        return ('position', 'velocity')

    def prepare(self, dynamics: Dynamics) -> None:
        """Make what depends on the robot: gains, effort law, limits, messages."""
        model = dynamics.model
        motors = model.motors
        declare_for_joints(self, GAINS, motors)
        self._motors = motors
        self._motor_q, self._motor_v = model.q_index(motors), model.v_index(motors)
        self._law = EffortLaw(dynamics)
        guard = self.new_guard('reference', self.parameters.reference_timeout)
        self._reference = ReferenceInput(model, guard)
        self._output.prepare(model, self.parameters.command_joints)
        self._limit = known_limits(np.asarray(model.robot.effort_limit)[self._motor_v])
        unlimited = [n for n, x in zip(motors, self._limit, strict=True) if np.isinf(x)]
        if unlimited and self.parameters.clamp_to_urdf:
            self.get_logger().warning(f'no effort limit in the URDF, not clamped: {unlimited}')
        self.parameters_changed()

    def parameters_changed(self) -> None:
        """Take over changed terms, gains and time limits."""
        p = self.parameters
        if self._reference is not None:
            self._reference.guard.max_age = p.reference_timeout
        self._terms = Terms(
            p.terms_inertia,
            p.terms_coriolis,
            p.terms_gravity,
            p.terms_friction,
            p.gravity_compensated_joints,
        )
        self._p, self._d = (read_for_joints(self, spec, self._motors) for spec in GAINS)

    # the loop

    def subscribe(self) -> None:
        """Listen to the reference."""
        subscription = self.create_subscription(
            JointTrajectory, '~/reference', self._on_reference, COMMAND
        )
        self.own('subscription', subscription)

    def _on_reference(self, message: JointTrajectory) -> None:
        if self._reference is not None:
            self._reference.take(message)

    def forget(self) -> None:
        """Drop measured state and reference."""
        super().forget()
        if self._reference is not None:
            self._reference.reset()

    def compute(self, stamp: int, q: Floats, v: Floats) -> None:
        """Publish the efforts of the present state and reference."""
        reference = self._reference.fresh() if self._reference is not None else None
        if not self._enabled or (reference is None and self.parameters.on_stale == 'stop'):
            self._output.silence()
            return
        effort = self._limited(self._effort(q, v, reference))
        if not np.isfinite(effort).all():
            raise InvalidInputError(f'the efforts are not finite: {effort}')
        self._output.publish(stamp, q[self._motor_q], v[self._motor_v], effort)

    def _effort(self, q: Floats, v: Floats, reference: Reference | None) -> Floats:
        p = self.parameters
        if reference is not None:
            forward = self._law.feedforward(q, v, reference, self._terms)
            back = self._law.feedback(q, v, reference, self._p, self._d)
            return p.torque_scale * forward + back
        if p.on_stale == 'hold_gravity':
            return p.torque_scale * self._law.hold(q, self._terms)
        return np.zeros(len(self._motors))

    def _limited(self, effort: Floats) -> Floats:
        if not self.parameters.clamp_to_urdf:
            return effort
        limited = clamped(effort, self._limit * self.parameters.effort_limit_scale)
        for i in np.flatnonzero(limited != effort):
            self._clamped.add(self._motors[i])
        return limited

    def state_lost(self) -> None:
        """Take the efforts back: without a measured state nothing is known to be safe."""
        self._output.silence()

    def stop(self) -> None:
        """Take the efforts back and wait until the receivers know."""
        super().stop()
        self._output.flush()

    # services and diagnostics

    def _on_enable(self, request: SetBool.Request, response: SetBool.Response) -> Any:
        self._enabled = request.data
        if not self._enabled:
            self._output.silence()
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
        status = input_status(self._reference)
        if status.level != ERROR or self._reference is None:
            return status
        line = f'{status.message}; on_stale: {self.parameters.on_stale}'
        return Status(WARN, line, status.values)

    def output_status(self, values: dict[str, object]) -> Status:
        """Warn while disabled or clamped."""
        over, self._clamped = sorted(self._clamped), set()
        if not self._enabled:
            return Status(WARN, 'disabled by ~/enable', values)
        if over:
            return Status(WARN, f'clamped to the effort limit: {over}', values)
        return Status(OK, 'ok', values)


def main(args: Sequence[str] | None = None) -> int:
    """Run the node; the executable ``kane_inverse_dynamics``."""
    return run(InverseDynamicsNode, args)


if __name__ == '__main__':
    sys.exit(main())
