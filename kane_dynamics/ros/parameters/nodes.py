# SPDX-License-Identifier: Apache-2.0
"""The parameter table of each node; names and defaults follow ros2_controllers."""

from __future__ import annotations

from dataclasses import dataclass

from kane_dynamics.ros.parameters.constraints import CONSTRAINT_SPECS
from kane_dynamics.ros.parameters.robot import (
    SECONDS,
    DrivenBaseParameters,
    DynamicsParameters,
    RobotParameters,
)
from kane_dynamics.ros.parameters.spec import Spec, fixed, param, specs

SIX_ZEROS = (0.0,) * 6
SCALE = (0.0, 1.0)
PART = (0.01, 1.0)
DEVIATION = (0.0, 1e6)


@dataclass(frozen=True)
class InverseDynamicsParameters(DrivenBaseParameters, DynamicsParameters):
    """Parameters of ``kane_inverse_dynamics``."""

    command_joints: tuple[str, ...] = fixed(
        ('',),
        "Joints, and their order, in ~/commands; [''] means all that carry a motor, in model "
        'order.',
    )
    reference_timeout: float = param(
        0.5,
        'Age from which ~/reference is stale.',
        unit='s',
        bounds=SECONDS,
        name='timeout.reference',
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
    motion_from: tuple[str, ...] = fixed(
        ('cmd_vel', 'odom'),
        'Where the acceleration of a base driven by velocity is taken from, the first that is '
        'fresh: cmd_vel (as the drives should follow it), odom (its twist, differentiated), imu.',
        name='base.motion_from',
    )
    imu_timeout: float = param(
        0.1, 'Age from which imu is stale.', unit='s', bounds=SECONDS, name='timeout.imu'
    )
    braking_time: float = param(
        0.5,
        'Time to rest, with constant deceleration, of on_stale hold_position.',
        unit='s',
        bounds=(0.01, 60.0),
    )
    terms_inertia: bool = param(
        True, 'Feed forward M(q) a of the reference.', name='terms.inertia'
    )
    terms_coriolis: bool = param(True, 'Feed forward C(q, v) v.', name='terms.coriolis')
    terms_gravity: bool = param(
        True, 'Feed forward g(q); false where the robot compensates gravity.', name='terms.gravity'
    )
    terms_friction: bool = param(
        True, 'Feed forward damping and Coulomb friction of the URDF.', name='terms.friction'
    )
    gravity_compensated_joints: tuple[str, ...] = param(
        ('',), 'Joints whose drive compensates gravity itself; g(q) is left out there.'
    )
    torque_scale: float = param(
        1.0, 'Factor on the feed-forward efforts (not on the gains).', bounds=SCALE
    )
    clamp_to_urdf: bool = param(True, 'Clamp efforts to the URDF limits.')
    effort_limit_scale: float = param(1.0, 'Factor on the URDF effort limits.', bounds=SCALE)


@dataclass(frozen=True)
class ForwardDynamicsParameters(DynamicsParameters):
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


@dataclass(frozen=True)
class WrenchControlParameters(DynamicsParameters):
    """Parameters of ``kane_wrench_control``."""

    command_joints: tuple[str, ...] = fixed(
        ('',),
        "Joints, and their order, in ~/commands; [''] means all that carry a motor, in model "
        'order.',
    )
    odom_frame_id: str = fixed(
        'odom', 'Frame of the odometry pose, and of ~/pose; the root link of a fixed base.'
    )
    frame: str = fixed('', 'Link that pushes, yields or moves; it must be given.')
    axes: str = fixed(
        'world',
        'Axes x, y, z of modes, gains, ~/wrench and ~/twist: those of odom_frame_id (world), or '
        'of the link itself (frame).',
        choices=('world', 'frame'),
    )
    modes: tuple[str, ...] = fixed(
        ('free', 'free', 'free', 'impedance', 'impedance', 'impedance'),
        'For rotation about x, y, z and translation along them: wrench (that of ~/wrench), '
        'impedance (spring and damper to ~/pose and ~/twist, and ~/wrench), motion (accelerates '
        'as stiffness and damping say, whatever force that takes), free.',
    )
    stiffness: tuple[float, ...] = param(
        (50.0, 50.0, 50.0, 500.0, 500.0, 500.0),
        'Of impedance axes; of motion axes in 1/s^2.',
        unit='N m/rad, N/m',
        size=6,
    )
    damping: tuple[float, ...] = param(
        (10.0, 10.0, 10.0, 50.0, 50.0, 50.0),
        'Of impedance axes, and of wrench axes that nothing stops; of motion axes in 1/s.',
        unit='N m s/rad, N s/m',
        size=6,
    )
    posture_stiffness: float = param(
        25.0,
        'Acceleration of the joints per way to their posture, that in which the node began, as '
        'far as it moves no axis of the frame.',
        unit='1/s^2',
        bounds=(0.0, 1e6),
    )
    posture_damping: float = param(10.0, 'The same per velocity.', unit='1/s', bounds=(0.0, 1e4))
    period: float = param(
        0.004,
        'Time for which efforts are held, that of joint_states: damping is kept below what takes '
        'all of the speed in it. 0: not looked at.',
        unit='s',
        bounds=(0.0, 1.0),
    )
    friction_speed: float = param(
        0.05,
        'Speed below which only a part of the Coulomb friction of the joints is made up for: at '
        'rest its sign is not known.',
        unit='rad/s, m/s',
        bounds=(1e-4, 1e3),
    )
    wheel_friction: float = param(
        0.0,
        'mu of the wheels; where they would slip, the frame is held instead. 0: not looked at.',
        bounds=(0.0, 10.0),
    )
    wheel_load: float = param(
        0.0,
        'Load of each driven wheel; 0: they share the weight evenly, casters carry nothing.',
        unit='N',
        bounds=(0.0, 1e6),
    )
    pose_tolerance: float = param(
        0.3,
        'Largest distance of ~/pose from the present place; others are refused.',
        unit='m',
        bounds=(0.0, 1e6),
    )
    wrench_timeout: float = param(
        0.5,
        'Age from which ~/wrench is stale: nothing is pushed then.',
        unit='s',
        bounds=SECONDS,
        name='timeout.wrench',
    )
    pose_timeout: float = param(
        0.5,
        'Age from which ~/pose is stale: the frame is held where it is then.',
        unit='s',
        bounds=SECONDS,
        name='timeout.pose',
    )
    twist_timeout: float = param(
        0.5, 'Age from which ~/twist is stale.', unit='s', bounds=SECONDS, name='timeout.twist'
    )
    without_target: str = param(
        'hold',
        'Output without any fresh target: hold (the frame where it is, the posture), zero, stop '
        '(zero once, then silence).',
        choices=('hold', 'zero', 'stop'),
    )
    clamp_to_urdf: bool = param(True, 'Keep efforts within the URDF limits.')
    effort_limit_scale: float = param(1.0, 'Factor on the URDF effort limits.', bounds=SCALE)


@dataclass(frozen=True)
class GovernorParameters(DrivenBaseParameters, DynamicsParameters):
    """Parameters of ``kane_governor``."""

    publish_rate: float = fixed(
        20.0,
        'Rate of cmd_vel; 0: one for each joint_states message.',
        unit='Hz',
        bounds=(0.0, 2000.0),
    )
    support_points: tuple[float, ...] = fixed(
        (0.0,),
        'Where massless casters touch the ground: x, y, z of each in the root link; [0.0]: none.',
        unit='m',
        name='base.support_points',
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
    horizon: float = param(
        1.0,
        'How far the motion that follows a command is looked at.',
        unit='s',
        bounds=(0.01, 60.0),
    )


@dataclass(frozen=True)
class SimulatorParameters(DrivenBaseParameters, RobotParameters):
    """Parameters of ``kane_simulator``."""

    command_joints: tuple[str, ...] = fixed(
        ('',),
        "Joints, and their order, in ~/commands; [''] means all that carry a motor, in model "
        'order.',
    )
    odom_frame_id: str = fixed('odom', 'Frame of the odometry pose.')
    step_size: float = fixed(0.001, 'Integration step.', unit='s', bounds=(1e-5, 0.02))
    integrator: str = fixed(
        'semi_implicit', 'Integration method.', choices=('semi_implicit', 'rk4', 'midpoint')
    )
    clamp_to_urdf: bool = fixed(True, 'Clamp efforts to the URDF limits, as drives do.')
    drive_gain: float = fixed(
        1e5,
        'Effort of each of base_x, base_y, base_yaw per velocity error where base.drive is '
        'velocity.',
        unit='N s/m, N m s/rad',
        bounds=(1.0, 1e9),
        name='base.drive_gain',
    )
    gravity_compensated_joints: tuple[str, ...] = fixed(
        ('',), 'Joints whose drives compensate gravity themselves.'
    )
    joint_stops: bool = fixed(
        True, 'Stop joints at the position limits of the URDF, without bouncing.'
    )
    rtf: float = fixed(
        1.0, 'Simulated seconds per second; 0: as fast as possible.', bounds=(0.0, 1000.0)
    )
    lockstep: bool = fixed(
        False,
        'Advance one joint_states period only after an effort command whose stamp is that of '
        'the last joint_states.',
    )
    joint_state_rate: float = fixed(
        100.0,
        'Rate of joint_states and /clock, rounded to whole steps.',
        unit='Hz',
        bounds=(1.0, 10000.0),
    )
    odom_rate: float = fixed(
        50.0,
        'Rate of odom and tf, rounded to whole joint_states periods.',
        unit='Hz',
        bounds=(0.1, 10000.0),
    )
    command_timeout: float = param(
        0.5,
        'Simulated time after which an effort without a new command goes to zero (wall time in '
        'lockstep).',
        unit='s',
        bounds=(0.001, 3600.0),
    )
    step_count: int = param(
        1, 'Integration steps per call of ~/step.', unit='steps', bounds=(1, 1000000)
    )
    start_paused: bool = fixed(False, 'Begin paused.')
    publish_clock: bool = fixed(True, 'Publish /clock.')
    publish_tf: bool = fixed(True, 'Publish odometry on /tf (needs tf2_msgs).')
    initial_pose: tuple[float, ...] = fixed(
        (0.0, 0.0, 0.0), 'Base pose x [m], y [m], yaw [rad] at start and reset.', size=3
    )
    constraint_names: tuple[str, ...] = fixed(
        ('',),
        'Constraints and contacts that come and go, each with a service ~/constraints/<name> and '
        'with the parameters constraints.<name>.*.',
        name='constraints.names',
    )
    wrench_timeout: float = param(
        0.5,
        'Simulated time for which a wrench of ~/external_wrench acts.',
        unit='s',
        bounds=(0.001, 3600.0),
    )
    noise_seed: int = fixed(
        0,
        'Seed of the noise; noise is a function of the seed and of the step.',
        bounds=(0, 2**31 - 1),
        name='noise.seed',
    )
    noise_position: float = fixed(
        0.0,
        'Standard deviation of positions in joint_states.',
        unit='rad or m',
        bounds=DEVIATION,
        name='noise.position',
    )
    noise_velocity: float = fixed(
        0.0,
        'Standard deviation of velocities in joint_states.',
        unit='rad/s or m/s',
        bounds=DEVIATION,
        name='noise.velocity',
    )
    noise_effort: float = fixed(
        0.0,
        'Standard deviation of efforts in joint_states.',
        unit='N m or N',
        bounds=DEVIATION,
        name='noise.effort',
    )
    noise_pose: tuple[float, ...] = fixed(
        (0.0, 0.0, 0.0),
        'Standard deviation of x, y, yaw in odom and tf.',
        unit='m, m, rad',
        size=3,
        name='noise.pose',
    )
    noise_twist: tuple[float, ...] = fixed(
        (0.0, 0.0, 0.0),
        'Standard deviation of the twist in odom: along x, along y, yaw rate.',
        unit='m/s, m/s, rad/s',
        size=3,
        name='noise.twist',
    )
    pose_covariance_diagonal: tuple[float, ...] = fixed(
        SIX_ZEROS, 'Covariance in odom: x, y, z, rotations.', unit='m^2, rad^2', size=6
    )
    twist_covariance_diagonal: tuple[float, ...] = fixed(
        SIX_ZEROS, 'Covariance of the twist in odom.', unit='m^2/s^2, rad^2/s^2', size=6
    )


@dataclass(frozen=True)
class CouplerParameters:
    """Parameters of the device at ``kane_simulator`` that somebody holds."""

    link: str = fixed(
        '', 'Link that a device pulls, see ~/device_pose; empty: no device.', name='device.link'
    )
    stiffness: tuple[float, ...] = fixed(
        (0.0, 0.0, 0.0, 500.0, 500.0, 500.0),
        'Of the spring between device and link, about and along the axes of the link.',
        unit='N m/rad, N/m',
        size=6,
        name='device.stiffness',
    )
    damping: tuple[float, ...] = fixed(
        (0.0, 0.0, 0.0, 5.0, 5.0, 5.0),
        'Of the damper beside it.',
        unit='N m s/rad, N s/m',
        size=6,
        name='device.damping',
    )
    device_damping: tuple[float, ...] = fixed(
        SIX_ZEROS,
        'Of the device itself, in the same axes: with the period it must be above K T/2 + |B|.',
        unit='N m s/rad, N s/m',
        size=6,
        name='device.own_damping',
    )
    period: float = fixed(
        0.0,
        'From one pose of the device to the next; 0: whether it is passive is not looked at.',
        unit='s',
        bounds=(0.0, 1.0),
        name='device.period',
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
    'kane_wrench_control': specs(WrenchControlParameters),
    'kane_governor': specs(GovernorParameters),
    'kane_simulator': (
        *specs(SimulatorParameters),
        *specs(CouplerParameters),
        INITIAL_POSITION,
        *CONSTRAINT_SPECS,
    ),
}
"""Node name to all its parameters; `tables` of the documentation and of the static tests."""

ALL_SPECS: tuple[Spec, ...] = tuple(
    {spec.name: spec for table in TABLES.values() for spec in table}.values()
)
