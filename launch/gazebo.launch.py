# SPDX-License-Identifier: Apache-2.0
"""
A robot in Gazebo that this package moves, with ros2_control or without: doc/ros2_control.md.

Needs ros_gz_sim, ros_gz_bridge, robot_state_publisher and xacro; ros2_controllers and
gz_ros2_control for hardware:=gz, ign_ros2_control (Humble) for hardware:=ign. Not tried: no Gazebo
was at hand.
"""

from launch.actions import IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.ros.launching import (
    ALL_JOINTS,
    SWITCH,
    argument,
    choices,
    config_file,
    controlled_robot,
    effort_filler,
    effort_source,
    end_all,
    end_failed,
    spawners,
)
from launch import LaunchDescription

SIM_TIME = {'use_sim_time': True}
WORLD = 'empty.sdf'  # its name stands in the topics of the bridges
FORCES = 'joint_force'
"""Hardware that is none: one topic of ApplyJointForce a joint."""


def gazebo(gui):
    """Return the include that starts Gazebo; the launch ends with it."""
    file = PathJoinSubstitution([FindPackageShare('ros_gz_sim'), 'launch', 'gz_sim.launch.py'])
    return IncludeLaunchDescription(
        PythonLaunchDescriptionSource(file),
        launch_arguments=[
            ('gz_args', f'-r {"" if gui == "true" else "-s "}{WORLD}'),
            ('on_exit_shutdown', 'true'),
        ],
    )


def bridge(name, file):
    """Return a bridge of the topics that a file names."""
    return Node(
        package='ros_gz_bridge',
        executable='parameter_bridge',
        name=name,
        output='screen',
        on_exit=end_all,
        parameters=[{'config_file': config_file('gazebo', file), **SIM_TIME}],
    )


def launch_setup(context):
    """Return Gazebo with the robot, the bridges, the controllers and the source of efforts."""
    robot, hardware, controller, gui = (
        LaunchConfiguration(name).perform(context)
        for name in ('robot', 'hardware', 'controller', 'gui')
    )
    forces, all_joints = hardware == FORCES, controller == ALL_JOINTS
    if forces and not all_joints:
        raise InvalidInputError(f'hardware:={FORCES} has no controllers, got {controller}')
    nodes = [
        gazebo(gui),
        controlled_robot(context, controller, hardware, use_sim_time=True),
        Node(
            package='ros_gz_sim',
            executable='create',
            output='screen',
            on_exit=end_failed,
            arguments=['-topic', 'robot_description', '-name', robot, '-z', '0.001'],
        ),
        bridge('bridge', f'{robot}_bridge.yaml'),
    ]
    if forces:
        nodes.append(bridge('joint_force_bridge', f'{robot}_joint_force_bridge.yaml'))
    else:
        nodes += spawners(robot, [controller, *([] if all_joints else ['base_controller'])])
    if all_joints:
        # JointStatePublisher sends each step, 1000 a second: more than a Python node should answer
        rate = 250.0 if forces else 0.0
        more = {**SIM_TIME, 'joint_topics': forces, 'publish_rate': rate}
        nodes.append(effort_source(context, more))
    else:
        nodes.append(effort_filler(context, SIM_TIME, cmd_vel='base_controller/cmd_vel'))
    return nodes


def generate_launch_description():
    """Return the launch arguments, Gazebo and the nodes."""
    return LaunchDescription(
        [
            *choices(),
            argument(
                'hardware',
                default_value='gz',
                choices=['gz', 'ign', FORCES],
                description='gz: gz_ros2_control; ign: ign_ros2_control of Fortress; joint_force: '
                'ApplyJointForce for each joint, no ros2_control.',
            ),
            argument(
                'gui',
                default_value='true',
                choices=SWITCH,
                description='Show the window of Gazebo.',
            ),
            argument(
                'params_file',
                default_value=config_file('inverse_dynamics.yaml'),
                description='Parameters of the node; they win over the preset.',
            ),
            OpaqueFunction(function=launch_setup),
        ]
    )
