# SPDX-License-Identifier: Apache-2.0
"""The parameters that nodes share: the robot, and the measured state."""

from __future__ import annotations

from dataclasses import dataclass

from kane_dynamics.ros.parameters.spec import param

SECONDS = (0.001, 3600.0)


@dataclass(frozen=True)
class RobotParameters:
    """What every node needs to build its model."""

    robot_description: str = param(
        'robot_description',
        '',
        'URDF text; empty: urdf_file, then the topic robot_description.',
        read_only=True,
    )
    urdf_file: str = param(
        'urdf_file',
        '',
        'URDF or xacro file, a path or package://<package>/<path>.',
        read_only=True,
    )
    params_file: str = param(
        'params_file',
        '',
        'File a launch file was told to load; the node reports if it is '
        'missing (ros2 launch goes on without it).',
        read_only=True,
    )
    end_with_process: int = param(
        'end_with_process',
        0,
        'Process that the node ends with, safely, whatever ended that; 0: none. Launch files '
        'name themselves.',
        bounds=(0, 2**31 - 1),
        read_only=True,
    )
    base_type: str = param(
        'base_type',
        'none',
        'Mobile base: none (fixed), diff_drive (two driven wheels), planar '
        '(holonomic, forces on base_x, base_y, base_yaw).',
        choices=('none', 'diff_drive', 'planar'),
        read_only=True,
    )
    left_wheel_names: tuple[str, ...] = param(
        'base.left_wheel_names', ('',), 'Left wheel joint of a diff_drive base.', read_only=True
    )
    right_wheel_names: tuple[str, ...] = param(
        'base.right_wheel_names', ('',), 'Right wheel joint of a diff_drive base.', read_only=True
    )
    wheel_radius: float = param(
        'base.wheel_radius',
        0.0,
        'Wheel radius; 0: from the collision shape in the URDF.',
        unit='m',
        bounds=(0.0, 100.0),
        read_only=True,
    )
    axle_offset: float = param(
        'base.axle_offset',
        0.0,
        'Position of the axle along x of the root link, for the '
        'constraint no_sideslip; rolling takes it from the URDF.',
        unit='m',
        bounds=(-100.0, 100.0),
        read_only=True,
    )
    constraint: str = param(
        'base.constraint',
        'auto',
        'Constraint of the base: rolling (both wheels roll, no side '
        'slip), no_sideslip, none; auto: rolling for diff_drive, none for planar.',
        choices=('auto', 'rolling', 'no_sideslip', 'none'),
        read_only=True,
    )
    locked_joints: tuple[str, ...] = param(
        'locked_joints', ('',), 'Joints held at zero and removed from the model.', read_only=True
    )
    gravity: tuple[float, ...] = param(
        'gravity',
        (0.0, 0.0, -9.81),
        'Gravity acceleration in the odometry frame.',
        unit='m/s^2',
        size=3,
        read_only=True,
    )
    compiled: str = param(
        'compiled',
        'auto',
        'Dynamics as machine code: auto (start at once with the slower reference algorithms, '
        'switch when compiled; from the second start on the code is in the cache), wait (compile '
        'first), never.',
        choices=('auto', 'wait', 'never'),
        read_only=True,
    )
    base_frame_id: str = param(
        'base_frame_id',
        'base_link',
        'child_frame_id of the odometry; a link fixed to the root '
        'link, else taken as another name of the root link.',
        read_only=True,
    )
    frame_prefix: str = param(
        'frame_prefix',
        '',
        'Put before every frame name in messages, as robot_state_publisher does (r1/).',
        read_only=True,
    )

    @property
    def base_frame(self) -> str:
        """Return the name of the base frame in messages."""
        return self.frame_prefix + self.base_frame_id


@dataclass(frozen=True)
class DynamicsParameters(RobotParameters):
    """What the two nodes that listen to a robot share."""

    joints: tuple[str, ...] = param(
        'joints',
        ('',),
        "Joints that carry a motor; [''] means all (and base_x, base_y, "
        'base_yaw of a planar base).',
        read_only=True,
    )
    autostart: bool = param(
        'autostart',
        True,
        'Configure and activate at start, without a lifecycle manager.',
        read_only=True,
    )
    merge_joint_states: bool = param(
        'merge_joint_states',
        False,
        'Accept joint_states that name a part of the joints and '
        'merge them (base and arm published apart); else they are rejected.',
        read_only=True,
    )
    publish_rate: float = param(
        'publish_rate',
        0.0,
        'Output rate; 0: one output per joint_states message.',
        unit='Hz',
        bounds=(0.0, 2000.0),
        read_only=True,
    )
    joint_states_timeout: float = param(
        'timeout.joint_states',
        0.1,
        'Age from which joint_states are stale.',
        unit='s',
        bounds=SECONDS,
    )
    odom_timeout: float = param(
        'timeout.odom', 0.25, 'Age from which odom is stale.', unit='s', bounds=SECONDS
    )
