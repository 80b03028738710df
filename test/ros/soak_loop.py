# SPDX-License-Identifier: Apache-2.0
"""
The nodes of a soak, what passes between them, and what they say.

Each node is a process. States, odometry and ``/clock`` of the simulator pass through this one,
which spoils them by the list of `soak_faults`, gives commands to all nodes and spoils these too.
"""

import copy
import heapq
import math
import time

import numpy as np
from nav_msgs.msg import Odometry
from rclpy.qos import QoSProfile
from ros_bench import LATCHED
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from soak_actions import Actions
from soak_faults import FAULTS, Fault
from soak_memory import Memory
from soak_nodes import LOOP, SIMULATOR, SIMULATOR_TOLD, SPOILERS, THE_LOOP, stamped
from soak_record import Ages, Refusals, Row, Stamps
from soak_report import failures, table
from std_msgs.msg import String

from kane_dynamics.messages.conversions import nanoseconds

LATEST = QoSProfile(depth=1)
RECOVERY = 60.0  # [s] in which efforts must come again; a node starts slowly on a busy machine
SILENCE = 5.0  # [s] in which zeros must come; with a dead clock the watchdog takes one
SETTLING = 10  # models published before: so often the heap grows, while it finds room for two
START = 180.0  # [s] for the first efforts: with `compiled: wait`, the first start compiles
MINUTE = 60.0
TIMEOUT = 0.1  # [s]: timeout.joint_states of config/simulation.yaml


