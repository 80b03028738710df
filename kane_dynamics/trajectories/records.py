# SPDX-License-Identifier: Apache-2.0
"""
Trajectories as nested lists and mappings, in the form of trajectory_msgs/JointTrajectory.

It is what ``ros2 topic echo`` prints and YAML and JSON files hold. Messages have the same fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from kane_dynamics.exceptions import InvalidInputError, shorten
from kane_dynamics.robot.checks import as_number, as_numbers, describe
from kane_dynamics.trajectories.points import TrajectoryPoints
from kane_dynamics.trajectories.trajectory import Trajectory
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
    arguments = {}
    for field, local in FIELDS.items():
        lists = rows.get(field, ())
        if not any(len(one) for one in lists) and field != 'positions':
            continue
        for i, one in enumerate(lists):
            if len(one) != len(names):
                raise InvalidInputError(
                    f'{field} of point {i}: {len(one)} values for {len(names)} names'
                )
        arguments[local] = _numbers(field, lists)
    if not times:
        raise InvalidInputError('the trajectory has no point')
    seconds = np.array([time / BILLION for time in times])
    return TrajectoryPoints(tuple(names), seconds, **arguments)


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
        rows = {field: getattr(points, local) for field, local in FIELDS.items()}
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
        transform = _only(point, 'transforms')
        place, turn = _part(transform, 'translation', dict), _part(transform, 'rotation', dict)
        yaw = 2.0 * np.arctan2(_number(turn, 'z'), _number(turn, 'w'))
        rows.append([_number(place, 'x'), _number(place, 'y'), yaw])
    arguments = [_numbers('transforms', rows)]
    arguments[0][:, 2] = np.unwrap(arguments[0][:, 2])
    for field in ('velocities', 'accelerations'):
        twists = [_list(point, field) for point in points]
        if not all(twists):
            break
        arguments.append(_numbers(field, [_planar(_only(point, field)) for point in points]))
    return Trajectory([_time(point) / BILLION for point in points], *arguments)


def _planar(twist: Any) -> list[float]:
    linear, angular = _part(twist, 'linear', dict), _part(twist, 'angular', dict)
    return [_number(linear, 'x'), _number(linear, 'y'), _number(angular, 'z')]


def _only(point: Any, field: str) -> Any:
    """Return what stands in a list of one, as there is one base."""
    values = _part(point, field, list)
    if len(values) != 1:
        raise InvalidInputError(f'{field}: need one for each point, got {len(values)}')
    return values[0]


def _number(record: Mapping[str, Any], name: str, default: float | None = None) -> float:
    """Return a finite number of a mapping."""
    value = record.get(name, default)
    if value is None:
        raise InvalidInputError(
            f"need a number '{name}', got the fields {sorted(record, key=str)}"
        )
    return as_number(name, value)


def _part(record: Any, name: str, kind: type) -> Any:
    """Return a field of a mapping."""
    value = record.get(name) if isinstance(record, Mapping) else None
    if not isinstance(value, kind):
        fields = sorted(record, key=str) if isinstance(record, Mapping) else record
        came_instead = shorten(fields) if value is None else f'{name}: {describe(value)}'
        needed = f"a trajectory needs '{name}' ({kind.__name__})"
        raise InvalidInputError(f'{needed}, got {came_instead}')
    return value


def _list(point: Any, field: str) -> list[Any]:
    value = point.get(field) if isinstance(point, Mapping) else None
    if value is None:
        return []
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise InvalidInputError(f'{field}: need a list, got {describe(value)}')
    return list(value)


def _time(point: Any) -> int:
    since = _part(point, 'time_from_start', dict)
    sec, nanosec = (_number(since, name, 0) for name in ('sec', 'nanosec'))
    return int(sec) * BILLION + int(nanosec)


def _numbers(field: str, rows: Any) -> Floats:
    return np.array(as_numbers(field, rows))
