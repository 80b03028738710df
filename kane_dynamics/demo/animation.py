# SPDX-License-Identifier: Apache-2.0
"""A short animation of the closed loop, from the states that were recorded."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kane_dynamics.demo.figures import Run, Setup
from kane_dynamics.view.animation import write_animation
from kane_dynamics.view.drawing import simple_drawing, urdf_drawing
from kane_dynamics.view.recorder import Recorder

RATE = 10.0  # pictures of the robot a second [Hz]
SPEED = 2.0  # of the animation, in times of the motion


def write_demo_animation(folder: Path, setup: Setup, run: Run) -> Path:
    """
    Write one run of a robot as GIF.

    Parameters
    ----------
    folder : Path
        Where it goes.
    setup : Setup
        The robot.
    run : Run
        What it did.

    """
    robot = setup.compiled.robot
    drawing = urdf_drawing(robot, setup.urdf) if setup.urdf else simple_drawing(robot)
    recorder = Recorder(robot, drawing)
    times = run.curves.time
    wanted = np.arange(times[0], times[-1], 1.0 / RATE)
    for k in np.unique(np.searchsorted(times, wanted)):
        recorder.add(float(times[k]), run.q[k], np.zeros(robot.nv))
    return write_animation(
        recorder.recording(), folder / 'animation.gif', rate=RATE * SPEED, speed=SPEED
    )
