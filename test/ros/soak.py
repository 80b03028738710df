# SPDX-License-Identifier: Apache-2.0
"""
The closed loop under faults, for minutes: ``make soak MINUTES=30 RATE=500``.

Simulator and controller are processes; the states pass through this one, which spoils them by the
list of `soak_faults`, gives references, and looks at every effort.
"""

import argparse
import copy
import heapq
import math
import sys
import tempfile
import time
from collections import deque
from dataclasses import dataclass

import numpy as np
from nav_msgs.msg import Odometry
from rclpy.qos import QoSProfile
from ros_bench import LATCHED, ROOT, Bench
from sensor_msgs.msg import JointState
from soak_faults import FAULTS, Fault, rounds
from soak_memory import Memory
from std_msgs.msg import String
from std_srvs.srv import Empty
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from kane_dynamics.ros.messages.conversions import nanoseconds

LATEST = QoSProfile(depth=1)
CONTROLLER, SIMULATOR = 'kane_inverse_dynamics', 'kane_simulator'
RECOVERY = 60.0  # [s] in which efforts must come again; a node starts slowly on a busy machine
SILENCE = 5.0  # [s] in which zeros must come; with a dead clock the watchdog takes one
UNDER_WAY = 1.0  # [s] in which the last states may still be answered: a watchdog's second
SETTLING = 10  # models published before: so often the heap grows, while it finds room for two
START = 120.0  # [s] for the first efforts: with `compiled: wait`, the first start compiles


@dataclass
class Row:
    """What was seen during the faults of one kind, and while the loop recovered from them."""

    fault: Fault
    times: int = 0
    states: int = 0
    efforts: int = 0
    not_finite: int = 0
    unfounded: int = 0
    recovery: float = 0.0


