# SPDX-License-Identifier: Apache-2.0
"""The executables of the nodes: ``--help``, and a clear word where ROS 2 is missing."""

from __future__ import annotations

import importlib
import shutil
import sys
import textwrap
from collections.abc import Sequence

from kane_dynamics.robot_config.parameters.nodes import TABLES

NODES = {
    'kane_inverse_dynamics': (
        'inverse_dynamics_node',
        'Turns joint_states, odom and ~/reference into the efforts of wheels and arm.',
    ),
    'kane_computed_torque': (
        'computed_torque_node',
        'Follows ~/reference by computed torque, by passivity or by feed-forward and PD.',
    ),
    'kane_forward_dynamics': (
        'forward_dynamics_node',
        'Predicts the accelerations and constraint forces that measured efforts cause.',
    ),
    'kane_wrench_control': (
        'wrench_control_node',
        'Turns joint_states, odom and targets of a link into the efforts of wheels and arm.',
    ),
    'kane_contact_observer': (
        'contact_observer_node',
        'Turns joint_states with efforts into external efforts, contact wrenches and payloads.',
    ),
    'kane_governor': (
        'governor_node',
        'Lets cmd_vel through as far as tip-over, friction, effort and speed limits allow.',
    ),
    'kane_trajectory_feedforward': (
        'trajectory_feedforward_node',
        'Fills the efforts of trajectories for a joint_trajectory_controller.',
    ),
    'kane_simulator': (
        'simulator_node',
        'Integrates the robot: efforts in; joint_states, odom, tf and /clock out.',
    ),
}
"""Executable to its module and what it does."""


def inverse_dynamics(args: Sequence[str] | None = None) -> int:
    """Run kane_inverse_dynamics."""
    return start('kane_inverse_dynamics', args)


def computed_torque(args: Sequence[str] | None = None) -> int:
    """Run kane_computed_torque."""
    return start('kane_computed_torque', args)


def forward_dynamics(args: Sequence[str] | None = None) -> int:
    """Run kane_forward_dynamics."""
    return start('kane_forward_dynamics', args)


def wrench_control(args: Sequence[str] | None = None) -> int:
    """Run kane_wrench_control."""
    return start('kane_wrench_control', args)


def contact_observer(args: Sequence[str] | None = None) -> int:
    """Run kane_contact_observer."""
    return start('kane_contact_observer', args)


def governor(args: Sequence[str] | None = None) -> int:
    """Run kane_governor."""
    return start('kane_governor', args)


def trajectory_feedforward(args: Sequence[str] | None = None) -> int:
    """Run kane_trajectory_feedforward."""
    return start('kane_trajectory_feedforward', args)


def simulator(args: Sequence[str] | None = None) -> int:
    """Run kane_simulator."""
    return start('kane_simulator', args)


def start(name: str, args: Sequence[str] | None = None) -> int:
    """Run a node, or say what it takes; return the exit code."""
    values = list(sys.argv[1:] if args is None else args)
    if {'-h', '--help'} & set(values):
        sys.stdout.write(usage(name))
        return 0
    if ros_missing(name):
        return 1
    module = importlib.import_module(f'kane_dynamics.ros.{NODES[name][0]}')
    return int(module.main(args))


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
        NODES[name][1],
        '',
        'parameters:',
    ]
    width = shutil.get_terminal_size().columns - 6
    for spec in TABLES[name]:
        unit = f' [{spec.unit}]' if spec.unit else ''
        legal = f' ({spec.constraints()})' if spec.constraints() else ''
        lines.append(f'  {spec.name}: {spec.kind}{unit}, default {spec.shown_default}{legal}')
        lines += [f'      {line}' for line in textwrap.wrap(spec.description, width)]
    lines += [
        '',
        f'topics and services: doc/nodes.md, or while it runs: ros2 node info /{name}',
        '',
    ]
    return '\n'.join(lines)
