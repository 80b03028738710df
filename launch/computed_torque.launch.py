# SPDX-License-Identifier: Apache-2.0
"""Start kane_computed_torque on the topics of a robot."""

from kane_dynamics.ros.launching import one_node_launch


def generate_launch_description():
    """Return the launch arguments and the node."""
    return one_node_launch('kane_computed_torque')
