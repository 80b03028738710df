# SPDX-License-Identifier: Apache-2.0
"""Topics of the simulator: clock, joint_states, odom, tf, constraint forces (one entry a row)."""

import time
from typing import Any

import numpy as np
from geometry_msgs.msg import TransformStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String

import kane_dynamics as kd
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.messages.conversions import fill_odometry, set_doubles, set_stamp
from kane_dynamics.plant.plant import Noise, Plant, Readings
from kane_dynamics.robot_config.parameters.tables import SimulatorParameters
from kane_dynamics.robot_config.robot_source import base_frame
from kane_dynamics.ros.runtime import LATCHED, STATE, TFMessage

TOPIC = '/clock'
UNKNOWN = '_UNKNOWN_'  # part of the name of a node of which only the topics are known yet
NANO = 1_000_000_000
DISCOVERY = 0.5
"""Wall time [s] from the start of a node in which it finds those that were there before."""


class SimulatedClock:
    """The one source of stamps."""

    def __init__(self, node: Node, publish: bool, rate: float = 0.0) -> None:
        self.follows = ''
        self._interval = round(NANO / rate) if rate else 0
        self._last: int | None = None
        self._node, self._message = node, Clock()
        self._wanted = publish
        self._publisher: Any = None
        self._found_until = time.monotonic() + DISCOVERY
        self._rivals: list[str] = []

    @property
    def local(self) -> bool:
        """Return whether the stamps are this simulator's own time."""
        return self._publisher is not None

    def start(self) -> None:
        """Publish ``/clock`` if it is wanted and nobody else does; waits for discovery."""
        if not self._wanted:
            return
        while not (others := self._others()) and time.monotonic() < self._found_until:
            time.sleep(0.01)
        if others:
            self._follow(others[0])
        else:
            self._publisher = self._node.create_publisher(Clock, TOPIC, STATE)

    def now(self, simulated: int) -> int:
        """Return the present stamp [ns]; `simulated` is the simulator's own time [ns]."""
        return simulated if self.local else int(self._node.get_clock().now().nanoseconds)

    def publish(self, stamp: int) -> None:
        """Publish a stamp [ns], if the time is this simulator's own and it is due."""
        due = self._last is None or not 0 <= stamp - self._last < self._interval
        if self._publisher is not None and due:
            self._last = stamp
            set_stamp(self._message.clock, stamp)
            self._publisher.publish(self._message)

    def look(self) -> bool:
        """Look who publishes ``/clock``; return whether this simulator now follows another."""
        others = self._others()
        if self.local and others and min(others) < self._node.get_fully_qualified_name():
            self._follow(min(others))
            return True
        before, self._rivals = self._rivals, others
        if self.local and others and others != before:
            self._node.get_logger().error(self.problem())
        return False

    def problem(self) -> str:
        """Return what is wrong with the time, or ''."""
        if self.local and self._rivals:
            rivals = ', '.join(self._rivals)
            return f'{TOPIC} is published by {rivals} too: time jumps for everybody'
        sim_time = self._node.get_clock().ros_time_is_active
        if not self.local and sim_time and not self._node.count_publishers(TOPIC):
            return f'time stands still: nobody publishes {TOPIC}'
        return ''

    def in_words(self) -> str:
        """Return where the stamps come from."""
        if self.local:
            return f'simulated time, published on {TOPIC}'
        if self._node.get_clock().ros_time_is_active:
            return f'{TOPIC} of {self.follows or "another node"}'
        return 'wall time'

    def _others(self) -> list[str]:
        """Return the names of the other publishers of ``/clock``."""
        if self._node.count_publishers(TOPIC) <= self.local:  # quick, and so it nearly always is
            return []
        infos = self._node.get_publishers_info_by_topic(TOPIC)
        names = [f'{i.node_namespace.rstrip("/")}/{i.node_name}' for i in infos]
        if self.local:
            names.remove(self._node.get_fully_qualified_name())
        return sorted(name for name in names if UNKNOWN not in name)

    def _follow(self, other: str) -> None:
        if self._publisher is not None:
            self._node.destroy_publisher(self._publisher)
        self._publisher, self.follows = None, other
        self._node.set_parameters([Parameter('use_sim_time', value=True)])
        self._node.get_logger().warning(
            f'{other} publishes {TOPIC} already: this simulator follows it and publishes none '
            '(publish_clock: false with use_sim_time: true says the same without this warning)'
        )


