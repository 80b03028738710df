# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the ROS tests."""

import signal
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))


@pytest.fixture(scope='module', autouse=True)
def signals_of_a_terminal():
    """Let child processes start with default signals; under nohup and `&` some are ignored."""
    default = {signal.SIGHUP: signal.SIG_DFL, signal.SIGINT: signal.default_int_handler}
    before = {number: signal.signal(number, handler) for number, handler in default.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope='module')
def bench(tmp_path_factory):
    """Return a bench with a DDS domain of its own."""
    pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')
    from ros_bench import Bench

    made = Bench(tmp_path_factory.mktemp('nodes'))
    yield made
    made.close()
