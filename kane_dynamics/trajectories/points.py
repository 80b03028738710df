# SPDX-License-Identifier: Apache-2.0
"""The points of a joint trajectory by joint name, as trajectory_msgs has them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_names, as_numbers, not_finite
from kane_dynamics.trajectories.trajectory import Trajectory
from kane_dynamics.typing import Floats

__all__ = ['TrajectoryPoints']


@dataclass(frozen=True, eq=False)
class TrajectoryPoints:
    """
    Points of a joint trajectory.

    Parameters
    ----------
    names : tuple of str
        The joints, each once.
    times : ndarray, shape (n,)
        From the start of the trajectory [s], increasing, none before 0.
    positions : ndarray, shape (n, k)
        [rad or m].
    velocities, accelerations, efforts : ndarray, shape (n, k), optional
        [rad/s, rad/s^2, N m or m/s, m/s^2, N]. Accelerations count with velocities only.

    Raises
    ------
    InvalidInputError
        If there is no point or joint, a name comes twice, shapes differ, times do not increase
        from 0 on, a number is not finite, or there are accelerations without velocities.

    """

    names: tuple[str, ...]
    times: Floats
    positions: Floats
    velocities: Floats | None = None
    accelerations: Floats | None = None
    efforts: Floats | None = None

    def __post_init__(self) -> None:
        names = as_names('joint names', self.names)
        if not names or len(set(names)) != len(names):
            raise InvalidInputError(f'joint names: need each once, at least one; got {names}')
        object.__setattr__(self, 'names', names)
        for field in ('times', 'positions', 'velocities', 'accelerations', 'efforts'):
            value = getattr(self, field)
            if value is not None or field in ('times', 'positions'):
                local = np.array(as_numbers(field, value))
                local.flags.writeable = False
                object.__setattr__(self, field, local)
        self.motion()  # which checks times, shapes and numbers of the motion
        if self.times[0] < 0.0:
            raise InvalidInputError(f'times [s] must not be before 0, got {self.times[0]:g}')
        shape = (len(self.times), len(names))
        for what, rows in (('positions', self.positions), ('efforts', self.efforts)):
            if rows is None:
                continue
            if rows.shape != shape:
                raise InvalidInputError(f'{what}: need shape {shape}, got {rows.shape}')
            if not np.isfinite(rows).all():
                raise InvalidInputError(f'{what} must be finite, got {not_finite(rows)}')

    def motion(self) -> Trajectory:
        """Return the motion between the points: linear, cubic or quintic by what they give."""
        return Trajectory(self.times, self.positions, self.velocities, self.accelerations)
