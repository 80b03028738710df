# SPDX-License-Identifier: Apache-2.0
"""``kane_simulator``: efforts in, joint_states, odom, tf and /clock out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from geometry_msgs.msg import Twist, TwistStamped
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import ParameterException
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Empty, SetBool, Trigger

from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.exceptions import InvalidInputError, KaneDynamicsError
from kane_dynamics.messages.loop_statistics import LoopStatistics
from kane_dynamics.plant.command_input import CommandInput
from kane_dynamics.plant.event_plant import EventPlant
from kane_dynamics.plant.plant import Plant
from kane_dynamics.plant.timing import BACKLOG, RETRY_PERIOD, Lockstep, Rate
from kane_dynamics.robot_config.parameters.tables import SimulatorParameters
from kane_dynamics.ros.declare_parameters import (
    declare,
    declare_for_each,
    install_validation,
    read,
    read_for_joints,
)
from kane_dynamics.ros.messages.diagnostics import (
    ERROR,
    OK,
    WARN,
    Diagnostics,
    Status,
    input_status,
)
from kane_dynamics.ros.messages.simulator_output import SimulatorOutput
from kane_dynamics.ros.payloads import Payloads
from kane_dynamics.ros.qos import COMMAND
from kane_dynamics.ros.robot_description_manager import RobotDescriptionManager
from kane_dynamics.ros.runtime import ClockFromZero, without_arguments
from kane_dynamics.ros.simulated_clock import SimulatedClock
from kane_dynamics.ros.simulator_inputs import CouplerTopics, SimulatorInputs
from kane_dynamics.ros.stepping import Stepping
from kane_dynamics.ros.switches import Switches

WALL = Clock(clock_type=ClockType.STEADY_TIME)
WAITING = 'lockstep: waiting for the first effort command'
LOOK_PERIOD = 0.2
"""Wall time [s] between looks at who else publishes the simulator's topics."""