class Soak:
    """
    The loop.

    Parameters
    ----------
    bench : Bench
        Starts the nodes.
    rate : float
        Of the states [Hz].
    simulator, controller : dict
        Keywords of `Bench.start`.

    """

    def __init__(self, bench, rate, simulator, controller):
        self.bench, self.period = bench, 1.0 / rate
        self.rows = {fault.name: Row(fault) for fault in FAULTS}
        self.row = self.rows['none']
        self.unfounded = []
        self.memory = {CONTROLLER: Memory(), SIMULATOR: Memory()}
        self._good, self._known = deque(maxlen=20000), set()
        self._waiting, self._count, self._now = [], 0, 0.0
        self._last, self._last_at, self._description = None, 0.0, None
        self._start = None
        self._next_sample = 0.0
        self._simulator = simulator
        remap = ['-r', 'joint_states:=simulated/joint_states', '-r', 'odom:=simulated/odom']
        self._simulator['arguments'] = [*remap, '-r', f'~/effort_command:=/{CONTROLLER}/effort']
        self._states = bench.publisher(JointState, 'joint_states', LATEST)
        self._odom = bench.publisher(Odometry, 'odom', LATEST)
        self._reference = bench.publisher(JointTrajectory, f'{CONTROLLER}/reference', LATEST)
        self._text = bench.publisher(String, 'robot_description', LATCHED)
        listen = bench.node.create_subscription
        listen(JointState, 'simulated/joint_states', self._on_state, LATEST)
        listen(Odometry, 'simulated/odom', self._on_odom, LATEST)
        listen(JointState, f'{CONTROLLER}/effort', self._on_effort, 10)
        listen(String, 'robot_description', self._on_description, LATCHED)
        self.processes = {
            CONTROLLER: bench.start('inverse_dynamics_node', **controller),
            SIMULATOR: bench.start('simulator_node', **self._simulator),
        }

    # what passes through

    def _on_state(self, message):
        t = nanoseconds(message.header.stamp) * 1e-9
        self._send_reference(message, t)
        self._count += 1
        if t < self._now:
            self._waiting.clear()  # time has jumped back
        self._now = t
        for delay, state in self.row.fault.change(copy.deepcopy(message), self._count):
            wait = -delay if delay < 0.0 else delay * self.period
            heapq.heappush(self._waiting, (t + wait, self._count, id(state), state))
        if not self.row.fault.blind:
            self._note(nanoseconds(message.header.stamp))
        while self._waiting and self._waiting[0][0] <= t:
            self._states.publish(heapq.heappop(self._waiting)[3])
            self.row.states += 1

    def _note(self, stamp):
        """Remember a stamp that efforts may answer."""
        if stamp in self._known:  # odom has the stamps of joint_states
            return
        if len(self._good) == self._good.maxlen:
            self._known.discard(self._good[0])
        self._good.append(stamp)
        self._known.add(stamp)

    def _on_odom(self, message):
        self._odom.publish(message)
        if not self.row.fault.blind:
            self._note(nanoseconds(message.header.stamp))

    def _send_reference(self, state, t):
        if self._start is None:
            self._start = dict(zip(state.name, state.position, strict=True))
        point = JointTrajectoryPoint()
        point.positions = [x + 0.1 * math.sin(t) for x in self._start.values()]
        point.velocities = [0.1 * math.cos(t)] * len(self._start)
        point.accelerations = [-0.1 * math.sin(t)] * len(self._start)
        message = JointTrajectory(joint_names=list(self._start), points=[point])
        self._reference.publish(self.row.fault.reference(message))

    def _on_description(self, message):
        if self._description is None:
            self._description = message.data

    def _on_effort(self, message):
        effort = np.array(message.effort)
        self.row.efforts += 1
        self._last, self._last_at = effort, time.monotonic()
        if not np.isfinite(effort).all():
            self.row.not_finite += 1
        elif effort.any() and nanoseconds(message.header.stamp) not in self._known:
            self._blame(f'answers {nanoseconds(message.header.stamp)} ns, which is not usable')

    def _blame(self, what):
        """Count an effort that nothing known of the robot justifies."""
        self.row.unfounded += 1
        newest = self._good[-1] if self._good else 'none'
        self.unfounded.append(f'{self.row.fault.name}: effort {what}; newest usable: {newest}')

    # faults

    def _spin(self, seconds, until=lambda: False):
        end = time.monotonic() + seconds
        while time.monotonic() < end and not until():
            self.bench.executor.spin_once(timeout_sec=min(0.5 * self.period, 0.005))
            if time.monotonic() > self._next_sample:
                self._next_sample = time.monotonic() + 1.0
                for name, process in self.processes.items():
                    self.memory[name].take(process, time.monotonic())

    def _pushes_again(self, timeout):
        """Wait for efforts that are not zero; return how long that took."""
        begin = time.monotonic()
        self._spin(timeout, lambda: self._last_at > begin and self._last.any())
        took = time.monotonic() - begin
        return took if took < timeout else math.inf

    def _must_be_silent(self):
        """Count an effort that stands although nothing is known of the robot any more."""
        self._spin(SILENCE, lambda: not self._last.any())
        if self._last.any():
            self._blame(f'stands {SILENCE} s after the last usable state')

    def wait_for_the_first_efforts(self):
        """Wait until the loop is closed."""
        if math.isinf(self._pushes_again(START)):
            logs = [p.log.read_text()[-1500:] for p in self.processes.values()]
            raise RuntimeError('\n'.join(['no efforts', *logs]))

    def settle(self):
        """Let the heaps find their size, so that what grows afterwards is a leak."""
        (again,) = (fault for fault in FAULTS if fault.action == 'describe again')
        for _ in range(SETTLING):
            self.inject(again, 0.5)

    def inject(self, fault, seconds):
        """Let a fault act for some time, and the loop recover from it."""
        self.row = row = self.rows[fault.name]
        row.times += 1
        self._act(fault.action)
        self._spin(seconds)
        if fault.blind:
            self._must_be_silent()
        self.row = Row(Fault('recovery'))
        row.recovery = max(row.recovery, self._pushes_again(RECOVERY))
        self._spin(seconds)
        for name in ('states', 'efforts', 'not_finite', 'unfounded'):
            setattr(row, name, getattr(row, name) + getattr(self.row, name))

    def _act(self, action):
        if action == 'reset':
            client = self.bench.node.create_client(Empty, f'{SIMULATOR}/reset')
            future = client.call_async(Empty.Request())
            self._spin(5.0, future.done)
            self.bench.node.destroy_client(client)
        elif action == 'describe again':
            self._text.publish(String(data=f'{self._description}<!-- again, {self._count} -->'))
        elif action == 'describe badly':
            self._text.publish(String(data='<robot name="nonsense"'))
        elif action == 'kill':
            self.processes[SIMULATOR].kill()
            self.processes[SIMULATOR].wait()
            self._must_be_silent()
            self._spin(UNDER_WAY)
            self.processes[SIMULATOR] = self.bench.start('simulator_node', **self._simulator)
            self._good.clear()
            self._known.clear()

    def failures(self):
        """Return what must not be, in words."""
        found = [p.log.name for p in self.processes.values() if p.poll() is not None]
        for row in self.rows.values():
            if row.not_finite or row.unfounded or math.isinf(row.recovery):
                found.append(row.fault.name)
        leaking = (name for name, memory in self.memory.items() if memory.leaks())
        return [*found, *(f'memory of {name}' for name in leaking)]

    def table(self):
        """Return the table of all faults."""
        lines = [
            f'{"fault":28} {"times":>5} {"states":>8} {"efforts":>8} {"non-finite":>10} '
            f'{"unfounded":>9} {"recovery [s]":>12}'
        ]
        for row in self.rows.values():
            lines.append(
                f'{row.fault.name:28} {row.times:5} {row.states:8} {row.efforts:8} '
                f'{row.not_finite:10} {row.unfounded:9} {row.recovery:12.2f}'
            )
        missed = self.bench.status(f'{SIMULATOR}: simulation')[2].get('missed periods', '?')
        output = self.bench.status(f'{CONTROLLER}: output')[2]
        late = f'{output.get("late outputs", "?")} of {output.get("outputs", "?")}'
        lines += [
            f'periods without efforts in time, this simulator: {missed}',
            f'late outputs of the controller: {late}',
            *self.unfounded,
            *(f'memory of {name}: {memory.in_words()}' for name, memory in self.memory.items()),
        ]
        return '\n'.join(lines)


