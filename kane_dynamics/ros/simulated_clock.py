# SPDX-License-Identifier: Apache-2.0
"""Whose time the stamps of a simulator carry: its own on /clock, or that of its node."""

import time
from typing import Any

from rclpy.node import Node
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock

from kane_dynamics.messages.conversions import set_stamp
from kane_dynamics.ros.messages.qos import STATE

TOPIC = '/clock'
UNKNOWN = '_UNKNOWN_'  # part of the name of a node of which only the topics are known yet
NANO = 1_000_000_000
DISCOVERY = 0.5
"""Wall time [s] from the start of a node in which it finds those that were there before."""


class SimulatedClock:
    """The one source of stamps."""

    def __init__(self, node: Node, publish: bool, rate: float = 0.0) -> None:
        self.follows = ''
        self._interval = round(NANO / rate) if rate else 0
        self._last: int | None = None
        self._node, self._message = node, Clock()
        self._wanted = publish
        self._publisher: Any = None
        self._found_until = time.monotonic() + DISCOVERY
        self._rivals: list[str] = []

    @property
    def local(self) -> bool:
        """Return whether the stamps are this simulator's own time."""
        return self._publisher is not None

    def start(self) -> None:
        """Publish ``/clock`` if it is wanted and nobody else does; waits for discovery."""
        if not self._wanted:
            return
        while not (others := self._others()) and time.monotonic() < self._found_until:
            time.sleep(0.01)
        if others:
            self._follow(others[0])
        else:
            self._publisher = self._node.create_publisher(Clock, TOPIC, STATE)

    def now(self, simulated: int) -> int:
        """Return the present stamp [ns]; `simulated` is the simulator's own time [ns]."""
        return simulated if self.local else int(self._node.get_clock().now().nanoseconds)

    def publish(self, stamp: int) -> None:
        """Publish a stamp [ns], if the time is this simulator's own and it is due."""
        due = self._last is None or not 0 <= stamp - self._last < self._interval
        if self._publisher is not None and due:
            self._last = stamp
            set_stamp(self._message.clock, stamp)
            self._publisher.publish(self._message)

    def look(self) -> bool:
        """Look who publishes ``/clock``; return whether this simulator now follows another."""
        others = self._others()
        if self.local and others and min(others) < self._node.get_fully_qualified_name():
            self._follow(min(others))
            return True
        if self.local and others and others != self._rivals:
            self._node.get_logger().error(_rivals_in_words(others))
        self._rivals = others
        return False

    def problem(self) -> str:
        """Return what is wrong with the time, or ''."""
        if self.local and self._rivals:
            return _rivals_in_words(self._rivals)
        sim_time = self._node.get_clock().ros_time_is_active
        if not self.local and sim_time and not self._node.count_publishers(TOPIC):
            return f'time stands still: nobody publishes {TOPIC}'
        return ''

    def in_words(self) -> str:
        """Return where the stamps come from."""
        if self.local:
            return f'simulated time, published on {TOPIC}'
        if self._node.get_clock().ros_time_is_active:
            return f'{TOPIC} of {self.follows or "another node"}'
        return 'wall time'

    def _others(self) -> list[str]:
        """Return the names of the other publishers of ``/clock``."""
        if self._node.count_publishers(TOPIC) <= self.local:  # quick, and so it nearly always is
            return []
        infos = self._node.get_publishers_info_by_topic(TOPIC)
        names = [f'{i.node_namespace.rstrip("/")}/{i.node_name}' for i in infos]
        if self.local:
            names.remove(self._node.get_fully_qualified_name())
        return sorted(name for name in names if UNKNOWN not in name)

    def _follow(self, other: str) -> None:
        if self._publisher is not None:
            self._node.destroy_publisher(self._publisher)
        self._publisher, self.follows = None, other
        self._node.set_parameters([Parameter('use_sim_time', value=True)])
        self._node.get_logger().warning(
            f'{other} publishes {TOPIC} already: this simulator follows it and publishes none '
            '(publish_clock: false with use_sim_time: true says the same without this warning)'
        )


def _rivals_in_words(names: list[str]) -> str:
    return f'{TOPIC} is published by {", ".join(names)} too: time jumps for everybody'
