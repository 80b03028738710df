# SPDX-License-Identifier: Apache-2.0
"""Quantities of a robot in motion and on the ground: forces, margins, observers. No ROS."""
