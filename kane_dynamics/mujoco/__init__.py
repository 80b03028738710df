# SPDX-License-Identifier: Apache-2.0
"""Exact wheels inside MuJoCo."""

from kane_dynamics.mujoco.plugin import attach

__all__ = ['attach']
