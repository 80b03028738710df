# SPDX-License-Identifier: Apache-2.0
"""Parameters of nodes that know how a base moves which others drive by velocity."""

from __future__ import annotations

from dataclasses import dataclass

from kane_dynamics.robot_config.parameters.load import TiltParameters
from kane_dynamics.robot_config.parameters.robot import DrivenBaseParameters, DynamicsParameters
from kane_dynamics.robot_config.parameters.spec import fixed


@dataclass(frozen=True)
class VelocityControlledBaseParameters(DrivenBaseParameters, TiltParameters, DynamicsParameters):
    """Where the motion of a base driven by velocity is known from."""

    motion_from: tuple[str, ...] = fixed(
        ('cmd_vel', 'odom'),
        'Where the acceleration of a base driven by velocity is taken from, the first that is '
        'fresh: cmd_vel (as the drives should follow it), odom (its twist, differentiated), imu.',
        name='base.motion_from',
    )
