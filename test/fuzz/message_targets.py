# SPDX-License-Identifier: Apache-2.0
"""
Targets that take messages: the callbacks of every node, called without DDS.

A node itself tells which messages and services it takes. Each input is one message of one of its
topics, one request, or one ring of a timer; the node must not raise, and what it publishes as
efforts must be finite.
"""

from __future__ import annotations

import importlib
import math
import os
from functools import cache

import rclpy
import sources
from campaign import Target
from changes import WORDS
from rclpy.context import Context
from rclpy.logging import LoggingSeverity, set_logger_level
from rclpy.parameter import Parameter
from rclpy.publisher import Publisher

from kane_dynamics.exceptions import KaneDynamicsError
from kane_dynamics.messages.inputs import InputMonitor
from kane_dynamics.robot_config.nodes import NODES
from kane_dynamics.ros.entry import node_class

ROBOT = (
    sources.small_urdf(
        ('left', 'continuous', 'base_link', 'left_wheel', ''),
        ('right', 'continuous', 'base_link', 'right_wheel', ''),
        ('a', 'revolute', 'base_link', 'one', ''),
    )
    .replace('<origin xyz="0.1 0 0" rpy="0 0.3 0"/>', '<origin xyz="0 0.2 0"/>', 1)
    .replace('<origin xyz="0.1 0 0" rpy="0 0.3 0"/>', '<origin xyz="0 -0.2 0"/>', 1)
    .replace('<axis xyz="0 0 1"/>', '<axis xyz="0 1 0"/>')
)
PARAMETERS = {
    'robot_description': ROBOT,
    'base_type': 'diff_drive',
    'base.left_wheel_names': ['left'],
    'base.right_wheel_names': ['right'],
    'base.wheel_radius': 0.1,
    'base_frame_id': 'base_link',
    'compiled': 'never',
}
OWN = {
    'kane_wrench_control': {'frame': 'one'},
    'kane_governor': {'base.support_points': [0.3, 0.0, -0.1, -0.3, 0.0, -0.1]},
    'kane_simulator': {'payloads': ['one'], 'start_paused': True, 'publish_clock': False},
    'kane_inverse_dynamics': {'payloads': ['one'], 'gravity_source': 'imu'},
    'kane_forward_dynamics': {'gravity_source': 'odom'},
}
FRAMES = ('base_link', 'odom', 'one', 'map', 'left_wheel', '')
SHARES = {'kane_simulator': 0.02, 'kane_trajectory_feedforward': 0.02}
REALS = (
    *(math.nan, math.inf, -math.inf, 1e308, -1e308, 1e300, 1e200, 1e154, 1e30, 1e9, 1.0000001e9),
    *(-1e9, 1e6, 1e-300, 5e-324, -0.0, 0.0, 1.0, -1.0, 0.999, 1.001, math.pi),
)
INTEGERS = {'int8': 7, 'uint8': 8, 'int16': 15, 'uint16': 16, 'int32': 31, 'uint32': 32}
INTEGERS |= {'int64': 63, 'uint64': 64, 'byte': 8, 'octet': 8}
SKIPPED = ('get_type_description', 'change_state', 'get_state', 'get_available', 'get_transition')


class Draw:
    """
    Messages of any type, right ones but for some of their fields.

    Parameters
    ----------
    random : random.Random
        Source of what is drawn.
    now : int
        Time of the node [ns].
    joints : tuple of str
        Of the robot.

    """

    def __init__(self, random, now, joints):
        self.random, self.now, self.joints = random, now, joints
        self.wrong = random.choice((0.0, 0.0, 0.03, 0.2))
        self.length = len(joints)

    def message(self, kind):
        """Return a message of a class."""
        name = kind.__name__
        filled = kind()
        if name in ('Time', 'Duration') and not self.amiss():
            span = self.random.randrange(10**9) if name == 'Duration' else self.now
            filled.sec, filled.nanosec = divmod(span, 10**9)
            return filled
        if name == 'Quaternion' and not self.amiss():
            filled.w, filled.z = math.cos(0.3), math.sin(0.3)
            return filled
        for field, type_name in kind.get_fields_and_field_types().items():
            setattr(filled, field, self.field(field, type_name))
        if hasattr(filled, 'points') and not self.amiss():
            for i, point in enumerate(filled.points):
                since = getattr(point, 'time_from_start', None)
                if since is not None:
                    since.sec, since.nanosec = i + 1, 0
        return filled

    def amiss(self):
        """Return whether the next field is to be wrong."""
        return self.random.random() < self.wrong

    def field(self, field, type_name):
        """Return a value for a field."""
        base, _, size = type_name.rstrip(']').partition('[')
        if size and not size.startswith('<'):
            return [self.one(field, base) for _ in range(int(size.lstrip('<=')))]
        if type_name.startswith('sequence<'):
            return self.several(field, type_name[len('sequence<') : -1].partition(',')[0])
        return self.one(field, base)

    def several(self, field, inner):
        """Return a list; as long as that of the names before it, mostly."""
        if 'string' in inner:
            names = list(self.joints)
            self.random.shuffle(names)
            if self.amiss():
                names = names[: self.random.randrange(4)] + self.random.choice(
                    ([], ['a'], ['no such'], ['base_x', 'base_y', 'base_yaw'], [''] * 3)
                )
            self.length = len(names)
            return [self.text(name) for name in names]
        count = self.length if '/' not in inner else self.random.choice((0, 1, 1, 2, 3))
        if self.amiss():
            count = self.random.choice((0, 1, 2, 7, 300))
        elif (
            '/' not in inner
            and field in ('effort', 'accelerations')
            and self.random.random() < 0.5
        ):
            count = 0
        return [self.one(field, inner) for _ in range(count)]

    def one(self, field, inner):
        """Return one value of a primitive type, or a message."""
        if '/' in inner:
            package, _, name = inner.partition('/')
            return self.message(_class(package, name.rpartition('/')[2]))
        if 'string' in inner:
            return self.text(self.random.choice((*FRAMES, *self.joints)))
        if inner in ('double', 'float'):
            value = self.random.choice(REALS) if self.amiss() else self.random.uniform(-1.0, 1.0)
            large = inner == 'float' and abs(value) > 3e38
            return math.inf if large and math.isfinite(value) else value
        if inner == 'boolean':
            return self.random.random() < 0.5
        bits = INTEGERS[inner]
        low = 0 if inner[0] in 'ubo' else -(2**bits)
        number = self.random.randrange(4)
        if self.amiss():
            number = self.random.choice((low, 2**bits - 1, 0))
        return bytes([number]) if inner == 'octet' else number

    def text(self, right):
        """Return a text; what no message can carry is left out."""
        text = self.random.choice(WORDS) if self.amiss() else right
        return text.encode('utf-8', 'ignore').decode().replace('\0', '')


