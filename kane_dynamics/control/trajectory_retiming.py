# SPDX-License-Identifier: Apache-2.0
"""A trajectory of some joints as fast as the limits of the robot allow; no rclpy here."""

from __future__ import annotations

import numpy as np

from kane_dynamics.dynamics import Dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot_config.robot_source import BASE_NAMES, RobotModel
from kane_dynamics.trajectories.joint_trajectory import JointTrajectory
from kane_dynamics.trajectories.paths import SplinePath
from kane_dynamics.trajectories.retiming import retime
from kane_dynamics.typing import Floats

LOOKS = 8
"""Places on the path between two given points."""
STEP = 0.02
"""Between the new points [s]."""
CELLS = 100
"""Of the grid to begin with: a node waits for it."""
RESTS = 0.02
"""Speed of a base that stands, as odometry tells it [m/s or rad/s]."""
MOVED = 0.02
"""Way that is none for a controller which goes on from where it is [m or rad]."""
STILL = 1e-9
"""Way between places that is none [rad or m]."""


def retimed_points(
    dynamics: Dynamics, model: RobotModel, points: JointTrajectory, q: Floats
) -> JointTrajectory:
    """Return same way of the joints, from rest to rest, as fast as efforts and speeds allow."""
    columns = model.q_index(points.names)
    ends = zip(points.times[:-1], points.times[1:], strict=True)
    times = np.concatenate([np.linspace(*pair, LOOKS, endpoint=False) for pair in ends])
    rows = np.array([points.at(t)[0] for t in [*times, points.times[-1]]])
    way = np.linalg.norm(np.diff(rows, axis=0), axis=1)
    moved = np.append(True, way > STILL)
    if not moved[1:].any():
        raise InvalidInputError('nothing to retime: no joint moves')
    whole = np.tile(q, (int(moved.sum()), 1))
    whole[:, columns] = rows[moved]
    indices = np.append(0.0, np.cumsum(way[moved[1:]]))
    result = retime(dynamics, SplinePath(whole, indices), model.actuated, cells=CELLS)
    return result.motion(STEP).of(points.names)


def check_base_rests(model: RobotModel, v: Floats) -> None:
    """Check that a mobile base stands."""
    for name, speed in zip(BASE_NAMES if model.mobile else (), v[:3].tolist(), strict=False):
        if abs(speed) > RESTS:
            raise InvalidInputError(
                f'retime needs a base at rest: {name} moves at {speed:.3g}, at most {RESTS:g} '
                'm/s or rad/s count as rest'
            )


def check_unmoved(model: RobotModel, start: Floats, q: Floats, names: tuple[str, ...]) -> None:
    """Check that nothing has moved that a retimed trajectory begins with."""
    for name in (*(BASE_NAMES if model.mobile else ()), *names):
        place = model.robot.coordinate_index(name)
        way = float(q[place] - start[place])
        if abs(way) > MOVED:
            raise InvalidInputError(
                f'{name} has moved by {way:.3g} while the trajectory was retimed, at most '
                f'{MOVED:g} m or rad may be; send it again'
            )


def check_still_to_come(stamp: int, now: int) -> None:
    """Check that time at which a retimed trajectory begins is still to come; 0 always is [ns]."""
    if 0 < stamp < now:
        raise InvalidInputError(
            f'the trajectory was to begin {(now - stamp) * 1e-9:.3f} s ago, while it was retimed; '
            'send it with stamp 0, or earlier'
        )
