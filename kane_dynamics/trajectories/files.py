# SPDX-License-Identifier: Apache-2.0
"""Files of joint trajectories: YAML as ``ros2 topic echo`` prints it, JSON, CSV."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

from kane_dynamics.exceptions import InvalidInputError, KaneDynamicsError
from kane_dynamics.safe_parsing import json_value, yaml_value
from kane_dynamics.trajectories.base_plan import split_base
from kane_dynamics.trajectories.points import TrajectoryPoints
from kane_dynamics.trajectories.records import base_of_record, points_of_record, record_of_points
from kane_dynamics.trajectories.trajectory import Trajectory

__all__ = ['TrajectoryFile', 'read_trajectory', 'write_trajectory']

KINDS = ('.yaml', '.yml', '.json', '.csv')
COLUMNS = {
    'position': 'positions',
    'velocity': 'velocities',
    'acceleration': 'accelerations',
    'effort': 'efforts',
}
JOINTS, BASES = (
    ('joint_trajectory', 'trajectory'),
    (
        'multi_dof_joint_trajectory',
        'multi_dof_trajectory',
    ),
)


class TrajectoryFile(NamedTuple):
    """
    What a file holds.

    Parameters
    ----------
    points : TrajectoryPoints
        Of the joints.
    base : Trajectory or None
        Of a planar base: x, y, yaw.

    """

    points: TrajectoryPoints
    base: Trajectory | None


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
            return TrajectoryFile(*split_base(_from_csv(text)))
        return _from_record(json_value(text) if kind == '.json' else yaml_value(text))
    except KaneDynamicsError as error:
        error.args = (f"trajectory '{file}': {error}", *error.args[1:])
        raise


def write_trajectory(path: str | Path, points: TrajectoryPoints) -> None:
    """
    Write a trajectory.

    Parameters
    ----------
    path : str or path
        File; its ending says which kind.
    points : TrajectoryPoints
        Of the joints.

    Raises
    ------
    InvalidInputError
        If the file cannot be written or is of another kind.

    """
    file, kind = Path(path), _kind(path)
    try:
        with file.open('w', encoding='utf-8', newline='') as stream:
            _WRITERS[kind](stream, points)
    except OSError as error:
        raise InvalidInputError(f"trajectory '{file}' cannot be written: {error}") from error


def _kind(path: str | Path) -> str:
    kind = Path(path).suffix.lower()
    if kind not in KINDS:
        raise InvalidInputError(f"trajectory '{path}': need a name that ends with one of {KINDS}")
    return kind


def _from_record(record: Any) -> TrajectoryFile:
    inner = record if isinstance(record, dict) else {}
    joints = next((inner[name] for name in JOINTS if name in inner), record)
    points, base = split_base(points_of_record(joints))
    plans = [inner[name] for name in BASES if _has_points(inner.get(name))]
    return TrajectoryFile(points, base_of_record(plans[0]) if plans else base)


def _has_points(plan: Any) -> bool:
    """Return whether there is a plan of a base; MoveIt sends empty ones."""
    return bool(plan.get('points') if isinstance(plan, dict) else plan)


def _from_csv(text: str) -> TrajectoryPoints:
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
    arguments = {}
    for column, field in COLUMNS.items():
        indices = {joint: k for k, (joint, _, what) in enumerate(split, 1) if what == column}
        if indices and set(indices) != set(names):
            lacking = sorted(set(names) - set(indices))
            raise InvalidInputError(f'no column {column} of {lacking}, other joints have one')
        if indices or field == 'positions':
            arguments[field] = table[:, [indices[joint] for joint in names if joint in indices]]
    return TrajectoryPoints(names, table[:, 0], **arguments)


def _to_csv(stream: Any, points: TrajectoryPoints) -> None:
    fields = {c: getattr(points, f) for c, f in COLUMNS.items() if getattr(points, f) is not None}
    writer = csv.writer(stream)
    writer.writerow(['time', *(f'{name}/{c}' for c in fields for name in points.names)])
    for row in np.column_stack([points.times, *fields.values()]).tolist():
        writer.writerow(row)


def _to_json(stream: Any, points: TrajectoryPoints) -> None:
    json.dump(record_of_points(points), stream, indent=1)


def _to_yaml(stream: Any, points: TrajectoryPoints) -> None:
    yaml.safe_dump(record_of_points(points), stream, sort_keys=False, default_flow_style=None)


_WRITERS: dict[str, Callable[[Any, TrajectoryPoints], None]] = {
    '.csv': _to_csv,
    '.json': _to_json,
    '.yaml': _to_yaml,
    '.yml': _to_yaml,
}
