# SPDX-License-Identifier: Apache-2.0
"""A short animation and a strobe picture of the closed loop, from the recorded states."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kane_dynamics.demo.figures import Run, Setup
from kane_dynamics.view.animation import ROBOTS, write_animation, write_picture
from kane_dynamics.view.drawing import simple_drawing, urdf_drawing
from kane_dynamics.view.rays import can_render
from kane_dynamics.view.recorder import Recorder

RATE = 5.0  # pictures of the robot a second [Hz]
SPEED = 2.0  # of the animation, in times of the motion


def write_demo_motion(folder: Path, setup: Setup, run: Run) -> list[Path]:
    """
    Write one run of a robot as GIF, and the robot along its path as one picture.

    The picture is shaded where embreex is installed, else flat; see `write_picture`.

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
    target = np.arange(times[0], times[-1], 1.0 / RATE)
    for k in np.unique(np.searchsorted(times, target)):
        recorder.add(float(times[k]), run.q[k], np.zeros(robot.nv))
    motion = recorder.recording()
    count = min(ROBOTS if run.curves.path.any() else 1, len(motion.time))
    return [
        write_animation(motion, folder / 'animation.gif', rate=RATE * SPEED, speed=SPEED),
        write_picture(motion, folder / 'motion.png', count=count, shaded=can_render()),
    ]
