# SPDX-License-Identifier: Apache-2.0
"""Start kane_inverse_dynamics on the topics of a robot."""

from kane_dynamics.ros.launching import one_node_launch


def generate_launch_description():
    """Return the launch arguments and the node."""
    return one_node_launch('kane_inverse_dynamics')
