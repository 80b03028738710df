# SPDX-License-Identifier: Apache-2.0
"""Trajectories of joints on their way to a controller: points, efforts, files, timing; no ROS."""
