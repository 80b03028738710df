# SPDX-License-Identifier: Apache-2.0
"""Every fault of the soak once, over real DDS."""

import math

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed: pip install .[ros]')

from soak_faults import FAULTS
from soak_loop import Soak
from soak_nodes import LOOP as CONTROLLER
from soak_nodes import SIMULATOR

pytestmark = pytest.mark.ros
RODS = """<robot name="rods"><link name="base_link"/>
  <link name="upper"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="lower"><inertial><origin xyz="0 0 -0.2"/><mass value="0.5"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base_link"/><child link="upper"/>
    <axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="50" velocity="10"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/>
    <origin xyz="0 0 -1"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="50" velocity="10"/></joint>
</robot>"""
COMMON = {'compiled': 'never'}
REJECTED = {
    'nan': 'a position is NaN',
    'missing': 'a joint is missing',
    'short': 'positions too short',
    'duplicate': 'a joint comes twice',
    'stale': 'states 0.3 s late',
    'order': 'states reordered',
}
OF_A_FIXED_BASE = tuple(fault for fault in FAULTS if fault.odometry is None)
SECONDS = 0.25  # of a fault, and after it


def every_rejection_seen(soak):
    """
    Return whether the controller reports states of each kind that it has rejected.

    Repeats the faults that are lacking: where the machine is busy, a state is overwritten by the
    next one before the controller has seen it, or is too late and counts as that.
    """
    values = soak.bench.next_status(f'{CONTROLLER}: joint_states')[2]
    lacking = {name for kind, name in REJECTED.items() if f'rejected: {kind}' not in values}
    for fault in FAULTS:
        if fault.name in lacking:
            soak.inject(fault, SECONDS)
    return not lacking


def test_no_effort_without_a_fresh_state_and_none_that_is_not_finite(bench):
    simulator = {
        **COMMON,
        'robot_description': f"'{RODS}'",
        'joint_state_rate': 100.0,
        'step_size': 0.005,
        'initial_positions.shoulder': 0.8,
        'initial_positions.elbow': -0.4,
    }
    soak = Soak(
        bench, 100.0, {'params': simulator}, {'params': {**COMMON, 'use_sim_time': 'true'}}
    )
    soak.wait_for_the_first_efforts()
    first = soak.processes[CONTROLLER]  # the one that hears nonsense before it is killed
    for fault in OF_A_FIXED_BASE:
        if fault.action == 'describe again':  # a new model counts anew
            bench.until(lambda: every_rejection_seen(soak))
        soak.inject(fault, SECONDS)
    table = soak.table()
    assert soak.failures() == [], table
    rows = [soak.rows[fault.name] for fault in OF_A_FIXED_BASE]
    assert all(row.times and row.outputs for row in rows), table
    assert all(math.isfinite(row.recovery) for row in rows), table
    assert 'cannot be used' in first.log.read_text()
    for name in (CONTROLLER, SIMULATOR):
        assert bench.terminate(soak.processes[name]) == 0
