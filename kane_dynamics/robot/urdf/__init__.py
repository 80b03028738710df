# SPDX-License-Identifier: Apache-2.0
"""URDF robot descriptions: read, check and convert them to a `Robot`."""

from kane_dynamics.robot.urdf.load import load_urdf

__all__ = ['load_urdf']
