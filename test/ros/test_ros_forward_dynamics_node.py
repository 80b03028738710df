# SPDX-License-Identifier: Apache-2.0
"""kane_forward_dynamics as a process, over real DDS."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from ros_models import ROOT, model_of

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

from geometry_msgs.msg import AccelStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

import kane_dynamics as kd
from kane_dynamics.messages.conversions import nanoseconds

pytestmark = pytest.mark.ros
NODE = 'kane_forward_dynamics'
RADIUS = 0.1  # [m] of the wheels of robots/nonholonomic.urdf
YAW, SPEED, TURN = 0.8, 0.3, 0.4


@pytest.fixture(scope='module')
def model():
    return model_of('nonholonomic')


@pytest.fixture(scope='module')
def state(model):
    """A state that rolls, and efforts."""
    robot = model.robot
    rng = np.random.default_rng(3)
    q, v = robot.neutral(), rng.uniform(-0.3, 0.3, robot.nv)
    q[3:] = rng.uniform(-0.5, 0.5, robot.nq - 3)
    q[2] = YAW
    v[:3] = [SPEED * np.cos(YAW), SPEED * np.sin(YAW), TURN]
    rolling = kd.consistent_acceleration(
        robot,
        q,
        np.zeros(robot.nv),
        v,
        model.constraints,
        [n for n in robot.velocity_names if not n.startswith('wheel')],
    )
    tau = np.zeros(robot.nv)
    tau[3:] = rng.uniform(-2.0, 2.0, robot.nv - 3)
    return q, rolling, tau


@pytest.fixture(scope='module')
def robot(bench, model, state):
    bench.process = bench.start(
        'forward_dynamics_node',
        files=[ROOT / 'config' / 'nonholonomic.yaml'],
        params={'timeout.joint_states': 0.25, 'compiled': 'never'},
    )
    bench.joints = bench.publisher(JointState, 'joint_states')
    bench.odom = bench.publisher(Odometry, 'odom')
    bench.accelerations = bench.listen(JointTrajectory, f'/{NODE}/predicted_accelerations')
    bench.base = bench.listen(AccelStamped, f'/{NODE}/base_accel')
    bench.forces = bench.listen(JointState, f'/{NODE}/constraint_forces')
    bench.matched(bench.joints)
    return bench


def send(bench, model, state, scale=1.0, **changes):
    q, v, tau = state
    odom = Odometry(child_frame_id='base_footprint')
    odom.header.stamp = bench.now()
    odom.pose.pose.orientation.z, odom.pose.pose.orientation.w = np.sin(YAW / 2), np.cos(YAW / 2)
    odom.twist.twist.linear.x, odom.twist.twist.angular.z = SPEED * scale, TURN * scale
    bench.odom.publish(odom)
    names = list(reversed(model.joints))
    message = JointState(name=names)
    message.header.stamp = bench.now()
    message.position = [float(q[model.robot.coordinate_index(n)]) for n in names]
    message.velocity = [float(v[model.robot.velocity_index(n)]) for n in names]
    message.effort = [float(tau[model.robot.velocity_index(n)]) for n in names]
    for field, value in changes.items():
        setattr(message, field, value)
    bench.joints.publish(message)
    return message.header.stamp


def answer(bench, model, state, scale=1.0):
    """Send a state until it is answered; return accelerations, those of the base, and forces."""
    sent, topics = [], (bench.accelerations, bench.base, bench.forces)

    def answers():
        for stamp in sent:
            found = [m for topic in topics for m in topic if m.header.stamp == stamp]
            if len(found) == len(topics):
                return found
        return None

    return bench.until(answers, each=lambda: sent.append(send(bench, model, state, scale)))


def test_accelerations_and_multipliers_are_those_of_the_core(robot, model, state):
    message, accel, forces = answer(robot, model, state)
    expected = kd.forward_dynamics(model.robot, *state, model.constraints)
    point = message.points[0]
    assert tuple(message.joint_names) == model.joints
    at = model.v_index(model.joints)
    # odometry carries the base twist in the body frame: one rotation there and back
    assert_allclose(point.accelerations, expected.acceleration[at], atol=1e-9)
    assert_allclose(point.effort, state[2][at])
    assert_allclose(point.velocities, state[1][at])
    assert len(message.points) == 1
    c, s = np.cos(YAW), np.sin(YAW)
    a_x, a_y, a_yaw = expected.acceleration[:3]
    assert accel.header.frame_id == 'base_footprint'
    assert_allclose(
        [accel.accel.linear.x, accel.accel.linear.y, accel.accel.angular.z],
        [c * a_x + s * a_y, -s * a_x + c * a_y, a_yaw],
        atol=1e-9,
    )
    assert tuple(forces.name) == expected.labels
    assert_allclose(forces.effort, expected.multipliers, atol=1e-9)
    assert_allclose(forces.velocity, 0.0, atol=1e-12)


def test_centripetal_acceleration_of_a_turning_base(robot, model, state):
    _, base, _ = answer(robot, model, state)
    # no side slip at the axle, which is above the frame's origin: a_y = v omega
    assert_allclose(base.accel.linear.y, SPEED * TURN, atol=1e-9)


def test_slipping_wheels_are_reported(robot, model, state):
    _, _, forces = answer(robot, model, state, scale=0.5)
    assert max(abs(x) for x in forces.velocity) > 0.01
    robot.status_where(
        f'{NODE}: output',
        lambda level, text, _: level == b'\x01' and 'violate the constraints' in text,
        lambda: send(robot, model, state, scale=0.5),
    )


@pytest.mark.parametrize(
    ('kind', 'changes'),
    [
        ('short', {'effort': []}),
        ('nan', {'effort': [np.nan] * 7}),
        ('nan', {'velocity': [np.inf] * 7}),
    ],
)
def test_state_without_usable_efforts_gives_no_prediction(robot, model, state, kind, changes):
    answer(robot, model, state)
    bad = []

    def feed():
        bad.append(nanoseconds(send(robot, model, state, **changes)))

    for _ in range(20):
        feed()
        robot.spin(0.02)
    # when the good state has run out
    robot.status_where(
        f'{NODE}: joint_states',
        lambda level, _, values: level == b'\x02' and f'rejected: {kind}' in values,
        feed,
    )
    assert not [m for m in robot.accelerations if nanoseconds(m.header.stamp) >= bad[0]]


def test_wheel_efforts_accelerate_forward(robot, model, state):
    """At rest on the level with the arm down, both wheels push: the base moves along x."""
    q, v, tau = model.robot.neutral(), np.zeros(model.robot.nv), np.zeros(model.robot.nv)
    q[2] = YAW
    for wheel in ('wheel_left_joint', 'wheel_right_joint'):
        tau[model.robot.velocity_index(wheel)] = 2.0
    message, base, _ = answer(robot, model, (q, v, tau), scale=0.0)
    body = base.accel
    wheel = dict(zip(message.joint_names, message.points[0].accelerations, strict=True))
    assert body.linear.x > 0.1
    assert_allclose(body.linear.y, 0.0, atol=1e-9)
    assert_allclose(body.linear.x, RADIUS * wheel['wheel_left_joint'], rtol=1e-9)
