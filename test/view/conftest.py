# SPDX-License-Identifier: Apache-2.0
"""A robot on wheels that drives, recorded."""

import numpy as np
import pytest

import kane_dynamics as kd
from kane_dynamics.view.drawing import urdf_drawing
from kane_dynamics.view.forces import constraint_forces
from kane_dynamics.view.recorder import Recorder

WHEELS = ('wheel_left_joint', 'wheel_right_joint')


@pytest.fixture(scope='session')
def drive(robots):
    """Return a recording of six states: one wheel holds, then it slips, then it is open."""
    source = robots / 'nonholonomic.urdf'
    robot = kd.load_urdf(source, base='planar')
    wheels = kd.constraints.differential_drive(robot, *WHEELS)
    recorder = Recorder(robot, urdf_drawing(robot, source))
    q, v = robot.neutral(), np.zeros(robot.nv)
    for k, state in enumerate(('holds', 'holds', 'sticks', 'slips', 'slips', 'open')):
        q[:3] = 0.2 * k, 0.0, 0.1 * k
        states = {'wheel_left_joint/rolling': state}
        forces = constraint_forces(robot, [wheels], q, [1.0, 20.0, 30.0], states)
        recorder.add(k / 10.0, q, v, forces)
    recorder.event(0.2, 'left sticks')
    recorder.event(0.3, 'left slips')
    return recorder.recording()
