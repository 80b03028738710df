# SPDX-License-Identifier: Apache-2.0
"""
A robot on exact wheels in mujoco_ros2_control: doc/mujoco.md.

Needs mujoco_ros2_control, ros2_controllers, robot_state_publisher and xacro, a C compiler, and the
Python package mujoco of the version that mujoco_ros2_control has.
"""

import os

from launch.actions import LogInfo, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from kane_dynamics.compiler.cache import cache_folder
from kane_dynamics.mujoco.prefix import write_prefix
from kane_dynamics.robot.resources import resolve
from kane_dynamics.robot_config.robot_source import model_of_file
from kane_dynamics.ros.launching import (
    ARM,
    CONTROLLED_ROBOT,
    SWITCH,
    argument,
    config_file,
    controlled_robot,
    controllers_file,
    effort_filler,
    end_all,
    spawners,
)
from launch import LaunchDescription

SIM_TIME = {'use_sim_time': True}
PREFIXES = 'AMENT_PREFIX_PATH'
FALLS = 'the arm falls until its controller is active: the first goal moves it from where it is'


def launch_setup(context):
    """Return the manager with MuJoCo in it, the controllers and the filler of efforts."""
    robot, urdf, scene, headless = (
        LaunchConfiguration(name).perform(context)
        for name in ('robot', 'urdf_file', 'scene', 'headless')
    )
    parts = model_of_file(robot, urdf)
    folder = cache_folder() / 'mujoco_ros2_control' / robot
    model = write_prefix(
        *(parts.text, parts.robot, parts.constraints, parts.motors),
        *(robot, folder, resolve(scene) if scene else None),
    )
    block = {
        'model': str(model),
        'pids': config_file('ros2_control', f'{robot}_mujoco_pids.yaml'),
        'headless': headless,
    }
    return [
        LogInfo(msg=FALLS),
        controlled_robot(context, ARM, 'mujoco', use_sim_time=True, **block),
        Node(
            package='mujoco_ros2_control',
            executable='ros2_control_node',
            output='screen',
            on_exit=end_all,
            parameters=[controllers_file(robot), SIM_TIME],
            additional_env={PREFIXES: f'{folder}:{os.environ.get(PREFIXES, "")}'},
        ),
        *spawners(robot, [ARM, 'base_controller']),
        effort_filler(context, SIM_TIME, cmd_vel='base_controller/cmd_vel'),
    ]


def generate_launch_description():
    """Return the launch arguments and the nodes."""
    return LaunchDescription(
        [
            argument('robot', **CONTROLLED_ROBOT),
            argument('urdf_file'),
            argument(
                'scene',
                default_value='package://kane_dynamics/config/mujoco/scene.xml',
                description='Model of MuJoCo around the robot, a path or package:// URI; empty: '
                'nothing.',
            ),
            argument(
                'headless',
                default_value='false',
                choices=SWITCH,
                description='Without the window of MuJoCo.',
            ),
            argument(
                'params_file',
                default_value=config_file('trajectory_feedforward.yaml'),
                description='Parameters of the node; they win over the preset.',
            ),
            argument('log_level'),
            OpaqueFunction(function=launch_setup),
        ]
    )
