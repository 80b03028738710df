# SPDX-License-Identifier: Apache-2.0
"""What the nodes share that send efforts to motors: topics, silence, services."""

import time
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from rclpy.duration import Duration
from rclpy.exceptions import InvalidTopicNameException
from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node
from rclpy.validate_full_topic_name import validate_full_topic_name
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, Float64MultiArray
from std_srvs.srv import SetBool, Trigger

from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.exceptions import InvalidInputError, KaneDynamicsError
from kane_dynamics.messages.conversions import set_doubles, set_stamp
from kane_dynamics.robot_config.robot_source import RobotModel
from kane_dynamics.ros.base_node import DynamicsNode
from kane_dynamics.ros.diagnostics import WARN, Status
from kane_dynamics.ros.runtime import COMMAND, STATE
from kane_dynamics.typing import Floats


def joint_topic(joint: str) -> str:
    """Return the topic of the effort of a joint, relative to the namespace."""
    topic = f'{joint}/effort'
    try:
        validate_full_topic_name(f'/{topic}')
    except InvalidTopicNameException as error:
        raise InvalidInputError(
            f"joint_topics: joint '{joint}' cannot have the topic '{topic}': {error}"
        ) from error
    return topic


class JointTopics:
    """Publishes efforts on ``<joint>/effort``, of no joint at first."""

    def __init__(self, node: Node) -> None:
        self._node, self._message = node, Float64()
        self.publishers: dict[str, Any] = {}

    def prepare(self, joints: Sequence[str]) -> None:
        """Publish for these joints, in this order, from now on."""
        before = self.publishers
        self.publishers = {
            name: before.pop(name, None)
            or self._node.create_publisher(Float64, joint_topic(name), COMMAND)
            for name in joints
        }
        for publisher in before.values():
            self._node.destroy_publisher(publisher)

    def publish(self, efforts: Sequence[float]) -> None:
        """Publish an effort [N m or N] for each joint, if there are any."""
        for publisher, effort in zip(self.publishers.values(), efforts, strict=False):
            self._message.data = effort
            publisher.publish(self._message)


LAST_WORD_TIMEOUT = Duration(seconds=0.5)
"""Longest wait for the subscribers to confirm the last message before the process ends."""


class EffortOutput:
    """Publishes efforts on ``~/effort`` and ``~/commands``, reusing the message objects."""

    def __init__(self, node: LifecycleNode, joint_topics: bool = False) -> None:
        self.pushing = False
        self._node = node
        self._state, self._commands = JointState(), Float64MultiArray()
        self._order = np.zeros(0, dtype=np.intp)
        self._publishers: tuple[Any, Any] = (
            node.create_lifecycle_publisher(JointState, '~/effort', STATE),
            node.create_lifecycle_publisher(Float64MultiArray, '~/commands', COMMAND),
        )
        self._joints, self._joint_topics = JointTopics(node), joint_topics

    def prepare(self, model: RobotModel, command_joints: tuple[str, ...]) -> None:
        """Fit the messages to a robot's motors; `command_joints` orders ``~/commands``."""
        motors = model.motors
        ordered = command_joints or motors
        self._order = np.array([motors.index(name) for name in ordered], dtype=np.intp)
        self._state.name = list(motors)
        zeros = [0.0] * len(motors)
        self._state.position, self._state.velocity, self._state.effort = zeros, zeros, zeros
        self._commands.data = [0.0] * len(ordered)
        self._joints.prepare(ordered if self._joint_topics else ())

    def publish(self, stamp: int, position: Floats, velocity: Floats, effort: Floats) -> None:
        """Publish efforts and the state they belong to."""
        set_stamp(self._state.header.stamp, stamp)
        set_doubles(self._state.position, position)
        set_doubles(self._state.velocity, velocity)
        self._send(effort)
        self.pushing = True

    def silence(self) -> None:
        """Publish zeros once, if an effort is out; receivers hold the last one for ever."""
        if not self.pushing:
            return
        set_stamp(self._state.header.stamp, self._node.get_clock().now().nanoseconds)
        self._send(np.zeros(len(self._state.name)))
        self.pushing = False

    def flush(self) -> None:
        """Wait until the subscribers have the last message."""
        for publisher in (*self._publishers, *self._joints.publishers.values()):
            publisher.wait_for_all_acked(LAST_WORD_TIMEOUT)

    def _send(self, effort: Floats) -> None:
        set_doubles(self._state.effort, effort)
        set_doubles(self._commands.data, effort[self._order])
        for publisher, message in zip(
            self._publishers, (self._state, self._commands), strict=True
        ):
            if publisher.get_subscription_count():  # a message to nobody costs as much as one
                publisher.publish(message)
        if self._publishers[0].is_activated:
            self._joints.publish(self._commands.data)


ON_THE_WAY = 0.01
"""Part of timeout.joint_states that is left for sending: what is checked leaves a moment later."""


class EffortNode(DynamicsNode):
    """A node whose output are efforts of all motors, or silence."""

    def __init__(self, name: str, **options: Any) -> None:
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
        if self.state is not None:
            self.law.halt()

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

    def take(self, dynamics: Dynamics, law: Any) -> None:
        """Use the controller of a new model; silence has been sent under the old names."""
        super().take(dynamics, law)
        model = dynamics.model
        self._motor_q, self._motor_v = model.q_index(model.motors), model.v_index(model.motors)
        self._output.prepare(model, self.parameters.command_joints)

    def compute(self, stamp: int, q: Floats, v: Floats) -> None:
        """Publish the efforts of the present state."""
        if not self._enabled:
            self.state_lost()
            return
        begin = time.monotonic()
        now = max(stamp, self.time.now())  # simulated time may come after the state it belongs to
        self.payloads.advance(self.host.dynamics, now)
        effort, state = self.effort(now, q, v), (q[self._motor_q], v[self._motor_v])
        if effort is None:
            self._output.silence()
            return
        self._check_in_time(begin, stamp)
        self._output.publish(stamp, *state, effort)

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
