# SPDX-License-Identifier: Apache-2.0
"""
ROS 2 nodes of the package; the only folder that imports rclpy and message types.

The core never imports this folder, so ``import kane_dynamics`` works without ROS.
"""
