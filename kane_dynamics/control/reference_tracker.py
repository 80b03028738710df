# SPDX-License-Identifier: Apache-2.0
"""Wanted motion of the motors: follow the reference, or brake and hold; no rclpy here."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.control.reference import Motors, Plan, Reference, ReferenceInput
from kane_dynamics.messages.input_monitor import InputMonitor
from kane_dynamics.trajectories.joint_trajectory import braking
from kane_dynamics.typing import Floats, Indices


class ReferenceTracker:
    """Follows the reference, and lets one motion go over into the next."""

    def __init__(self, motors: Motors, guard: InputMonitor) -> None:
        self._motors = motors
        self._everyone = np.arange(len(motors.names))
        self.reference = ReferenceInput(motors, guard, self._present)
        self._position, self._velocity = np.zeros((2, len(motors.names)))
        self.halt()

    def halt(self) -> None:
        """Forget the motion: no effort is out, and the robot goes where it likes."""
        self._measured = False
        self.drift()

    def drift(self) -> None:
        """Forget what was wanted: the efforts hold no place."""
        self._wanted: Reference | None = None
        self._hold: Plan | None = None

    @property
    def held(self) -> Indices:
        """Return the motors that brake and hold for want of a reference."""
        return self._hold.motor if self._hold is not None else self._everyone[:0]

    def measure(self, q: Floats, v: Floats) -> None:
        """Take the measured state, from which motions begin."""
        self._position, self._velocity = q[self._motors.q], v[self._motors.v]
        self._measured = True

    def follow(self, time: int) -> Reference | None:
        """Return what the reference wants at a time [ns], or None without a fresh one."""
        self._wanted, self._hold = self.reference.at(time), None
        return self._wanted

    def track_or_hold(self, time: int, braking_time: float, stiff: NDArray[np.bool_]) -> Reference:
        """Return what the reference wants; motors without one brake, and then hold."""
        named = self.reference.at(time)
        if named is not None and len(named.motor) == len(self._everyone):
            self._wanted, self._hold = named, None
            return named
        free = self._everyone if named is None else np.setdiff1d(self._everyone, named.motor)
        if self._hold is None or not np.array_equal(self._hold.motor, free):
            position, velocity = self._begin()
            self._hold = Plan(free, time, braking(position[free], velocity[free], braking_time))
        position, velocity, acceleration = self._hold.at(time)
        position = np.where(stiff[free], position, self._position[free])
        self._wanted = self._motors.reference(free, position, velocity, acceleration)
        if named is not None:
            self._wanted = self._both(named, self._wanted)
        return self._wanted

    def _both(self, one: Reference, other: Reference) -> Reference:
        """Return the reference of two sets of motors."""
        pairs = zip(
            (one.motor, one.position, one.velocity, one.acceleration),
            (other.motor, other.position, other.velocity, other.acceleration),
            strict=True,
        )
        return self._motors.reference(*(np.concatenate(pair) for pair in pairs))

    def _begin(self) -> tuple[Floats, Floats]:
        """Return where to hold from: where the reference rests, else the measured state."""
        position, velocity = self._position.copy(), self._velocity.copy()
        if self._wanted is not None:
            rests = self._wanted.velocity == 0.0
            motor = self._wanted.motor[rests]
            position[motor], velocity[motor] = self._wanted.position[rests], 0.0
        return position, velocity

    def _present(self, motor: Indices) -> tuple[Floats, Floats, Floats] | None:
        """Return the present motion of some motors: the wanted one, else the measured one."""
        if not self._measured:
            return None
        position, velocity = self._position.copy(), self._velocity.copy()
        acceleration = np.zeros(len(position))
        if (target := self._wanted) is not None:
            position[target.motor], velocity[target.motor] = target.position, target.velocity
            acceleration[target.motor] = target.acceleration
        return position[motor], velocity[motor], acceleration[motor]
