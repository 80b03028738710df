# SPDX-License-Identifier: Apache-2.0
"""Parameters of ``kane_forward_dynamics``."""

from __future__ import annotations

from dataclasses import dataclass

from kane_dynamics.robot_config.parameters.load import PayloadParameters
from kane_dynamics.robot_config.parameters.moved_base import VelocityControlledBaseParameters
from kane_dynamics.robot_config.parameters.robot import SECONDS
from kane_dynamics.robot_config.parameters.spec import fixed, param


@dataclass(frozen=True)
class ForwardDynamicsParameters(PayloadParameters, VelocityControlledBaseParameters):
    """Parameters of ``kane_forward_dynamics``."""

    effort_source: str = fixed(
        'joint_states',
        'Where the efforts come from: the effort field of joint_states, or the topic ~/effort.',
        choices=('joint_states', 'topic'),
    )
    effort_timeout: float = param(
        0.1, 'Age from which ~/effort is stale.', unit='s', bounds=SECONDS, name='timeout.effort'
    )
    residual_warn: float = param(
        1e-3,
        'Largest |A v| of the measured velocities before diagnostics warn (the wheels slip, or '
        'the wheel data are wrong).',
        unit='m/s',
        bounds=(0.0, 1e6),
    )
