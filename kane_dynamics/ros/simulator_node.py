# SPDX-License-Identifier: Apache-2.0
"""``kane_simulator``: efforts in, joint_states, odom, tf and /clock out."""

import time
from dataclasses import replace
from typing import Any

from geometry_msgs.msg import Twist, TwistStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Empty, SetBool, Trigger

from kane_dynamics.control.node_dynamics import CompileOptions, Dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.plant.command_input import CommandInput
from kane_dynamics.plant.event_plant import EventPlant
from kane_dynamics.plant.plant import Plant
from kane_dynamics.robot_config.parameters.tables import SimulatorParameters
from kane_dynamics.ros.declare_parameters import (
    declare_for_each,
    install_validation,
    read,
    read_for_joints,
)
from kane_dynamics.ros.diagnostics import Diagnostics, Status, input_status
from kane_dynamics.ros.payloads import Payloads
from kane_dynamics.ros.robot_description_manager import RobotDescriptionManager
from kane_dynamics.ros.runtime import COMMAND, WALL
from kane_dynamics.ros.simulation_loop import LOOK_PERIOD, SimulationLoop, Stepping
from kane_dynamics.ros.simulator_inputs import SimulatorInputs


class SimulatorNode(SimulationLoop):
    """Takes commands, states and requests for the robot that it simulates."""

    def __init__(self, name: str = 'kane_simulator', **options: Any) -> None:
        super().__init__(name, **options)
        p = self.parameters
        patient = p.lockstep and p.compiled == 'auto'
        self.host = RobotDescriptionManager(
            self,
            replace(p, compiled='wait') if patient else p,
            self._on_model,
            compile_options=lambda: CompileOptions(integrator=p.integrator),
        )
        self.payloads = Payloads(self, self.parameters, bounded=False)
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
        self._outside = SimulatorInputs(self, self._begin_again)
        self.create_service(Empty, '~/reset', self._on_reset)
        self.create_service(SetBool, '~/pause', self._on_pause)
        self.create_service(Trigger, '~/step', self._on_step)
        if self.parameters.brakes:
            self.create_service(Trigger, '~/release', self._on_release)
        self._stepping = Stepping(self, self._do_steps)
        self._diagnostics = Diagnostics(
            self,
            {
                'model': self._model_status,
                'command': self._command_status,
                **({'cmd_vel': self._drives_status} if self._driven else {}),
                **self._outside.statuses(),
                'constraints': self._switches.status,
                'simulation': self.simulation_status,
            },
        )

    # start and stop, called by runtime.run

    def start(self) -> None:
        """Load the robot; without one the node waits for the topic and says so."""
        self._stamps.start()
        if self._stamps.follows:
            self._pacer.follow(self.node_time)
        self.create_timer(LOOK_PERIOD, self.look_around, clock=WALL)
        self.host.load()

    def stop(self) -> None:
        """Stop what still runs in the background."""
        self.host.clear()

    def _reread(self) -> None:
        self.parameters = read(self, SimulatorParameters)
        self.payloads.apply(self.host.dynamics)

    def _on_model(self, dynamics: Dynamics) -> None:
        model = dynamics.model
        declare_for_each(self, SimulatorParameters, '<joint>', model.joints)
        initial = read_for_joints(self, 'initial_positions.<joint>', model.joints)
        self._output.prepare(dynamics, own_description=not self.host.from_topic)
        first = self.plant is None
        self.payloads.apply(dynamics)
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
        self._switches.prepare(self.plant)
        self.publish()
        if first:
            self.start_timers(self.plant)

    # commands

    def _on_effort(self, message: JointState) -> None:
        if self.plant is None or self._commands is None:
            return
        lockstep = self.parameters.lockstep
        now, since = (self._stamp, self._first_stamp) if lockstep else self._since(self.plant)
        if not self._commands.take(message, now, since, lockstep):
            return
        if self._commands.stamp == self._stamp:
            self.statistics.delay(time.perf_counter() - self._published_at)
        if not lockstep:
            return
        self._lockstep.answer()
        if self.parameters.rtf == 0.0:
            self.on_tick()

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

    # services

    def _on_reset(self, request: Empty.Request, response: Empty.Response) -> Any:
        self._stepping.stop()
        if self.plant is not None:
            self.plant.reset()
            self._begin_again()
        return response

    def _begin_again(self) -> None:
        """Publish a state that others have set, and go on from it."""
        self.trouble = ''
        self.statistics.interrupt()
        self._pacer.skip()
        self.publish()

    def _on_pause(self, request: SetBool.Request, response: SetBool.Response) -> Any:
        self._paused = request.data
        self._stepping.stop()
        self.statistics.interrupt()
        self._pacer.skip()
        self.go_on()
        response.success = self._paused or not self.trouble
        response.message = self.trouble or ('paused' if self._paused else 'running')
        return response

    def _on_release(self, request: Trigger.Request, response: Trigger.Response) -> Any:
        response.success = self.plant is not None
        if self.plant is not None:
            self.plant.open_brakes()
        response.message = 'brakes are open' if response.success else 'no model'
        return response

    async def _on_step(self, request: Trigger.Request, response: Trigger.Response) -> Any:
        plant = self.plant
        if plant is None or not self._paused or self._stepping.busy:
            busy = 'steps are being done' if self._stepping.busy else 'pause first'
            response.message = busy if plant is not None else 'no model'
            return response
        response.success = await self._stepping.run(self.parameters.step_count)
        stopped = '' if response.success else 'interrupted at '
        response.message = self.trouble or f'{stopped}time {plant.time * 1e-9:.9f} s'
        return response

    def _do_steps(self, most: int) -> int:
        """Integrate up to the next state and publish it; return the steps, 0 in trouble."""
        if self.plant is None:
            return 0
        steps = min(most, self.plant.steps_to_state)
        if not self.advance(self.plant, steps):
            return 0
        self.publish()
        return steps

    # diagnostics

    def _model_status(self) -> Status:
        return self.host.status().plus(self.payloads.in_words())

    def _command_status(self) -> Status:
        return input_status(self._commands)

    def _drives_status(self) -> Status:
        return input_status(self.plant.drives if self.plant is not None else None)
