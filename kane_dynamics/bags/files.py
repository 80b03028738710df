# SPDX-License-Identifier: Apache-2.0
"""Recorded bags (rosbag2 in sqlite3 or mcap) without ROS, by rosbags: read and written."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kane_dynamics.exceptions import InvalidInputError, MissingPackageError
from kane_dynamics.messages.inputs import RejectedInput
from kane_dynamics.typing import Floats

REMEDY = "pip install 'kane_dynamics[bag]'"
_TOLD = 10_000  # messages from one share that is told to the next


class Recorded(NamedTuple):
    """A message of a bag: what it is for, when it was recorded [ns]; or why it is none."""

    use: str
    time: int
    message: Any | RejectedInput


@contextmanager
def open_bag(
    path: str | Path,
    topics: Mapping[str, tuple[str, str]],
    tell: Callable[[float], None] = lambda share: None,
) -> Iterator[Iterator[Recorded]]:
    """
    Open a bag, its folder or a file .mcap or .db3; the messages of topics as they were recorded.

    Topics are name and type by use; tell(share) is called now and then with the part that is read.
    """
    try:
        from rosbags.highlevel import AnyReader
        from rosbags.typesys import Stores, get_typestore
    except ImportError as error:
        raise MissingPackageError('a bag', 'rosbags', REMEDY) from error
    file = Path(path)
    if not file.exists():
        raise InvalidInputError(f"bag '{file}' does not exist; need a folder, .mcap or .db3")
    try:
        reader = AnyReader([file], default_typestore=get_typestore(Stores.ROS2_JAZZY))
        reader.open()
    except Exception as error:  # rosbags, sqlite3, yaml and mcap have no error family
        raise InvalidInputError(
            f"bag '{file}' cannot be read: {error}; need the folder of a rosbag2, .mcap or .db3"
        ) from error
    try:
        yield _messages(file, reader, topics, tell)
    finally:
        reader.close()


def _messages(
    file: Path,
    reader: Any,
    topics: Mapping[str, tuple[str, str]],
    tell: Callable[[float], None],
) -> Iterator[Recorded]:
    """Yield the messages of some topics, in the order of recording."""
    known = {one.topic: one.msgtype for one in reader.connections}
    for name, kind in topics.values():
        if known.get(name) != kind:
            fitting = [topic for topic, each in known.items() if each == kind]
            there = f'is of {known[name]}' if name in known else 'is not there'
            raise InvalidInputError(
                f"bag '{file}': topic '{name}' {there}; topics of {kind} are "
                f'{fitting or "none"}, all are {sorted(known)}'
            )
    uses = {name: use for use, (name, _) in topics.items()}
    connections = [one for one in reader.connections if one.topic in uses]
    try:
        count = sum(one.msgcount for one in connections)
        for k, (connection, time, data) in enumerate(reader.messages(connections)):
            if not k % _TOLD:
                tell(k / max(count, 1))
            try:
                message = reader.deserialize(data, connection.msgtype)
            except Exception as error:  # noqa: BLE001 - whatever a parser of foreign bytes says
                reason = f'{connection.topic}: bytes that are no {connection.msgtype}: {error}'
                message = RejectedInput('corrupt', reason)
            yield Recorded(uses[connection.topic], time, message)
    except Exception as error:  # rosbags, sqlite3 and mcap have no error family
        raise InvalidInputError(f"bag '{file}': cannot be read on: {error}") from error


STORAGES = ('sqlite3', 'mcap')
JOINT_STATE = 'sensor_msgs/msg/JointState'
TRAJECTORY = 'trajectory_msgs/msg/JointTrajectory'


@dataclass(frozen=True, eq=False)
class Series:
    """One quantity over time."""

    quantity: str  # One of `QUANTITIES`
    names: tuple[str, ...]  # Joints, or speeds of the base
    stamps: np.typing.NDArray[np.int64]  # shape (n,): [ns]
    values: Floats  # shape (n, k): [N m or N], accelerations [rad/s^2 or m/s^2]
    positions: Floats  # shape (n, k): Of the same joints [SI]
    velocities: Floats  # shape (n, k): Of the same joints [SI]
    measured: Floats  # shape (n, k): Measured efforts of the same joints


def write_bag(folder: Path, series: Series, storage: str = STORAGES[0]) -> Path:
    """Write a new bag with the topic /kane_dynamics/<quantity>; recorded at the stamps."""
    try:
        from rosbags.rosbag2 import StoragePlugin, Writer
        from rosbags.typesys import Stores, get_typestore
    except ImportError as error:
        raise MissingPackageError('a bag', 'rosbags', REMEDY) from error
    if folder.exists():
        raise InvalidInputError(f"'{folder}' exists already; a bag is written to a new folder")
    store = get_typestore(Stores.ROS2_JAZZY)
    kind = TRAJECTORY if series.quantity == 'acceleration' else JOINT_STATE
    plugin = StoragePlugin[storage.upper()]
    with Writer(folder, version=9, storage_plugin=plugin) as writer:
        topic = writer.add_connection(f'/kane_dynamics/{series.quantity}', kind, typestore=store)
        for i, stamp in enumerate(series.stamps.tolist()):
            data = store.serialize_cdr(_message(store.types, series, i, stamp), kind)
            writer.write(topic, stamp, data)
    return folder


def _message(types: Any, series: Series, i: int, stamp: int) -> Any:
    """Return a JointState; accelerations as ``~/predicted_accelerations`` of the node."""
    time = types['builtin_interfaces/msg/Time'](*divmod(stamp, 1_000_000_000))
    header, names = types['std_msgs/msg/Header'](time, ''), list(series.names)
    rows = series.positions[i], series.velocities[i], series.values[i], series.measured[i]
    arrays = [np.array(row) for row in rows]
    if series.quantity != 'acceleration':
        return types[JOINT_STATE](header, names, *arrays[:3])
    start = types['builtin_interfaces/msg/Duration'](0, 0)
    point = types['trajectory_msgs/msg/JointTrajectoryPoint'](*arrays, start)
    return types[TRAJECTORY](header, names, [point])
