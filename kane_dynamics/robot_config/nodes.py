# SPDX-License-Identifier: Apache-2.0
"""The nodes: executables, launch files, parameters and help come from this table alone."""

from typing import NamedTuple

_MEASURED = 'joint_states', 'odom'
_EFFORT = *_MEASURED, 'cmd_vel', 'imu', '~/reference', '~/commands'


class NodeEntry(NamedTuple):
    """A node: its class below ``kane_dynamics.ros``, its file of parameters, and what it does."""

    path: str
    parameters: str
    summary: str
    topics: tuple[str, ...] = ()
    """Topics that its launch file can rename."""


NODES = {
    'kane_inverse_dynamics': NodeEntry(
        'effort_controller_node:EffortControllerNode',
        'inverse_dynamics',
        'Turns joint_states, odom and ~/reference into the efforts of wheels and arm.',
        _EFFORT,
    ),
    'kane_computed_torque': NodeEntry(
        'effort_controller_node:EffortControllerNode',
        'computed_torque',
        'Follows ~/reference by computed torque, by passivity or by feed-forward and PD.',
        _EFFORT,
    ),
    'kane_forward_dynamics': NodeEntry(
        'forward_dynamics_node:ForwardDynamicsNode',
        'forward_dynamics',
        'Predicts the accelerations and constraint forces that measured efforts cause.',
        (*_MEASURED, 'cmd_vel', 'imu', '~/effort'),
    ),
    'kane_wrench_control': NodeEntry(
        'effort_controller_node:WrenchControlNode',
        'wrench_control',
        'Turns joint_states, odom and targets of a link into the efforts of wheels and arm.',
        (*_MEASURED, '~/wrench', '~/pose', '~/twist', '~/commands'),
    ),
    'kane_contact_observer': NodeEntry(
        'contact_observer_node:ContactObserverNode',
        'contact_observer',
        'Turns joint_states with efforts into external efforts, contact wrenches and payloads.',
        (*_MEASURED, 'imu', '~/wrench'),
    ),
    'kane_governor': NodeEntry(
        'governor_node:GovernorNode',
        'governor',
        'Lets cmd_vel through as far as tip-over, friction, effort and speed limits allow.',
        (*_MEASURED, 'cmd_vel_in', 'cmd_vel'),
    ),
    'kane_trajectory_feedforward': NodeEntry(
        'trajectory_feedforward_node:TrajectoryFeedforwardNode',
        'trajectory_feedforward',
        'Fills the efforts of trajectories for a joint_trajectory_controller.',
        (*_MEASURED, 'cmd_vel'),
    ),
    'kane_simulator': NodeEntry(
        'simulator_node:SimulatorNode',
        'simulator',
        'Integrates the robot: efforts in; joint_states, odom, tf and /clock out.',
    ),
}
"""Executable to its node; setup.py reads this file alone, without the packages installed."""
