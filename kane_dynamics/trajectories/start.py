# SPDX-License-Identifier: Apache-2.0
"""
How a trajectory begins: from the present state, and with a ramp of the efforts.

A joint_trajectory_controller goes from where the joints are to the first point; the effort it
ramps linearly from its last command to that of the first point. Where that is at time zero, the
effort steps at once.
"""

from __future__ import annotations

import numpy as np

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_nonnegative
from kane_dynamics.trajectories.points import TrajectoryPoints
from kane_dynamics.typing import Floats


def begun(points: TrajectoryPoints, position: Floats, velocity: Floats) -> TrajectoryPoints:
    """
    Return a trajectory whose first point, if it lies ahead, comes after the present state.

    Parameters
    ----------
    points : TrajectoryPoints
        The trajectory.
    position, velocity : ndarray, shape (k,)
        Present state of its joints [rad, rad/s or m, m/s].

    """
    if points.times[0] == 0.0:
        return points
    v, a = points.velocities, points.accelerations
    return TrajectoryPoints(
        points.names,
        np.append(0.0, points.times),
        np.vstack([position, points.positions]),
        None if v is None else np.vstack([velocity, v]),
        None if a is None else np.vstack([np.zeros_like(a[0]), a]),
    )


def ramped(points: TrajectoryPoints, duration: float) -> TrajectoryPoints:
    """
    Return a trajectory whose first point comes later, on the same motion; efforts ramp till then.

    Parameters
    ----------
    points : TrajectoryPoints
        With efforts.
    duration : float
        Time of the first point [s]; 0 leaves the points as they are.

    Raises
    ------
    InvalidInputError
        If the duration is negative, or the trajectory is over by then.

    """
    later = as_nonnegative('duration of the ramp [s]', duration)
    if later <= points.times[0]:
        return points
    if later >= points.times[-1]:
        raise InvalidInputError(
            f'the ramp takes {later:g} s, the trajectory only {points.times[-1]:g} s'
        )
    kept = points.times > later
    position, velocity, acceleration = points.motion().at(later)
    v, a, efforts = points.velocities, points.accelerations, points.efforts
    if efforts is not None:
        here = [np.interp(later, points.times, column) for column in efforts.T]
        efforts = np.vstack([here, efforts[kept]])
    return TrajectoryPoints(
        points.names,
        np.append(later, points.times[kept]),
        np.vstack([position, points.positions[kept]]),
        None if v is None else np.vstack([velocity, v[kept]]),
        None if a is None else np.vstack([acceleration, a[kept]]),
        efforts,
    )
