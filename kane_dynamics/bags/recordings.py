# SPDX-License-Identifier: Apache-2.0
"""A recorded motion with its efforts as arrays: of a bag, or of a table in CSV."""

import hashlib
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kane_dynamics.bags.computing import JOINT_STATES, Replay, State
from kane_dynamics.bags.files import Recorded, open_bag
from kane_dynamics.exceptions import InvalidInputError, known_names
from kane_dynamics.messages.inputs import RejectedInput
from kane_dynamics.robot.body import check_unique
from kane_dynamics.robot.checks import as_finite
from kane_dynamics.robot_config.parameters.tables import DynamicsNodeParameters
from kane_dynamics.robot_config.robot_source import RobotModel
from kane_dynamics.typing import Floats

_BLOCK = 1 << 20  # bytes


@dataclass(frozen=True, eq=False)
class Recording:
    """A motion of a robot, by its coordinates and speeds."""

    time: Floats  # shape (K,): since the first stamp [s]
    q: Floats  # shape (K, nq)
    v: Floats | None  # shape (K, nv); None where they were not recorded
    tau: Floats  # shape (K, nv): 0 where they were not asked for
    notes: Sequence[str] = ()  # What was left out


def read_recording(
    path: Path,
    model: RobotModel,
    parameters: DynamicsNodeParameters,
    joints: tuple[str, ...],
    topics: Mapping[str, tuple[str, str]],
) -> Recording:
    """
    Return what was recorded of all joints of a model, and the efforts of some.

    A CSV has columns time [s], position:<joint>, effort:<joint> and, where they were recorded,
    velocity:<joint>; topics of a bag are as for `open_bag`.
    """
    if path.suffix == '.csv':
        return _from_csv(path, model, joints)
    robot = model.robot
    replay = Replay(model, parameters, joints, bool(joints), 'stamps')
    ends = np.cumsum([1, robot.nq, robot.nv, len(joints)])
    with open_bag(path, topics) as messages:
        rows = _rows(replay.states(_with_velocities(messages)))
        table: Floats = np.fromiter(rows, (float, ends[-1]))  # no objects by sample
    notes = [f"'{path}': first rejected: {reason}" for reason in replay.reasons]
    if not len(table):
        why = '; '.join(notes) or f"no message on '{topics[JOINT_STATES][0]}'"
        raise InvalidInputError(f"bag '{path}': no positions with efforts: {why}")
    time, q, v, effort = np.split(table, ends[:-1], axis=1)
    if model.mobile:
        q[:, 2] = np.unwrap(q[:, 2])
    tau = np.zeros_like(v)
    tau[:, model.v_index(joints)] = effort
    with_v = v[:, model.v_index(model.joints)].any()  # odometry always has them
    return Recording(time[:, 0], q, v if with_v else None, tau, notes)


def _rows(states: Iterable[State]) -> Iterator[Floats]:
    """Yield time since the first state, q, v and efforts: of stamps floats lose nanoseconds."""
    first = None
    for state in states:
        first = state.stamp if first is None else first
        time = (state.stamp - first) * 1e-9
        effort = () if state.effort is None else state.effort
        yield np.concatenate([[time], state.q, state.v, effort])


def _with_velocities(messages: Iterable[Recorded]) -> Iterator[Recorded]:
    """Yield messages, those of joints with velocities of 0 where they have none."""
    for recorded in messages:
        message: Any = recorded.message
        readable = recorded.use == JOINT_STATES and not isinstance(message, RejectedInput)
        if readable and not len(message.velocity):
            message.velocity = np.zeros(len(message.name))
        yield recorded


def _from_csv(path: Path, model: RobotModel, joints: Sequence[str]) -> Recording:
    """Return the columns of a table."""
    try:
        with path.open(encoding='utf-8-sig') as stream, warnings.catch_warnings():
            warnings.simplefilter('ignore', UserWarning)  # no rows are an error below
            headings = stream.readline().strip().split(',')
            table = np.loadtxt(stream, delimiter=',', ndmin=2)
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"table '{path}' cannot be read: {error}") from error
    if not table.size:
        raise InvalidInputError(f"table '{path}' has no rows")
    if table.shape[1] != len(headings):
        counts = f'{table.shape[1]} columns, {len(headings)} headings'
        raise InvalidInputError(f"table '{path}' has {counts}")
    check_unique(f"table '{path}': column", headings)

    def columns(kind: str, names: Sequence[str]) -> Floats:
        selection = [f'{kind}{name}' for name in names]
        for heading in selection:
            if heading not in headings:
                known = known_names(headings, heading)
                raise InvalidInputError(f"table '{path}': no column '{heading}'; {known}")
        values = table[:, [headings.index(heading) for heading in selection]]
        for heading, column in zip(selection, values.T, strict=True):
            if kind != 'effort:':  # these are judged by their joints
                as_finite(f"table '{path}': '{heading}'", column)
        return values

    robot = model.robot
    moving = any(name.startswith('velocity:') for name in headings)
    v = columns('velocity:', robot.velocity_names) if moving else np.zeros(0)
    q = columns('position:', robot.coordinate_names)
    tau = np.zeros((len(q), robot.nv))
    if joints:
        tau[:, model.v_index(tuple(joints))] = columns('effort:', joints)
    return Recording(columns('', ['time'])[:, 0], q, v if v.any() else None, tau)


def file_hash(path: Path) -> str:
    """Return SHA-256 of a file, or of all files of a folder."""
    digest = hashlib.sha256()
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        with file.open('rb') as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
    return digest.hexdigest()
