# SPDX-License-Identifier: Apache-2.0
"""A recorded motion with its efforts, of a bag or of a table in CSV; its rows are on the disk."""

import hashlib
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from typing import Any, NamedTuple

import numpy as np

from kane_dynamics.bags.computing import JOINT_STATES, Replay, State
from kane_dynamics.bags.files import Recorded, open_bag
from kane_dynamics.exceptions import InvalidInputError, known_names
from kane_dynamics.identification.recording_checks import STILL, timing_warnings
from kane_dynamics.identification.samples import BLOCK, Timing, in_order, timing
from kane_dynamics.messages.inputs import RejectedInput
from kane_dynamics.robot.body import check_unique
from kane_dynamics.robot.checks import as_finite
from kane_dynamics.robot_config.parameters.tables import DynamicsNodeParameters
from kane_dynamics.robot_config.robot_source import RobotModel
from kane_dynamics.typing import ArrayLike, Floats

_BLOCK = 1 << 20  # bytes


class Rows(NamedTuple):
    """Rows of a recording."""

    q: Floats  # shape (k, nq)
    v: Floats | None  # shape (k, nv); None where they were not recorded
    tau: Floats  # shape (k, nv): 0 where they were not asked for


class _Table:
    """Time, coordinates, speeds and efforts of some joints, in a temporary file."""

    def __init__(self, model: RobotModel, joints: tuple[str, ...]) -> None:
        robot, self._file, self.with_v = model.robot, TemporaryFile(), False
        self.angles = model.angles
        weakref.finalize(self, self._file.close)
        self._joints = model.v_index(joints)
        self.ends = np.cumsum([1, robot.nq, robot.nv, len(joints)])

    def append(self, rows: Floats) -> None:
        """Add rows behind those before."""
        try:
            self._file.write(np.ascontiguousarray(rows).data)
            self._file.flush()
        except OSError as error:
            raise InvalidInputError(
                f"rows of a recording cannot be kept in '{gettempdir()}' (TMPDIR): "
                f'{error.strerror}'
            ) from error

    def read(self, first: int, end: int) -> Floats:
        """Return rows from one to another."""
        width = self.ends[-1]
        self._file.seek(8 * width * first)
        return np.fromfile(self._file, count=width * (end - first)).reshape(-1, width)

    def split(self, table: Floats) -> Rows:
        """Return rows by what they are."""
        _, q, v, effort = np.split(table, self.ends[:-1], axis=1)
        tau = np.zeros_like(v)
        tau[:, self._joints] = effort
        return Rows(q, v if self.with_v else None, tau)


@dataclass(frozen=True, eq=False)
class Recording:
    """A motion of a robot, by its coordinates and speeds, in time."""

    time: Floats  # shape (K,): since the first stamp [s]
    clock: Timing
    extremes: Rows  # Among its rows are the least and the largest of each column
    notes: Sequence[str]  # What was left out
    table: _Table
    indices: Any  # Of its rows in the table: a range, or indices

    def rows(self, part: slice = slice(None)) -> Rows:
        """Return rows, in which angles go on where sensors wrap them."""
        rows, angles = self._rows(part), self.table.angles
        rows.q[:, angles] = np.unwrap(rows.q[:, angles], axis=0)
        return rows

    def _rows(self, part: slice) -> Rows:
        """Return rows, read from the disk."""
        indices = np.asarray(self.indices[part])
        first = int(indices.min())
        return self.table.split(self.table.read(first, int(indices.max()) + 1)[indices - first])

    def blocks(self) -> Iterator[Rows]:
        """Yield all rows as they were recorded, some at a time."""
        return (self._rows(slice(k, k + BLOCK)) for k in range(0, len(self.time), BLOCK))

    def part(self, first: float, last: float) -> 'Recording':
        """Return a recording from one part of its length to another."""
        part = slice(*(int(end * len(self.time)) for end in (first, last)))
        return replace(self, time=self.time[part], indices=self.indices[part])


def read_recording(
    path: Path,
    model: RobotModel,
    parameters: DynamicsNodeParameters,
    joints: tuple[str, ...],
    topics: Mapping[str, tuple[str, str]],
    tell: Callable[[float], None] = lambda share: None,
) -> Recording:
    """
    Return what was recorded of all joints of a model, and the efforts of some.

    A CSV has columns time [s], position:<joint>, effort:<joint> and, where they were recorded,
    velocity:<joint>; topics of a bag, and `tell`, are as for `open_bag`.
    """
    replay = Replay(model, parameters, joints, bool(joints), 'stamps')
    table, times, ends, repeated = _Table(model, joints), list[Floats](), list[Floats](), 0
    width, locked = int(table.ends[-1]), dict.fromkeys(parameters.locked_joints, 0.0)
    others = _Others({*model.joints}, locked)
    blocks = (
        _blocks_of_csv(path, model, joints, others, tell)
        if path.suffix == '.csv'
        else _blocks_of_bag(path, replay, topics, width, others, tell)
    )
    before = np.zeros((0, width))
    for block in blocks:
        rows = np.vstack([before, block])
        q, before = rows[:, 1 : table.ends[1]], rows[-1:]
        repeated += int((q[1:] == q[:-1]).all(axis=1).sum())
        table.append(rows[-len(block) :])
        times.append(block[:, 0].copy())  # a view would keep the block
        ends += [rows.min(axis=0), rows.max(axis=0)]
    count, notes = sum(replay.counts()[JOINT_STATES].values()), list[str]()
    if replay.reasons or not times:
        why = '; '.join(replay.reasons) or f"no message on '{topics[JOINT_STATES][0]}'"
        notes.append(
            f'states of {sum(map(len, times))} of {count} messages, first rejected: {why}'
        )
    if not times:
        raise InvalidInputError(f"'{path}': no positions with efforts: {notes[0]}")
    stamps, extremes = np.concatenate(times), np.array(ends)
    time, order = in_order(stamps)
    clock = timing(stamps, stamps[:, None])._replace(repeated=repeated / len(stamps))
    indices = range(len(stamps)) if isinstance(order, slice) else order
    speeds = extremes[:, table.ends[1] :][:, model.v_index(model.joints)]
    table.with_v = bool(speeds.any()) and not others.without_velocity  # odometry always has them
    if not table.with_v:
        lacking = others.without_velocity
        some = f'are missing in {lacking} messages' if lacking else 'were not recorded'
        notes.append(f'velocities {some}: differences of positions are used')
    notes += timing_warnings(clock)
    notes += [
        f"'{name}', which the model locks at 0, is at up to {x:.3g} rad or m"
        for name, x in locked.items()
        if x > STILL
    ]
    notes = [f"'{path}': {text}" for text in notes]
    return Recording(time, clock, table.split(extremes), notes, table, indices)


