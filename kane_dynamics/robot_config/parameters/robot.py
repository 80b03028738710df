# SPDX-License-Identifier: Apache-2.0
"""The parameters that nodes share: the robot, and the measured state."""

from __future__ import annotations

from dataclasses import dataclass

from kane_dynamics.robot_config.parameters.spec import fixed, param

SECONDS = (0.001, 3600.0)
EFFORT, VELOCITY = 'effort', 'velocity'  # what drives take
WHEELED = ('skid_steer', 'mecanum', 'omni', 'ackermann', 'swerve')


@dataclass(frozen=True)
class RobotParameters:
    """What every node needs to build its model."""

    robot_description: str = fixed(
        '', 'URDF text; empty: urdf_file, then the topic robot_description.'
    )
    urdf_file: str = fixed('', 'URDF or xacro file, a path or package://<package>/<path>.')
    urdf_source: str = fixed(
        '', 'Who has the URDF, in words: messages quote it where there is none yet.'
    )
    params_file: str = fixed(
        '',
        'File a launch file was told to load; the node reports if it is missing (ros2 launch '
        'goes on without it).',
    )
    end_with_process: int = fixed(
        0,
        'Process that the node ends with, safely, whatever ended that; 0: none. Launch files '
        'name themselves.',
        bounds=(0, 2**31 - 1),
    )
    thread_priority: int = fixed(
        0,
        'Real-time priority (SCHED_FIFO) of the thread that computes, as that of the controller '
        'manager; 0: ordinary. On a busy machine efforts then do not wait for a processor.',
        bounds=(0, 99),
    )
    base_type: str = fixed(
        'none',
        'Mobile base: none (fixed), diff_drive (driven wheels on one axle), skid_steer, mecanum, '
        'omni, ackermann, swerve (on the joints in base.*), planar (forces on base_x, base_y, '
        'base_yaw). kane-dynamics info lists those that fit a URDF.',
        choices=('none', 'diff_drive', 'planar', *WHEELED),
    )
    left_wheel_names: tuple[str, ...] = fixed(
        ('',),
        'Left wheel joints of a diff_drive or skid_steer base.',
        name='base.left_wheel_names',
    )
    right_wheel_names: tuple[str, ...] = fixed(
        ('',),
        'Right wheel joints of a diff_drive or skid_steer base.',
        name='base.right_wheel_names',
    )
    wheel_names: tuple[str, ...] = fixed(
        ('',),
        'Wheel joints of a mecanum or omni base; those of an ackermann base that nothing steers.',
        name='base.wheel_names',
    )
    roller_angles: tuple[float, ...] = fixed(
        (0.0,),
        'Of mecanum wheels, in the order of base.wheel_names: from forward to the axis of the '
        'roller on the ground, counterclockwise seen from above.',
        unit='rad',
        name='base.roller_angles',
    )
    steering_names: tuple[str, ...] = fixed(
        ('',), 'Steering joints of an ackermann or swerve base.', name='base.steering_names'
    )
    steered_wheel_names: tuple[str, ...] = fixed(
        ('',),
        'Wheel joints that base.steering_names turn, in the same order; the steering joint of '
        'twin wheels comes once for each.',
        name='base.steered_wheel_names',
    )
    driven_wheel_names: tuple[str, ...] = fixed(
        ('',),
        "Wheel joints of an ackermann base with a motor; [''] means base.wheel_names.",
        name='base.driven_wheel_names',
    )
    caster_swivel_names: tuple[str, ...] = fixed(
        ('',), 'Swivel joints of casters, which no motor turns.', name='base.caster_swivel_names'
    )
    caster_wheel_names: tuple[str, ...] = fixed(
        ('',),
        'Wheel joints of casters, in the order of base.caster_swivel_names.',
        name='base.caster_wheel_names',
    )
    support_points: tuple[float, ...] = fixed(
        (0.0,),
        'Where massless casters and balls under the base touch the ground: x, y, z of each in the '
        'root link; [0.0]: none. They carry, and hold nothing.',
        unit='m',
        name='base.support_points',
    )
    wheel_separation_multiplier: float = fixed(
        1.0,
        'By which the track of a skid_steer base seems wider where it turns, in its kinematics.',
        bounds=(0.01, 100.0),
        name='base.wheel_separation_multiplier',
    )
    wheel_radius: float = fixed(
        0.0,
        'Wheel radius; 0: from the collision shape in the URDF, as of casters always.',
        unit='m',
        bounds=(0.0, 100.0),
        name='base.wheel_radius',
    )
    axle_offset: float = fixed(
        0.0,
        'Position of the axle along x of the root link, for the constraint no_sideslip; rolling'
        ' takes it from the URDF.',
        unit='m',
        bounds=(-100.0, 100.0),
        name='base.axle_offset',
    )
    constraint: str = fixed(
        'auto',
        'Constraint of the base: rolling (wheels roll), no_sideslip, none; auto: rolling for '
        'bases on wheels, none for planar.',
        choices=('auto', 'rolling', 'no_sideslip', 'none'),
        name='base.constraint',
    )
    locked_joints: tuple[str, ...] = fixed(
        ('',), 'Joints held at zero and removed from the model.'
    )
    gravity: tuple[float, ...] = fixed(
        (0.0, 0.0, -9.81), 'Gravity acceleration in the odometry frame.', unit='m/s^2', size=3
    )
    compiled: str = fixed(
        'auto',
        'Dynamics as machine code: auto (start at once with the slower reference algorithms, '
        'switch when compiled; from the second start on the code is in the cache), wait '
        '(compile first), never.',
        choices=('auto', 'wait', 'never'),
    )
    base_frame_id: str = fixed(
        'base_link',
        'child_frame_id of the odometry; a link fixed to the root link, else taken as another '
        'name of the root link.',
    )
    frame_prefix: str = fixed(
        '', 'Put before every frame name in messages, as robot_state_publisher does (r1/).'
    )

    @property
    def base_frame(self) -> str:
        """Return the name of the base frame in messages."""
        return self.frame_prefix + self.base_frame_id


