# SPDX-License-Identifier: Apache-2.0
"""The nodes of ros2_control.launch.py over real DDS, with a stand-in for ros2_control itself."""

import runpy

import fake_launch
import numpy as np
import pytest
from ros_models import ROOT

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

from rclpy.qos import QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Empty, Trigger

pytestmark = pytest.mark.ros
NODES = {'kane_simulator': 'simulator_node', 'kane_inverse_dynamics': 'inverse_dynamics_node'}
# a busy machine: slower than the files say, and patient
SLOW = {'joint_state_rate': 50.0, 'odom_rate': 50.0, 'step_size': 0.002, 'compiled': 'never'}
PATIENT = {f'timeout.{name}': 5.0 for name in ('joint_states', 'odom')}
REST = 0.05  # [rad/s]
MOST = 0.005  # [rad] between brakes and efforts
BRAKES = 'brakes are closed'


class Ros2Control:
    """
    JointStateTopicSystem, joint_state_broadcaster and forward_command_controller.

    As in topic_based_hardware_interfaces 1.1.0 and ros2_controllers 6.9.0: commands are NaN until
    a controller writes them, are sent with each update, name all joints and are packed; the last
    one stays for ever. One update a state.
    """

    def __init__(self, bench, joints):
        self.joints, self.commands = joints, [float('nan')] * len(joints)
        self.place, self.velocity, self.applied = {}, {}, {}
        self.begin, self.way = {}, 0.0
        node = bench.node
        self.hardware = node.create_publisher(
            JointState, '/robot_joint_commands', QoSProfile(depth=1)
        )
        self.broadcast = node.create_publisher(JointState, 'joint_states', 10)
        node.create_subscription(
            JointState, '/robot_joint_states', self.on_state, qos_profile_sensor_data
        )
        node.create_subscription(
            Float64MultiArray, 'effort_controller/commands', self.on_command, 10
        )
        self.node = node

    def on_state(self, state):
        self.broadcast.publish(state)
        self.place = dict(zip(state.name, state.position, strict=True))
        self.begin = self.begin or self.place
        self.way = max(self.way, *(abs(x - self.begin[name]) for name, x in self.place.items()))
        self.velocity = dict(zip(state.name, state.velocity, strict=True))
        self.applied = dict(zip(state.name, state.effort, strict=True))
        names = ['gripper_joint', *self.joints]  # one that takes positions
        command = JointState(name=names, position=[0.0], effort=self.commands)
        command.header.stamp = self.node.get_clock().now().to_msg()
        self.hardware.publish(command)

    def on_command(self, message):
        assert len(message.data) == len(self.joints)  # else its update returns ERROR
        self.commands = list(message.data)


@pytest.fixture
def launched(monkeypatch):
    """Return parameters and remappings of the nodes, as the launch file gives them."""
    fake_launch.install(monkeypatch)
    module = runpy.run_path(str(ROOT / 'launch' / 'ros2_control.launch.py'))
    launch = fake_launch.Described(module['generate_launch_description']())
    found = {}
    for node in launch.nodes():
        if node['executable'] in NODES:
            given = fake_launch.parameters(node)
            for name in ('params_file', 'parent_pid', 'compiled'):
                given.pop(name)
            remap = [f'{topic}:={name}' for topic, name in node['remappings']]
            found[node['executable']] = given, [part for r in remap for part in ('-r', r)]
    return found


def test_efforts_go_through_the_hardware_and_hold_the_arm(bench, launched):
    joints = launched['kane_simulator'][0]['hardware_joints']
    ros2_control = Ros2Control(bench, joints)

    def start(name, **more):
        given, remap = launched[name]
        return bench.start(
            NODES[name],
            files=[ROOT / 'config' / 'nonholonomic.yaml'],
            params={**given, **SLOW, **more},
            arguments=remap,
        )

    start('kane_simulator', **{'timeout.command': 5.0})
    bench.matched(ros2_control.hardware)
    _, _, values = bench.status_where(
        'kane_simulator: command', lambda level, text, values: values.get('accepted', '0') != '0'
    )
    assert values['rejected'] == '0'  # NaN is no command
    bench.spin(0.5)
    begin = ros2_control.begin
    assert ros2_control.place == begin  # on its brakes
    assert not any(ros2_control.velocity.values()) and not any(ros2_control.applied.values())
    bench.status_where('kane_simulator: simulation', lambda level, text, values: BRAKES in text)
    source = start('kane_inverse_dynamics', **PATIENT)

    def held():
        """Return the efforts in an arm at rest that are those of one state before."""
        applied = np.array([ros2_control.applied[name] for name in joints])
        still = np.abs(list(ros2_control.velocity.values())).max() < REST
        gap = np.abs(applied - ros2_control.commands).max()
        return applied.tolist() if still and gap < 0.1 * np.abs(applied).max() else []

    applied = bench.until(held)
    # the largest is what the arm weighs, on arm_2_joint
    assert np.argmax(np.abs(applied)) == joints.index('arm_2_joint')
    assert ros2_control.way < MOST
    assert bench.terminate(source) == 0  # its last word are zeros: nothing else would end them
    bench.until(lambda: not any(ros2_control.commands))
    bench.until(lambda: not any(ros2_control.applied.values()))
    bench.until(lambda: not any(ros2_control.velocity.values()))  # it stands again, no more falls
    bench.status_where('kane_simulator: simulation', lambda level, text, values: BRAKES in text)
    assert bench.call(Trigger, 'kane_simulator/release').success
    bench.until(lambda: abs(ros2_control.velocity['arm_2_joint']) > REST)  # it falls
    assert ros2_control.place != begin
    bench.call(Empty, 'kane_simulator/reset')
    bench.until(lambda: ros2_control.place == begin)
