# SPDX-License-Identifier: Apache-2.0
"""
Files of the package that one call runs through: what its reader opens.

``python -m studies.walks`` from the root of the source.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from rich.console import Console

import kane_dynamics as kd
from kane_dynamics.robot.resources import resolve
from studies.report import Table

PATIENCE = 120.0  # [s] until machine code is there
PACKAGE = str(Path(kd.__file__).parent)


class Walk(AbstractContextManager['Walk']):
    """Collects the functions of the package that run inside a `with` block, in all threads."""

    def __init__(self) -> None:
        self.functions: set[tuple[str, str, int]] = set()
        self.calls = 0

    @property
    def files(self) -> int:
        """Return the number of files."""
        return len({file for file, _, _ in self.functions})

    def __enter__(self) -> Walk:
        """Begin."""
        threading.setprofile(self._event)
        sys.setprofile(self._event)
        return self

    def __exit__(self, *error: object) -> None:
        """End."""
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]

    def _event(self, frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if event == 'call' and code.co_filename.startswith(PACKAGE):
            self.functions.add((code.co_filename, code.co_qualname, code.co_firstlineno))
            self.calls += 1


def walk(call: Callable[[], Any]) -> Walk:
    """Return what a call runs through."""
    with Walk() as found:
        call()
    return found


def of_library() -> dict[str, Walk]:
    """Return the walks of the Python library, on the shipped nonholonomic robot."""
    path = resolve('package://kane_dynamics/robots/nonholonomic.urdf')
    made = {'load_urdf': walk(lambda: kd.load_urdf(path))}
    robot = kd.load_urdf(path, base='planar')
    rows = kd.bases.differential(robot, ['wheel_left_joint'], ['wheel_right_joint']).constraints
    q, v, tau = robot.neutral(), np.zeros(robot.nv), np.ones(robot.nv)
    reference = kd.dynamics(robot, rows)
    for name in ('inverse_dynamics', 'forward_dynamics'):
        function = getattr(reference, name)
        function(q, v, tau)  # what is made once
        made[f'{name}, reference'] = walk(lambda f=function: f(q, v, tau))  # type: ignore[misc]
    kd.compile(robot, rows)  # imports what it needs
    with (
        tempfile.TemporaryDirectory() as cache,
        mock.patch.dict(os.environ, XDG_CACHE_HOME=cache),
    ):
        made['kd.compile, cold'] = walk(lambda: kd.compile(robot, rows))
        made['kd.compile, from the cache'] = walk(lambda: kd.compile(robot, rows))
        fast = kd.compile(robot, rows)
    for name in ('inverse_dynamics', 'forward_dynamics'):
        function = getattr(fast, name)
        made[f'{name}, compiled'] = walk(lambda f=function: f(q, v, tau))  # type: ignore[misc]
    made['simulate, compiled'] = walk(lambda: fast.simulate(q, v, 0.1))
    return made


def spin_until(
    executor: Any, condition: Callable[[], bool], each: Callable[[], None] = lambda: None
) -> None:
    """Serve callbacks, and call `each` before, until a condition holds or patience ends."""
    end = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < end:
        each()
        executor.spin_once(timeout_sec=0.1)


def of_node() -> dict[str, Walk]:
    """Return the walk from a JointState to an effort in ``kane_inverse_dynamics``."""
    import rclpy
    from nav_msgs.msg import Odometry
    from rclpy.executors import SingleThreadedExecutor
    from sensor_msgs.msg import JointState

    from kane_dynamics.ros.effort_controller_node import EffortControllerNode

    file = resolve('package://kane_dynamics/config/nonholonomic.yaml')
    arguments = ['--ros-args', '--params-file', str(file), '-p', 'compiled:=wait']
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=os.getpid() % 100)
    node = EffortControllerNode(context=context, use_global_arguments=False, cli_args=arguments)
    node.start()
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    spin_until(executor, lambda: node.host.model is not None)
    names = node.host.model.joints
    state = JointState(name=list(names), position=[0.0] * len(names), velocity=[0.0] * len(names))
    odom = Odometry(child_frame_id='base_footprint')
    odom.header.frame_id, odom.pose.pose.orientation.w = 'odom', 1.0
    sent: list[Any] = []
    node.create_subscription(JointState, '~/effort', sent.append, 10)

    def receive() -> None:
        odom.header.stamp = state.header.stamp = node.get_clock().now().to_msg()
        node._on_odom(odom)
        node._on_joint_states(state)

    spin_until(executor, lambda: bool(sent), receive)
    found = walk(receive)
    node.stop()
    node.destroy_node()
    rclpy.shutdown(context=context)
    if not sent:
        raise RuntimeError('the node sent no effort, so this is no walk of one')
    return {'joint state to effort, kane_inverse_dynamics': found}


def main() -> None:
    """Print the table."""
    table = Table('Walks', ('call', 'files', 'functions', 'calls'))
    for name, found in (of_library() | of_node()).items():
        table.add(name, str(found.files), str(len(found.functions)), f'{found.calls:,}')
    table.show(Console(width=100))


if __name__ == '__main__':
    main()
