# SPDX-License-Identifier: Apache-2.0
"""A trajectory of some joints as fast as the limits of the robot allow; no rclpy here."""

from __future__ import annotations

import numpy as np

from kane_dynamics.dynamics import Dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.ros.robot_source import RobotModel
from kane_dynamics.trajectories.paths import SplinePath
from kane_dynamics.trajectories.points import TrajectoryPoints
from kane_dynamics.trajectories.retiming import retime
from kane_dynamics.typing import Floats

LOOKS = 8
"""Places on the path between two given points."""
STEP = 0.02
"""Between the new points [s]."""
CELLS = 100
"""Of the grid to begin with: a node waits for it."""
STILL = 1e-9
"""Way between places that is none [rad or m]."""


def retimed_points(
    dynamics: Dynamics, model: RobotModel, points: TrajectoryPoints, q: Floats
) -> TrajectoryPoints:
    """
    Return the same way of the joints, from rest to rest, as fast as efforts and speeds allow.

    The base stands. Speeds and accelerations of the given points do not count.

    Parameters
    ----------
    dynamics : kane_dynamics.Dynamics
        Engine of the model.
    model : RobotModel
        The robot; its limits count, 0 is none.
    points : TrajectoryPoints
        The way.
    q : ndarray, shape (nq,)
        Where all other coordinates stay.

    Raises
    ------
    InvalidInputError
        If nothing moves.
    KaneDynamicsError
        As `kane_dynamics.trajectories.retiming.retime`.

    """
    columns = model.q_index(points.names)
    motion = points.motion()
    ends = zip(points.times[:-1], points.times[1:], strict=True)
    times = np.concatenate([np.linspace(*pair, LOOKS, endpoint=False) for pair in ends])
    rows = np.array([motion.at(t)[0] for t in [*times, points.times[-1]]])
    way = np.linalg.norm(np.diff(rows, axis=0), axis=1)
    moved = np.append(True, way > STILL)
    if not moved[1:].any():
        raise InvalidInputError('nothing to retime: no joint moves')
    whole = np.tile(q, (int(moved.sum()), 1))
    whole[:, columns] = rows[moved]
    places = np.append(0.0, np.cumsum(way[moved[1:]]))
    found = retime(dynamics, SplinePath(whole, places), model.actuated, cells=CELLS)
    count = max(int(np.ceil(found.duration / STEP)), 2)
    new = np.linspace(0.0, found.duration, count + 1)
    speeds = model.v_index(points.names)
    position, velocity, acceleration = found.at(new)
    return TrajectoryPoints(
        points.names, new, position[:, columns], velocity[:, speeds], acceleration[:, speeds]
    )
