# SPDX-License-Identifier: Apache-2.0
"""Start kane_contact_observer on the topics of a robot."""

from kane_dynamics.ros.launch.launching import MEASURED, one_node_launch

TOPICS = {
    **MEASURED,
    'imu': {
        'name': 'imu_topic',
        'default_value': 'imu',
        'description': 'sensor_msgs/Imu of the base, if gravity_from is imu.',
    },
    '~/wrench': {
        'name': 'wrench_topic',
        'default_value': '~/wrench',
        'description': 'geometry_msgs/WrenchStamped on the link that the parameter frame names.',
    },
}


def generate_launch_description():
    """Return the launch arguments and the node."""
    return one_node_launch('kane_contact_observer', TOPICS)
