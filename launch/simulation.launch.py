# SPDX-License-Identifier: Apache-2.0
"""Closed loop without hardware: kane_simulator and kane_inverse_dynamics."""

import os

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.conditions import IfCondition
from launch.substitutions import (
    EqualsSubstitution,
    LaunchConfiguration,
    NotEqualsSubstitution,
    PathJoinSubstitution,
)
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue
from launch_ros.substitutions import FindPackageShare

from kane_dynamics.ros.launching import end_all
from launch import LaunchDescription

CONFIG = (FindPackageShare('kane_dynamics'), 'config')
ONE_THREAD = {'OPENBLAS_NUM_THREADS': '1'}  # a robot's matrices are too small to share out


def launch_setup(context):
    """Return the nodes; they share preset, parameters and, where asked for, a URDF file."""
    robot = LaunchConfiguration('robot').perform(context)
    urdf_file = LaunchConfiguration('urdf_file').perform(context)
    frame_prefix = LaunchConfiguration('frame_prefix').perform(context)
    params_file = LaunchConfiguration('params_file')
    shared = [
        ParameterFile(PathJoinSubstitution([*CONFIG, f'{robot}.yaml'])),
        ParameterFile(params_file, allow_substs=True),
        {
            'params_file': ParameterValue(params_file, value_type=str),
            'compiled': LaunchConfiguration('compiled'),
            'end_with_process': os.getpid(),
        },
    ]
    if urdf_file:
        shared.append({'urdf_file': urdf_file})
    if frame_prefix:
        shared.append({'frame_prefix': frame_prefix})
    controller = LaunchConfiguration('controller')
    feedforward = ParameterValue(EqualsSubstitution(controller, 'effort'), value_type=bool)
    log_arguments = ['--ros-args', '--log-level', LaunchConfiguration('log_level')]
    return [
        Node(
            package='kane_dynamics',
            executable='kane_simulator',
            name='kane_simulator',
            namespace=LaunchConfiguration('namespace'),
            output='screen',
            on_exit=end_all,
            additional_env=ONE_THREAD,
            parameters=[
                *shared,
                {
                    'rtf': ParameterValue(LaunchConfiguration('rtf'), value_type=float),
                    'step_size': ParameterValue(
                        LaunchConfiguration('step_size'), value_type=float
                    ),
                    'lockstep': ParameterValue(LaunchConfiguration('lockstep'), value_type=bool),
                    'publish_clock': ParameterValue(
                        LaunchConfiguration('publish_clock'), value_type=bool
                    ),
                },
            ],
            remappings=[('~/effort_command', 'kane_inverse_dynamics/effort')],
            arguments=log_arguments,
        ),
        Node(
            package='kane_dynamics',
            executable='kane_inverse_dynamics',
            name='kane_inverse_dynamics',
            namespace=LaunchConfiguration('namespace'),
            output='screen',
            on_exit=end_all,
            additional_env=ONE_THREAD,
            condition=IfCondition(NotEqualsSubstitution(controller, 'none')),
            parameters=[
                *shared,
                {
                    'use_sim_time': ParameterValue(
                        LaunchConfiguration('publish_clock'), value_type=bool
                    ),
                    'terms.inertia': feedforward,
                    'terms.coriolis': feedforward,
                    'terms.gravity': feedforward,
                    'terms.friction': feedforward,
                },
            ],
            arguments=log_arguments,
        ),
        Node(
            package='kane_dynamics',
            executable='kane_forward_dynamics',
            name='kane_forward_dynamics',
            namespace=LaunchConfiguration('namespace'),
            output='screen',
            on_exit=end_all,
            additional_env=ONE_THREAD,
            condition=IfCondition(LaunchConfiguration('forward_dynamics')),
            parameters=[
                *shared,
                {
                    'use_sim_time': ParameterValue(
                        LaunchConfiguration('publish_clock'), value_type=bool
                    ),
                },
            ],
            arguments=log_arguments,
        ),
    ]


def generate_launch_description():
    """Return the launch arguments and the nodes."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'namespace',
                default_value='',
                description='Namespace of the nodes and their topics.',
            ),
            DeclareLaunchArgument(
                'frame_prefix',
                default_value='',
                description='Put before every frame name, r1/ for instance.',
            ),
            DeclareLaunchArgument(
                'robot',
                default_value='nonholonomic',
                choices=['nonholonomic', 'holonomic', 'tiago'],
                description='Preset config/<robot>.yaml.',
            ),
            DeclareLaunchArgument(
                'urdf_file',
                default_value='',
                description='URDF or xacro, a path or package:// URI; empty: that of the preset.',
            ),
            DeclareLaunchArgument(
                'params_file',
                default_value=PathJoinSubstitution([*CONFIG, 'simulation.yaml']),
                description='Parameters of all nodes; they win over those of the preset.',
            ),
            DeclareLaunchArgument(
                'controller',
                default_value='effort',
                choices=['none', 'effort', 'pd'],
                description='none: the simulator alone; effort: feed-forward and PD of '
                'kane_inverse_dynamics; pd: the same gains without feed-forward.',
            ),
            DeclareLaunchArgument(
                'forward_dynamics',
                default_value='false',
                choices=['true', 'false'],
                description='Also start kane_forward_dynamics.',
            ),
            DeclareLaunchArgument(
                'compiled',
                default_value='wait',
                choices=['auto', 'wait', 'never'],
                description='Dynamics as machine code: wait for it (the log tells how far it is), '
                'auto: begin with the slower reference algorithms, never.',
            ),
            DeclareLaunchArgument(
                'rtf',
                default_value='1.0',
                description='Simulated seconds per second; 0: as fast as possible.',
            ),
            DeclareLaunchArgument(
                'step_size', default_value='0.001', description='Integration step [s].'
            ),
            DeclareLaunchArgument(
                'lockstep',
                default_value='false',
                choices=['true', 'false'],
                description='Let the simulator wait for the efforts of each state.',
            ),
            DeclareLaunchArgument(
                'publish_clock',
                default_value='true',
                choices=['true', 'false'],
                description='Publish /clock; the other nodes then use simulated time.',
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