def main(arguments=None):
    """Run the soak; return 0 if nothing went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--minutes', type=float, default=30.0)
    parser.add_argument('--rate', type=float, default=500.0, help='of the states [Hz]')
    parser.add_argument('--seconds', type=float, default=1.0, help='of a fault, and after it')
    chosen = parser.parse_args(arguments)
    files = [ROOT / 'config' / f'{name}.yaml' for name in ('nonholonomic', 'simulation')]
    common = {'compiled': 'wait'}
    simulator = {**common, 'joint_state_rate': chosen.rate, 'publish_tf': 'false'}
    controller = {**common, 'use_sim_time': 'true', 'urdf_file': "''"}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder)
        try:
            soak = Soak(
                bench,
                chosen.rate,
                {'files': files, 'params': simulator},
                {'files': files, 'params': controller},
            )
            soak.wait_for_the_first_efforts()
            soak.settle()
            end = time.monotonic() + 60.0 * chosen.minutes
            for fault in rounds():
                soak.inject(fault, chosen.seconds)
                if time.monotonic() > end:
                    break
            bench.spin(1.5)  # a last report
            failures = soak.failures()
        finally:
            bench.close()
    sys.stdout.write(f'{soak.table()}\n' + (f'FAILED: {failures}\n' if failures else 'ok\n'))
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