class Soak:
    """
    The nodes.

    Parameters
    ----------
    bench : Bench
        Starts the nodes.
    rate : float
        Of the states [Hz].
    simulator, controller : dict
        Keywords of `Bench.start`; the latter those of all peers.
    peers : sequence of Peer
        Nodes beside the loop.
    simulated : bool
        Whether time is simulated; else stamps are wall time, and their sender's clock jumps.
    priority : int
        `thread_priority` of the nodes that send efforts.

    """

    def __init__(self, bench, rate, simulator, controller, peers=(), simulated=True, priority=0):
        self.bench, self.period, self.rate = bench, 1.0 / rate, rate
        self.rows = {fault.name: Row(fault) for fault in FAULTS}
        self.row = self.rows['none']
        self.unfounded = []
        self.peers = {peer.name: peer for peer in (THE_LOOP, *peers)}
        self.memory = {name: Memory() for name in (*self.peers, SIMULATOR)}
        self.stamps, self.ages, self._refusals = Stamps(), Ages(), Refusals()
        self.said = {}  # when each node said something, and whether it was more than zeros
        self.description = None
        self._waiting, self.count, self._now, self._since = [], 0, 0.0, 0.0
        self._stands = 0
        self._start, self._told, self.simulated = None, {}, simulated
        self._next_sample = self._next_minute = 0.0
        self._starts = {SIMULATOR: ('simulator_node', simulator)}
        remap = ['-r', '/clock:=/simulated/clock', '-r', f'~/effort_command:=/{LOOP}/effort']
        for topic in ('joint_states', 'odom'):
            remap += ['-r', f'{topic}:=simulated/{topic}']
        simulator['arguments'] = remap
        for peer in self.peers.values():
            own = {**peer.params, 'thread_priority': priority * peer.moves}
            given = {**controller, 'params': {**controller['params'], **own}}
            self._starts[peer.name] = (peer.module, given)
        self._connect()
        self.processes = {name: self.start(name) for name in self._starts}
        self.actions = Actions(self)

    def _connect(self):
        bench = self.bench
        self._states = bench.publisher(JointState, 'joint_states', LATEST)
        self._odom = bench.publisher(Odometry, 'odom', LATEST)
        self._clock = bench.publisher(Clock, '/clock', LATEST)
        self.text = bench.publisher(String, 'robot_description', LATCHED)
        listen = bench.node.create_subscription
        listen(JointState, 'simulated/joint_states', self._on_state, LATEST)
        listen(Odometry, 'simulated/odom', self._on_odom, LATEST)
        listen(Clock, 'simulated/clock', self._on_clock, LATEST)
        listen(String, 'robot_description', self._on_description, LATCHED)
        self._orders = []
        tolds = [peer.told for peer in self.peers.values() if peer.told]
        if len(self.peers) > 1:
            tolds.append(SIMULATOR_TOLD)
        for kind, topic, make, period in tolds:
            self._orders.append((bench.publisher(kind, topic, LATEST), make, period, topic))
        for peer in self.peers.values():
            kind, topic, numbers = peer.says
            listen(kind, topic, self._listener(peer, numbers), 10)

    def start(self, name):
        """Start a node; return its process."""
        module, given = self._starts[name]
        return self.bench.start(module, **given)

    # what passes through

    def _on_state(self, message):
        t = nanoseconds(message.header.stamp) * 1e-9
        if t < self._now:
            self._waiting.clear()  # time has jumped back
            self._told.clear()
            self._since = t
        self.count, self._now = self.count + 1, t
        self._send_commands(message, t)
        self._note(message)
        shifted = self._shifted(copy.deepcopy(message))
        for delay, state in self.row.fault.change(shifted, self.count):
            wait = -delay if delay < 0.0 else delay * self.period
            heapq.heappush(self._waiting, (t + wait, self.count, id(state), state))
        while self._waiting and self._waiting[0][0] <= t:
            self._states.publish(heapq.heappop(self._waiting)[3])
            self.row.states += 1

    def _note(self, message):
        """Remember a stamp that efforts may answer."""
        if not self.row.fault.blind or self._now < self._since + self.row.fault.grace:
            self.stamps.note(nanoseconds(message.header.stamp))

    def _on_odom(self, message):
        self._note(message)
        change = self.row.fault.odometry or (lambda odometry: [odometry])
        for changed in change(self._shifted(message)):
            self._odom.publish(changed)

    def _shifted(self, message):
        """Return a message whose sender's clock is wrong as that of the fault, in wall time."""
        t = nanoseconds(message.header.stamp) * 1e-9
        told = t if self.simulated else self.row.fault.clock(t)
        if told == t:
            return message
        if told is not None:
            return stamped(message, 2.0 * t - told)
        # the very stamp of the last state: seconds as a float are only good to 0.1 us
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(self._stands, 10**9)
        return message

    def _on_clock(self, message):
        told = self.row.fault.clock(nanoseconds(message.clock) * 1e-9)
        if told is not None:
            holder = stamped(JointState(), max(told, 0.0))
            self._clock.publish(Clock(clock=holder.header.stamp))

    def _send_commands(self, state, t):
        if self._start is None:
            self._start = dict(zip(state.name, state.position, strict=True))
        spoil = SPOILERS[self.row.fault.spoil]
        for publisher, make, period, topic in self._orders:
            if t >= self._told.get(topic, -1.0) + period:
                self._told[topic] = t
                publisher.publish(spoil(make(self._start, t)))

    def _on_description(self, message):
        if self.description is None:
            self.description = message.data

    # what is said

    def _listener(self, peer, numbers):
        def listen(message, info):
            values = np.array(numbers(message), dtype=float)
            self.row.outputs += 1
            self.said[peer.name] = time.monotonic(), bool(values.any())
            if not np.isfinite(values).all():
                self.row.not_finite += 1
            elif peer.moves and values.any():
                self._judge(peer.name, nanoseconds(message.header.stamp), info)

        return listen

    def _judge(self, name, stamp, info):
        """Count an effort that nothing known of the robot justifies, or that is too late."""
        age = self.stamps.age(stamp, info['source_timestamp'])
        if not self.simulated:
            age = age and (info['source_timestamp'] - stamp) * 1e-9
        if age is None:
            self.blame(f'{name} answers {stamp} ns, which is not usable')
            return
        self.ages.take(name, age)
        if age > TIMEOUT and not self.simulated:  # by the clock of the nodes, not of messages
            self.row.late += 1
            self.unfounded.append(f'{self.row.fault.name}: {name} is {age:.3f} s late')

    def blame(self, what):
        """Count an effort that must not be."""
        self.row.unfounded += 1
        newest = self.stamps.newest()
        self.unfounded.append(f'{self.row.fault.name}: {what}; newest usable: {newest}')

    # faults

    def spin(self, seconds, until=lambda: False):
        """Let messages flow."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not until():
            self.bench.executor.spin_once(timeout_sec=0.005)
            now = time.monotonic()
            if now > self._next_sample:
                self._next_sample = now + 1.0
                self.row.refused.update(self._refusals.new(self.bench.statuses))
                for name, process in self.processes.items():
                    self.memory[name].take(process, now)
            if now > self._next_minute:
                self.ages.close_minute()
                self._next_minute = now + MINUTE

    def _all_again(self, timeout):
        """Wait until all nodes say something, and those of motors more than zeros; return when."""
        begin = time.monotonic()

        def again():
            heard = {name for name, (at, pushes) in self.said.items() if at > begin and pushes}
            return all(name in heard for name, peer in self.peers.items() if peer.always)

        self.spin(timeout, again)
        took = time.monotonic() - begin
        return took if took < timeout else math.inf

    def must_be_silent(self):
        """Count efforts that stand although nothing is known of the robot any more."""

        def standing():
            return [
                name
                for name, peer in self.peers.items()
                if peer.moves and self.said.get(name, (0.0, False))[1]
            ]

        self.spin(SILENCE, lambda: not standing())
        for name in standing():
            self.blame(f'of {name} stands {SILENCE} s after the last usable state')

    def wait_for_the_first_efforts(self):
        """Wait until the loop is closed."""
        if math.isinf(self._all_again(START)):
            logs = [f'{n}: {p.log.read_text()[-1500:]}' for n, p in self.processes.items()]
            raise RuntimeError('\n'.join([f'no efforts: {self.said}', *logs]))

    def settle(self):
        """Let the heaps find their size, so that what grows afterwards is a leak."""
        (again,) = (fault for fault in FAULTS if fault.action == 'describe again')
        for _ in range(SETTLING):
            self.inject(again, 0.5)

    def inject(self, fault, seconds):
        """Let a fault act for some time, and the nodes recover from it."""
        self.row = row = self.rows[fault.name]
        self._since, self._stands = self._now, self.stamps.newest()
        row.times += 1
        if fault.action:
            self.actions.act(fault.action)
        self.spin(seconds)
        if fault.blind:
            self.must_be_silent()
        self.row = Row(Fault('recovery'))
        took = self._all_again(RECOVERY)
        if math.isinf(took):
            self.unfounded.append(f'{fault.name}: no recovery; {self.said}')
        row.recovery = max(row.recovery, took)
        self.spin(seconds)
        for name in ('states', 'outputs', 'not_finite', 'unfounded', 'late'):
            setattr(row, name, getattr(row, name) + getattr(self.row, name))
        row.refused.update(self.row.refused)

    def dead(self):
        """Return the logs of nodes that have ended by themselves."""
        return [p.log.name for p in self.processes.values() if p.poll() is not None]

    def failures(self, counted=False):
        """Return what must not be, in words."""
        return failures(self, counted)

    def table(self):
        """Return the table of all faults."""
        return table(self)
