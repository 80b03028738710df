# SPDX-License-Identifier: Apache-2.0
"""The loop of the simulator: when periods run, and what goes out after each."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.task import Future

from kane_dynamics.exceptions import KaneDynamicsError
from kane_dynamics.messages.loop_statistics import LoopStatistics
from kane_dynamics.plant.command_input import CommandInput
from kane_dynamics.plant.plant import Plant
from kane_dynamics.plant.timing import BACKLOG, RETRY_PERIOD, Lockstep, Rate
from kane_dynamics.robot_config.parameters.tables import SimulatorParameters
from kane_dynamics.ros.declare_parameters import declare
from kane_dynamics.ros.diagnostics import ERROR, OK, WARN, Status
from kane_dynamics.ros.runtime import WALL, ComposableNode, without_arguments
from kane_dynamics.ros.simulator_output import SimulatedClock, SimulatorOutput
from kane_dynamics.ros.switches import Switches

PART = 0.02
"""Wall time [s] of a part: signals and other services wait so long."""


class Stepping:
    """Steps that a service has asked for."""

    def __init__(self, node: Node, advance: Callable[[int], int]) -> None:
        self._node, self._advance = node, advance
        self._run: object = None  # the one that goes on
        self._turn: Future[None] = Future()

    @property
    def busy(self) -> bool:
        """Return whether steps are being done."""
        return self._run is not None

    def stop(self) -> None:
        """Do no more of the steps."""
        self._run = None

    async def run(self, count: int) -> bool:
        """Do steps until the end, a part in each turn; return whether all were done."""
        left, self._run = count, (run := object())
        timer = self._node.create_timer(0.001, self._on_turn, clock=WALL)
        until = time.monotonic() + PART
        while self._run is run and (steps := self._advance(left)):
            left -= steps
            if left <= 0:
                self._run = None
            elif time.monotonic() > until:
                self._turn = Future()
                await self._turn
                until = time.monotonic() + PART
        self._node.destroy_timer(timer)
        if self._run is run:  # trouble
            self._run = None
        return left <= 0

    def _on_turn(self) -> None:
        if not self._turn.done():
            self._turn.set_result(None)


WAITING = 'lockstep: waiting for the first effort command'
BRAKED = 'brakes are closed: efforts on all joints open them, unless all are zero, or ~/release'
LOOK_PERIOD = 0.2
"""Wall time [s] between looks at who else publishes the simulator's topics."""


