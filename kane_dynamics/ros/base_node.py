# SPDX-License-Identifier: Apache-2.0
"""What the two dynamics nodes share: model, measured state, lifecycle, diagnostics."""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import Any

from nav_msgs.msg import Odometry
from rclpy.clock import Clock, ClockType, JumpThreshold
from rclpy.duration import Duration
from rclpy.exceptions import ParameterException
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.qos import QoSProfile
from rclpy.qos_overriding_options import QoSOverridingOptions
from sensor_msgs.msg import Imu, JointState

from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.control.state_inputs import MeasuredState, TiltInput
from kane_dynamics.exceptions import KaneDynamicsError
from kane_dynamics.messages.input_monitor import InputMonitor, NodeTime
from kane_dynamics.robot_config.parameters.tables import (
    DynamicsNodeParameters,
    EffortOutputParameters,
    GravityParameters,
    PayloadParameters,
)
from kane_dynamics.robot_config.robot_source import RobotModel, base_frame
from kane_dynamics.ros.declare_parameters import declare, install_validation, read
from kane_dynamics.ros.messages.diagnostics import OK, Diagnostics, OutputLog, Status, input_status
from kane_dynamics.ros.payloads import Payloads
from kane_dynamics.ros.qos import ALL_PARTS, LATEST
from kane_dynamics.ros.robot_description_manager import RobotDescriptionManager
from kane_dynamics.ros.runtime import ClockFromZero
from kane_dynamics.typing import Floats

WATCH_PERIOD = 0.05
"""Wall time [s] between looks at the age of the inputs."""
SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


