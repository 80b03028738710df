# SPDX-License-Identifier: Apache-2.0
"""The inputs of a dynamics node: subscriptions, checks and age limits, and their diagnostics."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from geometry_msgs.msg import Twist, TwistStamped
from nav_msgs.msg import Odometry
from rclpy.lifecycle import LifecycleNode
from rclpy.qos import QoSProfile
from rclpy.qos_overriding_options import QoSOverridingOptions
from sensor_msgs.msg import Imu, JointState

from kane_dynamics.control.base_state_input import CMD_VEL, IMU, BaseMotionInput
from kane_dynamics.control.state_inputs import MeasuredState, TiltInput
from kane_dynamics.messages.inputs import Input, InputMonitor, NodeTime
from kane_dynamics.robot_config.nodes import NODES
from kane_dynamics.robot_config.parameters.tables import (
    BaseMotionParameters,
    GravityParameters,
    table,
)
from kane_dynamics.robot_config.robot_source import RobotModel
from kane_dynamics.ros.declare_parameters import declare
from kane_dynamics.ros.diagnostics import ERROR, OK, Status, input_status
from kane_dynamics.ros.runtime import ALL_PARTS, LATEST, ComposableNode

Measured = tuple[MeasuredState, BaseMotionInput | None, dict[str, Input]]


class InputNode(ComposableNode, LifecycleNode):
    """A node with inputs, whose age limits are its parameters ``timeout.<name>``."""

    needed: tuple[str, ...] = ('tilt',)  # inputs without which there is no output

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, **options)
        self._table = table(NODES[name].parameters)
        self.time = NodeTime(self.get_clock())
        self.parameters: Any = declare(self, self._table)
        self.inputs: dict[str, Input] = {}
        self.state: MeasuredState | None = None
        self.driven_base: BaseMotionInput | None = None
        self.subscriptions_of_inputs: list[Any] = []
        self._entities: list[tuple[str, Any]] = []

    def joint_fields(self) -> tuple[str, ...]:
        """Return the fields of joint_states that are needed."""
        return ('position', 'velocity')

    def local(self, kind: str, entity: Any) -> None:
        """Remember a subscription, timer or service, to destroy it on deactivation."""
        self._entities.append((kind, entity))

    def destroy_local(self) -> None:
        """Destroy what was created on activation."""
        self.subscriptions_of_inputs.clear()
        while self._entities:
            kind, entity = self._entities.pop()
            getattr(self, f'destroy_{kind}')(entity)

    # messages

    def create_lifecycle_publisher(self, *arguments: Any, **options: Any) -> Any:
        """As that of rclpy, which does not come by `create_publisher`."""
        return self.hand_over(super().create_lifecycle_publisher(*arguments, **options))

    def listen(
        self,
        kind: type,
        topic: str,
        profile: QoSProfile = LATEST,
        name: str = '',
        callback: Callable[[Any], Any] | None = None,
    ) -> None:
        """Subscribe an input, named as its topic, with a QoS that parameters may override."""
        options = QoSOverridingOptions.with_default_policies()
        callback = callback or partial(self._on_message, name or topic.removeprefix('~/'))
        subscription = self.create_subscription(
            kind, topic, callback, profile, qos_overriding_options=options
        )
        self.local('subscription', subscription)
        self.subscriptions_of_inputs.append(subscription)

    def _on_message(self, name: str, message: Any) -> None:
        if name in self.inputs:
            self.inputs[name].take(message)

    def listen_to_state(self, on_joint_states: Callable[[JointState], None]) -> None:
        """Subscribe to all that the measured state is made of."""
        p = self.parameters
        profile = ALL_PARTS if p.allow_partial_joint_states else LATEST
        if p.base_type != 'none':
            self.listen(Odometry, 'odom', callback=self._on_odom)
        if isinstance(p, GravityParameters) and p.gravity_source == 'imu':
            self.listen(Imu, IMU, name='tilt')
        if self.knows_driven_base() and CMD_VEL in p.base_acceleration_source:
            self.listen(TwistStamped if p.base_cmd_vel_stamped else Twist, CMD_VEL)
        if self.knows_driven_base() and IMU in p.base_acceleration_source:
            self.listen(Imu, IMU)
        self.listen(JointState, 'joint_states', profile, callback=on_joint_states)

    def _on_odom(self, message: Odometry) -> None:
        usable = 'odom' in self.inputs and self.inputs['odom'].take(message)
        tilt = self.inputs.get('tilt')
        if usable and isinstance(tilt, TiltInput) and tilt.source == 'odom':
            tilt.take(message)

    def forget(self) -> None:
        """Drop what inputs have: the clock has jumped back, or the node was inactive."""
        for source in self.inputs.values():
            source.reset()

    # model and parameters

    def new_inputs(self, model: RobotModel) -> Measured:
        """Return state, driven base and inputs of a model; nothing of the node changes."""
        p = self.parameters
        state = MeasuredState(model, p, self.new_guard, self.joint_fields())
        inputs: dict[str, Input] = dict(state.inputs)
        driven = None
        if isinstance(p, GravityParameters) and p.gravity_source != 'fixed':
            prefix = self.parameters.frame_prefix
            of_odom = p.gravity_source == 'odom' and state.odom is not None
            guard = state.inputs['odom'].guard if of_odom else self.new_guard(IMU)
            inputs['tilt'] = TiltInput(model, p.gravity_source, prefix, guard)
        if self.knows_driven_base() and model.drives and state.odom is not None:
            driven = BaseMotionInput(model, p, self.new_guard, state.odom)
            inputs.update(driven.inputs)
        return state, driven, inputs

    def knows_driven_base(self) -> bool:
        """Return whether the parameters say that the base follows velocities, and how."""
        p = self.parameters
        return isinstance(p, BaseMotionParameters) and p.base_command_interface == 'velocity'

    def new_guard(self, name: str, limit: str | None = None) -> InputMonitor:
        """Return a guard on this node's clock; its age limit is ``timeout.<limit>``, '': none."""
        field = '' if limit == '' else f'timeout_{limit or name}'
        return InputMonitor(
            name,
            getattr(self.parameters, field) if field else math.inf,
            now=self.time.now,
            sim_time=self.time.simulated,
            tell=self.get_logger().warning,
            limit=field,
        )

    def take_over_limits(self) -> None:
        """Take over changed age limits, and the response of the drives of a base."""
        p = self.parameters
        for source in self.inputs.values():
            if source.guard.limit:
                source.set_max_age(getattr(p, source.guard.limit))
        if isinstance(p, BaseMotionParameters) and self.driven_base is not None:
            self.driven_base.command.configure(p)

    def parameter_problem(self, name: str, value: Any) -> str:
        """Return why a value that the table allows cannot be used now, or ''."""
        field = name.replace('.', '_')
        guards = (x.guard for x in self.inputs.values() if x.periodic)
        problems = (x.limit_problem(name, value) for x in guards if x.limit == field)
        return next(filter(None, problems), '')

    # state and diagnostics

    def state_problem(self) -> str:
        """Return why the measured state cannot be used, or ''."""
        if self.state is None:
            return 'no model'
        problems = (self.inputs[name].problem() for name in self.needed if name in self.inputs)
        if problem := self.state.problem() or next(filter(None, problems), ''):
            return problem
        return '' if self.driven_base is None else self.driven_base.problem()

    def status_of(self, name: str) -> Status:
        """Return the status of an input."""
        return input_status(self.inputs.get(name))

    def odom_status(self) -> Status:
        """Return the status of the odometry."""
        if self.state is not None and self.state.odom is None:
            return Status(OK, 'not needed: the base is fixed')
        return self.status_of('odom')

    def base_status(self) -> Status:
        """Return the status of the motion of a driven base."""
        if self.driven_base is None:
            return Status(ERROR, 'no model')
        problem = self.driven_base.problem()
        values = {'acceleration from': self.driven_base.used or 'nothing yet'}
        return Status(ERROR, problem, values) if problem else Status(OK, 'ok', values)
