# SPDX-License-Identifier: Apache-2.0
"""Effort commands to the simulator, by name or as a plain array; nothing here needs rclpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from kane_dynamics.messages.conversions import NameMap, field_values, nanoseconds
from kane_dynamics.messages.input_monitor import InputMonitor, RejectedInput
from kane_dynamics.plant.plant import Plant
from kane_dynamics.robot_config.robot_source import RobotModel


class CommandInput:
    """Checks effort commands and hands them to the plant."""

    def __init__(
        self,
        model: RobotModel,
        command_joints: tuple[str, ...],
        hardware_joints: tuple[str, ...] = (),
    ) -> None:
        names = tuple(model.robot.velocity_names)
        self.guard = InputMonitor('effort command', float('inf'), now=lambda: 0)
        self.stamp = 0
        self._map = NameMap('effort command', names)
        self._ordered = command_joints or model.motors
        self._order = model.v_index(self._ordered)
        self._packed = NameMap('hardware command', hardware_joints)
        self._hardware = model.v_index(hardware_joints)

    def take(self, message: Any, plant: Plant, now: int, since: int, lockstep: bool) -> bool:
        """Check a JointState and apply its efforts; return whether it was accepted."""
        try:
            source, target = self._map.none_unknown(message.name)
            effort = field_values('effort command', 'effort', message.effort, message.name, source)
            self._check_stamp(nanoseconds(message.header.stamp), now, since, lockstep)
        except RejectedInput as rejection:
            self.guard.reject(rejection)
            return False
        plant.command(target, effort)
        self.stamp = nanoseconds(message.header.stamp)
        self.guard.note(0)
        return True

    def take_packed(self, message: Any, plant: Plant, now: int, since: int) -> bool:
        """Check a hardware's JointState and apply its efforts; return whether it was accepted."""
        try:
            source, target = self._packed.all_present(message.name)
            names = [message.name[i] for i in source]
            written = np.flatnonzero(~np.isnan(message.effort))
            effort = field_values('hardware command', 'effort', message.effort, names, written)
            self._check_stamp(nanoseconds(message.header.stamp), now, since, False)
        except RejectedInput as rejection:
            self.guard.reject(rejection)
            return False
        plant.command(self._hardware[target[written]], effort)
        self.stamp = 0
        self.guard.note(0)
        return True

    def take_array(self, message: Any, plant: Plant) -> bool:
        """Check a Float64MultiArray and apply its efforts; return whether it was accepted."""
        try:
            every = np.arange(len(self._order))
            effort = field_values('commands', 'data', message.data, self._ordered, every)
        except RejectedInput as rejection:
            self.guard.reject(rejection)
            return False
        plant.command(self._order, effort)
        self.stamp = 0
        self.guard.note(0)
        return True

    def problem(self) -> str:
        """Return '': without commands the robot moves freely."""
        return ''

    @staticmethod
    def _check_stamp(stamp: int, now: int, since: int, lockstep: bool) -> None:
        late = (now - stamp) * 1e-9
        if lockstep and not since <= stamp <= now:
            reason = f'effort command: stamp is {late:.9f} s before the last joint_states'
            raise RejectedInput('order', reason)
        if stamp and stamp < since:
            limit = (now - since) * 1e-9
            reason = f'effort command: stamp is {late:.3f} s old, limit {limit:g} s'
            raise RejectedInput('stale', reason)
