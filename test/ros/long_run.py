# SPDX-License-Identifier: Apache-2.0
"""
The closed loop without faults, for minutes: ``make deadlines MINUTES=10 RATE=500``.

Simulator and controller are processes that talk to each other alone. This one gives references and
reads the diagnostics: who listens to efforts takes as much time as who computes them. A deadline
is missed where a period of the simulator begins without the efforts of the state before, or late
by a period.

The nodes run at the real-time priority of ros2_control's controller_manager where that is allowed:
what else the machine does is not to be judged. Processor time does not depend on it. Against what
the host of a virtual machine takes no priority helps: `held_up` sees it, and the deadlines of the
time that it left alone are told beside all. The figures go to ``studies-results``.
"""

import argparse
import itertools
import json
import math
import os
import sys
import tempfile
import time
from pathlib import Path

from held_up import Sleepers
from rclpy.qos import QoSProfile
from ros_bench import ROOT, Bench
from sensor_msgs.msg import JointState
from soak_memory import Memory
from std_srvs.srv import Empty, SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from studies import machine

SIMULATOR = 'kane_simulator'
START = 180.0  # [s] for the first efforts: with `compiled: wait`, the first start compiles
SETTLING = 2.0  # [s] that do not count: the nodes find each other, the efforts grow
REFERENCES = 0.02  # [s] from one to the next
CLOCK = 100.0  # [Hz] of /clock
LOOKS = 0.5  # [s] between looks at the memory
WORST = 1e-3  # part of the periods that may be missed: none at p99.9
NUMBER = 'missed periods'
RESULTS = Path('studies-results')


class LongRun:
    """
    The loop.

    Parameters
    ----------
    bench : Bench
        Starts the nodes.
    node : str
        Executable that gives the efforts.
    files : sequence of Path
        Parameters of both.
    params : dict of str to dict
        Parameters of each.
    priority : int
        Of SCHED_FIFO; 0: ordinary scheduling.
    together : bool
        Whether both nodes are in one process.

    """

    def __init__(self, bench, node, files, params, priority=0, together=False):
        self.bench, self.node, self._priority = bench, node, priority
        self.scheduling = 'ordinary scheduling'
        self.delays, self.cpu = [], {}
        self.counts, self.held_up = [], None
        self._start = None
        self._reference = bench.publisher(
            JointTrajectory, f'{node}/reference', QoSProfile(depth=1)
        )
        remap = ['-r', f'{SIMULATOR}:~/effort_command:=/{node}/effort']
        self.processes = {}
        for names in [(node, SIMULATOR)] if together else [(node,), (SIMULATOR,)]:
            given = {
                'files': files,
                'params': {f'{n}:{k}': x for n in names for k, x in params[n].items()},
            }
            started = bench.start('container', names=names, **given, arguments=remap)
            self.processes[' and '.join(names)] = started
        self.memory = {name: Memory() for name in self.processes}

    def _first_state(self):
        """Return the motors and the positions in which the paused simulator waits."""
        states = []
        listener = self.bench.node.create_subscription(
            JointState, 'joint_states', states.append, 10
        )
        reset = f'{SIMULATOR}/reset'
        self.bench.until(lambda: self.bench.call(Empty, reset) and states, START)
        self.bench.node.destroy_subscription(listener)
        return dict(zip(states[-1].name, states[-1].position, strict=True))

    def _refer(self):
        t = time.monotonic()
        point = JointTrajectoryPoint()
        point.positions = [x + 0.1 * math.sin(t) for x in self._start.values()]
        point.velocities = [0.1 * math.cos(t)] * len(self._start)
        point.accelerations = [-0.1 * math.sin(t)] * len(self._start)
        self._reference.publish(JointTrajectory(joint_names=list(self._start), points=[point]))

    def _drive(self, seconds):
        """Give references, and look at memory and delays."""
        end, look = time.monotonic() + seconds, 0.0
        while (now := time.monotonic()) < end:
            self._refer()
            time.sleep(REFERENCES)
            self._look()
            if now < look:
                continue
            look = now + LOOKS
            for name, process in self.processes.items():
                self.memory[name].take(process, now)

    def _look(self):
        """Keep what the simulator counts, each time that it says so."""
        self.bench.spin(0.001)
        values = self.bench.status(f'{SIMULATOR}: simulation')[2]
        if NUMBER not in values:
            return
        counts = _counts(values[NUMBER])
        if not self.counts or counts != self.counts[-1][1:]:
            self.counts.append((time.monotonic(), *counts))
            self.delays.append(values.get('efforts after [ms]', ''))

    def periods(self):
        """Return how many periods were missed, and how many there were."""
        return _counts(self.bench.next_status(f'{SIMULATOR}: simulation', self._refer)[2][NUMBER])

    def run(self, seconds):
        """Let it run; return how many periods were missed in it, and how many there were."""
        # else the arm lies on its stops before there is a controller
        self.bench.until(
            lambda: self.bench.call(Trigger, f'{self.node}/get_model_summary').success, START
        )
        self._start = self._first_state()
        self._prefer()
        self.bench.call(SetBool, f'{SIMULATOR}/pause', data=False)
        self._drive(SETTLING)
        before, used = self.periods(), self._used()
        self.delays.clear()
        self.counts.clear()
        sleepers = Sleepers()
        sleepers.start()
        self._drive(seconds)
        self.held_up = sleepers.stop()
        used = {name: now - used[name] for name, now in self._used().items()}
        missed, whole = (b - a for a, b in zip(before, self.periods(), strict=True))
        self.cpu = {name: 1e6 * seconds / whole for name, seconds in used.items() if whole}
        return missed, whole

    def figures(self, rate, missed, whole):
        """Return what was seen, for doc/reliability.md."""
        undisturbed, periods = _undisturbed(self.counts, self.held_up)
        return {
            'commit': machine.commit(),
            'machine': {**machine.describe(), 'versions': machine.versions()},
            'rate_hz': rate,
            'processes': len(self.processes),
            'scheduling': self.scheduling,
            'missed': missed,
            'periods': whole,
            'held_up': len(self.held_up.times),
            'undisturbed_missed': undisturbed,
            'undisturbed_periods': periods,
            'efforts_ms': _median(self.delays),
            'processor_us': self.cpu,
        }

    def _used(self):
        """Return the processor time [s] of each process."""
        found = {}
        for name, pid in ((n, p.pid) for n, p in self.processes.items()):
            words = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
            found[name] = (int(words[11]) + int(words[12])) / os.sysconf('SC_CLK_TCK')
        return found

    def _prefer(self):
        """Give all threads of the nodes their priority, where that is allowed."""
        threads = [
            int(task.name)
            for process in self.processes.values()
            for task in Path(f'/proc/{process.pid}/task').iterdir()
        ]
        try:
            for thread in threads if self._priority else ():
                os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(self._priority))
                self.scheduling = f'SCHED_FIFO {self._priority}'
        except PermissionError:
            self.scheduling = 'ordinary scheduling: no right to SCHED_FIFO'

    def report(self, missed, whole):
        """Return what was seen, and what must not be, in words."""
        output = self.bench.next_status(f'{self.node}: output', self._refer)[2]
        failed = int(output['failed computations'])
        used = ', '.join(f'{name} {x:.0f}' for name, x in self.cpu.items())
        lines = [
            f'periods without efforts in time: {missed} of {whole} ({self.scheduling})',
            f'held up by the machine: {self.held_up.in_words()}',
            'missed while it was not: {} of {}'.format(*_undisturbed(self.counts, self.held_up)),
            'efforts after their state [ms]: '
            + ', '.join(f'{name} {x:.2f}' for name, x in _median(self.delays).items()),
            f'processor time of a period [us]: {used}',
            f'computing, the last second: {output.get("computing [ms]", "?")} ms',
            *(f'memory of {name}: {memory.in_words()}' for name, memory in self.memory.items()),
        ]
        failures = [f'memory of {name}' for name, m in self.memory.items() if m.leaks()]
        failures += [p.log.name for p in self.processes.values() if p.poll() is not None]
        if missed > WORST * whole or not whole:
            failures.append('deadlines')
        if failed:
            failures.append(f'{failed} computations')
        return '\n'.join(lines), failures


