# SPDX-License-Identifier: Apache-2.0
"""Start kane_wrench_control on the topics of a robot."""

from kane_dynamics.ros.launch.launching import MEASURED, one_node_launch

TOPICS = {
    **MEASURED,
    '~/wrench': {
        'name': 'wrench_topic',
        'default_value': '~/wrench',
        'description': 'geometry_msgs/WrenchStamped of the robot on its environment.',
    },
    '~/pose': {
        'name': 'pose_topic',
        'default_value': '~/pose',
        'description': 'geometry_msgs/PoseStamped that the link is to have.',
    },
    '~/twist': {
        'name': 'twist_topic',
        'default_value': '~/twist',
        'description': 'geometry_msgs/TwistStamped that the link is to have.',
    },
    '~/commands': {
        'name': 'command_topic',
        'default_value': 'effort_controller/commands',
        'description': 'std_msgs/Float64MultiArray for a forward_command_controller.',
    },
}


def generate_launch_description():
    """Return the launch arguments and the node."""
    return one_node_launch('kane_wrench_control', TOPICS)
