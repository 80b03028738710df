# SPDX-License-Identifier: Apache-2.0
"""What the dynamics nodes share: model, lifecycle, output, diagnostics."""

import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from statistics import fmean
from typing import Any

from rclpy.clock import JumpThreshold
from rclpy.duration import Duration
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from sensor_msgs.msg import JointState

from kane_dynamics.control.motor_friction import MotorFriction
from kane_dynamics.control.node_dynamics import CompileOptions, Dynamics
from kane_dynamics.control.state_inputs import MeasuredState, TiltInput
from kane_dynamics.exceptions import KaneDynamicsError
from kane_dynamics.messages.inputs import Input
from kane_dynamics.robot_config.parameters.tables import FrictionParameters, TermsParameters
from kane_dynamics.ros.declare_parameters import declare_for_each, install_validation, read
from kane_dynamics.ros.diagnostics import ERROR, OK, WARN, Diagnostics, Status
from kane_dynamics.ros.input_node import InputNode
from kane_dynamics.ros.payloads import Payloads
from kane_dynamics.ros.robot_description_manager import RobotDescriptionManager
from kane_dynamics.ros.runtime import WALL
from kane_dynamics.typing import Floats

WATCH_PERIOD = 0.05
"""Wall time [s] between looks at the age of the inputs."""
SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


BUSY = 0.8
"""Part of the period from which a computation counts as too slow: messages take time too."""


class OutputLog:
    """Counts outputs, those later than the period of their states, and failures."""

    def __init__(self) -> None:
        self.late = self._done = self._failed = self._last = 0
        self._busy: list[float] = []  # of each output since the last report [s]
        self._span, self._trouble = 0.0, ''

    def done(self, stamp: int, now: int, busy: float) -> None:
        """Take an output at a time [ns] that answers the state of a stamp [ns]; `busy` in s."""
        period, self._last = (stamp - self._last) * 1e-9 if self._last else 0.0, stamp
        self._done += 1
        self._busy.append(busy)
        if period > 0.0:  # not the first one, another answer to the same state, or a reset
            self._span += period
            self.late += max((now - stamp) * 1e-9, busy) > period

    def failed(self, error: Exception) -> None:
        """Take a computation that failed."""
        self._failed += 1
        self._trouble = str(error)

    def status(
        self, active: bool, problem: str, otherwise: Callable[[dict[str, object]], Status]
    ) -> Status:
        """Return what was wrong since the last call."""
        busy, trouble = self._busy or [0.0], self._trouble
        mean, period, longest = (1e3 * x for x in (fmean(busy), self._span / len(busy), max(busy)))
        self._busy, self._span, self._trouble = [], 0.0, ''
        values: dict[str, object] = {
            'state': 'active' if active else 'inactive',
            'outputs': self._done,
            'late outputs': self.late,
            'failed computations': self._failed,
            'computing [ms]': f'{mean:.3f}, longest {longest:.3f}',
        }
        if trouble:
            return Status(ERROR, trouble, values)
        if not active:
            return Status(WARN, 'inactive', values)
        if problem:
            return Status(ERROR, problem, values)
        status = otherwise(values)
        if status.level == OK and period and mean > BUSY * period:
            took = f'an output takes {mean:.2f} ms of a period of {period:.2f} ms'
            return Status(WARN, f'too slow for the rate: {took}', values)
        return status


