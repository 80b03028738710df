# SPDX-License-Identifier: Apache-2.0
"""The picture of a scene: the robot, and the pose that its hand shall have."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import ImageOps

from kane_dynamics.algebra.pose import Pose
from kane_dynamics.learning.reach_task import URDF, reach_task
from kane_dynamics.robot.resources import resolve
from kane_dynamics.view.animation import strobe_image
from kane_dynamics.view.colours import CYCLE
from kane_dynamics.view.drawing import Drawing, urdf_drawing
from kane_dynamics.view.recorder import Recorder
from kane_dynamics.view.shapes import Shape, stick

SIZE = (640, 480)  # [px]
AXIS, THICKNESS = 0.2, 0.012  # of the axes of the goal [m]
WORLD = -1


def picture(state: Any, time: float) -> NDArray[np.uint8]:
    """Return a state of `reading.STATE` at a time of its episode [s], RGB, shape (480, 640, 3)."""
    goal = Pose.from_rotation_and_position(state['goal'][3:], state['goal'][:3])
    colours = [_rgb(*bytes.fromhex(colour[1:])) for colour in CYCLE]
    axes = [
        Shape(WORLD, *stick(np.zeros(3), AXIS * axis, THICKNESS), colour).moved(goal, WORLD)
        for axis, colour in zip(np.eye(3), colours, strict=False)
    ]
    recorder = Recorder(reach_task().robot, Drawing((*_robot_drawing().shapes, *axes)))
    recorder.add(time, state['q'], state['v'])
    image = ImageOps.pad(strobe_image(recorder.recording(), count=1), SIZE, color='white')
    return np.array(image)


def _rgb(red: int, green: int, blue: int) -> tuple[float, float, float]:
    return red / 255.0, green / 255.0, blue / 255.0


@lru_cache(maxsize=1)
def _robot_drawing() -> Drawing:
    return urdf_drawing(reach_task().robot, resolve(URDF))
