# SPDX-License-Identifier: Apache-2.0
"""Parameters of ``kane_inverse_dynamics``."""

from __future__ import annotations

from dataclasses import dataclass

from kane_dynamics.robot_config.parameters.load import PayloadParameters
from kane_dynamics.robot_config.parameters.moved_base import VelocityControlledBaseParameters
from kane_dynamics.robot_config.parameters.robot import SECONDS, EffortOutputParameters
from kane_dynamics.robot_config.parameters.spec import Spec, param
from kane_dynamics.robot_config.parameters.terms import TermParameters

SCALE = (0.0, 1.0)


@dataclass(frozen=True)
class InverseDynamicsParameters(
    TermParameters, EffortOutputParameters, PayloadParameters, VelocityControlledBaseParameters
):
    """Parameters of ``kane_inverse_dynamics``."""

    reference_timeout: float = param(
        0.5,
        'Age from which ~/reference is stale.',
        unit='s',
        bounds=SECONDS,
        name='timeout.reference',
    )
    pace_timeout: float = param(
        0.5,
        'Age from which pace is stale: trajectories are played at the full pace.',
        unit='s',
        bounds=SECONDS,
        name='timeout.pace',
    )
    reference_start_tolerance: float = param(
        0.2,
        'Largest distance from the present position at which a trajectory that has begun '
        'already is taken; others are refused.',
        unit='rad or m',
        bounds=(0.0, 1e6),
    )
    on_stale: str = param(
        'auto',
        'Output without a fresh reference: hold_position (brake, then hold with the gains), '
        'hold_gravity (the gravity term at the measured positions: neither brakes nor holds), '
        'zero, stop (zero once, then silence); auto: hold_position for a mobile base, else '
        'hold_gravity.',
        choices=('auto', 'hold_position', 'hold_gravity', 'zero', 'stop'),
    )
    base_friction: tuple[float, ...] = param(
        (0.0, 0.0),
        'mu of the wheels of a skid_steer base along and across their tracks, for the efforts '
        'that turning costs; 0: not known, left out.',
        bounds=(0.0, 10.0),
        size=2,
        name='base.friction',
    )
    steering_tolerance: float = param(
        0.05,
        'Angle by which steered wheels may be away from the nearest angles that agree without a '
        'warning; dynamics takes those that agree.',
        unit='rad',
        bounds=(0.0, 3.2),
        name='base.steering_tolerance',
    )
    braking_time: float = param(
        0.5,
        'Time to rest, with constant deceleration, of on_stale hold_position; and of a trajectory '
        'where pace goes from 1 to 0.',
        unit='s',
        bounds=(0.01, 60.0),
    )
    torque_scale: float = param(
        1.0, 'Factor on the feed-forward efforts (not on the gains).', bounds=SCALE
    )
    clamp_to_urdf: bool = param(True, 'Clamp efforts to the URDF limits.')
    effort_limit_scale: float = param(1.0, 'Factor on the URDF effort limits.', bounds=SCALE)


GAIN_P = Spec(
    'gains.<joint>.p',
    0.0,
    'Effort per position error of a joint with a motor.',
    unit='N m/rad or N/m',
    bounds=(0.0, 1e9),
)
GAIN_D = Spec(
    'gains.<joint>.d',
    0.0,
    'Effort per velocity error of a joint with a motor.',
    unit='N m s/rad or N s/m',
    bounds=(0.0, 1e9),
)
