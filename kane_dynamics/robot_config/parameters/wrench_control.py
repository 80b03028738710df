# SPDX-License-Identifier: Apache-2.0
"""Parameters of ``kane_wrench_control``."""

from __future__ import annotations

from dataclasses import dataclass

from kane_dynamics.robot_config.parameters.load import PayloadParameters, TiltParameters
from kane_dynamics.robot_config.parameters.robot import (
    SECONDS,
    DynamicsParameters,
    EffortBaseParameters,
    EffortOutputParameters,
)
from kane_dynamics.robot_config.parameters.spec import fixed, param

SCALE = (0.0, 1.0)


@dataclass(frozen=True)
class WrenchControlParameters(
    EffortBaseParameters,
    EffortOutputParameters,
    PayloadParameters,
    TiltParameters,
    DynamicsParameters,
):
    """Parameters of ``kane_wrench_control``."""

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
