# SPDX-License-Identifier: Apache-2.0
"""Write a series as a bag: JointState for efforts, JointTrajectory for accelerations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from kane_dynamics.bags.computing import Series
from kane_dynamics.bags.reading import REMEDY
from kane_dynamics.exceptions import InvalidInputError, MissingPackageError

STORAGES = ('sqlite3', 'mcap')
JOINT_STATE = 'sensor_msgs/msg/JointState'
TRAJECTORY = 'trajectory_msgs/msg/JointTrajectory'


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
    message = _trajectory if kind == TRAJECTORY else _joint_state
    plugin = StoragePlugin[storage.upper()]
    with Writer(folder, version=9, storage_plugin=plugin) as writer:
        topic = writer.add_connection(f'/kane_dynamics/{series.quantity}', kind, typestore=store)
        for i, stamp in enumerate(series.stamps.tolist()):
            data = store.serialize_cdr(message(store.types, series, i, stamp), kind)
            writer.write(topic, stamp, data)
    return folder


def _header(types: Any, stamp: int) -> Any:
    time = types['builtin_interfaces/msg/Time'](*divmod(stamp, 1_000_000_000))
    return types['std_msgs/msg/Header'](time, '')


def _joint_state(types: Any, series: Series, i: int, stamp: int) -> Any:
    rows = series.positions[i], series.velocities[i], series.values[i]
    return types[JOINT_STATE](_header(types, stamp), list(series.names), *map(np.array, rows))


def _trajectory(types: Any, series: Series, i: int, stamp: int) -> Any:
    """Return a trajectory of one point, as ``~/predicted_accelerations`` of the node."""
    start = types['builtin_interfaces/msg/Duration'](0, 0)
    rows = series.positions[i], series.velocities[i], series.values[i], series.measured[i]
    point = types['trajectory_msgs/msg/JointTrajectoryPoint'](*map(np.array, rows), start)
    return types[TRAJECTORY](_header(types, stamp), list(series.names), [point])
