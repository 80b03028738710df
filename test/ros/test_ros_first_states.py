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
        [sys.executable, '-c', RUN, 'hip', 'knee', '--topics', 'states', 'others'],
        stderr=log,
        env=bench.environment(),
    )
    publishers = [bench.publisher(JointState, topic) for topic in ('states', 'others')]
    for publisher in publishers:
        bench.matched(publisher)
    yield process, *publishers
    bench.end([process])
    for publisher in publishers:
        bench.node.destroy_publisher(publisher)


def test_it_ends_with_the_last_finite_state(bench, waiting):
    process, states, others = waiting

    def tell(publisher, names, position, velocity):
        for _ in range(3):
            publisher.publish(JointState(name=names, position=position, velocity=velocity))
            bench.spin(0.1)
        return process.poll()

    both = ['hip', 'knee']
    assert tell(states, both, [1.0, 2.0], [NAN, NAN]) is None  # a hardware without a robot
    assert tell(states, both, [1.0, 2.0], []) is None
    assert tell(states, ['knee', 'toe'], [1.0, NAN], [0.0, NAN]) is None
    assert tell(states, ['hip'], [0.0], [0.0]) is None
    tell(others, both, [0.0, 0.0], [0.0, 0.0])
    assert process.wait(START_TIMEOUT) == 0


def test_it_ends_with_an_error_when_it_is_told_to(waiting):
    process, *_ = waiting
    process.send_signal(signal.SIGINT)
    assert process.wait(START_TIMEOUT) == 1


@pytest.mark.parametrize(('args', 'code'), [([], 2), (['--help'], 0)])
def test_it_says_what_it_takes(capsys, args, code):
    with pytest.raises(SystemExit) as ended:
        wait_for_states(args)
    assert ended.value.code == code
    said = capsys.readouterr()
    assert 'usage: kane_wait_for_states' in said.out + said.err
