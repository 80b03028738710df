# SPDX-License-Identifier: Apache-2.0
"""Parameters of ``kane_simulator``."""

from __future__ import annotations

from dataclasses import dataclass

from kane_dynamics.robot_config.parameters.load import PayloadParameters
from kane_dynamics.robot_config.parameters.robot import DrivenBaseParameters, RobotParameters
from kane_dynamics.robot_config.parameters.spec import Spec, fixed, param

SIX_ZEROS = (0.0,) * 6
DEVIATION = (0.0, 1e6)


@dataclass(frozen=True)
class SimulatorParameters(DrivenBaseParameters, PayloadParameters, RobotParameters):
    """Parameters of ``kane_simulator``."""

    command_joints: tuple[str, ...] = fixed(
        ('',),
        "Joints, and their order, in ~/commands; [''] means all that carry a motor, in model "
        'order.',
    )
    hardware_joints: tuple[str, ...] = fixed(
        ('',),
        'Joints with an effort command interface in a ros2_control block whose hardware is '
        "JointStateTopicSystem: it commands them on robot_joint_commands; ['']: none does.",
    )
    odom_frame_id: str = fixed('odom', 'Frame of the odometry pose.')
    step_size: float = fixed(0.001, 'Integration step.', unit='s', bounds=(1e-5, 0.02))
    integrator: str = fixed(
        'semi_implicit', 'Integration method.', choices=('semi_implicit', 'rk4', 'midpoint')
    )
    clamp_to_urdf: bool = fixed(True, 'Clamp efforts to the URDF limits, as drives do.')
    drive_gain: float = fixed(
        1e5,
        'Effort of each of base_x, base_y, base_yaw and of steered joints per velocity error '
        'where base.drive is velocity.',
        unit='N s/m, N m s/rad',
        bounds=(1.0, 1e9),
        name='base.drive_gain',
    )
    steering_rate_limit: float = fixed(
        5.0,
        'Rate at which the drives of steered wheels turn them where base.drive is velocity.',
        unit='rad/s',
        bounds=(0.01, 1000.0),
        name='base.steering_rate_limit',
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
        'Rate of joint_states, rounded to whole steps; /clock comes with them.',
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
    clock_rate: float = fixed(
        0.0,
        'Largest rate of /clock; 0: with each joint_states. Every node in simulated time needs '
        'some 0.1 ms for each.',
        unit='Hz',
        bounds=(0.0, 10000.0),
    )
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


INITIAL_POSITION = Spec(
    'initial_positions.<joint>',
    0.0,
    'Position of a joint at start and reset.',
    unit='rad or m',
    bounds=(-1e6, 1e6),
    read_only=True,
)
