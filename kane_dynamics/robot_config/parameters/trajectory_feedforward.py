# SPDX-License-Identifier: Apache-2.0
"""Parameters of ``kane_trajectory_feedforward``."""

from __future__ import annotations

from dataclasses import dataclass

from kane_dynamics.robot_config.parameters.load import PayloadParameters, TiltParameters
from kane_dynamics.robot_config.parameters.robot import (
    EFFORT,
    VELOCITY,
    CommandedBaseParameters,
    DynamicsParameters,
)
from kane_dynamics.robot_config.parameters.spec import fixed, param
from kane_dynamics.robot_config.parameters.terms import TermParameters

REST, PLANNED, MEASURED, COMMANDED = MOTIONS = ('rest', 'planned', 'measured', 'commanded')


@dataclass(frozen=True)
class TrajectoryFeedforwardParameters(
    TermParameters,
    CommandedBaseParameters,
    PayloadParameters,
    TiltParameters,
    DynamicsParameters,
):
    """Parameters of ``kane_trajectory_feedforward``."""

    controller: str = fixed(
        'arm_controller',
        'joint_trajectory_controller that gets the trajectories; its topic and its action are '
        'below this name.',
    )
    effort_interface: bool = fixed(
        True,
        'Whether the controller commands effort; if not, it refuses points with efforts, and they '
        'are left out.',
    )
    base_motion: str = param(
        REST,
        'How the base moves meanwhile: rest, planned (the trajectory says it), measured (goes on '
        'as odom shows), commanded (follows cmd_vel).',
        choices=MOTIONS,
        name='base.motion',
    )
    effort_error: float = param(
        0.1,
        'Largest error of efforts that the controller takes linearly between points; 0: no '
        'points are put in for it.',
        unit='N m or N',
        bounds=(0.0, 1e6),
    )
    point_rate: float = param(
        0.0, 'Least number of points per second; 0: any.', unit='Hz', bounds=(0.0, 2000.0)
    )
    ramp_time: float = param(
        0.1,
        'Time in which the controller ramps from its last effort to that of the motion; 0: it '
        'steps.',
        unit='s',
        bounds=(0.0, 60.0),
    )
    retime: bool = param(
        False,
        'Move along the way of the joints as fast as the limits of efforts and speeds allow; with '
        'base.motion rest only.',
    )
    clamp_to_urdf: bool = param(True, 'Clamp efforts to the URDF limits.')
    effort_limit_scale: float = param(1.0, 'Factor on the URDF effort limits.', bounds=(0.0, 1.0))

    @property
    def base_drive(self) -> str:
        """Return what the drives of the base take: others move it, as in `base_motion`."""
        return EFFORT if self.base_type == 'none' else VELOCITY