@dataclass(frozen=True)
class DynamicsParameters(RobotParameters):
    """What the two nodes that listen to a robot share."""

    joints: tuple[str, ...] = fixed(
        ('',),
        "Joints that carry a motor; [''] means all (and base_x, base_y, base_yaw of a planar "
        'base).',
    )
    autostart: bool = fixed(True, 'Configure and activate at start, without a lifecycle manager.')
    merge_joint_states: bool = fixed(
        False,
        'Accept joint_states that name a part of the joints and merge them (base and arm '
        'published apart); else they are rejected.',
    )
    publish_rate: float = fixed(
        0.0,
        'Output rate; 0: one output per joint_states message.',
        unit='Hz',
        bounds=(0.0, 2000.0),
    )
    joint_states_timeout: float = param(
        0.1,
        'Age from which joint_states are stale.',
        unit='s',
        bounds=SECONDS,
        name='timeout.joint_states',
    )
    odom_timeout: float = param(
        0.25, 'Age from which odom is stale.', unit='s', bounds=SECONDS, name='timeout.odom'
    )


@dataclass(frozen=True)
class EffortOutputParameters:
    """Where the nodes send efforts that command motors."""

    command_joints: tuple[str, ...] = fixed(
        ('',),
        "Joints, and their order, in ~/commands; [''] means all that carry a motor, in model "
        'order.',
    )
    joint_topics: bool = fixed(
        False,
        'Also publish the effort of each of them alone, as a std_msgs/Float64 on <joint>/effort, '
        "for the bridge to Gazebo's ApplyJointForce.",
    )
    payload_ramp_time: float = param(
        0.5,
        'Time in which efforts go over to a payload that changes while they are sent.',
        unit='s',
        bounds=(0.0, 60.0),
    )


@dataclass(frozen=True)
class CommandedBaseParameters:
    """How the drives of a base follow cmd_vel."""

    cmd_vel_stamped: bool = fixed(
        True,
        'Whether cmd_vel is a TwistStamped, else a Twist; either is of base_frame_id.',
        name='base.cmd_vel_stamped',
    )
    response_time: float = param(
        0.1,
        'Lag of the drives behind cmd_vel, and time over which measured velocities are '
        'differentiated.',
        unit='s',
        bounds=(0.001, 10.0),
        name='base.response_time',
    )
    acceleration_limit: tuple[float, ...] = param(
        (0.0, 0.0, 0.0),
        'With which the drives follow cmd_vel: along x, along y, of the yaw rate; 0: no limit.',
        unit='m/s^2, m/s^2, rad/s^2',
        size=3,
        bounds=(0.0, 1e6),
        name='base.acceleration_limit',
    )
    cmd_vel_timeout: float = param(
        0.5,
        'Age from which cmd_vel is stale: the base brakes.',
        unit='s',
        bounds=SECONDS,
        name='timeout.cmd_vel',
    )


@dataclass(frozen=True)
class DrivenBaseParameters(CommandedBaseParameters):
    """A base whose drives take velocities, as nearly all that are sold."""

    base_drive: str = fixed(
        EFFORT,
        'What the drives of the base take: effort (this node commands them), or velocity (others '
        'command them by cmd_vel).',
        choices=(EFFORT, VELOCITY),
        name='base.drive',
    )


@dataclass(frozen=True)
class EffortBaseParameters:
    """A base whose drives take efforts; for nodes that command them."""

    base_drive: str = fixed(
        EFFORT,
        'What the drives of the base take: effort, since this node pushes with them. The arm of a '
        'base that follows cmd_vel works with base_type none while that stands.',
        choices=(EFFORT,),
        name='base.drive',
    )
