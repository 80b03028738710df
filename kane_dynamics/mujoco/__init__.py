# SPDX-License-Identifier: Apache-2.0
"""Exact wheels inside MuJoCo (extra `mujoco`)."""

from kane_dynamics.mujoco.plugin import attach
from kane_dynamics.mujoco.urdf import spec_of_urdf

__all__ = ['attach', 'spec_of_urdf']
