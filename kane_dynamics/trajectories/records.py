# SPDX-License-Identifier: Apache-2.0
"""
Trajectories as nested lists and mappings, in the form of trajectory_msgs/JointTrajectory.

It is what ``ros2 topic echo`` prints and YAML and JSON files hold. Messages have the same fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kane_dynamics.control.trajectory import Trajectory
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.trajectories.points import TrajectoryPoints
from kane_dynamics.typing import Floats

FIELDS = {
    'positions': 'positions',
    'velocities': 'velocities',
    'accelerations': 'accelerations',
    'effort': 'efforts',
}
"""Name of a field in a message, and in `TrajectoryPoints`."""
BILLION = 1_000_000_000


def points_of_rows(
    names: Sequence[str], times: Sequence[int], rows: Mapping[str, Sequence[Sequence[float]]]
) -> TrajectoryPoints:
    """
    Return points from what messages hold: each field filled at all points, or at none.

    Parameters
    ----------
    names : sequence of str
        Joints.
    times : sequence of int
        Time from the start of each point [ns].
    rows : mapping
        For each name in `FIELDS` the lists of all points; missing fields are empty.

    Raises
    ------
    InvalidInputError
        If a list is not as long as the names, or as `TrajectoryPoints`.

    """
    given = {}
    for field, own in FIELDS.items():
        lists = rows.get(field, ())
        if not any(len(one) for one in lists) and field != 'positions':
            continue
        for i, one in enumerate(lists):
            if len(one) != len(names):
                raise InvalidInputError(
                    f'{field} of point {i}: {len(one)} values for {len(names)} names'
                )
        given[own] = _numbers(field, lists)
    if not times:
        raise InvalidInputError('the trajectory has no point')
    seconds = np.array([time / BILLION for time in times])
    return TrajectoryPoints(tuple(names), seconds, **given)


def nanoseconds_of(points: TrajectoryPoints) -> list[int]:
    """Return the times of points, rounded to 1 ns."""
    return [round(float(time) * BILLION) for time in points.times]


def points_of_record(record: Any) -> TrajectoryPoints:
    """
    Return the points of a mapping that has the fields of a JointTrajectory.

    Raises
    ------
    InvalidInputError
        If a field is missing or of another kind, or as `points_of_rows`.

    """
    joints, points = _part(record, 'joint_names', list), _part(record, 'points', list)
    times = [_time(point) for point in points]
    rows = {field: [_list(point, field) for point in points] for field in FIELDS}
    return points_of_rows(joints, times, rows)


def record_of_points(points: TrajectoryPoints) -> dict[str, Any]:
    """Return points as a mapping with the fields of a JointTrajectory."""
    listed = []
    for i, time in enumerate(nanoseconds_of(points)):
        rows = {field: getattr(points, own) for field, own in FIELDS.items()}
        one: dict[str, Any] = {
            field: [] if x is None else x[i].tolist() for field, x in rows.items()
        }
        sec, nanosec = divmod(time, BILLION)
        listed.append({**one, 'time_from_start': {'sec': sec, 'nanosec': nanosec}})
    header = {'stamp': {'sec': 0, 'nanosec': 0}, 'frame_id': ''}
    return {'header': header, 'joint_names': list(points.names), 'points': listed}


def base_of_record(record: Any) -> Trajectory:
    """
    Return the plan of a base in a mapping that has the fields of a MultiDOFJointTrajectory.

    Raises
    ------
    InvalidInputError
        If it has other than one joint, or a field is missing or of another kind.

    """
    names, points = _part(record, 'joint_names', list), _part(record, 'points', list)
    if len(names) != 1:
        raise InvalidInputError(f'need one planar base in a multi_dof trajectory, got {names}')
    rows = []
    for point in points:
        transform = _part(point, 'transforms', list)[0]
        place, turn = _part(transform, 'translation', dict), _part(transform, 'rotation', dict)
        rows.append([place['x'], place['y'], 2.0 * np.arctan2(turn['z'], turn['w'])])
    given = [_numbers('transforms', rows)]
    given[0][:, 2] = np.unwrap(given[0][:, 2])
    for field in ('velocities', 'accelerations'):
        twists = [_list(point, field) for point in points]
        if not all(twists):
            break
        given.append(_numbers(field, [_planar(twist[0]) for twist in twists]))
    return Trajectory([_time(point) / BILLION for point in points], *given)


def _planar(twist: Any) -> list[float]:
    linear, angular = _part(twist, 'linear', dict), _part(twist, 'angular', dict)
    return [linear['x'], linear['y'], angular['z']]


def _part(record: Any, name: str, kind: type) -> Any:
    """Return a field of a mapping."""
    value = record.get(name) if isinstance(record, Mapping) else None
    if not isinstance(value, kind):
        fields = sorted(record) if isinstance(record, Mapping) else record
        raise InvalidInputError(f"a trajectory needs '{name}' ({kind.__name__}), got {fields}")
    return value


def _list(point: Any, field: str) -> list[Any]:
    value = point.get(field) if isinstance(point, Mapping) else None
    return [] if value is None else list(value)


def _time(point: Any) -> int:
    since = _part(point, 'time_from_start', dict)
    return int(since.get('sec', 0)) * BILLION + int(since.get('nanosec', 0))


def _numbers(field: str, rows: Any) -> Floats:
    try:
        return np.array(rows, dtype=float)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f'{field}: need numbers: {error}') from error
