# SPDX-License-Identifier: Apache-2.0
"""Recorded bags: read without ROS, computed as the nodes do, written as a bag of results."""
