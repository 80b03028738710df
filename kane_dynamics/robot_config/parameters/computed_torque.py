# SPDX-License-Identifier: Apache-2.0
"""Parameters of ``kane_computed_torque``."""

from __future__ import annotations

from dataclasses import dataclass

from kane_dynamics.analysis.tracking import COMPUTED, FEEDFORWARD, LAWS, PASSIVE
from kane_dynamics.robot_config.parameters.inverse_dynamics import (
    GAIN_D,
    GAIN_P,
    InverseDynamicsParameters,
)
from kane_dynamics.robot_config.parameters.robot import SECONDS
from kane_dynamics.robot_config.parameters.spec import Spec, fixed, param

JOINT, TASK = 'joint', 'task'


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
    space: str = fixed(
        JOINT,
        'joint: ~/reference is followed; task: the pose of `frame`, as ~/pose and ~/twist say, '
        'by computed_torque or slotine_li, while the other motors keep the posture of the start.',
        choices=(JOINT, TASK),
    )
    frame: str = fixed('', 'Link that follows ~/pose in task space; it must be given then.')
    odom_frame_id: str = fixed(
        'odom', 'Frame of the odometry pose, of ~/pose and ~/twist; the root of a fixed base.'
    )
    task_stiffness: tuple[float, ...] = param(
        (100.0,) * 6,
        'Acceleration of the frame per error, about x, y, z and along them in the axes of '
        'odom_frame_id; an axis on which p and d are 0 is free.',
        unit='1/s^2',
        bounds=(0.0, 1e6),
        size=6,
        name='task_gains.p',
    )
    task_damping: tuple[float, ...] = param(
        (20.0,) * 6,
        'The same per error of the twist.',
        unit='1/s',
        bounds=(0.0, 1e4),
        size=6,
        name='task_gains.d',
    )
    task_slope: tuple[float, ...] = param(
        (5.0,) * 6,
        'Speed of the frame per error, of law slotine_li; an axis on which slope and k are 0 is '
        'free.',
        unit='1/s',
        bounds=(0.0, 1e4),
        size=6,
        name='task_sliding_gains.slope',
    )
    task_brake: tuple[float, ...] = param(
        (0.0,) * 6,
        'Moment and force on the frame per twist beside its reference twist, of law slotine_li.',
        unit='N m s/rad, N s/m',
        bounds=(0.0, 1e9),
        size=6,
        name='task_sliding_gains.k',
    )
    posture_stiffness: float = param(
        25.0,
        'Acceleration of the joints per way to their posture, as far as the frame allows.',
        unit='1/s^2',
        bounds=(0.0, 1e6),
    )
    posture_damping: float = param(10.0, 'The same per velocity.', unit='1/s', bounds=(0.0, 1e4))
    pose_tolerance: float = param(
        0.3,
        'Largest distance of ~/pose from the present place; others are refused.',
        unit='m',
        bounds=(0.0, 1e6),
    )
    pose_timeout: float = param(
        0.5,
        'Age from which ~/pose is stale: on_stale; hold_position holds the frame where it is.',
        unit='s',
        bounds=SECONDS,
        name='timeout.pose',
    )
    twist_timeout: float = param(
        0.5, 'Age from which ~/twist is stale.', unit='s', bounds=SECONDS, name='timeout.twist'
    )
    friction_compensation: float = param(
        0.5,
        'Part of the Coulomb friction of the URDF that terms.friction feeds forward, at reference '
        'speeds: at 0.5 tracking is no worse than without, where friction is off by half; 1 where '
        'it has been measured.',
        bounds=(0.0, 1.0),
    )
    left_out_inertia: tuple[str, ...] = param(
        ('',),
        'Joints at which M a is left out, the feedback of computed_torque with it.',
        name='left_out.inertia',
    )
    left_out_coriolis: tuple[str, ...] = param(
        ('',), 'Joints at which C v is left out.', name='left_out.coriolis'
    )
    left_out_friction: tuple[str, ...] = param(
        ('',),
        'Joints at which friction is left out, as where a drive makes up for its own.',
        name='left_out.friction',
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
