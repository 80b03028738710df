# SPDX-License-Identifier: Apache-2.0
"""What controllers need besides the dynamics: motions in time. Nothing here needs ROS."""
