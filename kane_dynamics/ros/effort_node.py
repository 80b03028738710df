# SPDX-License-Identifier: Apache-2.0
"""What the nodes share that send efforts to motors: output, silence, services."""

import time
from abc import abstractmethod
from typing import Any

from std_srvs.srv import SetBool, Trigger

from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.exceptions import KaneDynamicsError
from kane_dynamics.ros.base_node import DynamicsNode
from kane_dynamics.ros.messages.diagnostics import WARN, Status
from kane_dynamics.ros.messages.effort_output import EffortOutput, joint_topic
from kane_dynamics.typing import Floats

ON_THE_WAY = 0.01
"""Part of timeout.joint_states that is left for sending: what is checked leaves a moment later."""


class EffortNode(DynamicsNode):
    """A node whose output are efforts of all motors, or silence."""

    _controller: Any  # what turns the state of the present model into efforts; None: no model

    def __init__(self, name: str, **options: Any) -> None:
        self._controller = None
        super().__init__(name, **options)
        self._output = EffortOutput(self, self.parameters.joint_topics)
        self._enabled = True
        self.create_service(SetBool, '~/enable', self._on_enable)
        self.create_service(Trigger, '~/get_model_summary', self._on_get_model_summary)

    # what a subclass provides

    @abstractmethod
    def effort(self, time: int, q: Floats, v: Floats) -> Floats | None:
        """Return the efforts of the motors at a time [ns], or None for silence."""

    def halt(self) -> None:
        """Forget the motion: no effort is out."""
        if self._controller is not None:
            self._controller.halt()

    def forget(self) -> None:
        """Drop what inputs have, and the motion."""
        super().forget()
        self.halt()

    # the loop

    def _on_model(self, dynamics: Dynamics) -> None:
        """Refuse a model whose joints cannot have the topics that are asked for."""
        if self.parameters.joint_topics:
            for name in self.parameters.command_joints or dynamics.model.motors:
                joint_topic(name)
        super()._on_model(dynamics)

    def take(self, dynamics: Dynamics, prepared: Any) -> None:
        """Use the controller of a new model; silence has been sent under the old names."""
        self._controller, model = prepared, dynamics.model
        self._motor_q, self._motor_v = model.q_index(model.motors), model.v_index(model.motors)
        self._output.prepare(model, self.parameters.command_joints)

    def compute(self, stamp: int, q: Floats, v: Floats) -> None:
        """Publish the efforts of the present state."""
        if not self._enabled:
            self.state_lost()
            return
        begin = time.monotonic()
        # simulated time may arrive after the state that it belongs to
        now = max(stamp, self.time.now())
        if self._payloads is not None and self.host.dynamics is not None:
            self._payloads.advance(self.host.dynamics, now)
        effort = self.effort(now, q, v)
        if effort is None:
            self._output.silence()
            return
        state = q[self._motor_q], v[self._motor_v]
        self._output.publish(stamp, *state, effort, lambda: self._check_in_time(begin, stamp))

    def _check_in_time(self, begin: float, stamp: int) -> None:
        """Raise KaneDynamicsError if state is stale now, or may be when its efforts have left."""
        self.time.renew()
        problem = self.state_problem()
        took, limit = time.monotonic() - begin, self.parameters.timeout_joint_states
        age = (self.time.now() - stamp) * 1e-9 if stamp else 0.0
        if took > limit:
            problem = f'the efforts took {took:.3f} s, longer than timeout.joint_states, {limit:g}'
        elif not problem and age > (1.0 - ON_THE_WAY) * limit:
            problem = f'their state is {age:.4f} s old, and it may be {limit:g} s when they leave'
        if problem:
            raise KaneDynamicsError(f'efforts are not sent, they would be late: {problem}')

    def state_lost(self) -> None:
        """Take the efforts back: without a measured state nothing is known to be safe."""
        self._output.silence()
        self.halt()

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

    def _on_get_model_summary(self, request: Trigger.Request, response: Trigger.Response) -> Any:
        model = self.host.model
        response.success = model is not None
        response.message = model.summary() if model is not None else self.host.status().message
        return response

    def output_status(self, values: dict[str, object]) -> Status:
        """Warn while disabled."""
        if not self._enabled:
            return Status(WARN, 'disabled by ~/enable', values)
        return super().output_status(values)
