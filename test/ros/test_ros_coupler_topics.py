# SPDX-License-Identifier: Apache-2.0
"""A device at the simulator: poses in, wrenches back."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from ros_models import ROOT, from_preset, model_of, time_message, xyz

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

from geometry_msgs.msg import PoseStamped, WrenchStamped
from sensor_msgs.msg import JointState

import kane_dynamics as kd
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.exceptions import InvalidInputError, NameNotFoundError
from kane_dynamics.plant.plant import Plant
from kane_dynamics.robot_config.parameters.tables import DeviceParameters, SimulatorParameters
from kane_dynamics.ros.simulator_inputs import DeviceInput

LINK, MS = 'tool_link', 1_000_000  # [ns]
STIFF, SOFT = (0.0, 0.0, 20.0, 300.0, 300.0, 300.0), (0.0, 0.0, 1.0, 4.0, 4.0, 4.0)


@pytest.fixture
def plant():
    return new_plant()


def new_plant():
    p = from_preset('nonholonomic', SimulatorParameters, step_size=0.002, compiled='never')
    model = model_of('nonholonomic')
    return Plant(Dynamics(model), p, np.zeros(len(model.joints)))


def device(plant, **changed):
    values = {
        'device_link': LINK,
        'device_stiffness': STIFF,
        'device_damping': SOFT,
        'device_own_damping': (9.0,) * 6,
        'device_period': 0.01,
    }
    return DeviceInput(plant, DeviceParameters(**values | changed), 'odom')


def place(plant):
    pose = kd.forward_kinematics(plant.model.robot, plant.simulation.q).pose(LINK)
    return pose.position(), pose.rotation.components, pose.rotation_matrix()


def message(position, wxyz=(1.0, 0.0, 0.0, 0.0), frame='odom', stamp=0):
    w, x, y, z = wxyz
    turned = SimpleNamespace(w=w, x=x, y=y, z=z)
    return SimpleNamespace(
        header=SimpleNamespace(frame_id=frame, stamp=time_message(stamp)),
        pose=SimpleNamespace(position=xyz(*position), orientation=turned),
    )


def test_the_link_is_pulled_to_the_device(plant):
    hand, turned, R = place(plant)
    source = device(plant)
    assert source.take(message(hand + (0.02, 0.0, 0.0), turned))
    found = source.wrenches
    assert_allclose(found.on_frame[3:], R.T @ (6.0, 0.0, 0.0), rtol=0, atol=1e-12)
    assert plant.pushed == (LINK,)
    left_alone = new_plant()
    for one in (plant, left_alone):
        one.advance(10)
    assert place(plant)[0][0] > place(left_alone)[0][0] + 1e-4
    plant.advance(30)  # five periods of 10 ms without a pose
    assert plant.pushed == ()


def test_the_speed_is_that_between_two_poses(plant):
    hand, turned, R = place(plant)
    source = device(plant)
    source.take(message(hand, turned, stamp=100 * MS))
    ahead = hand + np.array([0.002, 0.0, 0.0])
    assert source.take(message(ahead, turned, stamp=110 * MS))  # 0.2 m/s
    found = source.wrenches
    expected = 300.0 * 0.002 + 4.0 * 0.2
    assert_allclose(R @ found.on_frame[3:], (expected, 0.0, 0.0), rtol=0, atol=1e-9)
    assert source.take(message(ahead, turned, stamp=200 * MS))  # no speed after a break
    late = source.wrenches
    assert_allclose(R @ late.on_frame[3:], (0.6, 0.0, 0.0), rtol=0, atol=1e-9)


def test_poses_that_are_refused(plant):
    hand, turned, _ = place(plant)
    source = device(plant)
    assert not source.take(message(hand, turned, frame='map'))
    assert not source.take(message((np.nan, 0.0, 0.0), turned))
    assert not source.take(message(hand, (0.0, 0.0, 0.0, 0.0)))
    assert source.take(message(hand, turned, stamp=20 * MS))
    assert not source.take(message(hand, turned, stamp=10 * MS))
    assert source.take(message(hand, turned, stamp=30 * MS))
    assert source.guard.rejected == {'frame': 2, 'nan': 1, 'order': 1}
    assert source.guard.accepted == 2


def test_what_no_device_is(plant):
    with pytest.raises(NameNotFoundError, match="no frame named 'nose'"):
        device(plant, device_link='nose')
    with pytest.raises(InvalidInputError, match='the device needs damping above'):
        device(plant, device_own_damping=(1.0,) * 6)
    assert device(plant, device_own_damping=(0.0,) * 6, device_period=0.0) is not None


@pytest.mark.ros
def test_a_device_on_topics(bench):
    bench.start(
        'simulator_node',
        files=[ROOT / 'config' / 'nonholonomic.yaml'],
        params={
            'compiled': 'never',
            'step_size': 0.004,
            'device.link': LINK,
            'publish_clock': 'false',
            'odom_frame_id': 'odom',
        },
    )
    poses = bench.publisher(PoseStamped, 'kane_simulator/device_pose')
    wrenches = bench.listen(WrenchStamped, '/kane_simulator/device_wrench')
    states = bench.listen(JointState, '/joint_states')
    bench.matched(poses)
    bench.until(lambda: states)
    sent = []

    def send(frame='odom'):
        pose = PoseStamped()
        pose.header.frame_id, pose.header.stamp = frame, bench.now()
        pose.pose.position.z, pose.pose.orientation.w = 5.0, 1.0  # far above
        sent.append(pose.header.stamp)
        poses.publish(pose)

    bench.until(lambda: len(wrenches) > 3, each=send)
    # The pull is too strong for 4 ms: on a busy machine the arm is soon far off.
    answer = wrenches[0]
    assert answer.header.frame_id == 'odom'
    assert answer.header.stamp in sent
    assert answer.wrench.force.z < -500.0  # 500 N/m, metres away
    bench.status_where(
        'kane_simulator: device',
        lambda level, _, values: 'rejected: frame' in values,
        lambda: send('nowhere'),
    )
