# SPDX-License-Identifier: Apache-2.0
"""
A real controller manager with its controllers, and kane_simulator as its hardware.

Everything runs in the environment of a sourced ROS 2 (Jazzy or later) with controller_manager,
ros2_controllers and joint_state_topic_hardware_interface. ROS2_CONTROL_NODE is the command that
starts the manager where that is not lib/controller_manager/ros2_control_node of a prefix; all is
in ROS_DOMAIN_ID where that is set, else in a domain that a test is likely to have alone.
"""

import importlib.util
import os
import shlex
import sys
from pathlib import Path

import xacro
import yaml
from ros_bench import LATCHED, ROOT, Bench
from std_msgs.msg import String

from kane_dynamics.robot.resources import resolve

NEEDED = (
    'controller_manager',
    'joint_state_broadcaster',
    'joint_trajectory_controller',
    'forward_command_controller',
    'joint_state_topic_hardware_interface',
)
XACRO = ROOT / 'robots' / 'xacro' / 'controlled_robot.urdf.xacro'


def prefix_of(package):
    """Return the sourced prefix that holds a package, or None."""
    places = filter(None, os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep))
    return next((Path(p) for p in places if (Path(p) / 'share' / package).is_dir()), None)


def missing():
    """Return what keeps a real ros2_control from being tested here, or ''."""
    lacking = [name for name in NEEDED if prefix_of(name) is None]
    lacking += [name for name in ('control_msgs',) if importlib.util.find_spec(name) is None]
    if not lacking:
        return ''
    return f'no {", ".join(lacking)}: source a ROS 2 with ros2_control (doc/ros2_control.md)'


def described(robot, urdf, controllers, preset, controller, hardware='topic', **more):
    """Return the URDF of a robot with the block of ros2_control, as the launch files make it."""
    given = {
        'name': robot,
        'urdf': str(resolve(str(urdf))),
        'controllers': str(controllers),
        'preset': str(preset),
        'hardware': hardware,
        'controller': controller,
        **more,
    }
    return xacro.process_file(str(XACRO), mappings=given).toxml()


class Bed(Bench):
    """Starts hardware, manager, controllers and nodes, and records what they say."""

    def __init__(self, folder):
        super().__init__(folder, int(os.environ.get('ROS_DOMAIN_ID', '0')))
        self._description = self.publisher(String, 'robot_description', LATCHED)

    def describe(self, text):
        """Publish robot_description, as robot_state_publisher does."""
        self._description.publish(String(data=text))

    def simulator(self, preset, joints, **given):
        """Start kane_simulator as the hardware of joints that take efforts."""
        params = {
            'hardware_joints': yaml.safe_dump(list(joints), default_flow_style=True).strip(),
            'publish_clock': False,
            'base.command_interface': 'velocity',
            **given,
        }
        return self.start(
            'simulator_node',
            files=[preset, ROOT / 'config' / 'simulation.yaml'],
            params=params,
            arguments=[
                *('-r', 'joint_states:=robot_joint_states'),
                *('-r', 'robot_description:=kane_simulator/robot_description'),
            ],
        )

    def manager(self, controllers, **params):
        """Start the controller manager."""
        local = prefix_of('controller_manager') / 'lib' / 'controller_manager'
        command = shlex.split(os.environ.get('ROS2_CONTROL_NODE', ''))
        command = command or [str(local / 'ros2_control_node')]
        command += ['--ros-args', '--params-file', str(controllers)]
        for name, value in params.items():
            command += ['-p', f'{name}:={value}']
        return self.run('manager', command)

    def spawn(self, controllers, *names, each=None):
        """Load, configure and activate controllers; wait for that."""
        spawner = prefix_of('controller_manager') / 'lib' / 'controller_manager' / 'spawner'
        process = self.run(
            'spawner',
            [sys.executable, str(spawner), *names, '--param-file', str(controllers)],
        )
        self.until(lambda: process.poll() is not None, each=each)
        assert process.returncode == 0, process.log.read_text()
