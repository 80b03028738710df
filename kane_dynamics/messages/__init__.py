# SPDX-License-Identifier: Apache-2.0
"""Arrays from ROS messages and back, their ages and counts; nothing here imports ROS."""
