# SPDX-License-Identifier: Apache-2.0
"""The parameter table of each node; names and defaults follow ros2_controllers."""

from __future__ import annotations

from dataclasses import dataclass

from kane_dynamics.ros.parameters.robot import SECONDS, DynamicsParameters, RobotParameters
from kane_dynamics.ros.parameters.spec import Spec, param, specs

SIX_ZEROS = (0.0,) * 6
SCALE = (0.0, 1.0)


@dataclass(frozen=True)
class InverseDynamicsParameters(DynamicsParameters):
    """Parameters of ``kane_inverse_dynamics``."""

    command_joints: tuple[str, ...] = param(
        'command_joints',
        ('',),
        "Joints, and their order, in ~/commands; [''] means all that "
        'carry a motor, in model order.',
        read_only=True,
    )
    reference_timeout: float = param(
        'timeout.reference', 0.5, 'Age from which ~/reference is stale.', unit='s', bounds=SECONDS
    )
    reference_start_tolerance: float = param(
        'reference_start_tolerance',
        0.2,
        'Largest distance from the present position at which a trajectory that has begun already '
        'is taken; others are refused.',
        unit='rad or m',
        bounds=(0.0, 1e6),
    )
    on_stale: str = param(
        'on_stale',
        'auto',
        'Output without a fresh reference: hold_position (brake, then hold with the gains), '
        'hold_gravity (the gravity term at the measured positions: neither brakes nor holds), '
        'zero, stop (zero once, then silence); auto: hold_position for a mobile base, else '
        'hold_gravity.',
        choices=('auto', 'hold_position', 'hold_gravity', 'zero', 'stop'),
    )
    braking_time: float = param(
        'braking_time',
        0.5,
        'Time to rest, with constant deceleration, of on_stale hold_position.',
        unit='s',
        bounds=(0.01, 60.0),
    )
    terms_inertia: bool = param('terms.inertia', True, 'Feed forward M(q) a of the reference.')
    terms_coriolis: bool = param('terms.coriolis', True, 'Feed forward C(q, v) v.')
    terms_gravity: bool = param(
        'terms.gravity', True, 'Feed forward g(q); false where the robot compensates gravity.'
    )
    terms_friction: bool = param(
        'terms.friction', True, 'Feed forward damping and Coulomb friction of the URDF.'
    )
    gravity_compensated_joints: tuple[str, ...] = param(
        'gravity_compensated_joints',
        ('',),
        'Joints whose drive compensates gravity itself; g(q) is left out there.',
    )
    torque_scale: float = param(
        'torque_scale', 1.0, 'Factor on the feed-forward efforts (not on the gains).', bounds=SCALE
    )
    clamp_to_urdf: bool = param('clamp_to_urdf', True, 'Clamp efforts to the URDF limits.')
    effort_limit_scale: float = param(
        'effort_limit_scale', 1.0, 'Factor on the URDF effort limits.', bounds=SCALE
    )


@dataclass(frozen=True)
class ForwardDynamicsParameters(DynamicsParameters):
    """Parameters of ``kane_forward_dynamics``."""

    effort_source: str = param(
        'effort_source',
        'joint_states',
        'Where the efforts come from: the effort field of joint_states, or the topic ~/effort.',
        choices=('joint_states', 'topic'),
        read_only=True,
    )
    effort_timeout: float = param(
        'timeout.effort', 0.1, 'Age from which ~/effort is stale.', unit='s', bounds=SECONDS
    )
    residual_warn: float = param(
        'residual_warn',
        1e-3,
        'Largest |A v| of the measured velocities before diagnostics warn '
        '(the wheels slip, or the wheel data are wrong).',
        unit='m/s',
        bounds=(0.0, 1e6),
    )


