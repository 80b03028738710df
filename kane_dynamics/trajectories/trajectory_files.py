# SPDX-License-Identifier: Apache-2.0
"""
Joint trajectories as nested mappings (YAML, JSON) and as CSV.

The mappings have the fields of trajectory_msgs/JointTrajectory, as messages do: it is what
``ros2 topic echo`` prints, and what YAML and JSON files hold.
"""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

from kane_dynamics.exceptions import InvalidInputError, KaneDynamicsError, shorten
from kane_dynamics.robot.checks import as_number, as_numbers, describe
from kane_dynamics.safe_parsing import json_value, yaml_value
from kane_dynamics.trajectories.joint_trajectory import COORDINATES, ROWS, JointTrajectory

__all__ = ['TrajectoryFile', 'read_trajectory', 'write_trajectory']

# name of a field in a message, and in `JointTrajectory`
FIELDS = dict(zip((*ROWS[:3], 'effort'), ROWS, strict=True))
COLUMNS = dict(zip(('position', 'velocity', 'acceleration', 'effort'), ROWS, strict=True))
BILLION = 1_000_000_000
KINDS = ('.yaml', '.yml', '.json', '.csv')
JOINTS = ('joint_trajectory', 'trajectory')
BASES = ('multi_dof_joint_trajectory', 'multi_dof_trajectory')


class TrajectoryFile(NamedTuple):
    """
    What a file holds.

    Parameters
    ----------
    joints : JointTrajectory
        Of the joints.
    base : JointTrajectory or None
        Of a planar base: x, y, yaw.

    """

    joints: JointTrajectory
    base: JointTrajectory | None


def read_trajectory(path: str | Path) -> TrajectoryFile:
    """
    Read a trajectory.

    Parameters
    ----------
    path : str or Path
        YAML or JSON with the fields of a JointTrajectory, or of a message that has one (MoveIt's
        RobotTrajectory, a goal of FollowJointTrajectory); or CSV with the columns ``time`` [s]
        and ``<joint>/position``, ``/velocity``, ``/acceleration``, ``/effort``.

    Raises
    ------
    InvalidInputError
        If the file cannot be read, is of another kind, or holds no trajectory.

    """
    file, kind = Path(path), _kind(path)
    try:
        text = file.read_text(encoding='utf-8')
    except (OSError, ValueError) as error:  # a name with a zero in it, what is no UTF-8
        raise InvalidInputError(f"trajectory '{file}' cannot be read: {error}") from error
    try:
        if kind == '.csv':
            return TrajectoryFile(*_from_csv(text).split_base())
        return _from_record(json_value(text) if kind == '.json' else yaml_value(text))
    except KaneDynamicsError as error:
        error.args = (f"trajectory '{file}': {error}", *error.args[1:])
        raise


def write_trajectory(path: str | Path, trajectory: JointTrajectory) -> None:
    """
    Write a trajectory.

    Parameters
    ----------
    path : str or path
        File; its ending says which kind.
    trajectory : JointTrajectory
        Of the joints.

    Raises
    ------
    InvalidInputError
        If the file cannot be written or is of another kind.

    """
    file, kind = Path(path), _kind(path)
    try:
        with file.open('w', encoding='utf-8', newline='') as stream:
            if kind == '.csv':
                csv.writer(stream).writerows(_csv_rows(trajectory))
            elif kind == '.json':
                json.dump(to_record(trajectory), stream, indent=1)
            else:
                record = to_record(trajectory)
                yaml.safe_dump(record, stream, sort_keys=False, default_flow_style=None)
    except OSError as error:
        raise InvalidInputError(f"trajectory '{file}' cannot be written: {error}") from error


def from_record(record: Any) -> JointTrajectory:
    """Return the trajectory of a mapping that has the fields of a JointTrajectory."""
    names, points = _field(record, 'joint_names', list), _field(record, 'points', list)
    if not points:
        raise InvalidInputError('the trajectory has no point')
    times = np.array([_nanoseconds(point) / BILLION for point in points])
    rows = {}
    for field, attribute in FIELDS.items():
        lists = [_list(point, field) for point in points]
        if not any(lists) and field != 'positions':
            continue  # filled at all points, or at none
        for i, values in enumerate(lists):
            if len(values) != len(names):
                raise InvalidInputError(
                    f'{field} of point {i}: {len(values)} values for {len(names)} names'
                )
        rows[attribute] = as_numbers(field, lists)
    return JointTrajectory(tuple(names), times, **rows)


def to_record(trajectory: JointTrajectory) -> dict[str, Any]:
    """Return a trajectory as a mapping with the fields of a JointTrajectory; times to 1 ns."""
    points, rows = [], {field: getattr(trajectory, name) for field, name in FIELDS.items()}
    for i, time in enumerate(trajectory.times.tolist()):
        fields = {field: [] if x is None else x[i].tolist() for field, x in rows.items()}
        sec, nanosec = divmod(round(time * BILLION), BILLION)
        points.append({**fields, 'time_from_start': {'sec': sec, 'nanosec': nanosec}})
    header = {'stamp': {'sec': 0, 'nanosec': 0}, 'frame_id': ''}
    return {'header': header, 'joint_names': list(trajectory.names), 'points': points}


