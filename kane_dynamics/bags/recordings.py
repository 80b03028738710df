# SPDX-License-Identifier: Apache-2.0
"""A recorded motion with its efforts as arrays: of a bag, or of a table in CSV."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from kane_dynamics.bags.computing import JOINT_STATES, Replay, State
from kane_dynamics.bags.files import Recorded, open_bag
from kane_dynamics.exceptions import InvalidInputError, known_names
from kane_dynamics.messages.inputs import RejectedInput
from kane_dynamics.robot_config.parameters.tables import DynamicsNodeParameters
from kane_dynamics.robot_config.robot_source import RobotModel
from kane_dynamics.typing import Bools, Floats

_BLOCK = 1 << 20  # bytes


@dataclass(frozen=True, eq=False)
class Recording:
    """A motion of a robot, by its coordinates and speeds."""

    path: Path
    time: Floats  # shape (K,): since the first stamp [s]
    q: Floats  # shape (K, nq)
    v: Floats | None  # shape (K, nv); None where they were not recorded
    tau: Floats  # shape (K, nv): 0 where they were not asked for
    notes: tuple[str, ...]  # What was left out

    def part(self, selection: Bools) -> 'Recording':
        """Return some of the samples."""
        v = None if self.v is None else self.v[selection]
        local = {name: getattr(self, name)[selection] for name in ('time', 'q', 'tau')}
        return replace(self, v=v, **local)


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
    replay = Replay(model, parameters, joints, True, 'stamps')
    with open_bag(path, topics) as messages:
        source = _WithVelocities(messages)
        width = 1 + robot.nq + robot.nv + len(joints)
        rows = _rows(replay.states(source))
        table = np.fromiter(rows, np.dtype((float, width)))  # no objects by sample
    notes = tuple(f"'{path}': first rejected: {reason}" for reason in replay.reasons)
    if not len(table):
        why = '; '.join(notes) or f'no message on {topics[JOINT_STATES][0]}'
        raise InvalidInputError(f"bag '{path}': no usable positions with efforts: {why}")
    time, q, v, effort = np.split(table, np.cumsum([1, robot.nq, robot.nv]), axis=1)
    if model.mobile:
        q[:, 2] = np.unwrap(q[:, 2])
    tau = np.zeros((len(table), robot.nv))
    tau[:, model.v_index(joints)] = effort
    return Recording(path, time[:, 0], q, None if source.without else v, tau, notes)


def _rows(states: Iterable[State]) -> Iterator[Floats]:
    """Yield time since the first state, q, v and efforts: of stamps floats lose nanoseconds."""
    first = None
    for state in states:
        first = state.stamp if first is None else first
        time = (state.stamp - first) * 1e-9
        yield np.concatenate([[time], state.q, state.v, np.asarray(state.effort)])


class _WithVelocities:
    """Messages of joint states, with velocities of 0 where there are none."""

    def __init__(self, messages: Iterable[Recorded]) -> None:
        self._messages, self.without = messages, False

    def __iter__(self) -> Iterator[Recorded]:
        for recorded in self._messages:
            message: Any = recorded.message
            bare = recorded.use == JOINT_STATES and not isinstance(message, RejectedInput)
            if bare and not len(message.velocity):
                self.without = True
                message.velocity = np.zeros(len(message.name))
            yield recorded


def _from_csv(path: Path, model: RobotModel, joints: tuple[str, ...]) -> Recording:
    """Return the columns of a table."""
    try:
        with path.open(encoding='utf-8') as stream:
            heading = stream.readline().strip().split(',')
            table = np.loadtxt(stream, delimiter=',', ndmin=2)
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"table '{path}' cannot be read: {error}") from error
    if not len(table) or table.shape[1] != len(heading):
        raise InvalidInputError(f"table '{path}': need rows of {len(heading)} numbers")
    columns = dict(zip(heading, table.T, strict=True))
    robot = model.robot
    moving = any(name.startswith('velocity:') for name in heading)
    tau = np.zeros((len(table), robot.nv))
    tau[:, model.v_index(joints)] = _columns(path, columns, 'effort', joints)
    return Recording(
        path,
        _columns(path, columns, '', ['time'])[:, 0],
        _columns(path, columns, 'position', robot.coordinate_names),
        _columns(path, columns, 'velocity', robot.velocity_names) if moving else None,
        tau,
        (),
    )


def _columns(path: Path, columns: Mapping[str, Floats], kind: str, names: Sequence[str]) -> Floats:
    """Return the columns of a kind of value, by name."""
    headings = [f'{kind}:{name}' if kind else name for name in names]
    for heading in headings:
        if heading not in columns:
            known = known_names(columns, heading)
            raise InvalidInputError(f"table '{path}': no column '{heading}'; {known}")
    return np.column_stack([columns[heading] for heading in headings])


def file_hash(path: Path) -> str:
    """Return SHA-256 of a file, or of all files of a folder with their names."""
    digest = hashlib.sha256()
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        digest.update(file.name.encode() if path.is_dir() else b'')
        with file.open('rb') as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
    return digest.hexdigest()
