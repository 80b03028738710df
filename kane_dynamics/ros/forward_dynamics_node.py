# SPDX-License-Identifier: Apache-2.0
"""``kane_forward_dynamics``: joint_states with effort and odom to predicted accelerations."""

from __future__ import annotations

from typing import Any

import numpy as np
from geometry_msgs.msg import AccelStamped
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import kane_dynamics as kd
from kane_dynamics.control.base_state_input import BaseMotionInput
from kane_dynamics.control.node_dynamics import Dynamics, driven_motion
from kane_dynamics.control.state_inputs import JointStateInput
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.messages.conversions import set_doubles, set_stamp
from kane_dynamics.messages.input_monitor import InputMonitor
from kane_dynamics.robot_config.parameters.tables import ForwardDynamicsParameters
from kane_dynamics.robot_config.robot_source import base_frame
from kane_dynamics.ros.messages.diagnostics import OK, WARN, Status, input_status
from kane_dynamics.ros.messages.simulator_output import ConstraintMessage
from kane_dynamics.ros.qos import LATEST, STATE
from kane_dynamics.ros.velocity_controlled_base import VelocityControlledBaseNode
from kane_dynamics.typing import Floats


class ForwardDynamicsNode(VelocityControlledBaseNode):
    """Publishes the accelerations and constraint forces that the measured efforts cause."""

    def __init__(self, **options: Any) -> None:
        super().__init__('kane_forward_dynamics', ForwardDynamicsParameters, **options)
        self._effort_input: JointStateInput | None = None
        self._from_topic = self.parameters.effort_source == 'topic'
        self._worst_residual = 0.0
        self._joint_message = JointTrajectory(points=[JointTrajectoryPoint()])
        self._base_message = AccelStamped()
        self._joints = self.create_lifecycle_publisher(
            JointTrajectory, '~/predicted_accelerations', STATE
        )
        self._base = self.create_lifecycle_publisher(AccelStamped, '~/base_accel', STATE)
        self._forces = self.create_lifecycle_publisher(JointState, '~/constraint_forces', STATE)

    def joint_fields(self) -> tuple[str, ...]:
        """Read positions and velocities, and efforts unless they have a topic of their own."""
        return ('position', 'velocity') if self._from_topic else ('position', 'velocity', 'effort')

    def prepare(self, dynamics: Dynamics) -> tuple[JointStateInput | None, BaseMotionInput | None]:
        """Return the input of the efforts, if they have their own topic, and that of the base."""
        source = None
        if self._from_topic:
            motors = dynamics.model.motors
            source = JointStateInput(motors, ('effort',), self.effort_guard, topic='effort')
        return source, self.new_driven_base(dynamics)

    def take(
        self, dynamics: Dynamics, prepared: tuple[JointStateInput | None, BaseMotionInput | None]
    ) -> None:
        """Use a new model: inputs, index tables, messages."""
        model = dynamics.model
        self._model, self._dynamics = model, dynamics
        self._effort_input, self._driven_base = prepared
        self._effort_v = model.v_index(model.motors if self._from_topic else model.joints)
        self._tau = np.zeros(model.robot.nv)
        self._q_index, self._v_index = model.q_index(model.joints), model.v_index(model.joints)
        self._joint_message.joint_names = list(model.joints)
        point = self._joint_message.points[0]
        for field in ('positions', 'velocities', 'accelerations', 'effort'):
            setattr(point, field, [0.0] * len(model.joints))
        self._base_message.header.frame_id = base_frame(self.parameters)
        self._constraint_message = ConstraintMessage(dynamics.engine.labels)

    def parameters_changed(self) -> None:
        """Take over changed time limits."""
        super().parameters_changed()
        if self._effort_input is not None:
            self._effort_input.set_max_age(self.parameters.timeout_effort)

    def timed_inputs(self) -> dict[str, InputMonitor]:
        """Return the shared guards and that of ~/effort."""
        source = self._effort_input
        return super().timed_inputs() | ({'timeout.effort': source.guard} if source else {})

    def effort_guard(self, name: str) -> Any:
        """Return a guard with the age limit of ~/effort."""
        return self.new_guard(name, self.parameters.timeout_effort)

    def subscribe(self) -> None:
        """Listen to the efforts if they have a topic of their own, and to a driven base."""
        super().subscribe()
        if self._from_topic:
            subscription = self.create_subscription(
                JointState, '~/effort', self._on_effort, LATEST
            )
            self.local('subscription', subscription)

    def _on_effort(self, message: JointState) -> None:
        if self._effort_input is not None:
            self._effort_input.take(message)

    def state_problem(self) -> str:
        """Return why the state or the efforts cannot be used, or ''."""
        problem = super().state_problem()
        if not problem and self._effort_input is not None:
            problem = self._effort_input.problem()
        return problem

    def forget(self) -> None:
        """Drop measured state and efforts."""
        super().forget()
        if self._effort_input is not None:
            self._effort_input.reset()

    def compute(self, stamp: int, q: Floats, v: Floats) -> None:
        """Publish what the measured efforts cause in the present state."""
        source = self._effort_input or (self.state.joints if self.state is not None else None)
        if source is None:
            return
        self._tau[self._effort_v] = source.values['effort']
        motion = self._motion(stamp, q, v)
        acceleration = np.asarray(motion.acceleration)
        if not (np.isfinite(acceleration).all() and np.isfinite(motion.multipliers).all()):
            raise InvalidInputError(f'the predicted acceleration is not finite: {acceleration}')
        self._publish_joints(stamp, q, v, acceleration)
        if self._model.mobile:
            self._publish_base(stamp, q, v, acceleration)
        residual = float(np.abs(motion.velocity_violation).max(initial=0.0))
        self._worst_residual = max(self._worst_residual, residual)
        self._forces.publish(self._constraint_message.filled(stamp, motion))

    def _motion(self, stamp: int, q: Floats, v: Floats) -> kd.Motion:
        """Return what efforts, and drives that take velocities, cause."""
        moved, state = self._driven_base, self.state
        if moved is None or state is None or state.odom is None:
            return self._dynamics.engine.forward_dynamics(q, v, self._tau)
        down = np.asarray(self._dynamics.engine.robot.gravity)
        base = moved.at(max(stamp, self.get_clock().now().nanoseconds), state.odom, down)
        return driven_motion(self._dynamics, q, v, self._tau, base.acceleration)

    def _publish_joints(self, stamp: int, q: Floats, v: Floats, acceleration: Floats) -> None:
        message, point = self._joint_message, self._joint_message.points[0]
        set_stamp(message.header.stamp, stamp)
        set_doubles(point.positions, q[self._q_index])
        set_doubles(point.velocities, v[self._v_index])
        set_doubles(point.accelerations, acceleration[self._v_index])
        set_doubles(point.effort, self._tau[self._v_index])
        self._joints.publish(message)

    def _publish_base(self, stamp: int, q: Floats, v: Floats, acceleration: Floats) -> None:
        message = self._base_message
        set_stamp(message.header.stamp, stamp)
        body = self._model.child_frame.child_acceleration(q[:3], v[:3], acceleration[:3])
        message.accel.linear.x, message.accel.linear.y = float(body[0]), float(body[1])
        message.accel.angular.z = float(body[2])
        self._base.publish(message)

    def state_lost(self) -> None:
        """Publish nothing: there is nothing to predict from."""

    def statuses(self) -> dict[str, Any]:
        """Return the shared components and the efforts."""
        return {**super().statuses(), 'effort': self._effort_status}

    def _effort_status(self) -> Status:
        if not self._from_topic:
            return Status(OK, 'from joint_states')
        return input_status(self._effort_input)

    def output_status(self, values: dict[str, object]) -> Status:
        """Warn if the measured velocities violate the constraints."""
        worst, self._worst_residual = self._worst_residual, 0.0
        values['worst |A v|'] = f'{worst:.3e}'
        if worst > self.parameters.residual_warn_threshold:
            limit = self.parameters.residual_warn_threshold
            line = f'measured velocities violate the constraints: |A v| {worst:.3g} > {limit:g}'
            return Status(WARN, line, values)
        return super().output_status(values)
