# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the ROS tests."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))


@pytest.fixture(scope='module')
def bench(tmp_path_factory):
    """Return a bench with a DDS domain of its own."""
    pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')
    from ros_bench import Bench

    made = Bench(tmp_path_factory.mktemp('nodes'))
    yield made
    made.close()
