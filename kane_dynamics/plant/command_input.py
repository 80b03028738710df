# SPDX-License-Identifier: Apache-2.0
"""Effort commands to the simulator, by name or as a plain array; nothing here needs rclpy."""

from typing import Any

import numpy as np

from kane_dynamics.messages.conversions import NameMap, field_values, nanoseconds
from kane_dynamics.messages.inputs import EventInput, RejectedInput
from kane_dynamics.plant.plant import Plant
from kane_dynamics.typing import Floats, Indices


class CommandInput(EventInput):
    """Checks effort commands and hands them to the plant."""

    def __init__(
        self,
        plant: Plant,
        command_joints: tuple[str, ...],
        hardware_joints: tuple[str, ...] = (),
    ) -> None:
        super().__init__('effort command')
        self._plant, model = plant, plant.model
        names = tuple(model.robot.velocity_names)
        self.stamp = 0
        self._map = NameMap('effort command', names)
        self._ordered = command_joints or model.motors
        self._order = model.v_index(self._ordered)
        self._packed = NameMap('hardware command', hardware_joints)
        self._hardware = model.v_index(hardware_joints)

    def accept(self, message: Any, now: int, since: int, lockstep: bool) -> None:
        """Check a JointState and apply its efforts."""
        source, target = self._map.none_unknown(message.name)
        effort = field_values('effort command', 'effort', message.effort, message.name, source)
        stamp = nanoseconds(message.header.stamp)
        self._check_stamp(stamp, now, since, lockstep)
        self._apply(target, effort, stamp)

    def accept_packed(self, message: Any, now: int, since: int) -> None:
        """Check a hardware's JointState and apply its efforts; closed brakes want all of them."""
        source, target = self._packed.all_present(message.name)
        names = [message.name[i] for i in source]
        written = np.flatnonzero(~np.isnan(message.effort))
        effort = field_values('hardware command', 'effort', message.effort, names, written)
        self._check_stamp(nanoseconds(message.header.stamp), now, since, False)
        if len(written) == len(self._hardware) or not self._plant.braked:
            self._apply(self._hardware[target[written]], effort)

    def accept_array(self, message: Any) -> None:
        """Check a Float64MultiArray and apply its efforts."""
        every = np.arange(len(self._order))
        effort = field_values('commands', 'data', message.data, self._ordered, every)
        self._apply(self._order, effort)

    def _apply(self, target: Indices, effort: Floats, stamp: int = 0) -> None:
        self._plant.command(target, effort)
        self.stamp = stamp

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
