# SPDX-License-Identifier: Apache-2.0
"""Nodes start from every preset and take the URDF from the topic, over real DDS."""

import time

import pytest
from preset_robots import FILES, stand_in, values_of
from ros_models import ROOT

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

import rclpy
from geometry_msgs.msg import AccelStamped, TwistStamped
from nav_msgs.msg import Odometry
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from ros_bench import LATCHED, domain_id
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from kane_dynamics.ros.diagnostics import ERROR
from kane_dynamics.ros.effort_controller_node import EffortControllerNode
from kane_dynamics.ros.forward_dynamics_node import ForwardDynamicsNode
from kane_dynamics.ros.simulator_node import SimulatorNode

pytestmark = pytest.mark.ros
STARTS = [(EffortControllerNode, robot) for robot in FILES]
STARTS += [(SimulatorNode, robot) for robot in ('husky_ur5e', 'stretch', 'tmr_fr3')]
PATIENCE = 60.0  # [s] for a message on a machine that is very busy


@pytest.fixture(scope='module')
def graph():
    """Return a context of its own domain and an executor; nodes share the process: it is quick."""
    context = Context()
    rclpy.init(context=context, domain_id=domain_id())
    yield context, SingleThreadedExecutor(context=context)
    rclpy.shutdown(context=context)


def node_of(kind, context, robot, namespace, urdf=''):
    """Return a node that was given a preset, and was started."""
    further = ROOT / 'config' / 'inverse_dynamics.yaml'
    files = ['--params-file', str(FILES[robot]), '--params-file', str(further)]
    given = [Parameter('robot_description', value=urdf)] if urdf else []
    made = kind(
        context=context,
        namespace=namespace,
        use_global_arguments=False,
        cli_args=['--ros-args', *files, '-p', 'compiled:=never', '-p', 'publish_clock:=false'],
        parameter_overrides=given,
    )
    made.start()
    return made


@pytest.mark.parametrize(('kind', 'robot'), STARTS)
def test_node_starts_and_takes_the_description(graph, kind, robot):
    context, executor = graph
    values, namespace = values_of(robot), f'/{robot}'
    node = node_of(kind, context, robot, namespace)
    publisher = rclpy.create_node('state_publisher', namespace=namespace, context=context)
    for each in (node, publisher):
        executor.add_node(each)
    try:
        status = node.host.status()
        assert status.level == ERROR
        assert values['urdf_source_description'] in status.message
        assert f'waiting for {namespace}/robot_description' in status.message
        topic = publisher.create_publisher(String, 'robot_description', LATCHED)
        topic.publish(String(data=stand_in(robot)))
        end = time.monotonic() + PATIENCE
        while node.host.model is None and time.monotonic() < end:
            executor.spin_once(timeout_sec=0.1)
        status = node.host.status()
        assert node.host.model is not None, status.message
        assert status.level != ERROR, status.message
        assert node.host.model.motors == tuple(values['joints'])
        assert node.parameters.command_joints == tuple(values.get('command_joints', ()))
    finally:
        node.stop()
        for each in (node, publisher):
            executor.remove_node(each)
            each.destroy_node()


class HuskyWithArm:
    """Plays the robot: a base and an arm that send their joint_states apart, and drive."""

    def __init__(self, publisher, model):
        self.parts = [name for name in model.joints if name not in model.motors], model.motors
        self.publish = {
            kind: publisher.create_publisher(kind, topic, 10).publish
            for kind, topic in (
                (JointState, 'joint_states'),
                (Odometry, 'odom'),
                (TwistStamped, 'cmd_vel'),
            )
        }
        self.clock, self.efforts = publisher.get_clock(), []
        publisher.create_subscription(
            JointState, 'kane_inverse_dynamics/effort', self.efforts.append, 10
        )

    def send(self):
        """Send all that the robot says in a period."""
        stamp = self.clock.now().to_msg()
        odom, command = Odometry(child_frame_id='base_link'), TwistStamped()
        odom.pose.pose.orientation.w = 1.0
        command.twist.linear.x = 1.0
        states = [JointState(name=list(names)) for names in self.parts]
        for state in states:
            state.position = state.velocity = state.effort = [0.0] * len(state.name)
        for message in (odom, command, *states):
            message.header.stamp = stamp
            self.publish[type(message)](message)


def test_an_arm_gets_efforts_while_its_base_accelerates(graph):
    context, executor = graph
    node = node_of(EffortControllerNode, context, 'husky_ur5e', '/driving', stand_in('husky_ur5e'))
    publisher = rclpy.create_node('robot', namespace='/driving', context=context)
    robot = HuskyWithArm(publisher, node.host.model)
    for each in (node, publisher):
        executor.add_node(each)
    try:
        end, pushed = time.monotonic() + PATIENCE, []
        while not pushed and time.monotonic() < end:
            robot.send()
            for _ in range(8):
                executor.spin_once(timeout_sec=0.01)
            pushed = [message for message in robot.efforts if max(message.effort) > 0.0]
        assert pushed, node.host.status().message
        assert list(pushed[-1].name) == values_of('husky_ur5e')['joints']
        # gravity is left to the UR; six links of 1 kg, whose centres lie 0.1 m above their joints,
        # at no more than the 1 m/s^2 of the base: as they hold on, the first joint bears them all
        effort = list(pushed[-1].effort)
        assert effort == sorted(effort, reverse=True)
        assert 0.0 < effort[0] < 0.6 + 1e-6
    finally:
        node.stop()
        for each in (node, publisher):
            executor.remove_node(each)
            each.destroy_node()


def test_what_efforts_cause_on_a_base_that_others_accelerate(graph):
    context, executor = graph
    node = node_of(ForwardDynamicsNode, context, 'husky_ur5e', '/caused', stand_in('husky_ur5e'))
    publisher = rclpy.create_node('robot', namespace='/caused', context=context)
    arm = values_of('husky_ur5e')['joints']
    names = list(node.host.model.joints)
    robot = HuskyWithArm(publisher, node.host.model)
    robot.parts = [name for name in names if name not in arm], arm
    found = []
    publisher.create_subscription(
        AccelStamped, 'kane_forward_dynamics/base_accel', found.append, 10
    )
    for each in (node, publisher):
        executor.add_node(each)
    try:
        end, driven = time.monotonic() + PATIENCE, []
        while not driven and time.monotonic() < end:
            robot.send()
            for _ in range(8):
                executor.spin_once(timeout_sec=0.01)
            driven = [message.accel.linear.x for message in found if message.accel.linear.x > 0.1]
        # as the drives follow the command; nothing pushes it by the efforts that are measured
        assert driven, node.statuses()['base']()
        assert max(driven) <= 1.0 + 1e-6
    finally:
        node.stop()
        for each in (node, publisher):
            executor.remove_node(each)
            each.destroy_node()
