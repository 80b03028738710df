# SPDX-License-Identifier: Apache-2.0
"""Parameters of ``kane_governor``."""

from __future__ import annotations

from dataclasses import dataclass

from kane_dynamics.robot_config.parameters.robot import DrivenBaseParameters, DynamicsParameters
from kane_dynamics.robot_config.parameters.spec import fixed, param

PART = (0.01, 1.0)


@dataclass(frozen=True)
class GovernorParameters(DrivenBaseParameters, DynamicsParameters):
    """Parameters of ``kane_governor``."""

    publish_rate: float = fixed(
        20.0,
        'Rate of cmd_vel; 0: one for each joint_states message.',
        unit='Hz',
        bounds=(0.0, 2000.0),
    )
    wheel_friction: float = fixed(
        0.0, 'mu of the wheels; 0: not known, slipping is not looked at.', bounds=(0.0, 10.0)
    )
    reserve_edge: float = param(
        0.05,
        'Least distance of the zero-moment point from the edges of the support polygon.',
        unit='m',
        bounds=(0.0, 10.0),
        name='reserve.edge',
    )
    reserve_friction: float = param(
        0.8, 'Largest part of mu N that wheels use.', bounds=PART, name='reserve.friction'
    )
    reserve_effort: float = param(
        0.9,
        'Largest part of the effort limits of wheels and arm.',
        bounds=PART,
        name='reserve.effort',
    )
    reserve_speed: float = param(
        0.9, 'Largest part of the velocity limits of wheels.', bounds=PART, name='reserve.speed'
    )
    arm_trajectory_topic: str = fixed(
        '',
        'Topic of the trajectory (trajectory_msgs/JointTrajectory) that the arm plays at ~/pace; '
        "'': none, the arm goes on as it moves.",
    )
    arm_tolerance: float = param(
        0.2,
        'Largest distance of a joint from that trajectory with which it counts.',
        unit='rad or m',
        bounds=(0.0, 100.0),
    )
    horizon: float = param(
        1.0,
        'How far the motion that follows a command is looked at.',
        unit='s',
        bounds=(0.01, 60.0),
    )
