# SPDX-License-Identifier: Apache-2.0
"""Start kane_computed_torque on the topics of a robot."""

from kane_dynamics.ros.launch.launching import DRIVEN_BASE, MEASURED, one_node_launch

TOPICS = {
    **MEASURED,
    **DRIVEN_BASE,
    '~/reference': {
        'name': 'reference_topic',
        'default_value': '~/reference',
        'description': 'trajectory_msgs/JointTrajectory; interpolated in time.',
    },
    '~/commands': {
        'name': 'command_topic',
        'default_value': 'effort_controller/commands',
        'description': 'std_msgs/Float64MultiArray for a forward_command_controller.',
    },
}


def generate_launch_description():
    """Return the launch arguments and the node."""
    return one_node_launch('kane_computed_torque', TOPICS)