@cache
def _class(package, name):
    return getattr(importlib.import_module(f'{package}.msg'), name)


class WildEffortError(AssertionError):
    """A node has published efforts that are not finite."""


def _check(publisher, message):
    """Take the place of `Publisher.publish`: nothing is sent, efforts are looked at."""
    for point in getattr(message, 'points', (message,)):
        for field in ('effort', 'data'):
            values = getattr(point, field, ())
            if type(values).__name__ == 'array' and not all(map(math.isfinite, values)):
                raise WildEffortError(f'{type(message).__name__}.{field}: {list(values)}')


class Station:
    """One node, with its callbacks by number."""

    def __init__(self, executable, **parameters):
        self.executable, self.node, self.context = executable, None, None
        self._given = {**PARAMETERS, **OWN.get(executable, {}), **parameters}
        self._rejected = False

    def renew(self):
        """Make the node anew."""
        self.close()
        os.environ.setdefault('ROS_LOG_DIR', '/tmp')
        self.context = Context()
        rclpy.init(context=self.context, domain_id=77)
        self.node = node_class(self.executable)(
            context=self.context,
            use_global_arguments=False,
            parameter_overrides=[Parameter(k, value=v) for k, v in self._given.items()],
        )
        set_logger_level(self.node.get_logger().name, LoggingSeverity.FATAL)
        self.node.start()
        self.ready()
        if self.node.host.model is None:
            raise RuntimeError(f'{self.executable} has no model: {self.node.host.status()}')

    def ready(self):
        """Wait for what the node makes ready beside its callbacks: nothing."""

    def _count(self):
        self._rejected = True

    def close(self):
        """Take the node down."""
        if self.node is not None:
            self.node.destroy_node()
            rclpy.try_shutdown(context=self.context)
        self.node = None

    def entries(self):
        """Return (name, callback, type or None) of all that calls the node."""
        found = [(s.topic_name, s.callback, s.msg_type) for s in self.node.subscriptions]
        found += [
            (s.srv_name, s.callback, s.srv_type)
            for s in self.node.services
            if not any(word in s.srv_name for word in SKIPPED)
        ]
        return sorted(found, key=lambda entry: entry[0]) + [
            ('timer', timer.callback, None) for timer in self.node.timers
        ]

    def draw(self, random):
        """Return the name of an entry, and what to call it with."""
        entries = self.entries()
        topics = [entry for entry in entries if hasattr(entry[2], 'get_fields_and_field_types')]
        name, call, kind = random.choice(topics if random.random() < 0.8 else entries)
        now = self.node.get_clock().now().nanoseconds
        draw = Draw(random, now, self.node.host.model.joints)
        if kind is None:
            return name, call, ()
        if hasattr(kind, 'Request'):
            request = draw.message(kind.Request)
            for parameter in getattr(request, 'parameters', ()):
                parameter.name = random.choice(sorted(self.node._parameters))
                # one that there is: rclpy itself raises at others, in every node
                parameter.value.type = random.randrange(10)
            return name, call, (request, kind.Response())
        return name, call, (draw.message(kind),)

    def run(self, given):
        """Call the node."""
        _, call, arguments = given
        publish, reject = Publisher.publish, InputMonitor.reject
        self._rejected, Publisher.publish = False, _check
        InputMonitor.reject = lambda guard, rejection: self._count()
        try:
            call(*arguments)
        finally:
            Publisher.publish, InputMonitor.reject = publish, reject
        if self._rejected:
            raise KaneDynamicsError('refused by the node, which goes on')


def targets():
    """Return a target for each node."""
    made = []
    for executable in NODES:
        station = Station(executable)
        share = SHARES.get(executable, 0.03)
        name = f'messages to {executable}'
        made.append(Target(name, station.draw, station.run, share, station.renew))
    return made
