# SPDX-License-Identifier: Apache-2.0
"""
The closed loop without faults, for minutes: ``make deadlines MINUTES=10 RATE=500``.

Simulator and controller are processes that talk to each other alone; this one gives references,
and looks at the efforts as they pass. A deadline is missed where a period of the simulator begins
without the efforts of the state before. The machine should have nothing else to do.
"""

import argparse
import math
import sys
import tempfile
import time

import numpy as np
from rclpy.qos import QoSProfile
from ros_bench import ROOT, Bench
from sensor_msgs.msg import JointState
from soak_memory import Memory
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from kane_dynamics.ros.messages.conversions import nanoseconds

SIMULATOR = 'kane_simulator'
START = 180.0  # [s] for the first efforts: with `compiled: wait`, the first start compiles
SETTLING = 2.0  # [s] that do not count: the nodes find each other, the efforts grow
REFERENCES = 0.02  # [s] from one to the next
WORST = 1e-3  # part of the periods that may be missed: none at p99.9
SHOWN = (50.0, 99.0, 99.9, 100.0)


class LongRun:
    """
    The loop.

    Parameters
    ----------
    bench : Bench
        Starts the nodes.
    node : str
        Executable that gives the efforts.
    simulator, controller : dict
        Keywords of `Bench.start`.

    """

    def __init__(self, bench, node, simulator, controller):
        self.bench, self.node = bench, node
        self.memory = {node: Memory(), SIMULATOR: Memory()}
        self.ages, self.not_finite = [], 0
        self._start, self._counts = None, False
        latest = QoSProfile(depth=1)
        self._reference = bench.publisher(JointTrajectory, f'{node}/reference', latest)
        bench.node.create_subscription(JointState, f'{node}/effort', self._on_effort, 10)
        remap = ['-r', f'~/effort_command:=/{node}/effort']
        module = f'{node.removeprefix("kane_")}_node'
        self.processes = {
            node: bench.start(module, **controller),
            SIMULATOR: bench.start('simulator_node', **simulator, arguments=remap),
        }

    def _on_effort(self, message):
        now = time.monotonic()
        if self._start is None and any(message.effort):
            self._start = dict(zip(message.name, message.position, strict=True))
        if self._counts:
            self.ages.append(now - nanoseconds(message.header.stamp) * 1e-9)
            self.not_finite += not np.isfinite(message.effort).all()

    def _refer(self):
        t = time.monotonic()
        point = JointTrajectoryPoint()
        point.positions = [x + 0.1 * math.sin(t) for x in self._start.values()]
        point.velocities = [0.1 * math.cos(t)] * len(self._start)
        point.accelerations = [-0.1 * math.sin(t)] * len(self._start)
        self._reference.publish(JointTrajectory(joint_names=list(self._start), points=[point]))

    def _drive(self, seconds):
        """Give references, and look at the memory."""
        end, sample = time.monotonic() + seconds, 0.0
        while time.monotonic() < end:
            self._refer()
            self.bench.spin(REFERENCES)
            if self._counts and time.monotonic() > sample:
                sample = time.monotonic() + 1.0
                for name, process in self.processes.items():
                    self.memory[name].take(process, time.monotonic())

    def periods(self):
        """Return how many periods were missed, and how many there were."""
        words = self.bench.next_status(f'{SIMULATOR}: simulation', self._refer)[2][
            'missed periods'
        ]
        missed, _, whole = words.split()
        return int(missed), int(whole)

    def run(self, seconds):
        """Let it run; return how many periods were missed in it, and how many there were."""
        # else the arm lies on its stops before there is a controller
        self.bench.until(
            lambda: self.bench.call(Trigger, f'{self.node}/print_model').success, START
        )
        self.bench.call(SetBool, f'{SIMULATOR}/pause', data=False)
        self.bench.until(lambda: self._start, START)
        self._drive(SETTLING)
        before = self.periods()
        self._counts = True
        self._drive(seconds)
        self._counts = False
        return tuple(b - a for a, b in zip(before, self.periods(), strict=True))

    def report(self, missed, whole):
        """Return what was seen, and what must not be, in words."""
        ages = 1e3 * np.array(self.ages)
        late = np.percentile(ages - ages.min(), SHOWN) if len(ages) else np.full(4, np.nan)
        shown = ', '.join(f'p{p:g} {x:.2f}' for p, x in zip(SHOWN, late, strict=True))
        output = self.bench.next_status(f'{self.node}: output', self._refer)[2]
        lines = [
            f'periods without efforts in time: {missed} of {whole}',
            f'efforts later than the quickest one [ms]: {shown}',
            f'computing, the last second: {output.get("computing [ms]", "?")} ms',
            *(f'memory of {name}: {memory.in_words()}' for name, memory in self.memory.items()),
        ]
        failures = [f'memory of {name}' for name, m in self.memory.items() if m.leaks()]
        failures += [p.log.name for p in self.processes.values() if p.poll() is not None]
        if missed > WORST * whole or not whole:
            failures.append('deadlines')
        if self.not_finite:
            failures.append('efforts that are not finite')
        return '\n'.join(lines), failures


def main(arguments=None):
    """Run it; return 0 if nothing went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--minutes', type=float, default=10.0)
    parser.add_argument('--rate', type=float, default=500.0, help='of the states [Hz]')
    parser.add_argument('--node', default='kane_computed_torque')
    parser.add_argument('--law', default='computed_torque', help='of kane_computed_torque')
    parser.add_argument('--robot', default='nonholonomic', help='name of a file in config')
    chosen = parser.parse_args(arguments)
    files = [ROOT / 'config' / f'{name}.yaml' for name in (chosen.robot, 'simulation')]
    common = {'compiled': 'wait'}
    simulator = {**common, 'joint_state_rate': chosen.rate, 'publish_tf': 'false'}
    simulator['start_paused'] = 'true'
    controller = {**common, 'use_sim_time': 'true', 'law': chosen.law}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder)
        try:
            loop = LongRun(
                bench,
                chosen.node,
                {'files': files, 'params': simulator},
                {'files': files, 'params': controller},
            )
            text, failures = loop.report(*loop.run(60.0 * chosen.minutes))
        finally:
            bench.close()
    sys.stdout.write(f'{text}\n' + (f'FAILED: {failures}\n' if failures else 'ok\n'))
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
