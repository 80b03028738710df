# SPDX-License-Identifier: Apache-2.0
"""What a robot description shows: joints and their roles, wheels, casters, frames, limits."""

from kane_dynamics.robot_config.inspection.findings import Findings, inspect_urdf
from kane_dynamics.robot_config.inspection.frames import FoundFrames
from kane_dynamics.robot_config.inspection.hands import Hand
from kane_dynamics.robot_config.inspection.joints import ROLES, FoundJoint

__all__ = ['ROLES', 'Findings', 'FoundFrames', 'FoundJoint', 'Hand', 'inspect_urdf']
