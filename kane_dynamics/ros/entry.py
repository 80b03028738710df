# SPDX-License-Identifier: Apache-2.0
"""
The executables: ``--help``, and a clear word where ROS 2 is missing.

One for each node, ``kane_container``: several in one process, on one thread, for high rates, and
``kane_wait_for_states``, which launch files run before what must not begin without a robot.
"""

import argparse
import contextlib
import importlib
import math
import shutil
import sys
import textwrap
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from kane_dynamics.robot_config.nodes import NODES
from kane_dynamics.robot_config.parameters.tables import table

CONTAINER = 'kane_container'
WAIT = 'kane_wait_for_states'


def __getattr__(name: str) -> Callable[..., int]:
    """Return the main function of a node: ``governor`` of ``kane_governor``."""
    if f'kane_{name}' not in NODES:
        raise AttributeError(name)
    return partial(start, f'kane_{name}')


def start(name: str, args: Sequence[str] | None = None) -> int:
    """Run a node, or say what it takes; return the exit code."""
    values = list(sys.argv[1:] if args is None else args)
    if {'-h', '--help'} & set(values):
        sys.stdout.write(usage(name))
        return 0
    if ros_missing(name):
        return 1
    from kane_dynamics.ros.runtime import run

    return run([node_class(name)], args)


def node_class(name: str) -> Callable[..., Any]:
    """Return the class of a node by the name of its executable."""
    module, _, local = NODES[name].path.partition(':')
    kind = getattr(importlib.import_module(f'kane_dynamics.ros.{module}'), local)
    return partial(kind, name)


def ros_missing(name: str) -> bool:
    """Return whether rclpy cannot be imported; say what to do then."""
    try:
        importlib.import_module('rclpy')
    except ImportError as error:
        sys.stderr.write(
            f'{name} needs ROS 2, and rclpy cannot be imported ({error}).\n'
            'Source your ROS 2 installation (. /opt/ros/<distribution>/setup.sh), or install '
            "its wheels: pip install 'kane_dynamics[ros]'\n"
        )
        return True
    return False


def usage(name: str) -> str:
    """Return what a node takes, in words."""
    lines = [
        f'usage: {name} [--ros-args -p <parameter>:=<value> --params-file <file.yaml> '
        '-r <name>:=<name>]',
        '',
        NODES[name].summary,
        '',
        'parameters:',
    ]
    width = shutil.get_terminal_size().columns - 6
    for spec in table(NODES[name].parameters).specs:
        legal = f' ({spec.constraints()})' if spec.constraints() else ''
        lines.append(f'  {spec.name}: {spec.kind}, default {spec.shown_default}{legal}')
        lines += [f'      {line}' for line in textwrap.wrap(spec.description, width)]
    lines += [
        '',
        f'topics and services: doc/nodes/{name}.md, or while it runs: ros2 node info /{name}',
        '',
    ]
    return '\n'.join(lines)


def _before_ros_args(values: list[str]) -> list[str]:
    return values[: values.index('--ros-args')] if '--ros-args' in values else values


def container(args: Sequence[str] | None = None) -> int:
    """Run the nodes whose executables are named; return the exit code."""
    values = list(sys.argv[1:] if args is None else args)
    parser = argparse.ArgumentParser(
        CONTAINER,
        '%(prog)s <node> <node> ... [--ros-args -p <node>:<parameter>:=<value> '
        '--params-file <file.yaml> -r <node>:<name>:=<name>]',
        'Runs nodes in one process; they stop in the order given, so name controllers before a '
        'simulator. Without `<node>:` a parameter or a name goes to all of them.',
    )
    parser.add_argument('nodes', nargs='+', choices=list(NODES), help='their executables')
    names = parser.parse_args(_before_ros_args(values)).nodes
    if ros_missing(CONTAINER):
        return 1
    from kane_dynamics.ros.runtime import run

    return run([node_class(name) for name in names], values)


def wait_for_states(args: Sequence[str] | None = None) -> int:
    """Wait for finite states of joints; return the exit code."""
    values = list(sys.argv[1:] if args is None else args)
    parser = argparse.ArgumentParser(
        WAIT, description='Ends with 0 when finite positions and speeds of all joints have come.'
    )
    parser.add_argument('joints', nargs='+', help='their names')
    parser.add_argument('--topics', nargs='+', default=['joint_states'], help='of JointState')
    options = parser.parse_args(_before_ros_args(values))
    if ros_missing(WAIT):
        return 1
    return _await_states(options.joints, options.topics, values)


def _await_states(joints: Sequence[str], topics: Sequence[str], args: Sequence[str]) -> int:
    """Return 0 when topics have had finite states of joints, 1 if the process ends before."""
    import rclpy
    from rclpy.executors import ExternalShutdownException
    from sensor_msgs.msg import JointState

    from kane_dynamics.ros.runtime import ALL_PARTS

    rclpy.init(args=list(args))
    node, complete = rclpy.create_node(WAIT), rclpy.task.Future()
    missing = {topic: set(joints) for topic in topics}

    def look(topic: str, message: JointState) -> None:
        states = zip(message.name, message.position, message.velocity, strict=False)
        missing[topic] -= {name for name, *state in states if all(map(math.isfinite, state))}
        if not any(missing.values()) and not complete.done():
            complete.set_result(None)

    for topic in topics:
        node.create_subscription(JointState, topic, partial(look, topic), ALL_PARTS)
    with contextlib.suppress(KeyboardInterrupt, ExternalShutdownException):
        while not complete.done():
            left = {topic: sorted(names) for topic, names in missing.items() if names}
            node.get_logger().info(f'waiting for states on {left}')
            rclpy.spin_until_future_complete(node, complete, None, 10.0)
    rclpy.try_shutdown()
    return 0 if complete.done() else 1


if __name__ == '__main__':
    sys.exit(start(sys.argv[1], sys.argv[2:]))
