# SPDX-License-Identifier: Apache-2.0
"""Bags that the tests write: motions in closed form, and messages that are wrong."""

import numpy as np
import pytest
from support.commands import as_json, outcome

JOINTS = ('shoulder', 'elbow')
ARM = """<robot name="arm"><link name="world"/>
<link name="upper"><inertial><origin xyz="0.3 0 0"/><mass value="3"/>
<inertia ixx="0.01" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="lower"><inertial><origin xyz="0.2 0.05 0"/><mass value="2"/>
<inertia ixx="0.01" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="continuous"><parent link="world"/><child link="upper"/>
<axis xyz="0 1 0"/><dynamics damping="0.4"/></joint>
<joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/>
<origin xyz="0.6 0 0"/><axis xyz="0 1 0"/></joint></robot>"""
START = 1_700_000_000_000_000_000  # [ns]
STEP = 10_000_000  # [ns]


@pytest.fixture
def arm(tmp_path):
    """Return the URDF of an arm with two joints."""
    file = tmp_path / 'arm.urdf'
    file.write_text(ARM)
    return file


def motion(stamp):
    """Return q, v, a of a smooth motion at a stamp [ns]."""
    t = (stamp - START) * 1e-9
    w = np.array([2.0, 3.0])
    return np.sin(w * t), w * np.cos(w * t), -w * w * np.sin(w * t)


class Messages:
    """Makes and writes messages of one bag."""

    def __init__(self):
        typesys = pytest.importorskip('rosbags.typesys')
        self.store = typesys.get_typestore(typesys.Stores.ROS2_JAZZY)
        self.types, self.written = self.store.types, []

    def header(self, stamp, frame=''):
        time = self.types['builtin_interfaces/msg/Time'](*divmod(stamp, 1_000_000_000))
        return self.types['std_msgs/msg/Header'](time, frame)

    def joints(self, stamp, recorded=None, names=JOINTS, **fields):
        """Add a message; its fields are those of the motion where they are not given."""
        q, v, _ = motion(stamp)
        given = {'position': q, 'velocity': v, 'effort': [], **fields}
        message = self.types['sensor_msgs/msg/JointState'](
            self.header(stamp), list(names), *(np.array(given[f], dtype=float) for f in given)
        )
        self.add('/joint_states', message, stamp if recorded is None else recorded)

    def add(self, topic, message, recorded):
        kind = message.__msgtype__
        self.written.append((topic, kind, recorded, self.store.serialize_cdr(message, kind)))

    def raw(self, data, recorded):
        self.written.append(('/joint_states', 'sensor_msgs/msg/JointState', recorded, data))

    def write(self, folder, storage='SQLITE3'):
        """Write everything that was added, in that order."""
        rosbag2 = pytest.importorskip('rosbags.rosbag2')
        plugin = rosbag2.StoragePlugin[storage]
        with rosbag2.Writer(folder, version=9, storage_plugin=plugin) as writer:
            topics = {}
            for topic, kind, recorded, data in self.written:
                if topic not in topics:
                    topics[topic] = writer.add_connection(topic, kind, typestore=self.store)
                writer.write(topics[topic], recorded, bytes(data))
        return folder


@pytest.fixture
def messages():
    """Return a maker of messages."""
    return Messages()


@pytest.fixture
def run(capsys):
    """Return a function: arguments of ``bag`` to exit code, output and errors, one line."""
    return lambda bag, robot, *more: outcome(capsys, 'bag', robot, bag, *more, '--reference')


@pytest.fixture
def run_json(run):
    """Return a function: arguments of ``bag`` to its result as JSON."""
    return as_json(run)
