# SPDX-License-Identifier: Apache-2.0
"""Mobile bases on wheels: rows, kinematics in both directions, recognition from the URDF."""

from kane_dynamics.bases.block import wheeled_base
from kane_dynamics.bases.builders import ackermann, differential, mecanum, omni, skid_steer, swerve
from kane_dynamics.bases.icr_steering import ConsistentSteering, SteeringStep
from kane_dynamics.bases.kinematics import BaseTwist, SteeringAngles, WheelRates
from kane_dynamics.bases.motion_rows import Wheel
from kane_dynamics.bases.recognition import FittingKind, FoundWheel, fitting_kinds, found_wheels
from kane_dynamics.bases.wheeled_base import WheeledBase

__all__ = [
    'BaseTwist',
    'ConsistentSteering',
    'FittingKind',
    'FoundWheel',
    'SteeringAngles',
    'SteeringStep',
    'Wheel',
    'WheelRates',
    'WheeledBase',
    'ackermann',
    'differential',
    'fitting_kinds',
    'found_wheels',
    'mecanum',
    'omni',
    'skid_steer',
    'swerve',
    'wheeled_base',
]
