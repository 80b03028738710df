# SPDX-License-Identifier: Apache-2.0
"""Hardware, manager, controllers and node, started one by one in any order, or killed."""

import signal
import sys
import time
from pathlib import Path

import numpy as np
import yaml
from bed import Bed, described, prefix_of
from controller_manager_msgs.srv import ListControllers
from rclpy.qos import qos_profile_sensor_data
from ros_bench import ROOT
from sensor_msgs.msg import JointState

ROBOT = 'nonholonomic'
PRESET = ROOT / 'config' / f'{ROBOT}.yaml'
CONTROLLERS = ROOT / 'config' / 'ros2_control' / f'{ROBOT}_controllers.yaml'
ALL_JOINTS, ARM = 'effort_controller', 'arm_controller'
NODES = {ALL_JOINTS: 'inverse_dynamics_node', ARM: 'trajectory_feedforward_node'}
PARTS = 'hardware', 'manager', 'controllers', 'node'
SETTLING = 2.0  # [s] for which a robot is looked at that all the others hold
QUIET = 1e-3  # [rad/s]
COLD = 600.0  # [s]: a compilation on a machine that is very busy


class Samples:
    """Times and values of a topic of joints."""

    def __init__(self, node, topic):
        self.times, self.position, self.velocity, self.effort = [], [], [], []
        node.create_subscription(JointState, topic, self._take, qos_profile_sensor_data)

    def _take(self, message):
        self.times.append(time.monotonic())
        self.position.append(np.array(message.position))
        self.velocity.append(np.array(message.velocity))
        self.effort.append(np.array(message.effort))

    def way(self, since=0.0):
        """Return how far the joints were at most from where they were at a time [rad]."""
        after = [q for t, q in zip(self.times, self.position, strict=True) if t >= since]
        return max(np.abs(q - after[0]).max() for q in after)

    def last(self, condition, since):
        """Return when a condition on velocities and efforts held last, from a time on [s]."""
        values = zip(self.times, self.velocity, self.effort, strict=True)
        return max((t - since for t, v, u in values if t >= since and condition(v, u)), default=0)


class StartBed(Bed):
    """The four parts of a robot under ros2_control, started one by one."""

    def __init__(self, folder, controller=ALL_JOINTS, cold=False, **simulator):
        super().__init__(folder)
        self.controller, self.given = controller, simulator
        if cold:
            self.cache = Path(folder) / 'cache'
        content = yaml.safe_load(CONTROLLERS.read_text())
        self.joints = content[controller]['ros__parameters']['joints']
        self.robot = Samples(self.node, '/robot_joint_states')
        self.commands = Samples(self.node, '/robot_joint_commands')
        urdf = yaml.safe_load(PRESET.read_text())['/**']['ros__parameters']['urdf_file']
        self.describe(described(ROBOT, urdf, CONTROLLERS, PRESET, controller))
        self._manager = self.node.create_client(
            ListControllers, '/controller_manager/list_controllers'
        )
        self.running = {}

    cache = None

    def environment(self):
        """Return the environment of the processes, with a cache of their own if it is cold."""
        own = {} if self.cache is None else {'XDG_CACHE_HOME': str(self.cache)}
        return {**super().environment(), **own}

    def begin(self, part):
        """Start a part, and wait until it is there where it waits for no other."""
        self.running[part] = getattr(self, f'_start_{part}')()

    def _start_hardware(self):
        effort = self.controller == ALL_JOINTS
        given = {
            'brakes': True,
            'base.command_interface': 'effort' if effort else 'velocity',
            'compiled': 'wait',
            **self.given,
        }
        process = self.simulator(PRESET, self.joints, **given)
        seen = len(self.robot.times)
        self.until(lambda: len(self.robot.times) > seen, COLD)
        return process

    def _start_manager(self):
        process = self.manager(CONTROLLERS)
        self.until(self._manager.service_is_ready)
        return process

    def _start_controllers(self):
        program = prefix_of('controller_manager') / 'lib' / 'controller_manager' / 'spawner'
        names = 'joint_state_broadcaster', self.controller
        process = self.run(
            'spawner', [sys.executable, str(program), *names, '--param-file', str(CONTROLLERS)]
        )
        if 'manager' in self.running:
            self._controllers_are_up(process)
        return process

    def _controllers_are_up(self, process):
        self.until(lambda: process.poll() is not None)
        assert process.returncode == 0, process.log.read_text()

    def _start_node(self):
        own = {'compiled': 'wait'}
        if self.controller == ALL_JOINTS:
            joints = yaml.safe_dump(self.joints, default_flow_style=True).strip()
            own |= {'command_joints': joints, 'ramp_time': 0.0}  # as the launch file
        else:
            own |= {'controller': self.controller, 'base.motion_source': 'commanded'}
        remapped = ['-r', f'~/commands:={ALL_JOINTS}/commands']
        module = NODES[self.controller]
        process = self.start(module, files=[PRESET], params=own, arguments=remapped)
        name = f'kane_{module.removesuffix("_node")}: model'
        self.until(lambda: self.status(name)[1] == 'ok', COLD)
        return process

    def complete(self):
        """Wait until everything works, and look at the robot for a while."""
        self._controllers_are_up(self.running['controllers'])
        if self.controller == ALL_JOINTS:
            self.until(lambda: self.robot.effort[-1].any())
        self.spin(SETTLING)

    def kill(self, part, seconds):
        """Kill a part, and look on for some time; return when that was [s]."""
        now = time.monotonic()
        self.running[part].send_signal(signal.SIGKILL)
        heard = self.robot if part == 'manager' else self.commands
        self.until(lambda: heard.times[-1] > now + seconds)
        return now
