# SPDX-License-Identifier: Apache-2.0
"""``main`` of every node: start, spin on one thread, end cleanly and safely on a signal."""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Callable, Sequence
from typing import Any

import rclpy
from rclpy.exceptions import ParameterException
from rclpy.executors import SingleThreadedExecutor
from rclpy.logging import get_logger
from rclpy.signals import SignalHandlerOptions

from kane_dynamics.ros._optional import try_import

SPIN_TIMEOUT = 0.1
"""Longest wait [s] before a signal is looked at."""


def run(factory: Callable[[], Any], args: Sequence[str] | None = None) -> int:
    """
    Run a node until SIGINT or SIGTERM and return the exit code.

    The signals only set a flag: the context is still valid when the node sends its last message,
    and nothing is shut down inside a callback.

    Parameters
    ----------
    factory : callable
        Makes the node; it has ``start()``, called before the first callback, and ``stop()``,
        which leaves its outputs in a safe state.
    args : sequence of str, optional
        Command line; None means that of the process.

    Returns
    -------
    int
        0 after a signal, 1 if the node cannot start (the reason is logged).

    """
    logger = get_logger('kane_dynamics')
    stopped = threading.Event()
    try:
        rclpy.init(
            args=None if args is None else list(args),
            signal_handler_options=SignalHandlerOptions.NO,
        )
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stopped.set())
        node = factory()
    except (ParameterException, RuntimeError) as error:
        logger.fatal(f'cannot start: {error}')
        rclpy.try_shutdown()
        return 1
    _spin(node, stopped)
    for number in (signal.SIGINT, signal.SIGTERM):
        # a launch file repeats the Ctrl-C that the terminal sent; by now all is done
        signal.signal(number, signal.SIG_IGN)
    return 0


def _spin(node: Any, stopped: threading.Event) -> None:
    """Spin until stopped; then let the node say its last word and take it down."""
    executor = fast_executor(node)
    executor.add_node(node)
    try:
        node.start()
        gc.freeze()  # what is there now stays: a full collection would stop the loop for long
        while not stopped.is_set():
            executor.spin_once(timeout_sec=SPIN_TIMEOUT)
    finally:
        node.stop()
        executor.shutdown()
        node.destroy_node()
        rclpy.try_shutdown()


def fast_executor(node: Any) -> Any:
    """Return the events executor, which takes less time, where rclpy and the node allow it."""
    experimental = try_import('rclpy.experimental', '')
    if experimental is None or list(node.guards):  # it does not serve guard conditions
        return SingleThreadedExecutor(context=node.context)
    return experimental.EventsExecutor(context=node.context)
