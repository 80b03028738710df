# SPDX-License-Identifier: Apache-2.0
"""
How a base moves while its arm follows a trajectory, as far as the trajectory itself says it.

MoveIt plans a planar base as a joint whose three coordinates x, y, theta either stand in a
trajectory of their own (multi_dof), or as joints ``<name>/x``, ``<name>/y``, ``<name>/theta``
beside those of the arm. Velocities and accelerations are their derivatives, in the frame in which
the base moves.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.trajectories.points import TrajectoryPoints
from kane_dynamics.trajectories.trajectory import Trajectory
from kane_dynamics.typing import Floats

COORDINATES = ('/x', '/y', '/theta')


class BasePlan(Protocol):
    """Planar coordinates of a base over time; a `Trajectory` of three columns is one."""

    def at(self, time: float) -> tuple[Floats, Floats, Floats]:
        """Return x, y, yaw of the root link and their derivatives at a time [s], (3,) each."""


def split_base(points: TrajectoryPoints) -> tuple[TrajectoryPoints, Trajectory | None]:
    """
    Return the trajectory of the joints alone, and that of the base that was among them.

    Raises
    ------
    InvalidInputError
        If some coordinates of a base are missing, there are two bases, or no joint.

    """
    base = {name.rpartition('/')[0] for name in points.names if name.endswith(COORDINATES)}
    if not base:
        return points, None
    if len(base) > 1:
        raise InvalidInputError(f'need one planar base in a trajectory, got {sorted(base)}')
    target = [f'{next(iter(base))}{coordinate}' for coordinate in COORDINATES]
    if missing := [name for name in target if name not in points.names]:
        raise InvalidInputError(f'a planar base needs {target}; the trajectory lacks {missing}')
    columns = [points.names.index(name) for name in target]
    joints = [i for i, name in enumerate(points.names) if name not in target]
    if not joints:
        raise InvalidInputError('the trajectory moves a base and no joint')
    plan = Trajectory(points.times, *(x[:, columns] for x in _motion(points)))
    fields = ('positions', 'velocities', 'accelerations', 'efforts')
    values = {f: getattr(points, f) for f in fields if getattr(points, f) is not None}
    kept = {field: rows[:, joints] for field, rows in values.items()}
    return replace(points, names=tuple(points.names[i] for i in joints), **kept), plan


def _motion(points: TrajectoryPoints) -> list[Floats]:
    rows = (points.positions, points.velocities, points.accelerations)
    return [np.asarray(x) for x in rows if x is not None]
