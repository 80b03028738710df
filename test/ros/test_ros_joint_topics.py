# SPDX-License-Identifier: Apache-2.0
"""Efforts on one topic a joint, as the bridge to Gazebo takes them."""

import pytest
from ros_models import PENDULUM_URDF

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

from rclpy.parameter import Parameter
from std_msgs.msg import Float64

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.ros.diagnostics import ERROR
from kane_dynamics.ros.effort_controller_node import EffortControllerNode
from kane_dynamics.ros.effort_node import JointTopics, joint_topic

pytestmark = pytest.mark.ros


def test_topics_follow_the_joints_and_their_order(bench):
    node, topics = bench.node, JointTopics(bench.node)
    heard = {name: bench.listen(Float64, f'/{name}/effort') for name in ('hip', 'knee', 'toe')}
    topics.prepare(('hip', 'knee'))
    bench.until(lambda: node.count_publishers('/hip/effort'))
    topics.prepare(('toe', 'knee'))
    bench.until(lambda: not node.count_publishers('/hip/effort'))
    bench.until(lambda: heard['toe'] and heard['knee'], each=lambda: topics.publish([1.0, -2.0]))
    assert (heard['toe'][-1].data, heard['knee'][-1].data) == (1.0, -2.0)
    assert heard['hip'] == []


@pytest.mark.parametrize('joint', ['hinge-1', '1st_hinge', 'a//b', 'a b', ''])
def test_a_joint_whose_name_no_topic_may_have(joint):
    assert joint_topic('arm/hinge') == 'arm/hinge/effort'
    with pytest.raises(InvalidInputError, match=f"joint '{joint}' cannot have the topic"):
        joint_topic(joint)


@pytest.mark.parametrize('joint_topics', [False, True])
def test_a_node_refuses_a_model_with_such_a_joint(bench, joint_topics):
    chosen = {
        'robot_description': PENDULUM_URDF.replace('hinge', 'hinge-1'),
        'base_type': 'none',
        'compiled': 'never',
        'joint_topics': joint_topics,
    }
    node = EffortControllerNode(
        context=bench.context,
        parameter_overrides=[Parameter(name, value=value) for name, value in chosen.items()],
    )
    node.start()
    status = node.host.status()
    assert (status.level == ERROR) is joint_topics
    assert ("'hinge-1/effort'" in status.message) is joint_topics
    node.stop()
    node.destroy_node()