@dataclass(frozen=True)
class SimulatorParameters(RobotParameters):
    """Parameters of ``kane_simulator``."""

    command_joints: tuple[str, ...] = param(
        'command_joints',
        ('',),
        "Joints, and their order, in ~/commands; [''] means all that "
        'carry a motor, in model order.',
        read_only=True,
    )
    odom_frame_id: str = param(
        'odom_frame_id', 'odom', 'Frame of the odometry pose.', read_only=True
    )
    step_size: float = param(
        'step_size', 0.001, 'Integration step.', unit='s', bounds=(1e-5, 0.02), read_only=True
    )
    integrator: str = param(
        'integrator',
        'semi_implicit',
        'Integration method.',
        choices=('semi_implicit', 'rk4', 'midpoint'),
        read_only=True,
    )
    clamp_to_urdf: bool = param(
        'clamp_to_urdf', True, 'Clamp efforts to the URDF limits, as drives do.', read_only=True
    )
    joint_stops: bool = param(
        'joint_stops',
        True,
        'Stop joints at the position limits of the URDF, without bouncing.',
        read_only=True,
    )
    rtf: float = param(
        'rtf',
        1.0,
        'Simulated seconds per second; 0: as fast as possible.',
        bounds=(0.0, 1000.0),
        read_only=True,
    )
    lockstep: bool = param(
        'lockstep',
        False,
        'Advance one joint_states period only after an effort command whose '
        'stamp is that of the last joint_states.',
        read_only=True,
    )
    joint_state_rate: float = param(
        'joint_state_rate',
        100.0,
        'Rate of joint_states and /clock, rounded to whole steps.',
        unit='Hz',
        bounds=(1.0, 10000.0),
        read_only=True,
    )
    odom_rate: float = param(
        'odom_rate',
        50.0,
        'Rate of odom and tf, rounded to whole joint_states periods.',
        unit='Hz',
        bounds=(0.1, 10000.0),
        read_only=True,
    )
    command_timeout: float = param(
        'command_timeout',
        0.5,
        'Simulated time after which an effort without a new command '
        'goes to zero (wall time in lockstep).',
        unit='s',
        bounds=(0.001, 3600.0),
    )
    step_count: int = param(
        'step_count', 1, 'Integration steps per call of ~/step.', unit='steps', bounds=(1, 1000000)
    )
    start_paused: bool = param('start_paused', False, 'Begin paused.', read_only=True)
    publish_clock: bool = param('publish_clock', True, 'Publish /clock.', read_only=True)
    publish_tf: bool = param(
        'publish_tf', True, 'Publish odometry on /tf (needs tf2_msgs).', read_only=True
    )
    initial_pose: tuple[float, ...] = param(
        'initial_pose',
        (0.0, 0.0, 0.0),
        'Base pose x [m], y [m], yaw [rad] at start and reset.',
        size=3,
        read_only=True,
    )
    pose_covariance_diagonal: tuple[float, ...] = param(
        'pose_covariance_diagonal',
        SIX_ZEROS,
        'Covariance in odom: x, y, z, rotations.',
        unit='m^2, rad^2',
        size=6,
        read_only=True,
    )
    twist_covariance_diagonal: tuple[float, ...] = param(
        'twist_covariance_diagonal',
        SIX_ZEROS,
        'Covariance of the twist in odom.',
        unit='m^2/s^2, rad^2/s^2',
        size=6,
        read_only=True,
    )


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
INITIAL_POSITION = Spec(
    'initial_positions.<joint>',
    0.0,
    'Position of a joint at start and reset.',
    unit='rad or m',
    bounds=(-1e6, 1e6),
    read_only=True,
)

TABLES: dict[str, tuple[Spec, ...]] = {
    'kane_inverse_dynamics': (*specs(InverseDynamicsParameters), GAIN_P, GAIN_D),
    'kane_forward_dynamics': specs(ForwardDynamicsParameters),
    'kane_simulator': (*specs(SimulatorParameters), INITIAL_POSITION),
}
"""Node name to all its parameters; `tables` of the documentation and of the static tests."""

ALL_SPECS: tuple[Spec, ...] = tuple(
    {spec.name: spec for table in TABLES.values() for spec in table}.values()
)
