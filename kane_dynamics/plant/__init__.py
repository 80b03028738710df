# SPDX-License-Identifier: Apache-2.0
"""The simulated robot: commands, drives, noise, time steps. No ROS."""