@dataclass
class _Others:
    """What messages have beside states: positions of locked joints, and those without speeds."""

    joints: set[str]  # Of the model
    locked: dict[str, float]  # Farthest position [rad or m]
    without_velocity: int = 0  # Messages with some of these joints

    def see(self, name: str, position: ArrayLike) -> None:
        """Take positions of a joint."""
        if name in self.locked:
            self.locked[name] = max(self.locked[name], float(np.max(np.abs(position))))

    def completed(self, messages: Iterable[Recorded]) -> Iterator[Recorded]:
        """Yield messages, those of joints with velocities of 0 where they have none."""
        for recorded in messages:
            message: Any = recorded.message
            if recorded.use == JOINT_STATES and not isinstance(message, RejectedInput):
                if not len(message.velocity):
                    message.velocity = np.zeros(len(message.name))
                    self.without_velocity += not self.joints.isdisjoint(message.name)
                if self.locked:
                    for name, position in zip(message.name, message.position, strict=False):
                        self.see(name, position)
            yield recorded


def _blocks_of_bag(
    path: Path,
    replay: Replay,
    topics: Mapping[str, tuple[str, str]],
    width: int,
    others: _Others,
    tell: Callable[[float], None],
) -> Iterator[Floats]:
    """Yield time, q, v and efforts of many messages at a time."""
    with open_bag(path, topics, tell) as messages:
        rows = _rows(replay.states(others.completed(messages)))
        while len(block := np.fromiter(islice(rows, BLOCK), (float, width))):
            yield block


def _rows(states: Iterable[State]) -> Iterator[Floats]:
    """Yield time since the first state, q, v and efforts: of stamps floats lose nanoseconds."""
    first = None
    for state in states:
        first = state.stamp if first is None else first
        time = (state.stamp - first) * 1e-9
        effort = () if state.effort is None else state.effort
        yield np.concatenate([[time], state.q, state.v, effort])


def _blocks_of_csv(
    path: Path,
    model: RobotModel,
    joints: Sequence[str],
    others: _Others,
    tell: Callable[[float], None],
) -> Iterator[Floats]:
    """Yield time, q, v and efforts of many lines at a time; v is 0 where there is none."""
    robot, empty = model.robot, True
    try:
        with path.open(encoding='utf-8-sig') as stream:
            headings = stream.readline().strip().split(',')
            check_unique(f"table '{path}': column", headings)
            with_v = any(name.startswith('velocity:') for name in headings)
            names = ['time', *(f'position:{name}' for name in robot.coordinate_names)]
            names += [f'velocity:{name}' for name in robot.velocity_names if with_v]
            judged, names = names, [*names, *(f'effort:{name}' for name in joints)]
            if missing := [name for name in names if name not in headings]:
                known = known_names(headings, missing[0])
                raise InvalidInputError(f"table '{path}': no column '{missing[0]}'; {known}")
            indices = [headings.index(name) for name in names]
            no_v, lines = [1 + robot.nq] * (0 if with_v else robot.nv), filter(str.strip, stream)
            size, read = path.stat().st_size, 0
            while block := list(islice(lines, BLOCK)):
                table = np.loadtxt(block, delimiter=',', ndmin=2)
                if table.shape[1] != len(headings):
                    raise ValueError(f'{table.shape[1]} columns, {len(headings)} headings')
                for name, column in zip(judged, table[:, indices].T, strict=False):
                    as_finite(f"table '{path}': '{name}'", column)
                for name, column in zip(headings, table.T, strict=True):
                    others.see(name.removeprefix('position:'), column)
                read += sum(map(len, block))
                tell(read / size)
                yield np.insert(table[:, indices], no_v, 0.0, axis=1)
                empty = False
    except InvalidInputError:
        raise
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"table '{path}' cannot be read: {error}") from error
    if empty:
        raise InvalidInputError(f"table '{path}' has no rows")


def file_hash(path: Path) -> str:
    """Return SHA-256 of a file, or of all files of a folder."""
    digest = hashlib.sha256()
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        with file.open('rb') as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
    return digest.hexdigest()
