# SPDX-License-Identifier: Apache-2.0
"""``main`` of every node: start, spin on one thread, end on a signal; QoS of topics (REP-2003)."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import inspect
import os
import select
import signal
import threading
from collections.abc import Callable, Sequence
from functools import partial
from types import FrameType
from typing import Any

import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import ParameterException
from rclpy.executors import SingleThreadedExecutor
from rclpy.logging import get_logger
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message, serialize_message
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from rosgraph_msgs.msg import Clock as ClockMessage

from kane_dynamics.messages.intra_process import IntraProcess


def try_import(module: str, attribute: str) -> Any:
    """Return an attribute of a module, or None where it is not installed."""
    try:
        return getattr(importlib.import_module(module), attribute, None)
    except ImportError:
        return None


TFMessage: Any = try_import('tf2_msgs.msg', 'TFMessage')


class Launcher:
    """Another process, watched by a file descriptor, so that a number used again is no matter."""

    def __init__(self, pid: int) -> None:
        self.pid, self.problem = pid, ''
        self._poll, self._lost, self._descriptor = select.poll(), False, -1
        try:
            if pid:
                self._descriptor = os.pidfd_open(pid)
                self._poll.register(self._descriptor, select.POLLIN)
        except ProcessLookupError:
            self._lost = True  # it ended while this process started
        except (AttributeError, OSError) as error:
            self.problem = f'process {pid} cannot be watched: {error}'

    def ended(self) -> bool:
        """Return whether the process has ended."""
        return self._lost or bool(self._poll.poll(0))

    def close(self) -> None:
        """Stop watching."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1


def take_priority(priority: int) -> str:
    """Give calling thread a priority of SCHED_FIFO, but not the threads that it starts later."""
    if not priority:
        return ''
    try:
        # compiling a model in a thread at this priority would stop the machine for seconds
        policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
        os.sched_setscheduler(0, policy, os.sched_param(priority))
    except (AttributeError, OSError) as error:
        return (
            f'thread_priority {priority} is refused ({error}): the node goes on with an ordinary '
            f"one; Linux grants it to users with 'rtprio {priority}' or more in "
            '/etc/security/limits.conf'
        )
    return ''


class ComposableNode(Node):
    """
    A node that may hand messages over to others of its process, and whose time is never negative.

    Messages of ``/clock`` before zero are left out, which it says once. `intra_process`: that of
    the process, whose tasks are those of the executor that serves the node.
    """

    def __init__(
        self, name: str, *, intra_process: IntraProcess | None = None, **options: Any
    ) -> None:
        self.intra_process = intra_process
        super().__init__(name, **options)

    def create_publisher(self, *arguments: Any, **options: Any) -> Any:
        """As that of rclpy, with messages that are handed over."""
        return self.hand_over(super().create_publisher(*arguments, **options))

    def hand_over(self, publisher: Any) -> Any:
        """Return a publisher; from now on its messages are handed over, unless DDS keeps them."""
        reliable = publisher.qos_profile.reliability == ReliabilityPolicy.RELIABLE
        if self.intra_process and reliable and not _latched(publisher.qos_profile):
            self.intra_process.connect(publisher)
        return publisher

    def create_subscription(
        self, msg_type: Any, topic: str, callback: Any, qos_profile: Any, **options: Any
    ) -> Any:
        """As that of rclpy, whose own subscription of /clock comes here as well."""
        if msg_type is ClockMessage:
            callback = self._from_zero(callback)

        def create(received: Any, **raw: bool) -> Any:
            return super(ComposableNode, self).create_subscription(
                msg_type, topic, received, qos_profile, **raw, **options
            )

        if self.intra_process is None or _latched(qos_profile):
            return create(callback)
        return self.intra_process.subscribe(partial(create, raw=True), msg_type, callback)

    def destroy_subscription(self, subscription: Any) -> bool:
        """As that of rclpy; what still waits for the callback is dropped."""
        if self.intra_process is not None:
            self.intra_process.forget(subscription)
        return bool(super().destroy_subscription(subscription))

    def _from_zero(self, callback: Callable[..., Any]) -> Callable[[ClockMessage], None]:
        def take(message: ClockMessage) -> None:
            if message.clock.sec < 0:
                self.get_logger().warning(
                    f'/clock is left out before zero: {message.clock.sec} s came', once=True
                )
            else:
                callback(message)

        return take


