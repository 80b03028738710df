# SPDX-License-Identifier: Apache-2.0
"""Parameters of ``kane_computed_torque``."""

from __future__ import annotations

from dataclasses import dataclass

from kane_dynamics.control.tracking import COMPUTED, FEEDFORWARD, LAWS, PASSIVE
from kane_dynamics.ros.parameters.inverse_dynamics import (
    GAIN_D,
    GAIN_P,
    InverseDynamicsParameters,
)
from kane_dynamics.ros.parameters.spec import Spec, fixed, param


@dataclass(frozen=True)
class ComputedTorqueParameters(InverseDynamicsParameters):
    """Parameters of ``kane_computed_torque``: those of ``kane_inverse_dynamics``, and more."""

    law: str = fixed(
        COMPUTED,
        'computed_torque: the errors obey e" + d e\' + p e = 0 with acceleration_gains; '
        'slotine_li: by passivity, with sliding_gains; feedforward_pd: as kane_inverse_dynamics, '
        'with gains.',
        choices=LAWS,
    )
    ramp_time: float = param(
        0.5,
        'Time in which the efforts grow from zero, after activation and after every silence.',
        unit='s',
        bounds=(0.0, 60.0),
    )


STIFFNESS = Spec(
    'acceleration_gains.<joint>.p',
    100.0,
    'Acceleration per position error of a joint, of law computed_torque.',
    unit='1/s^2',
    bounds=(0.0, 1e6),
)
DAMPING = Spec(
    'acceleration_gains.<joint>.d',
    20.0,
    'Acceleration per velocity error of a joint, of law computed_torque.',
    unit='1/s',
    bounds=(0.0, 1e4),
)
SLOPE = Spec(
    'sliding_gains.<joint>.slope',
    5.0,
    'Speed per position error of a joint, of law slotine_li.',
    unit='1/s',
    bounds=(0.0, 1e4),
)
BRAKE = Spec(
    'sliding_gains.<joint>.k',
    0.0,
    'Effort per speed beside the reference speed of a joint, of law slotine_li.',
    unit='N m s/rad or N s/m',
    bounds=(0.0, 1e9),
)
EFFORT_RATE = Spec(
    'effort_rate.<joint>',
    0.0,
    'Largest change of the effort of a joint; 0: not limited.',
    unit='N m/s or N/s',
    bounds=(0.0, 1e9),
)
GAINS_OF = {
    COMPUTED: (STIFFNESS, DAMPING),
    PASSIVE: (SLOPE, BRAKE),
    FEEDFORWARD: (GAIN_P, GAIN_D),
}
"""The gains of each law."""
JOINT_TABLE = (*(spec for pair in GAINS_OF.values() for spec in pair), EFFORT_RATE)
