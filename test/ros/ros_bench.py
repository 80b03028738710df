# SPDX-License-Identifier: Apache-2.0
"""A test bench on real DDS: node processes on their own domain, and a node that watches them."""

import itertools
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile

ROOT = Path(__file__).resolve().parents[2]
START_TIMEOUT = 180.0  # [s]: importing the package and discovery on a machine that is very busy
_numbers = itertools.count(os.getpid())
_locks = []  # of the newest domains without a bench
LOCKS = 8
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)

# before the first context: what is tested here stays on this machine
os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'


def locked_domain():
    """Return a domain from 1 to 98 and a lock, which keeps others from it until it is closed."""
    for number in itertools.islice(_numbers, 98):
        domain = 1 + number % 98
        name = f'kane_dynamics_domain_{domain}_{os.getuid()}'
        lock = (Path(tempfile.gettempdir()) / name).open('w')
        try:
            flock(lock, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            lock.close()
        else:
            return domain, lock
    raise RuntimeError('tests use every ROS domain of this machine')


def domain_id():
    """Return a domain that is this process's own until LOCKS more were asked for."""
    domain, lock = locked_domain()
    _locks.append(lock)
    if len(_locks) > LOCKS:
        _locks.pop(0).close()
    return domain


class Bench:
    """Starts nodes of the package, talks to them and records what they say."""

    def __init__(self, folder, domain=0):
        self.domain, self._lock = (domain, None) if domain else locked_domain()
        self.folder = Path(folder)
        self.context = Context()
        rclpy.init(context=self.context, domain_id=self.domain)
        self.node = rclpy.create_node('bench', context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.received = defaultdict(list)
        self.statuses = {}
        self.processes = []
        self.node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 50)

    def command(self, module, *, params=None, files=(), arguments=(), names=()):
        """Return the command line of a node, or of those named; params: ``-p name:=value``."""
        if module == 'container':
            executed = '-c', 'from kane_dynamics.ros.entry import container; exit(container())'
        elif module.endswith('_node'):
            executed = '-m', 'kane_dynamics.ros.entry', f'kane_{module.removesuffix("_node")}'
        else:
            executed = '-m', f'kane_dynamics.ros.{module}'
        command = [sys.executable, *executed, *names, '--ros-args']
        for path in files:
            command += ['--params-file', str(path)]
        for name, value in (params or {}).items():
            command += ['-p', f'{name}:={value}']
        return [*command, *arguments]

    def environment(self):
        """Return the environment of the nodes."""
        return {
            **os.environ,
            'ROS_DOMAIN_ID': str(self.domain),
            'PYTHONPATH': f'{ROOT}{os.pathsep}{os.environ.get("PYTHONPATH", "")}',
            'OPENBLAS_NUM_THREADS': '1',
        }

    def start(self, module, **chosen):
        """Start a node process; the keywords are those of `command`."""
        return self.run(module, self.command(module, **chosen))

    def run(self, name, command):
        """Start a process; its log is `<name>_<number>.log`."""
        log = self.folder / f'{name}_{len(self.processes)}.log'
        with log.open('w') as stream:
            process = subprocess.Popen(
                command, stdout=stream, stderr=stream, env=self.environment()
            )
        process.log = log
        self.processes.append(process)
        return process

    def listen(self, message_type, topic, qos=50):
        """Record the messages of a topic."""
        self.node.create_subscription(message_type, topic, self.received[topic].append, qos)
        return self.received[topic]

    def publisher(self, message_type, topic, qos=10):
        """Return a publisher."""
        return self.node.create_publisher(message_type, topic, qos)

    def spin(self, seconds):
        """Let messages flow."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.0:
            self.executor.spin_once(timeout_sec=min(left, 0.01))

    def until(self, condition, timeout=START_TIMEOUT, each=None, period=0.02):
        """Wait for a condition, calling `each` every period; return its value or fail."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if each is not None:
                each()
            self.spin(period)
            value = condition()
            if value:
                return value
        logs = '\n'.join(f'{p.log.name}:\n{p.log.read_text()[-2000:]}' for p in self.processes)
        raise AssertionError(f'waited {timeout} s in vain; statuses {self.statuses}\n{logs}')

    def matched(self, publisher):
        """Wait until somebody listens to a publisher."""
        self.until(publisher.get_subscription_count)

    def status(self, name):
        """Return (level, message, values) of a component, '' before its first report."""
        return self.statuses.get(name, (None, '', {}))

    def next_status(self, name, each=None):
        """Return the next report of a component."""
        self.statuses.pop(name, None)
        self.until(lambda: name in self.statuses, each=each)
        return self.statuses[name]

    def status_where(self, name, condition, each=None):
        """Wait for a report whose level, message and values fulfil a condition; return it."""
        self.statuses.pop(name, None)
        self.until(lambda: name in self.statuses and condition(*self.statuses[name]), each=each)
        return self.statuses[name]

    def call(self, service_type, name, **fields):
        """Call a service and return its response."""
        client = self.node.create_client(service_type, name)
        self.until(client.service_is_ready)
        future = client.call_async(service_type.Request(**fields))
        self.until(future.done)
        self.node.destroy_client(client)
        return future.result()

    def now(self):
        """Return the wall time as a stamp."""
        return self.node.get_clock().now().to_msg()

    def terminate(self, process, number=signal.SIGTERM):
        """Send a signal and return the exit code."""
        process.send_signal(number)
        return process.wait(START_TIMEOUT)

    def end(self, processes):
        """End processes, those that do not listen by force."""
        for process in processes:
            if process.poll() is None:
                process.terminate()
        for process in processes:
            try:
                process.wait(10.0)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def close(self):
        """End all processes and the bench's own node."""
        self.end(self.processes)
        self.executor.shutdown()
        self.node.destroy_node()
        self.context.try_shutdown()
        if self._lock is not None:
            self._lock.close()

    def _on_diagnostics(self, message):
        for status in message.status:
            values = {pair.key: pair.value for pair in status.values}
            self.statuses[status.name] = (status.level, status.message, values)
