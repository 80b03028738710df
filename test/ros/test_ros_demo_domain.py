# SPDX-License-Identifier: Apache-2.0
"""The demonstration and the ROS domain that it runs in."""

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

from ros_bench import Bench, domain_id
from sensor_msgs.msg import JointState

from kane_dynamics.cli import main

pytestmark = pytest.mark.ros


def test_another_robot_in_the_domain_is_named(tmp_path, capfd):
    """
    Regression: two demonstrations at once recorded the states of both.

    One ended with a ValueError of numpy or with figures of a mixture, and ``--domain 7`` was 8.
    """
    domain = domain_id()
    other = Bench(tmp_path, domain)
    other.publisher(JointState, 'joint_states')
    arguments = '--duration', '0.5', '--output', str(tmp_path), '--domain', str(domain)
    try:
        assert main(['demo', 'nonholonomic', *arguments]) == 1
    finally:
        other.close()
    said = ' '.join(capfd.readouterr().err.split())
    assert f'in ROS domain {domain}: 2 nodes publish joint_states here' in said
