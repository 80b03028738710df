# SPDX-License-Identifier: Apache-2.0
"""
kane_simulator under the controllers of ros2_control, without hardware: doc/ros2_control.md.

Needs ros2_control, ros2_controllers, robot_state_publisher, xacro and
joint_state_topic_hardware_interface of Jazzy or later. All on the wall clock, and without a
namespace: the topics of the hardware have none.
"""

from launch.actions import LogInfo, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from kane_dynamics.ros.launching import (
    ALL_JOINTS,
    argument,
    choices,
    config_file,
    controlled_robot,
    controller_joints,
    controllers_file,
    dynamics_node,
    effort_filler,
    effort_source,
    end_all,
    robot_parameters,
    spawners,
)
from launch import LaunchDescription

STANDS = (
    'kane_simulator compiles the dynamics first, which takes seconds where no cache has them; the '
    'robot stands on its brakes until the controller that is spawned then sends efforts'
)
COMPILED = {'compiled': LaunchConfiguration('compiled')}


def launch_setup(context):
    """Return simulator, controller manager, controllers and the source of efforts."""
    robot, controller = (
        LaunchConfiguration(name).perform(context) for name in ('robot', 'controller')
    )
    all_joints = controller == ALL_JOINTS
    joints = controller_joints(robot, controller)
    simulator = {
        'hardware_joints': joints,
        'brakes': True,
        'publish_clock': False,
        'base.command_interface': 'effort' if all_joints else 'velocity',
    }
    nodes = [
        LogInfo(msg=STANDS),
        dynamics_node(
            'kane_simulator',
            robot_parameters(context, {**COMPILED, **simulator}),
            # the hardware reads robot_joint_states; joint_states are those of the broadcaster
            remappings=[
                ('joint_states', 'robot_joint_states'),
                ('robot_description', 'kane_simulator/robot_description'),
            ],
        ),
        controlled_robot(context, controller, 'topic', use_sim_time=False),
        Node(
            package='controller_manager',
            executable='ros2_control_node',
            output='screen',
            on_exit=end_all,
            parameters=[controllers_file(robot)],
        ),
        *spawners(robot, [controller], 'robot_joint_states'),
    ]
    if all_joints:
        # brakes hold the robot until efforts come: these are to carry it at once
        nodes.append(effort_source(context, {**COMPILED, 'ramp_time': 0.0}))
    else:
        nodes.append(effort_filler(context, COMPILED, cmd_vel='cmd_vel'))
    return nodes


def generate_launch_description():
    """Return the launch arguments and the nodes."""
    return LaunchDescription(
        [
            *choices(),
            argument(
                'params_file',
                default_value=config_file('simulation.yaml'),
                description='Parameters of the nodes; they win over those of the preset.',
            ),
            argument(
                'compiled',
                default_value='wait',
                choices=['auto', 'wait', 'never'],
                description='Dynamics as machine code: wait for it, auto: begin with the slower '
                'reference algorithms, never.',
            ),
            OpaqueFunction(function=launch_setup),
        ]
    )
