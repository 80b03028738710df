# SPDX-License-Identifier: Apache-2.0
"""Domains of tests: each is used by one process of the machine at a time."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

import ros_bench

EVERY = """
import ros_bench
ros_bench.LOCKS, domains = 98, set()
while len(domains) < 98:
    try:
        domains.add(ros_bench.domain_id())
    except RuntimeError:
        break
print(*sorted(domains))
"""


def test_a_domain_of_another_process_is_left_alone(monkeypatch, tmp_path):
    """Regression: two test runs on one machine had the same domain, by their process ids."""
    monkeypatch.setattr(ros_bench.tempfile, 'tempdir', str(tmp_path))
    (mine, lock), again = ros_bench.locked_domain(), ros_bench.domain_id()
    path = str(Path(ros_bench.__file__).parent)
    environment = {**os.environ, 'TMPDIR': str(tmp_path), 'PYTHONPATH': path}
    command = [sys.executable, '-c', EVERY]
    found = subprocess.check_output(command, env=environment, text=True).split()
    assert mine != again
    assert {int(x) for x in found} == set(range(1, 99)) - {mine, again}
    lock.close()
    assert mine in [ros_bench.domain_id() for _ in range(97)]