class DynamicsNode(InputNode):
    """A lifecycle node that turns the measured state of a robot into an output, by a law."""

    law: Any = None  # what `prepare` has made for the present model; as long as `state`

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, **options)
        self.host = RobotDescriptionManager(
            self, self.parameters, self._on_model, compile_options=self.compile_options
        )
        self.payloads = Payloads(self, self.parameters)
        self._log = OutputLog()
        self._active = False
        install_validation(self, self._table, self._reread, self.parameter_problem)
        self._diagnostics = Diagnostics(self, self.statuses())
        self._jump = self.get_clock().create_jump_callback(
            JumpThreshold(
                min_forward=None, min_backward=Duration(nanoseconds=-1), on_clock_change=True
            ),
            post_callback=lambda jump: self.forget(),
        )

    # what a subclass provides

    @abstractmethod
    def prepare(self, dynamics: Dynamics) -> tuple[Any, Mapping[str, Input]]:
        """Return the law of a robot, and its inputs; nothing of the node changes."""

    def take(self, dynamics: Dynamics, law: Any) -> None:
        """Begin to use the law of a new model; nothing may fail here."""
        self.law = law

    def configure(self, law: Any) -> None:
        """Hand the present parameters to a law."""
        law.configure(self.parameters)

    @abstractmethod
    def compute(self, stamp: int, q: Floats, v: Floats) -> None:
        """Publish the output of a state whose newest stamp [ns] is given."""

    @abstractmethod
    def state_lost(self) -> None:
        """Leave the output in a safe state: there is no usable measured state."""

    def subscribe(self) -> None:
        """Listen to further inputs, on activation."""

    def compile_options(self) -> CompileOptions:
        """Return what else is compiled."""
        return CompileOptions()

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
        return super().on_configure(state) if self.host.load() else FAILURE

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Create subscriptions and timers; inactive nodes would keep serving them."""
        self.forget()
        self.listen_to_state(self._on_joint_states)
        self.subscribe()
        self.local('timer', self.create_timer(WATCH_PERIOD, self._watch, clock=WALL))
        if (rate := self.parameters.publish_rate) > 0.0:
            self.local('timer', self.create_timer(1.0 / rate, self.update))
        self._active = True
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Leave the output in a safe state, then stop listening."""
        self._rest()
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget the model."""
        self._forget_model()
        return super().on_cleanup(state)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Do what deactivation does, if active."""
        self._rest()
        return super().on_shutdown(state)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Return to unconfigured after a failed transition."""
        self._rest()
        self._forget_model()
        return super().on_error(state)

    def _rest(self) -> None:
        if self._active:
            self.state_lost()
        self._active = False
        self.destroy_local()

    # model and parameters

    def _forget_model(self) -> None:
        self.host.clear()
        self.state, self.driven_base, self.inputs = None, None, {}

    def _on_model(self, dynamics: Dynamics) -> None:
        """Take a new model, all of it or nothing; called by the host."""
        state, driven, inputs = self.new_inputs(dynamics.model)
        self.payloads.apply(dynamics)
        self._take_friction(dynamics)
        law, further = self.prepare(dynamics)
        self.state_lost()  # under the names from before
        self.state, self.driven_base, self.inputs = state, driven, {**inputs, **further}
        self.take(dynamics, law)

    def _reread(self) -> None:
        """Take over accepted parameter changes."""
        self.parameters = read(self, self._table)
        self.take_over_limits()
        self._take_friction(self.host.dynamics)
        if self.state is not None:
            self.configure(self.law)
        ramp_time = getattr(self.parameters, 'payload_ramp_time', 0.0) if self._active else 0.0
        self.payloads.apply(self.host.dynamics, ramp_time)

    def _take_friction(self, dynamics: Dynamics | None) -> None:
        """Let laws take the friction that parameters say."""
        if dynamics is not None and issubclass(self._table, TermsParameters):
            motors = dynamics.model.motors
            declare_for_each(self, FrictionParameters, '<joint>', motors)
            values = [read(self, FrictionParameters, name) for name in motors]
            dynamics.friction = MotorFriction.of(dynamics.model, values)

    # the loop

    def _on_joint_states(self, message: JointState) -> None:
        with self.time:
            usable = self.state is not None and self.state.joints.take(message)
            if usable and self.parameters.publish_rate == 0.0:
                self.update()

    def _watch(self) -> None:
        if self.state_problem():
            self.state_lost()

    def update(self) -> None:
        """Assemble q, v and compute the output, if the state is usable."""
        if self.state is None or self.state_problem():
            self.state_lost()
            return
        try:
            self._compute_timed(self.state)
        except (KaneDynamicsError, ValueError, ArithmeticError) as error:  # numbers went wild
            self._log.failed(error)
            self.state_lost()

    def _compute_timed(self, state: MeasuredState) -> None:
        stamp, start, begin = state.assemble(), self.time.now(), time.perf_counter()
        tilt = self.inputs.get('tilt')
        if isinstance(tilt, TiltInput) and self.host.dynamics is not None:
            self.host.dynamics.set_gravity(tilt.gravity(state.q))
        self.compute(stamp, state.q, state.v)
        busy = time.perf_counter() - begin
        passed = 0 if self.time.simulated() else round(1e9 * busy)  # /clock stands meanwhile
        self._log.done(stamp, start + passed, busy)

    # diagnostics

    def statuses(self) -> dict[str, Any]:
        """Return the components that the diagnostics report."""
        return {
            'model': self._model_status,
            'joint_states': partial(self.status_of, 'joint_states'),
            'odom': self.odom_status,
            **({'base': self.base_status} if self.knows_driven_base() else {}),
            'output': self._output_status,
        }

    def _model_status(self) -> Status:
        return self.host.status().plus(self.payloads.in_words())

    def _output_status(self) -> Status:
        return self._log.status(self._active, self.state_problem(), self.output_status)

    def output_status(self, values: dict[str, object]) -> Status:
        """Return the status of the output while the measured state is in order."""
        return Status(OK, 'ok', values)
