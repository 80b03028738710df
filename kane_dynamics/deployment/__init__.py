# SPDX-License-Identifier: Apache-2.0
"""Dynamics of one robot for programs without Python: a C library and a ROS 2 package."""
