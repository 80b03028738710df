# SPDX-License-Identifier: Apache-2.0
"""Read a recorded bag (rosbag2 in sqlite3 or mcap) without ROS, by the package rosbags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from kane_dynamics.exceptions import InvalidInputError, MissingPackageError
from kane_dynamics.messages.input_monitor import RejectedInput

REMEDY = "pip install 'kane_dynamics[bag]'"


class Recorded(NamedTuple):
    """A message of a bag: what it is for, when it was recorded [ns]; or why it is none."""

    use: str
    time: int
    message: Any | RejectedInput


class Bag:
    """An open bag; made by `open_bag`."""

    def __init__(self, path: Path, reader: Any) -> None:
        self._path, self._reader = path, reader

    def messages(self, topics: Mapping[str, tuple[str, str]]) -> Iterator[Recorded]:
        """Yield the messages of some topics, in the order of recording."""
        uses, reader = {name: use for use, (name, _) in topics.items()}, self._reader
        for name, kind in topics.values():
            self._check(name, kind)
        connections = [one for one in reader.connections if one.topic in uses]
        try:
            for connection, time, data in reader.messages(connections):
                message: Any = None
                try:
                    message = self._decoded(data, connection)
                except RejectedInput as rejection:
                    message = rejection
                yield Recorded(uses[connection.topic], time, message)
        except Exception as error:  # rosbags, sqlite3 and mcap have no error family
            raise InvalidInputError(f"bag '{self._path}': cannot be read on: {error}") from error

    def _check(self, name: str, kind: str) -> None:
        """Check that a topic is there."""
        known = {one.topic: one.msgtype for one in self._reader.connections}
        if known.get(name) == kind:
            return
        fitting = [topic for topic, each in known.items() if each == kind]
        there = f'is of {known[name]}' if name in known else 'is not there'
        raise InvalidInputError(
            f"bag '{self._path}': topic '{name}' {there}; topics of {kind} are "
            f'{fitting or "none"}, all are {sorted(known)}'
        )

    def _decoded(self, data: bytes, connection: Any) -> Any:
        try:
            return self._reader.deserialize(data, connection.msgtype)
        except Exception as error:  # whatever a parser of foreign bytes says
            reason = f'{connection.topic}: bytes that are no {connection.msgtype}: {error}'
            raise RejectedInput('corrupt', reason) from error


@contextmanager
def open_bag(path: str | Path) -> Iterator[Bag]:
    """Open a bag: its folder, or a file .mcap or .db3."""
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
        yield Bag(file, reader)
    finally:
        reader.close()
