# SPDX-License-Identifier: Apache-2.0
"""How nodes end: every signal to a node, and every end of the process that started them."""

import ctypes
import json
import os
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

from ros_bench import START_TIMEOUT
from ros_models import PENDULUM_URDF as ROD
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Empty

from kane_dynamics.ros.runtime import Launcher

pytestmark = pytest.mark.ros
WEIGHT = 9.81 * 0.5  # [N m] that holds the rod level
MODEL = {'robot_description': f"'{ROD}'", 'compiled': 'never'}
LEVEL = {**MODEL, 'initial_positions.hinge': 1.5707963}
FOLLOW = {**MODEL, 'use_sim_time': 'true', 'timeout_action': 'hold_gravity'}
REMAP = ['-r', '~/effort_command:=/kane_inverse_dynamics/effort']
PR_SET_CHILD_SUBREAPER = 36
# starts commands as ros2 launch does: plain children that are told the number of their launch
LAUNCH = """
import json, os, subprocess, sys, time
commands = json.load(sys.stdin)
own = ['-p', f'parent_pid:={os.getpid()}']
print(json.dumps([subprocess.Popen(command + own).pid for command in commands]), flush=True)
time.sleep(60)
"""


@pytest.fixture
def loop(bench):
    """Return what the bench hears of a closed loop."""
    return (
        bench.listen(JointState, '/joint_states'),
        bench.listen(Float64MultiArray, '/kane_inverse_dynamics/commands'),
    )


def holding(bench, loop):
    """Wait until the controller holds the rod up."""
    states, commands = loop
    del states[:], commands[:]
    bench.until(lambda: commands and states)
    bench.call(Empty, '/kane_simulator/reset')  # it fell until the controller was there
    bench.until(lambda: commands[-1].data[0] == pytest.approx(WEIGHT, rel=0.05))


def start_pair(bench):
    simulator = bench.start('simulator_node', params=LEVEL, arguments=REMAP)
    return simulator, bench.start('inverse_dynamics_node', params=FOLLOW)


def test_a_closed_terminal_or_a_killed_partner_leaves_no_effort_behind(bench, loop):
    # a killed simulator, and what the controller makes of it, is a fault of the soak
    states, commands = loop
    simulator, controller = start_pair(bench)
    holding(bench, loop)
    controller.send_signal(signal.SIGHUP)
    assert controller.wait(START_TIMEOUT) == 0
    bench.until(lambda: commands[-1].data[0] == 0.0)
    bench.until(lambda: states[-1].effort[0] == 0.0)

    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        controller = bench.start('inverse_dynamics_node', params=FOLLOW)  # as under nohup
    finally:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    del commands[:]
    bench.until(lambda: commands and commands[-1].data[0] != 0.0)
    controller.send_signal(signal.SIGHUP)
    bench.spin(0.3)
    del commands[:]
    bench.until(lambda: commands and commands[-1].data[0] != 0.0)
    bench.until(lambda: states[-1].effort[0] != 0.0)
    controller.kill()  # its last effort stands in the simulator until timeout.command
    controller.wait()
    bench.until(lambda: states[-1].effort[0] == 0.0)
    assert bench.terminate(simulator, signal.SIGHUP) == 0


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_nodes_end_safely_when_their_launch_is_gone(bench, loop, number):
    assert ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0  # we get the orphans
    commands = [
        bench.command('simulator_node', params=LEVEL, arguments=REMAP),
        bench.command('inverse_dynamics_node', params=FOLLOW),
    ]
    launch = subprocess.Popen(
        [sys.executable, '-c', LAUNCH],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=bench.environment(),
    )
    launch.stdin.write(json.dumps(commands).encode())
    launch.stdin.close()
    pids = json.loads(launch.stdout.readline())
    try:
        holding(bench, loop)
        launch.send_signal(number)
        assert launch.wait(START_TIMEOUT) == -number
        end = time.monotonic() + START_TIMEOUT
        ended = {}
        while len(ended) < len(pids) and time.monotonic() < end:
            bench.spin(0.05)
            for pid in set(pids) - set(ended):
                done, status = os.waitpid(pid, os.WNOHANG)
                if done:
                    ended[pid] = os.waitstatus_to_exitcode(status)
        assert ended == dict.fromkeys(pids, 0)
        bench.until(lambda: loop[1][-1].data[0] == 0.0)
    finally:
        for pid in set(pids) - set(ended):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        launch.stdout.close()


def test_a_launcher_that_was_gone_before_is_noticed():
    process = subprocess.Popen([sys.executable, '-c', ''])
    process.wait()
    assert Launcher(process.pid).ended()
    me = Launcher(os.getpid())
    assert not me.ended()
    me.close()
    assert not Launcher(0).ended()
    child = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE)
    watch = Launcher(child.pid)
    assert not watch.ended()
    child.stdin.close()
    child.wait()
    assert watch.ended()
    watch.close()


def test_a_process_that_cannot_be_watched_is_said(monkeypatch):
    def refuse(pid):
        raise OSError(38, 'Function not implemented')

    monkeypatch.setattr(os, 'pidfd_open', refuse)
    watch = Launcher(1)
    assert 'cannot be watched' in watch.problem
    assert not watch.ended()
