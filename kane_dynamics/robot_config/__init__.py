# SPDX-License-Identifier: Apache-2.0
"""Parameter files, and the robot with base and constraints that they describe. No ROS."""
