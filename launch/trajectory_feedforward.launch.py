# SPDX-License-Identifier: Apache-2.0
"""Start kane_trajectory_feedforward in front of a joint_trajectory_controller."""

from kane_dynamics.ros.launch.launching import MEASURED, one_node_launch

TOPICS = {
    **MEASURED,
    'cmd_vel': {
        'name': 'cmd_vel_topic',
        'default_value': 'cmd_vel',
        'description': 'geometry_msgs/TwistStamped or Twist that the driver of the base gets.',
    },
}


def generate_launch_description():
    """Return the launch arguments and the node."""
    return one_node_launch('kane_trajectory_feedforward', TOPICS)