class DynamicsNode(ClockFromZero, LifecycleNode):
    """A lifecycle node that turns the measured state of a robot into an output."""

    def __init__(
        self,
        name: str,
        table: type[DynamicsNodeParameters],
        **options: Any,
    ) -> None:
        super().__init__(name, **options)
        self._table = table
        self.time = NodeTime(self.get_clock())
        self.parameters: Any = declare(self, table)
        self.host = RobotDescriptionManager(
            self, self.parameters, self._on_model, compile_options=self.compile_options
        )
        self.state: MeasuredState | None = None
        self._payloads: Payloads | None = None
        if isinstance(self.parameters, PayloadParameters):
            self._payloads = Payloads(self, self.parameters.payloads)
        self._tilt: TiltInput | None = None
        self._log = OutputLog()
        self._active = False
        self._entities: list[tuple[str, Any]] = []
        self.inputs: list[Any] = []  # subscriptions of measured states and commands
        install_validation(self, table, self._reread, self.parameter_problem)
        self._diagnostics = Diagnostics(self, self.statuses())
        self._jump = self.get_clock().create_jump_callback(
            JumpThreshold(
                min_forward=None, min_backward=Duration(nanoseconds=-1), on_clock_change=True
            ),
            post_callback=lambda jump: self.forget(),
        )

    # what a subclass provides

    @abstractmethod
    def joint_fields(self) -> tuple[str, ...]:
        """Return the fields of joint_states that are needed."""

    @abstractmethod
    def prepare(self, dynamics: Dynamics) -> Any:
        """Return what depends on the robot; the node changes nothing of its own yet."""

    @abstractmethod
    def take(self, dynamics: Dynamics, prepared: Any) -> None:
        """Begin to use what `prepare` has returned for a new model; nothing may fail here."""

    @abstractmethod
    def compute(self, stamp: int, q: Floats, v: Floats) -> None:
        """Publish the output of a state whose newest stamp [ns] is given."""

    @abstractmethod
    def state_lost(self) -> None:
        """Leave the output in a safe state: there is no usable measured state."""

    @abstractmethod
    def subscribe(self) -> None:
        """Create further subscriptions and services (`local` them), on activation."""

    @abstractmethod
    def parameters_changed(self) -> None:
        """Take over changed parameters."""

    def compile_options(self) -> dict[str, Any]:
        """Return the arguments of `Dynamics` besides the model: what else is compiled."""
        return {}

    # start and stop, called by runtime.run

    def start(self) -> None:
        """Configure and activate, unless a lifecycle manager does it."""
        if self.parameters.autostart and self.trigger_configure() == SUCCESS:
            self.trigger_activate()

    def stop(self) -> None:
        """Leave the output in a safe state before the process ends."""
        if self._active:
            self.trigger_deactivate()
        self.host.clear()

    # lifecycle

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Build the model from the parameters, or wait for the topic robot_description."""
        try:
            self.host.load()
        except (KaneDynamicsError, ParameterException) as error:
            self.host.fail(error)
            return FAILURE
        return super().on_configure(state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Create subscriptions and timers; inactive nodes would keep serving them."""
        self.forget()
        profile = ALL_PARTS if self.parameters.allow_partial_joint_states else LATEST
        if self.parameters.base_type != 'none':
            self._listen(Odometry, 'odom', self._on_odom, LATEST)
        source = self._down_from()
        if source == 'imu':
            self._listen(Imu, source, self._on_tilt, LATEST)
        self._listen(JointState, 'joint_states', self._on_joint_states, profile)
        self.subscribe()
        wall = Clock(clock_type=ClockType.STEADY_TIME)
        self.local('timer', self.create_timer(WATCH_PERIOD, self._watch, clock=wall))
        if self.parameters.publish_rate > 0.0:
            self.local('timer', self.create_timer(1.0 / self.parameters.publish_rate, self.update))
        self._active = True
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Leave the output in a safe state, then stop listening."""
        self._rest()
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget the model."""
        self.host.clear()
        return super().on_cleanup(state)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Do what deactivation does, if active."""
        self._rest()
        return super().on_shutdown(state)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Return to unconfigured after a failed transition."""
        self._rest()
        self.host.clear()
        return super().on_error(state)

    def local(self, kind: str, entity: Any) -> None:
        """Remember a subscription, timer or service, to destroy it on deactivation."""
        self._entities.append((kind, entity))

    def _rest(self) -> None:
        if self._active:
            self.state_lost()
        self._active = False
        self.inputs.clear()
        while self._entities:
            kind, entity = self._entities.pop()
            getattr(self, f'destroy_{kind}')(entity)

    def _listen(self, message_type: type, topic: str, callback: Any, profile: QoSProfile) -> None:
        """Subscribe to a measured state, with a QoS that parameters may override."""
        options = QoSOverridingOptions.with_default_policies()
        subscription = self.create_subscription(
            message_type, topic, callback, profile, qos_overriding_options=options
        )
        self.local('subscription', subscription)
        self.inputs.append(subscription)

    # model and parameters

    def _on_model(self, dynamics: Dynamics) -> None:
        """Take a new model, all of it or nothing; called by the host."""
        p = self.parameters
        state = MeasuredState(
            dynamics.model,
            self.joint_fields(),
            base_frame(p),
            p.allow_partial_joint_states,
            lambda name: self.new_guard(name, 0.0),
            odom_needed=not dynamics.model.drives,
        )
        state.set_max_age(p.timeout_joint_states, p.timeout_odom)
        tilt = self._new_tilt(dynamics.model, state)
        if self._payloads is not None:
            self._payloads.apply(dynamics)
        prepared = self.prepare(dynamics)
        self.state_lost()  # under the names from before
        self.state, self._tilt = state, tilt
        self.take(dynamics, prepared)

    def _down_from(self) -> str:
        """Return the source of the direction of gravity."""
        p = self.parameters
        return p.gravity_source if isinstance(p, GravityParameters) else 'fixed'

    def _new_tilt(self, model: RobotModel, state: MeasuredState) -> TiltInput | None:
        """Return what tells the direction of gravity, None where it is fixed."""
        source = self._down_from()
        if source == 'fixed':
            return None
        guard = self.new_guard('imu', self.parameters.timeout_imu)
        if source == 'odom' and state.odom is not None:
            guard = state.odom.guard
        return TiltInput(model, source, self.parameters.frame_prefix, guard)

    def new_guard(self, name: str, max_age: float) -> InputMonitor:
        """Return a guard on this node's clock."""
        return InputMonitor(
            name,
            max_age,
            now=self.time.now,
            sim_time=self.time.simulated,
            tell=self.get_logger().warning,
        )

    def _reread(self) -> None:
        """Take over accepted parameter changes."""
        self.parameters = read(self, self._table)
        p = self.parameters
        if self.state is not None:
            self.state.set_max_age(p.timeout_joint_states, p.timeout_odom)
            if self._tilt is not None and self._tilt.source == 'imu':
                self._tilt.guard.max_age = p.timeout_imu
            self.parameters_changed()
        if self._payloads is not None:
            sends = self._active and isinstance(p, EffortOutputParameters)
            self._payloads.apply(self.host.dynamics, p.payload_ramp_time if sends else 0.0)

    def timed_inputs(self) -> dict[str, InputMonitor]:
        """Return the guards whose age limits are parameters, by the name of the parameter."""
        if self.state is None:
            return {}
        guards = {'timeout.joint_states': self.state.joints.guard}
        if self.state.odom is not None:
            guards['timeout.odom'] = self.state.odom.guard
        if self._tilt is not None and self._tilt.source == 'imu':
            guards['timeout.imu'] = self._tilt.guard
        return guards

    def parameter_problem(self, name: str, value: Any) -> str:
        """Return why a value that the table allows cannot be used now, or ''."""
        guard = self.timed_inputs().get(name)
        return guard.limit_problem(name, value) if guard is not None else ''

    def payload(self) -> dict[str, str]:
        """Return what links carry, in words."""
        return {} if self._payloads is None else self._payloads.in_words()

    def forget(self) -> None:
        """Drop the measured state: the clock has jumped back, or the node was inactive."""
        if self.state is not None:
            self.state.reset()
        if self._tilt is not None:
            self._tilt.reset()

    # the loop

    def _on_odom(self, message: Odometry) -> None:
        odom = self.state.odom if self.state is not None else None
        independent_indices = odom is not None and odom.take(message)
        if independent_indices and self._tilt is not None and self._tilt.source == 'odom':
            self._tilt.take(message)

    def _on_tilt(self, message: Imu) -> None:
        if self._tilt is not None:
            self._tilt.take(message)

    def _on_joint_states(self, message: JointState) -> None:
        with self.time:
            independent_indices = self.state is not None and self.state.joints.take(message)
            if independent_indices and self.parameters.publish_rate == 0.0:
                self.update()

    def _watch(self) -> None:
        if self.state_problem():
            self.state_lost()

    def state_problem(self) -> str:
        """Return why the measured state cannot be used, or ''."""
        if self.state is None:
            return 'no model'
        return self.state.problem() or (self._tilt.problem() if self._tilt is not None else '')

    def update(self) -> None:
        """Assemble q, v and compute the output, if the state is usable."""
        if self.state is None or self.state_problem():
            self.state_lost()
            return
        stamp, begin = self.state.assemble(), time.perf_counter()
        if self._tilt is not None and self.host.dynamics is not None:
            self.host.dynamics.set_gravity(self._tilt.gravity(self.state.q))
        try:
            self.compute(stamp, self.state.q, self.state.v)
        except (KaneDynamicsError, ValueError, ArithmeticError) as error:  # numbers went wild
            self._log.failed(error)
            self.state_lost()
        else:
            now = self.get_clock().now().nanoseconds
            self._log.done(stamp, now, time.perf_counter() - begin)

    # diagnostics

    def statuses(self) -> dict[str, Any]:
        """Return the components that the diagnostics report."""
        return {
            'model': self._model_status,
            'joint_states': self._joint_states_status,
            'odom': self._odom_status,
            'output': self._output_status,
        }

    def _model_status(self) -> Status:
        status = self.host.status()
        return Status(status.level, status.message, {**status.values, **self.payload()})

    def _joint_states_status(self) -> Status:
        return input_status(self.state.joints if self.state is not None else None)

    def _odom_status(self) -> Status:
        if self.state is not None and self.state.odom is None:
            return Status(OK, 'not needed: the base is fixed')
        return input_status(self.state.odom if self.state is not None else None)

    def _output_status(self) -> Status:
        return self._log.status(self._active, self.state_problem(), self.output_status)

    def output_status(self, values: dict[str, object]) -> Status:
        """Return the status of the output while the measured state is in order."""
        return Status(OK, 'ok', values)
