# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests under a real ros2_control: `make ros2-control`."""

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / 'ros')]


@pytest.fixture
def bed(tmp_path):
    """Return a bed with a DDS domain of its own, without any process yet."""
    pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')
    from bed import Bed, missing

    if lacking := missing():
        pytest.skip(lacking)
    made = Bed(tmp_path)
    yield made
    made.close()