class ConstraintMessage:
    """A JointState: name = labels, effort = multipliers, velocity = A v - b0, position = Phi."""

    def __init__(self, labels: tuple[str, ...]) -> None:
        zeros = [0.0] * len(labels)
        self._message = JointState(name=list(labels), position=zeros, velocity=zeros, effort=zeros)

    @property
    def labels(self) -> list[str]:
        """Return the names of the rows."""
        return list(self._message.name)

    def filled(self, stamp: int, motion: kd.Motion | Readings) -> JointState:
        """Return the message of a motion, reused from call to call."""
        message = self._message
        set_stamp(message.header.stamp, stamp)
        if message.name:
            set_doubles(message.effort, motion.multipliers)
            set_doubles(message.velocity, motion.velocity_violation)
            set_doubles(message.position, motion.position_violation)
        return message


class SimulatorOutput:
    """Publishes the state of a plant, reusing the message objects."""

    def __init__(self, node: Node, parameters: SimulatorParameters) -> None:
        self.note, self.crowd = '', ''
        self._node, self._parameters = node, parameters
        self._noise = Noise(parameters)
        self._joint_message = JointState()
        self._odom_message, self._transform = Odometry(), TransformStamped()
        create = node.create_publisher
        self._joints = create(JointState, 'joint_states', STATE)
        self._odom = create(Odometry, 'odom', STATE) if parameters.base_type != 'none' else None
        self._forces = create(JointState, '~/constraint_forces', STATE)
        self._tf = self._tf_publisher()
        self._description: Any = None

    def _tf_publisher(self) -> Any:
        if self._odom is None or not self._parameters.publish_tf:
            return None
        if TFMessage is None:
            self.note = 'tf2_msgs is not installed: no tf'
            self._node.get_logger().warning(self.note, once=True)
            return None
        return self._node.create_publisher(TFMessage, 'tf', STATE)

    def prepare(self, dynamics: Dynamics, own_description: bool) -> None:
        """Fit the messages to a robot; publish its description if it is this node's own."""
        p, model = self._parameters, dynamics.model
        self._joint_q, self._joint_v = model.q_index(model.joints), model.v_index(model.joints)
        self._joint_message.name = list(model.joints)
        for field in ('position', 'velocity', 'effort'):
            setattr(self._joint_message, field, [0.0] * len(model.joints))
        odom = self._odom_message
        odom.header.frame_id = p.frame_prefix + p.odom_frame_id
        odom.child_frame_id = base_frame(p)
        odom.pose.covariance = np.diag(p.pose_covariance_diagonal).ravel()
        odom.twist.covariance = np.diag(p.twist_covariance_diagonal).ravel()
        self._transform.header.frame_id = odom.header.frame_id
        self._transform.child_frame_id = odom.child_frame_id
        self._constraint_message = ConstraintMessage(dynamics.engine.labels)
        if own_description:
            self._description = self._node.create_publisher(String, 'robot_description', LATCHED)
            self._description.publish(String(data=model.text))

    def look(self) -> None:
        """Notice another publisher of joint_states; say it once."""
        count = self._node.count_publishers(self._joints.topic_name)
        before, self.crowd = self.crowd, ''
        if count > 1:
            self.crowd = f'{count} nodes publish joint_states here: listeners get a mixture'
            if not before:
                self._node.get_logger().warning(self.crowd)

    def publish(self, plant: Plant, stamp: int, every: bool = False) -> None:
        """Publish odom and tf where due, or every topic, then joint_states, of one stamp [ns]."""
        if self._odom is not None and (every or plant.odom_due):
            self._publish_odometry(plant, stamp)
        simulation, message = plant.simulation, self._joint_message
        set_stamp(message.header.stamp, stamp)
        joints = (
            simulation.q[self._joint_q],
            simulation.v[self._joint_v],
            plant.applied[self._joint_v],
        )
        measured = self._noise.on_joints(plant.steps, np.array(joints))
        for field, values in zip(('position', 'velocity', 'effort'), measured, strict=True):
            set_doubles(getattr(message, field), values)
        self._joints.publish(message)
        if simulation.labels and self._forces.get_subscription_count():
            readings = plant.readings()
            if list(readings.labels) != self._constraint_message.labels:
                self._constraint_message = ConstraintMessage(readings.labels)
            self._forces.publish(self._constraint_message.filled(stamp, readings))

    def _publish_odometry(self, plant: Plant, stamp: int) -> None:
        message, simulation = self._odom_message, plant.simulation
        frame = plant.model.child_frame
        state = np.array(frame.child_state(simulation.q[:3], simulation.v[:3]))
        pose, twist = self._noise.on_odometry(plant.steps, state)
        set_stamp(message.header.stamp, stamp)
        fill_odometry(message, pose, twist)
        if self._odom is not None:
            self._odom.publish(message)
        if self._tf is not None:
            transform = self._transform
            set_stamp(transform.header.stamp, stamp)
            transform.transform.translation.x = message.pose.pose.position.x
            transform.transform.translation.y = message.pose.pose.position.y
            transform.transform.rotation = message.pose.pose.orientation
            self._tf.publish(TFMessage(transforms=[transform]))
