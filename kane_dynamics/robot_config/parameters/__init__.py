# SPDX-License-Identifier: Apache-2.0
"""ROS parameters: tables of each node, declaration and validation."""