class SimulationLoop(ComposableNode):
    """Integrates the robot in fixed steps on the wall clock, or in lockstep with a controller."""

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, **options)
        self.parameters = declare(self, SimulatorParameters)
        self.plant: Plant | None = None
        self._commands: CommandInput | None = None
        self._paused = self.parameters.start_paused
        self.trouble = ''  # why the simulation stopped
        self.statistics = LoopStatistics()
        self._pacer = Rate(self.parameters.rtf)
        self._lockstep = Lockstep(self.parameters.lockstep)
        # on the wall clock a timer is enough, and the events executor serves no guard conditions
        paced = self.parameters.rtf > 0.0 and not self.parameters.lockstep
        self._again = None if paced else self.create_guard_condition(self.on_tick)
        self._stamps = SimulatedClock(
            self, self.parameters.publish_clock, self.parameters.clock_rate
        )
        self._output = SimulatorOutput(self, self.parameters)
        self._stamp, self._first_stamp, self._published_at = 0, 0, 0.0
        self._switches = Switches(self, self.parameters.constraints_names, self.present_stamp)

    @property
    def crowd(self) -> str:
        """Return who else publishes on its topics, or ''."""
        return self._output.crowd

    def start_timers(self, plant: Plant) -> None:
        """Begin to run periods."""
        p = self.parameters
        self._pacer.start(plant.period)
        if p.lockstep:
            self.create_timer(RETRY_PERIOD, self._on_silence, clock=WALL)
        if self._pacer.rtf > 0.0:
            self._tick_each(plant.period * 1e-9 / self._pacer.rtf)
        else:
            self.go_on()

    def _tick_each(self, seconds: float) -> None:
        self.create_timer(seconds, without_arguments(self.on_tick), clock=WALL)

    # time

    def on_tick(self) -> None:
        """Run one period if it is due; more follow after the callbacks that wait now."""
        if self.plant is None or self._paused or self.trouble or self._lockstep.waiting():
            self.statistics.interrupt()
            self._pacer.skip()
            return
        for _ in range(BACKLOG if self._stamps.follows else 1):
            if self._pacer.due():
                self.run_period(self.plant)
                self._pacer.count()
        if self._pacer.due() and not self._lockstep.waiting():
            self.go_on()

    def go_on(self) -> None:
        """Call `on_tick` again after the callbacks that wait now, or when the timer rings."""
        if self._again is not None:
            self._again.trigger()

    def _on_silence(self) -> None:
        """Lockstep: repeat a state that nobody answered; after the timeout go on without."""
        if self.plant is None or self._paused or self.trouble:
            return
        if self._lockstep.lost(self.parameters.timeout_command):
            self.statistics.add(timeouts=1)
            self.plant.release_all()
            self.run_period(self.plant)
        elif self._lockstep.repeat():
            self._publish_again(self.plant, every=True)

    def run_period(self, plant: Plant) -> None:
        """Integrate to the next publication and publish."""
        answered = self._commands.stamp if self._commands is not None else 0
        late = self._pacer.late() and not self.parameters.lockstep
        self.statistics.period(self._stamp, answered, self.parameters.timeout_command, late)
        if self.advance(plant, plant.steps_to_state):
            self.publish()

    def advance(self, plant: Plant, steps: int) -> bool:
        """Integrate some steps; return whether the simulation goes on."""
        if not self.parameters.lockstep:
            late = plant.release(self.parameters.timeout_command)
            if len(late):
                self.statistics.add(released=len(late))
        try:
            plant.advance(steps)
        except KaneDynamicsError as error:
            self.trouble = f'stopped until ~/reset: {error}'
            self.get_logger().error(self.trouble)
        return not self.trouble

    def publish(self) -> None:
        """Publish the present state, which nobody has answered."""
        if self.plant is not None:
            self._lockstep.publish()
            self._publish_again(self.plant)
            self._first_stamp = self._stamp

    def _publish_again(self, plant: Plant, every: bool = False) -> None:
        """Publish the present state; on a clock that goes on, its stamp is a new one."""
        self._stamp, self._published_at = self._stamps.now(plant.time), time.perf_counter()
        self._stamps.publish(self._stamp)
        self._switches.publish(self._stamp)
        self._output.publish(plant, self._stamp, every)

    def look_around(self) -> None:
        """Notice other publishers of /clock and of joint_states."""
        if self._stamps.look():
            unpaced = self._pacer.rtf == 0.0
            self._pacer.follow(self.node_time)
            if unpaced and self.plant is not None:
                self._tick_each(self.plant.period * 1e-9)
        self._output.look()

    def present_stamp(self) -> int:
        """Return the stamp of the present state [ns]."""
        return self._stamps.now(self.plant.time if self.plant is not None else 0)

    def node_time(self) -> int:
        """Return the time of the node's clock [ns]."""
        return int(self.get_clock().now().nanoseconds)

    def simulation_status(self) -> Status:
        """Return what the loop does, and what is wrong with it."""
        plant = self.plant
        if plant is None:
            return Status(ERROR, 'no model')
        achieved = self._pacer.achieved(plant.time)
        self.statistics.seen(clamped=plant.clamped, stopped=plant.stop_hits)
        lockstep = self.parameters.lockstep
        complaints = (
            (ERROR, self.trouble),
            (ERROR, self._stamps.problem()),
            (WARN, self._output.crowd),
            (WARN, WAITING if self._lockstep.alone() else ''),
            (WARN, BRAKED if plant.braked else ''),
            (WARN, self.statistics.note(0.0 if lockstep else self._pacer.rtf, achieved)),
        )
        values: dict[str, object] = {
            'time [s]': f'{plant.time * 1e-9:.9f}',
            'steps': plant.steps,
            'state': 'paused' if self._paused else 'running',
            'real time factor': f'{achieved:.3f}',
            'brakes': 'closed' if plant.braked else 'open',
            'stamps': self._stamps.in_words(),
            **self.statistics.values(),
            'efforts after [ms]': self.statistics.delays(),
            'intra-process messages': self.intra_process.served if self.intra_process else 0,
        }
        if self._output.note:
            values['remark'] = self._output.note
        for level, text in complaints:
            if text:
                return Status(level, text, values)
        return Status(OK, 'paused' if self._paused else 'ok', values)