def base_from_record(record: Any) -> JointTrajectory:
    """Return the planar base in a mapping that has the fields of a MultiDOFJointTrajectory."""
    names, points = _field(record, 'joint_names', list), _field(record, 'points', list)
    if len(names) != 1:
        raise InvalidInputError(f'need one planar base in a multi_dof trajectory, got {names}')
    complete = takewhile(lambda name: all(_list(point, name) for point in points), ROWS[1:3])
    derivatives = tuple(complete)
    planar = [_planar(point, derivatives) for point in points]
    base = from_record({'joint_names': list(COORDINATES), 'points': planar})
    x, y, yaw = base.positions.T
    return replace(base, positions=np.column_stack([x, y, np.unwrap(yaw)]))


def _planar(point: Any, fields: Sequence[str]) -> dict[str, Any]:
    """Return a point of a planar base as one of three joints, with some derivatives."""
    transform, when = _only(point, 'transforms'), _field(point, 'time_from_start', dict)
    position = _field(transform, 'translation', dict)
    rotation = _field(transform, 'rotation', dict)
    yaw = float(2.0 * np.arctan2(_number(rotation, 'z'), _number(rotation, 'w')))
    rows = {'positions': [_number(position, 'x'), _number(position, 'y'), yaw]}
    for field in fields:
        twist = _only(point, field)
        linear, angular = _field(twist, 'linear', dict), _field(twist, 'angular', dict)
        rows[field] = [_number(linear, 'x'), _number(linear, 'y'), _number(angular, 'z')]
    return {'time_from_start': when, **rows}


def _kind(path: str | Path) -> str:
    kind = Path(path).suffix.lower()
    if kind not in KINDS:
        raise InvalidInputError(f"trajectory '{path}': need a name that ends with one of {KINDS}")
    return kind


def _from_record(record: Any) -> TrajectoryFile:
    inner = record if isinstance(record, dict) else {}
    joints, base = from_record(
        next((inner[name] for name in JOINTS if name in inner), record)
    ).split_base()
    for name in BASES:
        plan = inner.get(name)
        if plan.get('points') if isinstance(plan, dict) else plan:  # MoveIt sends empty ones
            return TrajectoryFile(joints, base_from_record(plan))
    return TrajectoryFile(joints, base)


def _from_csv(text: str) -> JointTrajectory:
    try:
        rows = [row for row in csv.reader(text.splitlines()) if row]
    except csv.Error as error:
        raise InvalidInputError(f'need CSV: {error}') from error
    if len(rows) < 2 or rows[0][0] != 'time':
        raise InvalidInputError("need a line of headings, 'time' first, and one for each point")
    try:
        table = np.array(rows[1:], dtype=float)
    except ValueError as error:
        raise InvalidInputError(f'need numbers below the headings: {error}') from error
    split = [name.rpartition('/') for name in rows[0][1:]]
    if unknown := [f'{a}/{b}' for a, _, b in split if b not in COLUMNS]:
        raise InvalidInputError(f'columns {unknown}: need <joint>/ one of {list(COLUMNS)}')
    names = tuple(dict.fromkeys(joint for joint, _, _ in split))
    fields = {}
    for column, field in COLUMNS.items():
        index = {joint: k for k, (joint, _, what) in enumerate(split, 1) if what == column}
        if index and set(index) != set(names):
            missing = sorted(set(names) - set(index))
            raise InvalidInputError(f'no column {column} of {missing}, other joints have one')
        if index or field == 'positions':
            fields[field] = table[:, [index[joint] for joint in names if joint in index]]
    return JointTrajectory(names, table[:, 0], **fields)


def _csv_rows(trajectory: JointTrajectory) -> list[list[Any]]:
    """Return the headings and the rows of a table."""
    rows = {column: getattr(trajectory, field) for column, field in COLUMNS.items()}
    present = {column: x for column, x in rows.items() if x is not None}
    heading = ['time', *(f'{name}/{column}' for column in present for name in trajectory.names)]
    return [heading, *np.column_stack([trajectory.times, *present.values()]).tolist()]


def _number(record: Mapping[str, Any], name: str, default: float | None = None) -> float:
    """Return a finite number of a mapping."""
    value = record.get(name, default)
    if value is None:
        raise InvalidInputError(
            f"need a number '{name}', got the fields {sorted(record, key=str)}"
        )
    return as_number(name, value)


def _field(record: Any, name: str, kind: type) -> Any:
    """Return a field of a mapping."""
    value = record.get(name) if isinstance(record, Mapping) else None
    if not isinstance(value, kind):
        fields = sorted(record, key=str) if isinstance(record, Mapping) else record
        actual = shorten(fields) if value is None else f'{name}: {describe(value)}'
        raise InvalidInputError(f"a trajectory needs '{name}' ({kind.__name__}), got {actual}")
    return value


def _only(point: Any, field: str) -> Any:
    """Return what stands in a list of one, as there is one base."""
    values = _field(point, field, list)
    if len(values) != 1:
        raise InvalidInputError(f'{field}: need one for each point, got {len(values)}')
    return values[0]


def _list(point: Any, field: str) -> list[Any]:
    value = point.get(field) if isinstance(point, Mapping) else None
    if value is None:
        return []
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise InvalidInputError(f'{field}: need a list, got {describe(value)}')
    return list(value)


def _nanoseconds(point: Any) -> int:
    duration = _field(point, 'time_from_start', dict)
    sec, nanosec = (_number(duration, name, 0) for name in ('sec', 'nanosec'))
    return int(sec) * BILLION + int(nanosec)
