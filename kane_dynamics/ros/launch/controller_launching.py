# SPDX-License-Identifier: Apache-2.0
"""What the launch files for ros2_control and Gazebo share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml
from launch.actions import DeclareLaunchArgument
from launch.substitutions import Command, FindExecutable, LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from kane_dynamics.robot.resources import resolve, share_directory
from kane_dynamics.ros.launch.launching import (
    argument,
    config_file,
    dynamics_node,
    end_all,
    end_failed,
    preset,
    robot_parameters,
)

CONTROLLED = {'nonholonomic': 'caster_link', 'tiago': ''}
"""Robots with config/ros2_control/<robot>_controllers.yaml, and their ball casters."""
ALL_JOINTS, ARM = CONTROLLERS = ['effort_controller', 'arm_controller']
SOURCES = ['kane_inverse_dynamics', 'kane_computed_torque']


def choices() -> list[DeclareLaunchArgument]:
    """Return the launch arguments of both files: robot, controller and source of efforts."""
    return [
        argument(
            'robot',
            default_value='nonholonomic',
            choices=list(CONTROLLED),
            description='Preset config/<robot>.yaml with its controllers.',
        ),
        argument('urdf_file'),
        argument(
            'controller',
            default_value=ALL_JOINTS,
            choices=CONTROLLERS,
            description='effort_controller: wheels and arm by the efforts of a node of this '
            'package; arm_controller: the arm by trajectories, the base by velocity.',
        ),
        argument(
            'source',
            default_value=SOURCES[0],
            choices=SOURCES,
            description='Node that computes the efforts for effort_controller.',
        ),
        argument('log_level'),
    ]


def controllers_file(robot: str) -> PathJoinSubstitution:
    """Return the path of the parameters of a robot's controllers."""
    return config_file('ros2_control', f'{robot}_controllers.yaml')


def controller_joints(robot: str, controller: str) -> list[str]:
    """Return the joints of a controller, in its order."""
    file = share_directory() / 'config' / 'ros2_control' / f'{robot}_controllers.yaml'
    content = yaml.safe_load(file.read_text(encoding='utf-8'))
    return list(content[controller]['ros__parameters']['joints'])


def controlled_robot(context: Any, hardware: str, use_sim_time: bool) -> Node:
    """Return the publisher of robot_description: the URDF with the blocks of ros2_control."""
    robot, controller, urdf = (
        LaunchConfiguration(name).perform(context) for name in ('robot', 'controller', 'urdf_file')
    )
    shipped = share_directory() / 'config' / f'{robot}.yaml'
    local = yaml.safe_load(shipped.read_text(encoding='utf-8'))['/**']['ros__parameters']
    xacro = PathJoinSubstitution(
        [FindPackageShare('kane_dynamics'), 'robots', 'xacro', 'controlled_robot.urdf.xacro']
    )
    values = {
        'name': robot,
        'urdf': str(resolve(urdf or local['urdf_file'])),
        'controllers': controllers_file(robot),
        'preset': preset(robot),
        'hardware': hardware,
        'controller': controller,
        'casters': CONTROLLED[robot],
    }
    options = [part for name, text in values.items() for part in (f' {name}:=', text)]
    description = Command([FindExecutable(name='xacro'), ' ', xacro, *options])
    return Node(
        package='robot_state_publisher',
        executable='robot_state_publisher',
        output='screen',
        on_exit=end_all,
        parameters=[
            {
                'robot_description': ParameterValue(description, value_type=str),
                'use_sim_time': use_sim_time,
            }
        ],
    )


def spawner(robot: str, controller: str) -> Node:
    """Return what loads, configures and activates a controller, and ends."""
    return Node(
        package='controller_manager',
        executable='spawner',
        output='screen',
        on_exit=end_failed,
        arguments=[controller, '--param-file', controllers_file(robot)],
    )


def effort_source(context: Any, more: Mapping[str, Any]) -> Node:
    """Return the node that computes the efforts of wheels and arm for effort_controller."""
    robot, source = (LaunchConfiguration(n).perform(context) for n in ('robot', 'source'))
    joints = controller_joints(robot, ALL_JOINTS)
    return dynamics_node(
        source,
        robot_parameters(context, {**more, 'command_joints': joints}, ['urdf_file']),
        namespace='',
        remappings=[('~/commands', f'{ALL_JOINTS}/commands')],
    )


def effort_filler(context: Any, more: Mapping[str, Any], cmd_vel: str) -> Node:
    """Return the node that fills trajectories for arm_controller; `cmd_vel` moves the base."""
    moves = {'controller': ARM, 'base.motion_source': 'commanded'}
    return dynamics_node(
        'kane_trajectory_feedforward',
        robot_parameters(context, {**more, **moves}, ['urdf_file']),
        namespace='',
        remappings=[('cmd_vel', cmd_vel)],
    )
