# SPDX-License-Identifier: Apache-2.0
"""Start kane_inverse_dynamics on the topics of a robot."""

import os

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue
from launch_ros.substitutions import FindPackageShare

from kane_dynamics.ros.launching import end_all
from launch import LaunchDescription

CONFIG = (FindPackageShare('kane_dynamics'), 'config')
ONE_THREAD = {'OPENBLAS_NUM_THREADS': '1'}  # a robot's matrices are too small to share out


def launch_setup(context):
    """Return the node; a preset and a URDF file are given to it only where they are asked for."""
    robot = LaunchConfiguration('robot').perform(context)
    urdf_file = LaunchConfiguration('urdf_file').perform(context)
    frame_prefix = LaunchConfiguration('frame_prefix').perform(context)
    params_file = LaunchConfiguration('params_file')
    parameters = [
        ParameterFile(params_file, allow_substs=True),
        {
            'use_sim_time': ParameterValue(LaunchConfiguration('use_sim_time'), value_type=bool),
            'autostart': ParameterValue(LaunchConfiguration('autostart'), value_type=bool),
            'params_file': ParameterValue(params_file, value_type=str),
            'end_with_process': os.getpid(),
        },
    ]
    if robot:
        parameters.insert(0, ParameterFile(PathJoinSubstitution([*CONFIG, f'{robot}.yaml'])))
    if urdf_file:
        parameters.append({'urdf_file': urdf_file})
    if frame_prefix:
        parameters.append({'frame_prefix': frame_prefix})
    return [
        Node(
            package='kane_dynamics',
            executable='kane_inverse_dynamics',
            name='kane_inverse_dynamics',
            namespace=LaunchConfiguration('namespace'),
            output='screen',
            on_exit=end_all,
            additional_env=ONE_THREAD,
            parameters=parameters,
            remappings=[
                ('joint_states', LaunchConfiguration('joint_states_topic')),
                ('odom', LaunchConfiguration('odom_topic')),
                ('~/commands', LaunchConfiguration('command_topic')),
                ('~/reference', LaunchConfiguration('reference_topic')),
            ],
            arguments=['--ros-args', '--log-level', LaunchConfiguration('log_level')],
        )
    ]


def generate_launch_description():
    """Return the launch arguments and the node."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'namespace', default_value='', description='Namespace of the node and its topics.'
            ),
            DeclareLaunchArgument(
                'frame_prefix',
                default_value='',
                description='Put before every frame name, r1/ for instance.',
            ),
            DeclareLaunchArgument(
                'use_sim_time',
                default_value='false',
                choices=['true', 'false'],
                description='Take the time from /clock.',
            ),
            DeclareLaunchArgument(
                'robot',
                default_value='',
                choices=['', 'nonholonomic', 'holonomic', 'tiago'],
                description='Preset config/<robot>.yaml; empty: none, params_file says it all.',
            ),
            DeclareLaunchArgument(
                'urdf_file',
                default_value='',
                description='URDF or xacro, a path or package:// URI; empty: that of the preset, '
                'else the topic robot_description.',
            ),
            DeclareLaunchArgument(
                'params_file',
                default_value=PathJoinSubstitution([*CONFIG, 'inverse_dynamics.yaml']),
                description='Parameters; they win over those of the preset.',
            ),
            DeclareLaunchArgument(
                'joint_states_topic',
                default_value='joint_states',
                description='sensor_msgs/JointState with positions and velocities.',
            ),
            DeclareLaunchArgument(
                'odom_topic',
                default_value='odom',
                description='nav_msgs/Odometry of the base, twist in the child frame.',
            ),
            DeclareLaunchArgument(
                'reference_topic',
                default_value='~/reference',
                description='trajectory_msgs/JointTrajectory; interpolated in time.',
            ),
            DeclareLaunchArgument(
                'command_topic',
                default_value='effort_controller/commands',
                description='std_msgs/Float64MultiArray for a forward_command_controller.',
            ),
            DeclareLaunchArgument(
                'autostart',
                default_value='true',
                choices=['true', 'false'],
                description='Configure and activate without a lifecycle manager.',
            ),
            DeclareLaunchArgument(
                'log_level',
                default_value='info',
                choices=['debug', 'info', 'warn', 'error', 'fatal'],
                description='Least severity that is logged.',
            ),
            OpaqueFunction(function=launch_setup),
        ]
    )
