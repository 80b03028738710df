# SPDX-License-Identifier: Apache-2.0
"""Start kane_forward_dynamics on the topics of a robot."""

from kane_dynamics.ros.launch.launching import DRIVEN_BASE, MEASURED, one_node_launch

TOPICS = {
    'joint_states': {
        'name': 'joint_states_topic',
        'default_value': 'joint_states',
        'description': 'sensor_msgs/JointState with positions, velocities and efforts.',
    },
    'odom': MEASURED['odom'],
    **DRIVEN_BASE,
    '~/effort': {
        'name': 'effort_topic',
        'default_value': '~/effort',
        'description': 'sensor_msgs/JointState with efforts, for effort_source: topic.',
    },
}


def generate_launch_description():
    """Return the launch arguments and the node."""
    return one_node_launch('kane_forward_dynamics', TOPICS)