class SimulatorNode(ClockFromZero):
    """Integrates the robot in fixed steps on the wall clock, or in lockstep with a controller."""

    def __init__(self, name: str = 'kane_simulator', **options: Any) -> None:
        super().__init__(name, **options)
        self.parameters = declare(self, SimulatorParameters)
        self.plant: Plant | None = None
        self._commands: CommandInput | None = None
        self._paused = self.parameters.start_paused
        self._trouble = ''
        self._account = LoopStatistics()
        self._pacer = Rate(self.parameters.rtf)
        self._lockstep = Lockstep(self.parameters.lockstep)
        # on the wall clock a timer is enough, and the events executor serves no guard conditions
        paced = self.parameters.rtf > 0.0 and not self.parameters.lockstep
        self._again = None if paced else self.create_guard_condition(self._on_tick)
        self._stamps = SimulatedClock(
            self, self.parameters.publish_clock, self.parameters.clock_rate
        )
        self._output = SimulatorOutput(self, self.parameters)
        self._stamp, self._first_stamp, self._published_at = 0, 0, 0.0
        self.host = RobotDescriptionManager(
            self,
            self.parameters,
            self._on_model,
            on_compiled=self._on_compiled,
            patient=self.parameters.lockstep,
        )
        self._payloads = Payloads(self, self.parameters.payloads, bounded=False)
        install_validation(self, SimulatorParameters, self._reread)
        self.create_subscription(JointState, '~/effort_command', self._on_effort, COMMAND)
        self.create_subscription(Float64MultiArray, '~/commands', self._on_array, COMMAND)
        if self.parameters.hardware_joints:
            self.create_subscription(
                JointState, 'robot_joint_commands', self._on_hardware, COMMAND
            )
        self._driven = self.parameters.base_command_interface == 'velocity'
        if self._driven:
            kind = TwistStamped if self.parameters.base_cmd_vel_stamped else Twist
            self.create_subscription(kind, 'cmd_vel', self._on_cmd_vel, COMMAND)
        self._switches = Switches(self, self.parameters.constraints_names, self._present)
        self._outside = SimulatorInputs(
            self,
            self.parameters.frame_prefix,
            lambda: self.parameters.timeout_external_wrench,
            self._begin_again,
        )
        odom = self.parameters.frame_prefix + self.parameters.odom_frame_id
        self._coupler = CouplerTopics(self, self.parameters, odom)
        self.create_service(Empty, '~/reset', self._on_reset)
        self.create_service(SetBool, '~/pause', self._on_pause)
        self.create_service(Trigger, '~/step', self._on_step)
        self._stepping = Stepping(self, self._do_steps)
        self._diagnostics = Diagnostics(
            self,
            {
                'model': self._model_status,
                'command': self._command_status,
                **({'cmd_vel': self._drives_status} if self._driven else {}),
                'external wrench': self._outside.wrench_status,
                'set_state': self._outside.state_status,
                'device': self._coupler.status,
                'constraints': self._switches.status,
                'simulation': self._simulation_status,
            },
        )

    @property
    def trouble(self) -> str:
        """Return why the simulation stopped, or ''."""
        return self._trouble

    @property
    def missed(self) -> int:
        """Return how many periods began without the efforts of their state."""
        return self._account.missed

    @property
    def missed_stamps(self) -> Sequence[int]:
        """Return the stamps of the newest of these states [ns]."""
        return tuple(self._account.missed_stamps)

    # start and stop, called by runtime.run

    def start(self) -> None:
        """Load the robot; without one the node waits for the topic and says so."""
        self._stamps.start()
        if self._stamps.follows:
            self._pacer.follow(self._node_time)
        self.create_timer(LOOK_PERIOD, self._look_around, clock=WALL)
        try:
            self.host.load()
        except (KaneDynamicsError, ParameterException) as error:
            self.host.fail(error)

    def stop(self) -> None:
        """Stop what still runs in the background."""
        self.host.clear()

    def _reread(self) -> None:
        self.parameters = read(self, SimulatorParameters)
        self._payloads.apply(self.host.dynamics)

    def _on_compiled(self) -> None:
        if self.plant is not None:
            self.plant.speed_up()

    def _on_model(self, dynamics: Dynamics) -> None:
        model = dynamics.model
        declare_for_each(self, SimulatorParameters, '<joint>', model.joints)
        initial = read_for_joints(self, 'initial_positions.<joint>', model.joints)
        self._output.prepare(dynamics, own_description=not self.host.from_topic)
        first = self.plant is None
        self._payloads.apply(dynamics)
        declared = self._switches.declared(model.robot)
        if declared and self.parameters.payloads:
            raise InvalidInputError('constraints that are switched and payloads exclude another')
        self.plant = (
            EventPlant(dynamics, self.parameters, initial, declared)
            if declared
            else Plant(dynamics, self.parameters, initial)
        )
        self._commands = CommandInput(
            self.plant, self.parameters.command_joints, self.parameters.hardware_joints
        )
        self._outside.prepare(self.plant)
        self._coupler.prepare(self.plant)
        self._switches.prepare(self.plant)
        self._publish()
        if first:
            self._start_timers(self.plant)

    def _start_timers(self, plant: Plant) -> None:
        p = self.parameters
        self._pacer.start(plant.period)
        if p.lockstep:
            self.create_timer(RETRY_PERIOD, self._on_silence, clock=WALL)
        if self._pacer.rtf > 0.0:
            self._tick_each(plant.period * 1e-9 / self._pacer.rtf)
        else:
            self._go_on()

    def _tick_each(self, seconds: float) -> None:
        self.create_timer(seconds, without_arguments(self._on_tick), clock=WALL)

    # commands

    def _on_effort(self, message: JointState) -> None:
        if self.plant is None or self._commands is None:
            return
        lockstep = self.parameters.lockstep
        now, since = (self._stamp, self._first_stamp) if lockstep else self._since(self.plant)
        if not self._commands.take(message, now, since, lockstep):
            return
        if self._commands.stamp == self._stamp:
            self._account.delay(time.perf_counter() - self._published_at)
        if not lockstep:
            return
        self._lockstep.answer()
        if self.parameters.rtf == 0.0:
            self._on_tick()

    def _since(self, plant: Plant) -> tuple[int, int]:
        """Return the present stamp and the oldest that a command may have [ns]."""
        now = self._stamps.now(plant.time)
        return now, now - round(self.parameters.timeout_command * 1e9)

    def _on_hardware(self, message: JointState) -> None:
        if self.plant is not None and self._commands is not None:
            self._commands.attempt(self._commands.accept_packed, message, *self._since(self.plant))

    def _on_array(self, message: Float64MultiArray) -> None:
        if self._commands is not None:
            self._commands.attempt(self._commands.accept_array, message)

    def _on_cmd_vel(self, message: Any) -> None:
        if self.plant is not None and self.plant.drives is not None:
            self.plant.drives.take(message, self.plant.time)

    # time

    def _on_tick(self) -> None:
        """Run one period if it is due; more follow after the callbacks that wait now."""
        if self.plant is None or self._paused or self._trouble or self._lockstep.waiting():
            self._account.interrupt()
            self._pacer.skip()
            return
        for _ in range(BACKLOG if self._stamps.follows else 1):
            if self._pacer.due():
                self._run_period(self.plant)
                self._pacer.count()
        if self._pacer.due() and not self._lockstep.waiting():
            self._go_on()

    def _go_on(self) -> None:
        """Call `_on_tick` again after the callbacks that wait now, or when the timer rings."""
        if self._again is not None:
            self._again.trigger()

    def _on_silence(self) -> None:
        """Lockstep: repeat a state that nobody answered; after the timeout go on without."""
        if self.plant is None or self._paused or self._trouble:
            return
        if self._lockstep.lost(self.parameters.timeout_command):
            self._account.add(timeouts=1)
            self.plant.release_all()
            self._run_period(self.plant)
        elif self._lockstep.repeat():
            self._publish_again(self.plant)

    def _run_period(self, plant: Plant) -> None:
        """Integrate to the next publication and publish."""
        answered = self._commands.stamp if self._commands is not None else 0
        self._account.period(self._stamp, answered, self.parameters.timeout_command)
        if self._advance(plant, plant.steps_to_state):
            self._publish()

    def _advance(self, plant: Plant, steps: int) -> bool:
        if not self.parameters.lockstep:
            late = plant.release(self.parameters.timeout_command)
            if len(late):
                self._account.add(released=len(late))
        try:
            plant.advance(steps)
        except KaneDynamicsError as error:
            self._trouble = f'stopped until ~/reset: {error}'
            self.get_logger().error(self._trouble)
        return not self._trouble

    def _publish(self) -> None:
        if self.plant is not None:
            self._lockstep.publish()
            self._publish_again(self.plant)
            self._first_stamp = self._stamp

    def _publish_again(self, plant: Plant) -> None:
        """Publish the present state; on a clock that goes on, its stamp is a new one."""
        self._stamp, self._published_at = self._stamps.now(plant.time), time.perf_counter()
        self._stamps.publish(self._stamp)
        self._switches.publish(self._stamp)
        self._output.publish(plant, self._stamp)

    def _look_around(self) -> None:
        """Notice other publishers of /clock and of joint_states."""
        if self._stamps.look():
            unpaced = self._pacer.rtf == 0.0
            self._pacer.follow(self._node_time)
            if unpaced and self.plant is not None:
                self._tick_each(self.plant.period * 1e-9)
        self._output.look()

    def _present(self) -> int:
        """Return the stamp of the present state [ns]."""
        return self._stamps.now(self.plant.time if self.plant is not None else 0)

    def _node_time(self) -> int:
        return int(self.get_clock().now().nanoseconds)

    # services

    def _on_reset(self, request: Empty.Request, response: Empty.Response) -> Any:
        self._stepping.stop()
        if self.plant is not None:
            self.plant.reset()
            self._begin_again()
        return response

    def _begin_again(self) -> None:
        """Publish a state that others have set, and go on from it."""
        self._trouble = ''
        self._account.interrupt()
        self._pacer.skip()
        self._publish()

    def _on_pause(self, request: SetBool.Request, response: SetBool.Response) -> Any:
        self._paused = request.data
        self._stepping.stop()
        self._account.interrupt()
        self._pacer.skip()
        self._go_on()
        response.success = self._paused or not self._trouble
        response.message = self._trouble or ('paused' if self._paused else 'running')
        return response

    async def _on_step(self, request: Trigger.Request, response: Trigger.Response) -> Any:
        plant = self.plant
        if plant is None or not self._paused or self._stepping.busy:
            busy = 'steps are being done' if self._stepping.busy else 'pause first'
            response.message = busy if plant is not None else 'no model'
            return response
        response.success = await self._stepping.run(self.parameters.step_count)
        stopped = '' if response.success else 'interrupted at '
        response.message = self._trouble or f'{stopped}time {plant.time * 1e-9:.9f} s'
        return response

    def _do_steps(self, most: int) -> int:
        """Integrate up to the next state and publish it; return the steps, 0 in trouble."""
        if self.plant is None:
            return 0
        steps = min(most, self.plant.steps_to_state)
        if not self._advance(self.plant, steps):
            return 0
        self._publish()
        return steps

    # diagnostics

    def _model_status(self) -> Status:
        status = self.host.status()
        values = {**status.values, **self._payloads.in_words()}
        return Status(status.level, status.message, values)

    def _command_status(self) -> Status:
        return input_status(self._commands)

    def _drives_status(self) -> Status:
        return input_status(self.plant.drives if self.plant is not None else None)

    def _simulation_status(self) -> Status:
        plant = self.plant
        if plant is None:
            return Status(ERROR, 'no model')
        achieved = self._pacer.achieved(plant.time)
        self._account.seen(clamped=plant.clamped, stopped=plant.stop_hits)
        lockstep = self.parameters.lockstep
        complaints = (
            (ERROR, self._trouble),
            (ERROR, self._stamps.problem()),
            (WARN, self._output.crowd),
            (WARN, WAITING if self._lockstep.alone() else ''),
            (WARN, self._account.note(0.0 if lockstep else self._pacer.rtf, achieved)),
        )
        values: dict[str, object] = {
            'time [s]': f'{plant.time * 1e-9:.9f}',
            'steps': plant.steps,
            'state': 'paused' if self._paused else 'running',
            'real time factor': f'{achieved:.3f}',
            'stamps': self._stamps.in_words(),
            **self._account.values(),
            'efforts after [ms]': self._account.delays(),
        }
        if self._output.note:
            values['remark'] = self._output.note
        for level, text in complaints:
            if text:
                return Status(level, text, values)
        return Status(OK, 'paused' if self._paused else 'ok', values)
