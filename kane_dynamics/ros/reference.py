# SPDX-License-Identifier: Apache-2.0
"""The reference motion: a JointTrajectory message to arrays; nothing here needs rclpy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.ros.conversions import NameMap, field_values, nanoseconds
from kane_dynamics.ros.input_guard import InputGuard, RejectedInput
from kane_dynamics.ros.robot_source import RobotModel

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Reference:
    """
    Wanted motion of some motors.

    Attributes
    ----------
    motor, q_index, v_index : ndarray of int, shape (k,)
        Place of each named motor among the motors, in q and in v.
    position, velocity, acceleration : ndarray, shape (k,)
        Wanted values [rad, rad/s, rad/s^2 or m, m/s, m/s^2].

    """

    motor: Indices
    q_index: Indices
    v_index: Indices
    position: Floats
    velocity: Floats
    acceleration: Floats


class ReferenceInput:
    """
    Newest ``~/reference``: the last point of the trajectory, by joint name.

    Parameters
    ----------
    model : RobotModel
        Robot with its motors.
    guard : InputGuard
        Judges the age.

    """

    def __init__(self, model: RobotModel, guard: InputGuard) -> None:
        self.guard = guard
        self._newest: Reference | None = None
        self._map = NameMap('reference', model.motors)
        self._q, self._v = model.q_index(model.motors), model.v_index(model.motors)

    def take(self, message: Any) -> bool:
        """Check a JointTrajectory and keep it; return whether it was accepted."""
        try:
            reference = self.read(message)
            self.guard.admit(nanoseconds(message.header.stamp))
        except RejectedInput as rejection:
            self.guard.reject(rejection)
            return False
        self._newest = reference
        return True

    def fresh(self) -> Reference | None:
        """Return the newest reference, or None if it is too old."""
        return self._newest if self.guard.fresh() else None

    def problem(self) -> str:
        """Return why there is no usable reference, or ''."""
        return self.guard.problem()

    def reset(self) -> None:
        """Forget the newest reference."""
        self._newest = None
        self.guard.reset()

    def read(self, message: Any) -> Reference:
        """
        Return the wanted motion; velocities or accelerations left empty mean zero.

        Raises
        ------
        RejectedInput
            If there is no point, a joint has no motor or comes twice, positions are missing, an
            array has the wrong length, or a number is not finite.

        """
        if not message.points:
            raise RejectedInput('short', 'reference: the trajectory has no point')
        names, point = message.joint_names, message.points[-1]
        source, motor = self._map.none_unknown(names)
        zeros = np.zeros(len(names))
        fields = {
            'positions': point.positions,
            'velocities': point.velocities if len(point.velocities) else zeros,
            'accelerations': point.accelerations if len(point.accelerations) else zeros,
        }
        position, velocity, acceleration = (
            field_values('reference', name, values, names, source)
            for name, values in fields.items()
        )
        return Reference(motor, self._q[motor], self._v[motor], position, velocity, acceleration)
