# SPDX-License-Identifier: Apache-2.0
"""Launch arguments and nodes that the launch files share."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from launch.actions import DeclareLaunchArgument, OpaqueFunction, Shutdown
from launch.substitutions import Command, FindExecutable, LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue
from launch_ros.substitutions import FindPackageShare

from kane_dynamics.robot.resources import resolve, share_directory
from kane_dynamics.robot.text import file_parameters, parameter_file
from kane_dynamics.robot_config.nodes import NODES
from launch import LaunchDescription

SWITCH = ['true', 'false']
SIMULATED = ['nonholonomic', 'holonomic', 'tiago']
OWNED = sorted(path.stem for path in (share_directory() / 'config' / 'robots').glob('*.yaml'))
PRESETS = [*SIMULATED, *OWNED]
TOPICS = {
    'joint_states': 'sensor_msgs/JointState of the robot.',
    'odom': 'nav_msgs/Odometry of the base, twist in the child frame.',
    'cmd_vel': 'geometry_msgs/TwistStamped or Twist that the drives of the base follow.',
    'cmd_vel_in': 'geometry_msgs/TwistStamped or Twist that is asked for.',
    'imu': 'sensor_msgs/Imu of the base, where base.acceleration_source or gravity_source has it.',
    '~/reference': 'trajectory_msgs/JointTrajectory; interpolated in time.',
    '~/effort': 'sensor_msgs/JointState with efforts, for effort_source: topic.',
    '~/wrench': 'geometry_msgs/WrenchStamped between the link `frame` and the world.',
    '~/pose': 'geometry_msgs/PoseStamped that the link is to have.',
    '~/twist': 'geometry_msgs/TwistStamped that the link is to have.',
    '~/commands': 'std_msgs/Float64MultiArray for a forward_command_controller.',
}
"""What comes or goes on the topics that launch files can rename."""
_DEFAULTS = {'~/commands': 'effort_controller/commands'}
LOCAL = ('urdf_file', 'frame_prefix')
"""Launch arguments that are parameters, where a launch file has them and they are not empty."""
_ONE_THREAD = {'OPENBLAS_NUM_THREADS': '1'}  # a robot's matrices are too small to share out
_COMMON: dict[str, dict[str, Any]] = {
    'namespace': {'default_value': '', 'description': 'Namespace of the nodes and their topics.'},
    'frame_prefix': {
        'default_value': '',
        'description': 'Put before every frame name, r1/ for instance.',
    },
    'use_sim_time': {
        'default_value': 'false',
        'choices': SWITCH,
        'description': 'Take the time from /clock.',
    },
    'robot': {
        'default_value': '',
        'choices': ['', *PRESETS],
        'description': 'Preset config/<robot>.yaml or config/robots/<robot>.yaml; empty: none, '
        'params_file says it all.',
    },
    'urdf_file': {
        'default_value': '',
        'description': 'URDF or xacro, a path or package:// URI; empty: that of the preset, '
        'else the topic robot_description.',
    },
    'autostart': {
        'default_value': 'true',
        'choices': SWITCH,
        'description': 'Configure and activate without a lifecycle manager.',
    },
    'log_level': {
        'default_value': 'info',
        'choices': ['debug', 'info', 'warn', 'error', 'fatal'],
        'description': 'Least severity that is logged.',
    },
}


def argument(name: str, **values: Any) -> DeclareLaunchArgument:
    """Return a launch argument; what is not given is as in all launch files."""
    return DeclareLaunchArgument(name, **{**_COMMON.get(name, {}), **values})


def config_file(*names: Any) -> PathJoinSubstitution:
    """Return the path of an installed parameter file."""
    return PathJoinSubstitution([FindPackageShare('kane_dynamics'), 'config', *names])


def preset(robot: str) -> PathJoinSubstitution:
    """Return the path of the parameter file of a robot."""
    return config_file(*(['robots'] if robot in OWNED else []), f'{robot}.yaml')


def value(name: str, kind: type) -> ParameterValue:
    """Return a launch argument as the value of a parameter."""
    return ParameterValue(LaunchConfiguration(name), value_type=kind)


def robot_parameters(context: Any, more: Mapping[str, Any]) -> list[Any]:
    """Return preset, parameter file, then `more` and the arguments that are not empty."""
    robot, file, *values = (
        LaunchConfiguration(name, default='').perform(context)
        for name in ('robot', 'params_file', *LOCAL)
    )
    always = {'params_file': value('params_file', str), 'parent_pid': os.getpid(), **more}
    return [
        *([ParameterFile(preset(robot))] if robot else []),
        # the node says if it is missing
        *([ParameterFile(file, allow_substs=True)] if Path(file).is_file() else []),
        {**always, **{name: text for name, text in zip(LOCAL, values, strict=True) if text}},
    ]


def dynamics_node(name: str, parameters: Sequence[Any], **values: Any) -> Node:
    """Return a node of this package that ends with the launch, and the launch with it."""
    return Node(
        package='kane_dynamics',
        executable=name,
        name=name,
        namespace=LaunchConfiguration('namespace', default=''),
        output='screen',
        on_exit=end_all,
        additional_env=_ONE_THREAD,
        parameters=list(parameters),
        arguments=['--ros-args', '--log-level', LaunchConfiguration('log_level')],
        **values,
    )


def one_node_launch(name: str) -> LaunchDescription:
    """Return the launch of one node on the topics of a robot."""
    topics = {topic: f'{topic.removeprefix("~/")}_topic' for topic in NODES[name].topics}

    def setup(context: Any) -> list[Node]:
        start = {key: value(key, bool) for key in ('use_sim_time', 'autostart')}
        remappings = [(topic, LaunchConfiguration(values)) for topic, values in topics.items()]
        return [dynamics_node(name, robot_parameters(context, start), remappings=remappings)]

    arguments = [argument(common) for common in _COMMON]
    arguments.append(
        argument(
            'params_file',
            default_value=config_file(f'{NODES[name].parameters}.yaml'),
            description='Parameters; they win over those of the preset.',
        )
    )
    for topic, values in topics.items():
        default = _DEFAULTS.get(topic, topic)
        arguments.append(argument(values, default_value=default, description=TOPICS[topic]))
    return LaunchDescription([*arguments, OpaqueFunction(function=setup)])


def end_all(event: Any, context: Any) -> list[Any] | None:
    """End the launch when one of its nodes ends, with exit code 1 if that one failed."""
    if context.is_shutdown:
        return None
    end_failed(event, context)
    return [Shutdown(reason=f'{event.process_name} has ended')]


def end_failed(event: Any, context: Any) -> None:
    """End the launch with exit code 1 when a process fails that has to end by itself."""
    if event.returncode and not context.is_shutdown:
        raise RuntimeError(f'{event.process_name} ended with exit code {event.returncode}')


CONTROLLED = {'nonholonomic': 'caster_link', 'tiago': ''}
"""Robots with config/ros2_control/<robot>_controllers.yaml, and their ball casters."""
CONTROLLED_ROBOT: dict[str, Any] = {
    'default_value': 'nonholonomic',
    'choices': list(CONTROLLED),
    'description': 'Preset config/<robot>.yaml with its controllers.',
}
ALL_JOINTS, ARM = CONTROLLERS = ['effort_controller', 'arm_controller']
SOURCES = ['kane_inverse_dynamics', 'kane_computed_torque']


def choices() -> list[DeclareLaunchArgument]:
    """Return the launch arguments of both files: robot, controller and source of efforts."""
    return [
        argument('robot', **CONTROLLED_ROBOT),
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


def controlled_robot(
    context: Any, controller: str, hardware: str, use_sim_time: bool, **more: Any
) -> Node:
    """Return the publisher of robot_description: the URDF with the blocks of ros2_control."""
    robot, urdf = (LaunchConfiguration(name).perform(context) for name in ('robot', 'urdf_file'))
    xacro = PathJoinSubstitution(
        [FindPackageShare('kane_dynamics'), 'robots', 'xacro', 'controlled_robot.urdf.xacro']
    )
    values = {
        'name': robot,
        'urdf': str(resolve(urdf or file_parameters(parameter_file(robot))['urdf_file'])),
        'controllers': controllers_file(robot),
        'preset': preset(robot),
        'hardware': hardware,
        'controller': controller,
        'casters': CONTROLLED[robot],
        **more,
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


def spawners(robot: str, controllers: Sequence[str], *topics: str) -> list[Node]:
    """Return what activates joint_state_broadcaster, and controllers when there are states."""

    def follow(event: Any, context: Any) -> list[Any] | None:
        end_failed(event, context)
        return None if context.is_shutdown else [_spawner(robot, name) for name in controllers]

    states = Node(
        package='kane_dynamics',
        executable='kane_wait_for_states',
        output='screen',
        on_exit=follow,
        arguments=[
            *controller_joints(robot, controllers[0]),
            *('--topics', 'joint_states', *topics),
        ],
    )
    return [_spawner(robot, 'joint_state_broadcaster'), states]


def _spawner(robot: str, controller: str) -> Node:
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
        robot_parameters(context, {**more, 'command_joints': joints}),
        remappings=[('~/commands', f'{ALL_JOINTS}/commands')],
    )


def effort_filler(context: Any, more: Mapping[str, Any], cmd_vel: str) -> Node:
    """Return the node that fills trajectories for arm_controller; `cmd_vel` moves the base."""
    moves = {'controller': ARM, 'base.motion_source': 'commanded'}
    return dynamics_node(
        'kane_trajectory_feedforward',
        robot_parameters(context, {**more, **moves}),
        remappings=[('cmd_vel', cmd_vel)],
    )
