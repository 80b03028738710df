# SPDX-License-Identifier: Apache-2.0
"""kane_forward_dynamics with efforts from a topic of their own, on a holonomic base."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from ros_models import ROOT, model_of

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

from geometry_msgs.msg import AccelStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

import kane_dynamics as kd

pytestmark = pytest.mark.ros
NODE = 'kane_forward_dynamics'


def test_efforts_on_the_base_come_from_the_topic(bench):
    model = model_of('holonomic')
    bench.start(
        'forward_dynamics_node',
        files=[ROOT / 'config' / 'holonomic.yaml'],
        params={'effort_source': 'topic', 'timeout.effort': 0.25, 'compiled': 'never'},
    )
    joints, odom = bench.publisher(JointState, 'joint_states'), bench.publisher(Odometry, 'odom')
    efforts = bench.publisher(JointState, f'{NODE}/effort')
    base = bench.listen(AccelStamped, f'/{NODE}/base_accel')
    zeros = [0.0] * len(model.joints)

    def send_state():
        message = Odometry(child_frame_id='base_footprint')
        odom.publish(message)
        joints.publish(JointState(name=list(model.joints), position=zeros, velocity=zeros))

    def send_all():
        names = list(model.motors)
        push = [40.0 if n == 'base_y' else 0.0 for n in names]
        efforts.publish(JointState(name=names, effort=push))
        send_state()

    bench.matched(joints)
    bench.until(lambda: base, each=send_all)
    q, v, tau = model.robot.neutral(), np.zeros(model.robot.nv), np.zeros(model.robot.nv)
    tau[model.robot.velocity_index('base_y')] = 40.0
    expected = kd.forward_dynamics(model.robot, q, v, tau).acceleration[:3]
    linear = base[-1].accel.linear
    assert expected[1] > 0.5
    assert_allclose([linear.x, linear.y, base[-1].accel.angular.z], expected, atol=1e-9)
    bench.status_where(
        f'{NODE}: effort', lambda level, text, _: level == b'\x02' and 'stale' in text, send_state
    )
    del base[:]
    for _ in range(15):
        send_state()
        bench.spin(0.02)
    assert not base