def _latched(qos: QoSProfile | int) -> bool:
    """Return whether late subscribers get old messages: those are for DDS to keep."""
    return isinstance(qos, QoSProfile) and qos.durability != DurabilityPolicy.VOLATILE


WALL = Clock(clock_type=ClockType.STEADY_TIME)
LOOK_PERIOD = 0.1
"""Wall time [s] between looks for a signal, or the end of the launcher."""
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, a polite kill, a closed terminal."""
_M_ARENA_MAX = -8  # of glibc's malloc.h


def new_intra_process() -> IntraProcess:
    """Return what nodes of one process share."""
    return IntraProcess(serialize_message, deserialize_message)


def run(factories: Sequence[Callable[..., Any]], args: Sequence[str] | None = None) -> int:
    """Run nodes until SIGINT, SIGTERM, SIGHUP or end of their launcher; return the exit code."""
    use_one_heap()
    logger = get_logger('kane_dynamics')
    stopped = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        stopped.set()

    try:
        rclpy.init(
            args=None if args is None else list(args),
            signal_handler_options=SignalHandlerOptions.NO,
        )
        _handle(stop)
        shared = new_intra_process() if len(factories) > 1 else None
        nodes = [factory(intra_process=shared) for factory in factories]
    except (ParameterException, RuntimeError) as error:
        logger.fatal(f'cannot start: {error}')
        rclpy.try_shutdown()
        return 1
    launcher = Launcher(max(node.parameters.parent_pid for node in nodes))
    priority = max(node.parameters.thread_priority for node in nodes)
    for problem in filter(None, (launcher.problem, take_priority(priority))):
        logger.warning(problem)
    spin(nodes, lambda: stopped.is_set() or launcher.ended(), shared)
    if launcher.ended():
        logger.warning(f'ended, since the process {launcher.pid} that started this node is gone')
    launcher.close()
    rclpy.try_shutdown()
    _handle(signal.SIG_IGN)  # a launch file repeats the Ctrl-C that the terminal sent
    return 0


def use_one_heap() -> None:
    """Let threads that begin from now on use the heaps that there are, with glibc."""
    with contextlib.suppress(AttributeError, OSError, TypeError):  # another C library
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def _handle(handler: Any) -> None:
    """Set the handler of every ending signal that is not ignored."""
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def spin(
    nodes: Sequence[Any], finished: Callable[[], bool], shared: IntraProcess | None = None
) -> None:
    """Serve nodes on this thread until `finished`; let each say its last word and take it down."""
    executor = fast_executor(*nodes)
    if shared is not None:
        shared.create_task = executor.create_task
    ended: Future[None] = Future()

    def look() -> None:
        if finished() and not ended.done():
            ended.set_result(None)

    # the events executor comes to no timeout while callbacks are late, but serves all in turns
    nodes[0].create_timer(LOOK_PERIOD, without_arguments(look), clock=WALL)
    try:
        for node in nodes:
            executor.add_node(node)
            node.start()
        gc.freeze()  # what is there now stays: a full collection would stop the loop for long
        while not finished():
            ended = Future()  # an old one would keep a callback of each spin
            # many callbacks in one call: on the way back to Python each would cost 20 us more
            executor.spin_until_future_complete(ended, LOOK_PERIOD)
    finally:
        for node in nodes:
            node.stop()
        executor.shutdown()
        for node in nodes:
            node.destroy_node()


def without_arguments(callback: Callable[[], None]) -> Callable[[], None]:
    """Return the callback of a timer with a signature that is known."""

    def ring() -> None:
        callback()

    vars(ring)['__signature__'] = inspect.Signature()
    return ring


def fast_executor(*nodes: Any) -> Any:
    """Return the events executor, which takes less time, where rclpy and the nodes allow it."""
    context = nodes[0].context
    events_executor = try_import('rclpy.experimental', 'EventsExecutor')
    if events_executor is None or any(list(node.guards) for node in nodes):
        return SingleThreadedExecutor(context=context)  # the other serves no guard conditions
    return events_executor(context=context)


LATEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Measured state: the newest counts, from any publisher."""

ALL_PARTS = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Measured state from several senders on one topic: the newest of each counts."""

COMMAND = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
"""Commands and references, in and out: the newest counts and must arrive."""

STATE = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
"""Published states and results."""

LATCHED = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
"""robot_description: a late subscriber gets the last message."""
