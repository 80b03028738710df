# SPDX-License-Identifier: Apache-2.0
"""kane_wrench_control as a process, over real DDS."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose
from ros_models import ROOT, FakeClock, from_preset, model_of

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

from feeder import FRAME, TIMEOUT, Feeder
from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped
from std_msgs.msg import Float64
from std_srvs.srv import SetBool, Trigger

from kane_dynamics.control.frame_controllers import WrenchController
from kane_dynamics.control.node_dynamics import Dynamics
from kane_dynamics.messages.inputs import InputMonitor
from kane_dynamics.robot_config.parameters.tables import WrenchControlParameters

pytestmark = pytest.mark.ros
NODE = 'kane_wrench_control'
ERROR, WARN, OK = b'\x02', b'\x01', b'\x00'
MODES = ('free', 'free', 'free', 'wrench', 'impedance', 'impedance')
TARGETS = {'wrench': WrenchStamped, 'pose': PoseStamped, 'twist': TwistStamped}
PUSH = 12.0  # [N]
PARAMETERS = {
    'base_frame_id': FRAME,
    'timeout.joint_states': TIMEOUT,
    'timeout.odom': TIMEOUT,
    'compiled': 'never',
    'modes': f'[{", ".join(MODES)}]',
    'friction_coefficient': 0.5,
    'wheel_load': 300.0,
    'joint_topics': 'true',
}


@pytest.fixture(scope='module')
def robot(bench):
    process = bench.start(
        'wrench_control_node',
        files=[ROOT / 'config' / 'nonholonomic.yaml', ROOT / 'config' / 'wrench_control.yaml'],
        params=PARAMETERS,
    )
    feeder = Feeder(bench, model_of('nonholonomic', base_frame_id=FRAME), NODE)
    feeder.velocity = dict.fromkeys(feeder.velocity, 0.0)
    feeder.process = process
    feeder.alone = [bench.listen(Float64, f'/{name}/effort') for name in feeder.model.motors]
    feeder.targets = {
        name: bench.publisher(kind, f'{NODE}/{name}')
        for name, kind in (
            ('wrench', WrenchStamped),
            ('pose', PoseStamped),
            ('twist', TwistStamped),
        )
    }
    bench.matched(feeder.joints)
    for publisher in feeder.targets.values():
        bench.matched(publisher)
    return feeder


def push(robot, force, frame='odom', stamp=None):
    message = WrenchStamped()
    message.header.frame_id = frame
    message.header.stamp = robot.bench.now() if stamp is None else stamp
    message.wrench.force.x = force
    robot.targets['wrench'].publish(message)


def expected(robot, force):
    """Return the efforts of the core for the state that is fed, and a push along x."""
    p = from_preset('nonholonomic', WrenchControlParameters, base_frame_id=FRAME)
    p = dataclasses.replace(p, modes=MODES, friction_coefficient=0.5, wheel_load=300.0)
    clock = FakeClock()
    controller = WrenchController(
        Dynamics(robot.model), p, lambda name: InputMonitor(name, 0.5, lambda: clock.node)
    )
    message = WrenchStamped()
    message.header.frame_id, message.wrench.force.x = 'odom', force
    assert controller.wrench.take(message)
    model = robot.model
    q, v = model.robot.neutral(), np.zeros(model.robot.nv)
    for i, name in zip(model.q_index(model.joints), model.joints, strict=True):
        q[i] = robot.position[name]
    yaw = 2.0 * np.arctan2(0.6, 0.8)
    q[2], v[:3] = yaw, [0.2 * np.cos(yaw), 0.2 * np.sin(yaw), 0.1]
    return controller.effort(q, v)


def answered(robot, wanted, each):
    """Feed states and targets until efforts come that answer both."""

    def found():
        return [m for m in robot.answers() if np.abs(np.array(m.effort) - wanted).max() < 1e-6]

    return robot.bench.until(found, each=each)[-1]


def test_without_targets_it_holds_the_link(robot):
    message = robot.healthy()
    assert list(message.name) == list(robot.model.motors)
    assert_allclose(message.effort, expected(robot, 0.0), rtol=0, atol=1e-6)


def test_each_joint_has_a_topic_of_its_own(robot):
    wanted = expected(robot, 0.0)
    robot.healthy()

    def alone():
        last = [joint[-1].data for joint in robot.alone if joint]
        return len(last) == len(wanted) and np.abs(last - wanted).max() < 1e-6

    robot.bench.until(alone, each=robot.send)


def test_a_wrench_is_pushed_until_it_is_old(robot):
    wanted = expected(robot, PUSH)

    def feed():
        push(robot, PUSH)
        robot.send()

    answered(robot, wanted, feed)
    assert min(np.abs(np.array(m.data) - wanted).max() for m in robot.commands[-5:]) < 1e-6
    answered(robot, expected(robot, 0.0), robot.send)  # half a second later
    robot.bench.status_where(
        f'{NODE}: wrench',
        lambda level, text, _: (
            level == WARN and 'stale' in text and 'timeout_action: hold_position' in text
        ),
        robot.send,
    )


@pytest.mark.parametrize(
    ('kind', 'target'),
    [
        ('nan', {'force': float('nan')}),
        ('range', {'force': 1e12}),
        ('frame', {'force': PUSH, 'frame': 'nowhere'}),
        ('stale', {'force': PUSH, 'stamp': WrenchStamped().header.stamp.__class__(sec=5)}),
    ],
)
def test_a_malformed_or_late_wrench_is_not_pushed(robot, kind, target):
    idle = expected(robot, 0.0)
    answered(robot, idle, robot.send)
    robot.healthy()

    def feed():
        push(robot, **target)
        robot.send()

    robot.bench.status_where(
        f'{NODE}: wrench', lambda level, _, values: f'rejected: {kind}' in values, feed
    )
    robot.bench.until(lambda: robot.answers(), each=feed)
    for message in robot.answers():
        assert_allclose(message.effort, idle, rtol=0, atol=1e-6)


def test_wheels_that_would_slip_are_named_and_nothing_is_pushed(robot):
    idle = expected(robot, 0.0)
    robot.healthy()

    def feed():
        push(robot, 500.0)
        robot.send()

    robot.bench.status_where(
        f'{NODE}: output',
        lambda level, text, _: (
            level == ERROR
            and 'holds the frame instead' in text
            and 'wheel_left_joint/rolling' in text
        ),
        feed,
    )
    for message in robot.answers():
        assert_allclose(message.effort, idle, rtol=0, atol=1e-6)
    robot.healthy()
    robot.bench.status_where(
        f'{NODE}: output', lambda level, _, values: 'traction left [N]' in values, robot.send
    )


@pytest.mark.parametrize('changes', ['missing', 'nan', 'late', 'no odom'])
def test_without_a_usable_state_zeros_then_silence(robot, changes):
    robot.healthy()

    def feed():
        push(robot, PUSH)
        if changes != 'no odom':
            robot.send_odom()
        message = robot.joint_state()
        if changes == 'missing':
            message = robot.joint_state(names=robot.model.joints[1:])
        elif changes == 'nan':
            message.velocity = [float('nan')] * len(message.name)
        elif changes == 'late':
            message.header.stamp.sec -= 1
        robot.joints.publish(message)

    assert robot.quiet(feed) == []


def test_services(robot):
    robot.healthy()
    off = robot.bench.call(SetBool, f'/{NODE}/enable', data=False)
    assert off.success
    robot.bench.until(robot.silent, each=robot.send)
    robot.bench.until(lambda: not any(joint[-1].data for joint in robot.alone))
    assert robot.bench.call(SetBool, f'/{NODE}/enable', data=True).success
    robot.healthy()
    printed = robot.bench.call(Trigger, f'/{NODE}/get_model_summary')
    assert printed.success
    assert 'wheel_left_joint: motor' in printed.message


def test_the_last_word_are_zeros(robot):
    robot.healthy()
    assert robot.bench.terminate(robot.process) == 0
    robot.bench.until(robot.silent)
    assert not any(robot.commands[-1].data)
    robot.bench.until(lambda: not any(joint[-1].data for joint in robot.alone))
