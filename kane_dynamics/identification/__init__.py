# SPDX-License-Identifier: Apache-2.0
"""Inertial and friction parameters of a robot from recorded motions and efforts. No ROS."""
