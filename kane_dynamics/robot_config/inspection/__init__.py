# SPDX-License-Identifier: Apache-2.0
"""What a robot description shows: joints and their roles, wheels, casters, frames, limits."""

from kane_dynamics.robot_config.inspection.findings import Findings, FrameRoles, inspect_urdf
from kane_dynamics.robot_config.inspection.joints import ROLES, Hand, JointRole

__all__ = ['ROLES', 'Findings', 'FrameRoles', 'Hand', 'JointRole', 'inspect_urdf']
