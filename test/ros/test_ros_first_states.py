# SPDX-License-Identifier: Apache-2.0
"""``kane_wait_for_states`` ends when all joints have finite states, and not before."""

import signal
import subprocess
import sys

import pytest
from ros_bench import START_TIMEOUT

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

from sensor_msgs.msg import JointState

from kane_dynamics.ros.entry import wait_for_states

pytestmark = pytest.mark.ros
NAN = float('nan')
RUN = 'from kane_dynamics.ros.entry import wait_for_states; exit(wait_for_states())'


@pytest.fixture
def waiting(bench):
    """Return the process, which waits for two joints, and the publisher of their states."""
    log = (bench.folder / 'wait.log').open('w+')
    process = subprocess.Popen(
        [sys.executable, '-c', RUN, 'hip', 'knee', '--ros-args', '-r', 'joint_states:=states'],
        stderr=log,
        env=bench.environment(),
    )
    publisher = bench.publisher(JointState, 'states')
    bench.matched(publisher)
    yield process, publisher
    bench.end([process])
    bench.node.destroy_publisher(publisher)


def test_it_ends_with_the_last_finite_state(bench, waiting):
    process, publisher = waiting

    def tell(names, position, velocity):
        for _ in range(3):
            publisher.publish(JointState(name=names, position=position, velocity=velocity))
            bench.spin(0.1)
        return process.poll()

    assert tell(['hip', 'knee'], [1.0, 2.0], [NAN, NAN]) is None  # a hardware without a robot
    assert tell(['hip', 'knee'], [1.0, 2.0], []) is None
    assert tell(['knee', 'toe'], [1.0, NAN], [0.0, NAN]) is None
    tell(['hip'], [0.0], [0.0])
    assert process.wait(START_TIMEOUT) == 0


def test_it_ends_with_an_error_when_it_is_told_to(waiting):
    process, _ = waiting
    process.send_signal(signal.SIGINT)
    assert process.wait(START_TIMEOUT) == 1


def test_it_says_what_it_takes(capsys):
    assert wait_for_states([]) == 2
    assert wait_for_states(['--help']) == 0
    assert 'usage: kane_wait_for_states <joint>' in capsys.readouterr().out
