# SPDX-License-Identifier: Apache-2.0
"""Nodes start from every preset and take the URDF from the topic, over real DDS."""

import time

import pytest
from preset_robots import FILES, stand_in, values_of
from ros_models import ROOT

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from ros_bench import LATCHED, domain_id
from std_msgs.msg import String

from kane_dynamics.ros.inverse_dynamics_node import InverseDynamicsNode
from kane_dynamics.ros.messages.diagnostics import ERROR
from kane_dynamics.ros.simulator_node import SimulatorNode

pytestmark = pytest.mark.ros
STARTS = [(InverseDynamicsNode, robot) for robot in FILES]
STARTS += [(SimulatorNode, robot) for robot in ('husky_ur5e', 'stretch', 'tmr_fr3')]
PATIENCE = 60.0  # [s] for a message on a machine that is very busy


@pytest.fixture(scope='module')
def graph():
    """Return a context of its own domain and an executor; nodes share the process: it is quick."""
    context = Context()
    rclpy.init(context=context, domain_id=domain_id())
    yield context, SingleThreadedExecutor(context=context)
    rclpy.shutdown(context=context)


def node_of(kind, context, robot, namespace):
    """Return a node that was given a preset, and was started."""
    further = ROOT / 'config' / 'inverse_dynamics.yaml'
    files = ['--params-file', str(FILES[robot]), '--params-file', str(further)]
    made = kind(
        context=context,
        namespace=namespace,
        use_global_arguments=False,
        cli_args=['--ros-args', *files, '-p', 'compiled:=never', '-p', 'publish_clock:=false'],
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
        assert values['urdf_source'] in status.message
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
