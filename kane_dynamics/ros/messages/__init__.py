# SPDX-License-Identifier: Apache-2.0
"""ROS messages from arrays, and arrays from ROS messages."""
