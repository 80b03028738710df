# SPDX-License-Identifier: Apache-2.0
"""What others do to the simulated robot, over real DDS: wrenches, states."""

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

from geometry_msgs.msg import Vector3, Wrench, WrenchStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Header
from test_ros_simulator_node import NODE, POSE, Robot

pytestmark = pytest.mark.ros

NOISE = {'noise.seed': 3, 'noise.velocity': 0.01}


class Pushed(Robot):
    """The simulator with what others give to it."""

    def __init__(self, bench, **parameters):
        super().__init__(bench, **parameters)
        self.wrench = bench.publisher(WrenchStamped, f'{NODE}/external_wrench')
        self.set_state = bench.publisher(JointState, f'{NODE}/set_state')
        bench.matched(self.wrench)
        bench.matched(self.set_state)
        self.counts = {'external wrench': 0, 'set_state': 0}

    def told(self, component):
        """Wait until one more message has been judged, and return the report's values."""

        def counted(level, text, values):
            return int(values['accepted']) + int(values['rejected']) > self.counts[component]

        _, _, values = self.bench.status_where(f'{NODE}: {component}', counted)
        self.counts[component] = int(values['accepted']) + int(values['rejected'])
        return values


@pytest.fixture(scope='module')
def running(bench):
    return Pushed(bench, **NOISE)


@pytest.fixture
def pushed(running):
    running.reset()
    return running


def push(link, force=(0.0, 0.0, 0.0), torque=(0.0, 0.0, 0.0)):
    keys = ('x', 'y', 'z')
    wrench = Wrench(
        force=Vector3(**dict(zip(keys, force, strict=True))),
        torque=Vector3(**dict(zip(keys, torque, strict=True))),
    )
    return WrenchStamped(header=Header(frame_id=link), wrench=wrench)


def test_a_wrench_pushes_the_robot_forward(pushed):
    pushed.step(50)
    pushed.reset()
    pushed.wrench.publish(push('base_link', (40.0, 0.0, 0.0)))
    assert pushed.told('external wrench')['acting on'] == 'base_link'
    pushed.step(50)
    twist = pushed.odom[-1].twist.twist
    # 40 N for 0.1 s on 59 kg that rolls: about 0.06 m/s, with the arm swinging besides
    assert 0.02 < twist.linear.x < 0.2


@pytest.mark.parametrize(
    ('message', 'kind'),
    [
        (push('elbow', (1.0, 0.0, 0.0)), 'frame'),
        (push('', (1.0, 0.0, 0.0)), 'frame'),
        (push('base_link', (float('nan'), 0.0, 0.0)), 'nan'),
        (push('base_link', (0.0, 0.0, 0.0), (0.0, 0.0, 1e300)), 'range'),
    ],
)
def test_bad_wrenches_do_not_act(pushed, message, kind):
    pushed.wrench.publish(message)
    values = pushed.told('external wrench')
    assert f'rejected: {kind}' in values and values['acting on'] == '-'


def test_a_state_is_set_and_published_with_its_noise(pushed):
    names = ['arm_2_joint', 'base_x']
    pushed.set_state.publish(JointState(name=names, position=[-0.7, 2.0], velocity=[0.5, 0.0]))
    pushed.told('set_state')
    pushed.bench.until(lambda: pushed.joints[-1].position[3] != 0.5 and pushed.odom)
    message = pushed.joints[-1]
    arm = list(message.name).index('arm_2_joint')
    assert message.position[arm] == -0.7
    assert message.velocity[arm] != 0.5  # the noise
    assert message.velocity[arm] == pytest.approx(0.5, abs=0.06)
    pushed.bench.until(lambda: pushed.odom[-1].pose.pose.position.x == 2.0)
    assert pushed.odom[-1].pose.pose.position.y == pytest.approx(POSE[1])


@pytest.mark.parametrize(
    ('message', 'kind'),
    [
        (JointState(name=['elbow'], position=[0.0]), 'unknown'),
        (JointState(name=['arm_1_joint'], position=[]), 'short'),
        (JointState(name=['arm_1_joint'], position=[float('inf')]), 'nan'),
        (JointState(name=['arm_1_joint'], position=[0.0], velocity=[0.0, 1.0]), 'short'),
        (JointState(), 'unknown'),
    ],
)
def test_bad_states_are_not_set(pushed, message, kind):
    before = list(pushed.joints[-1].position)
    pushed.set_state.publish(message)
    assert f'rejected: {kind}' in pushed.told('set_state')
    assert list(pushed.joints[-1].position) == before


def test_runs_with_noise_repeat(pushed):
    runs = []
    for _ in range(2):
        pushed.reset()
        message = pushed.step(10)
        runs.append((list(message.position), list(message.velocity)))
    assert runs[0] == runs[1]