def _counts(words):
    """Return how many periods were missed, and how many there were."""
    missed, _, whole = words.split()
    return int(missed), int(whole)


def _undisturbed(counts, held_up):
    """Return missed and all periods of the time in which the machine held nobody up."""
    missed = whole = 0
    for (begin, *before), (end, *after) in itertools.pairwise(counts):
        if not held_up.between(begin, end):
            missed += after[0] - before[0]
            whole += after[1] - before[1]
    return missed, whole


def _median(delays):
    """Return the medians of all seconds, and the longest of all."""
    seconds = [
        {name: float(x) for name, x in (part.rsplit(' ', 1) for part in words.split(', '))}
        for words in delays
        if words
    ]
    if not seconds:
        return {}
    middle = {name: sorted(one[name] for one in seconds)[len(seconds) // 2] for name in seconds[0]}
    return {**middle, 'longest': max(one['longest'] for one in seconds)}


def main(arguments=None):
    """Run it; return 0 if nothing went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--minutes', type=float, default=10.0)
    parser.add_argument('--rate', type=float, default=500.0, help='of the states [Hz]')
    parser.add_argument('--node', default='kane_computed_torque')
    parser.add_argument('--law', default='computed_torque', help='of kane_computed_torque')
    parser.add_argument('--robot', default='nonholonomic', help='name of a file in config')
    parser.add_argument('--priority', type=int, default=50, help='of SCHED_FIFO; 0: ordinary')
    parser.add_argument('--together', action='store_true', help='both nodes in one process')
    chosen = parser.parse_args(arguments)
    files = [ROOT / 'config' / f'{name}.yaml' for name in (chosen.robot, 'simulation')]
    common = {'compiled': 'wait'}
    simulator = {**common, 'joint_state_rate': chosen.rate, 'publish_tf': 'false'}
    # a clock with every state would take a tenth of all the time that both nodes need
    simulator |= {'start_paused': 'true', 'clock_rate': CLOCK}
    controller = {**common, 'use_sim_time': 'true', 'law': chosen.law}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder)
        try:
            loop = LongRun(
                bench,
                chosen.node,
                files,
                {SIMULATOR: simulator, chosen.node: controller},
                chosen.priority,
                chosen.together,
            )
            counted = loop.run(60.0 * chosen.minutes)
            text, failures = loop.report(*counted)
            figures = {'minutes': chosen.minutes, **loop.figures(chosen.rate, *counted)}
        finally:
            bench.close()
    RESULTS.mkdir(exist_ok=True)
    name = 'deadlines_together.json' if chosen.together else 'deadlines.json'
    (RESULTS / name).write_text(json.dumps(figures, indent=1))
    sys.stdout.write(f'{text}\n' + (f'FAILED: {failures}\n' if failures else 'ok\n'))
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
