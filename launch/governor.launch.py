# SPDX-License-Identifier: Apache-2.0
"""Start kane_governor between a planner and the driver of a base."""

from kane_dynamics.ros.launch.launching import MEASURED, one_node_launch

TOPICS = {
    **MEASURED,
    'cmd_vel_in': {
        'name': 'wanted_topic',
        'default_value': 'cmd_vel_in',
        'description': 'geometry_msgs/TwistStamped or Twist that is wanted.',
    },
    'cmd_vel': {
        'name': 'command_topic',
        'default_value': 'cmd_vel',
        'description': 'geometry_msgs/TwistStamped or Twist for the driver of the base.',
    },
}


def generate_launch_description():
    """Return the launch arguments and the node."""
    return one_node_launch('kane_governor', TOPICS)
