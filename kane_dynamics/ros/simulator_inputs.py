# SPDX-License-Identifier: Apache-2.0
"""Wrenches on links, and states to go on from, that others give to the simulator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from sensor_msgs.msg import JointState

from kane_dynamics.exceptions import KaneDynamicsError
from kane_dynamics.messages.conversions import NameMap, check_numbers, field_values
from kane_dynamics.messages.input_monitor import InputMonitor, RejectedInput
from kane_dynamics.plant.plant import Plant
from kane_dynamics.robot.robot import WORLD
from kane_dynamics.robot_config.robot_source import RobotModel
from kane_dynamics.ros.messages.diagnostics import Status, input_status
from kane_dynamics.ros.qos import STATE

WRENCH_NAMES = ('torque.x', 'torque.y', 'torque.z', 'force.x', 'force.y', 'force.z')


class WrenchInput:
    """Checks wrenches and hands them to the plant."""

    def __init__(self, model: RobotModel, prefix: str) -> None:
        self.guard = InputMonitor('external wrench', float('inf'), now=lambda: 0)
        self._prefix = prefix
        frames = model.robot.frames
        self._links = {name for name, frame in frames.items() if frame.body != WORLD}

    def take(self, message: Any, plant: Plant, duration: float) -> bool:
        """Check a WrenchStamped and let it act; return whether it was accepted."""
        try:
            link = message.header.frame_id
            name = link.removeprefix(self._prefix)
            if name not in self._links or not link.startswith(self._prefix):
                known = sorted(self._prefix + other for other in self._links)
                raise RejectedInput(
                    'frame', f"external wrench: no moving link '{link}'; there are {known}"
                )
            torque, force = message.wrench.torque, message.wrench.force
            parts = [torque.x, torque.y, torque.z, force.x, force.y, force.z]
            wrench = np.array(parts, dtype=float)
            check_numbers('external wrench', wrench, WRENCH_NAMES)
        except RejectedInput as rejection:
            self.guard.reject(rejection)
            return False
        plant.push(name, wrench, duration)
        self.guard.note(0)
        return True

    def problem(self) -> str:
        """Return '': without wrenches nothing pushes."""
        return ''


class StateInput:
    """Checks states and sets them on the plant."""

    def __init__(self, model: RobotModel) -> None:
        self.guard = InputMonitor('set_state', float('inf'), now=lambda: 0)
        robot = model.robot
        names = tuple(name for name in robot.velocity_names if name in robot.coordinate_names)
        self._map = NameMap('set_state', names)
        self._q, self._v = model.q_index(names), model.v_index(names)

    def take(self, message: Any, plant: Plant) -> bool:
        """Check a JointState and go on from it; return whether it was accepted."""
        simulation = plant.simulation
        q, v = np.array(simulation.q), np.zeros(len(simulation.v))
        try:
            source, target = self._map.none_unknown(message.name)
            names = message.name
            q[self._q[target]] = field_values(
                'set_state', 'position', message.position, names, source
            )
            if len(message.velocity):
                v[self._v[target]] = field_values(
                    'set_state', 'velocity', message.velocity, names, source
                )
            plant.set_state(q, v)
        except RejectedInput as rejection:
            self.guard.reject(rejection)
            return False
        except KaneDynamicsError as error:
            self.guard.reject(RejectedInput('constraint', f'set_state: {error}'))
            return False
        self.guard.note(0)
        return True

    def problem(self) -> str:
        """Return '': the simulator has a state of its own."""
        return ''


class SimulatorInputs:
    """The topics ~/external_wrench and ~/set_state of a simulator."""

    def __init__(
        self,
        node: Node,
        prefix: str,
        duration: Callable[[], float],
        on_state: Callable[[], None],
    ) -> None:
        self._prefix, self._duration, self._on_state = prefix, duration, on_state
        self._plant: Plant | None = None
        self._wrenches: WrenchInput | None = None
        self._states: StateInput | None = None
        create = node.create_subscription  # wrenches on several links are several messages
        create(WrenchStamped, '~/external_wrench', self._on_wrench, STATE)
        create(JointState, '~/set_state', self._on_set_state, STATE)

    def prepare(self, plant: Plant) -> None:
        """Listen for a plant."""
        self._plant = plant
        self._wrenches = WrenchInput(plant.model, self._prefix)
        self._states = StateInput(plant.model)

    def _on_wrench(self, message: WrenchStamped) -> None:
        if self._plant is not None and self._wrenches is not None:
            self._wrenches.take(message, self._plant, self._duration())

    def _on_set_state(self, message: JointState) -> None:
        if self._plant is None or self._states is None:
            return
        if self._states.take(message, self._plant):
            self._on_state()

    def wrench_status(self) -> Status:
        """Return the state of ~/external_wrench for the diagnostics."""
        status = input_status(self._wrenches)
        if self._plant is None:
            return status
        links = {'acting on': ' '.join(self._plant.pushed) or '-'}
        return Status(status.level, status.message, {**status.values, **links})

    def state_status(self) -> Status:
        """Return the state of ~/set_state for the diagnostics."""
        return input_status(self._states)
