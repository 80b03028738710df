# SPDX-License-Identifier: Apache-2.0
"""``kane_forward_dynamics``: joint_states with effort and odom to predicted accelerations."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from geometry_msgs.msg import AccelStamped
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import kane_dynamics as kd
from kane_dynamics.control.node_dynamics import Dynamics, driven_motion
from kane_dynamics.control.state_inputs import JointStateInput
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.messages.conversions import fill_twist, set_doubles, set_stamp
from kane_dynamics.messages.inputs import Input
from kane_dynamics.robot_config.robot_source import base_frame
from kane_dynamics.ros.base_node import DynamicsNode
from kane_dynamics.ros.diagnostics import OK, WARN, Status
from kane_dynamics.ros.runtime import STATE
from kane_dynamics.ros.simulator_output import ConstraintMessage
from kane_dynamics.typing import Floats


class ForwardDynamicsNode(DynamicsNode):
    """Publishes the accelerations and constraint forces that the measured efforts cause."""

    law: Dynamics
    needed = ('tilt', 'effort')

    def __init__(self, name: str = 'kane_forward_dynamics', **options: Any) -> None:
        super().__init__(name, **options)
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

    def prepare(self, dynamics: Dynamics) -> tuple[Dynamics, Mapping[str, Input]]:
        """Return the input of the efforts, if they have their own topic."""
        if not self._from_topic:
            return dynamics, {}
        source = JointStateInput(dynamics.model.motors, ('effort',), self.new_guard('effort'))
        return dynamics, {'effort': source}

    def configure(self, law: Dynamics) -> None:
        """Do nothing: no parameter of this node changes what efforts cause."""

    def take(self, dynamics: Dynamics, law: Dynamics) -> None:
        """Use a new model: index tables, messages."""
        super().take(dynamics, law)
        model = dynamics.model
        self._effort_v = model.v_index(model.motors if self._from_topic else model.joints)
        self._tau = np.zeros(model.robot.nv)
        self._q_index, self._v_index = model.q_index(model.joints), model.v_index(model.joints)
        self._joint_message.joint_names = list(model.joints)
        point = self._joint_message.points[0]
        for field in ('positions', 'velocities', 'accelerations', 'effort'):
            setattr(point, field, [0.0] * len(model.joints))
        self._base_message.header.frame_id = base_frame(self.parameters)
        self._constraint_message = ConstraintMessage(dynamics.engine.labels)

    def subscribe(self) -> None:
        """Listen to the efforts if they have a topic of their own."""
        if self._from_topic:
            self.listen(JointState, '~/effort')

    def compute(self, stamp: int, q: Floats, v: Floats) -> None:
        """Publish what the measured efforts cause in the present state."""
        source: Any = self.inputs['effort' if self._from_topic else 'joint_states']
        self._tau[self._effort_v] = source.values['effort']
        motion = self._motion(stamp, q, v)
        acceleration = np.asarray(motion.acceleration)
        if not (np.isfinite(acceleration).all() and np.isfinite(motion.multipliers).all()):
            raise InvalidInputError(f'the predicted acceleration is not finite: {acceleration}')
        self._publish_joints(stamp, q, v, acceleration)
        if self.law.model.mobile:
            self._publish_base(stamp, q, v, acceleration)
        self._publish_constraints(stamp, motion)

    def _motion(self, stamp: int, q: Floats, v: Floats) -> kd.Motion:
        """Return what efforts, and drives that take velocities, cause."""
        engine, driven = self.law.engine, self.driven_base
        if driven is None:
            return engine.forward_dynamics(q, v, self._tau)
        now = max(stamp, self.get_clock().now().nanoseconds)
        base = driven.at(now, np.asarray(engine.robot.gravity))
        return driven_motion(self.law, q, v, self._tau, base.acceleration)

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
        frame = self.law.model.child_frame
        fill_twist(message.accel, frame.child_acceleration(q[:3], v[:3], acceleration[:3]))
        self._base.publish(message)

    def _publish_constraints(self, stamp: int, motion: kd.Motion) -> None:
        residual = float(np.abs(motion.velocity_violation).max(initial=0.0))
        self._worst_residual = max(self._worst_residual, residual)
        self._forces.publish(self._constraint_message.filled(stamp, motion))

    def state_lost(self) -> None:
        """Publish nothing: there is nothing to predict from."""

    def statuses(self) -> dict[str, Any]:
        """Return the shared components and the efforts."""
        return {**super().statuses(), 'effort': self._effort_status}

    def _effort_status(self) -> Status:
        if not self._from_topic:
            return Status(OK, 'from joint_states')
        return self.status_of('effort')

    def output_status(self, values: dict[str, object]) -> Status:
        """Warn if the measured velocities violate the constraints."""
        worst, self._worst_residual = self._worst_residual, 0.0
        values['worst |A v|'] = f'{worst:.3e}'
        if worst > self.parameters.residual_warn_threshold:
            limit = self.parameters.residual_warn_threshold
            line = f'measured velocities violate the constraints: |A v| {worst:.3g} > {limit:g}'
            return Status(WARN, line, values)
        return super().output_status(values)
