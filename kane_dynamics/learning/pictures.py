# SPDX-License-Identifier: Apache-2.0
"""The picture of a scene: the robot, and the pose that its hand shall have."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import ImageOps

from kane_dynamics.algebra.pose import Pose
from kane_dynamics.learning.reach_task import URDF, reach_task
from kane_dynamics.learning.scene import Scene
from kane_dynamics.robot.resources import resolve
from kane_dynamics.view.animation import strobe_image
from kane_dynamics.view.colours import CYCLE
from kane_dynamics.view.drawing import Drawing, urdf_drawing
from kane_dynamics.view.recorder import Recorder
from kane_dynamics.view.shapes import Shape, stick

SIZE = (640, 480)  # [px]
AXIS, THICKNESS = 0.2, 0.012  # of the axes of the goal [m]
WORLD = -1


def picture(scene: Scene, row: int, time: float) -> NDArray[np.uint8]:
    """
    Return one scene as red, green and blue, shape (480, 640, 3).

    Parameters
    ----------
    scene : Scene
        Scenes.
    row : int
        Which of them.
    time : float
        Since its episode began [s].

    """
    robot, drawing = reach_task().robot, _robot_drawing()
    goal = Pose.from_rotation_and_position(scene.goal[row, 3:], scene.goal[row, :3])
    axes = [
        Shape(WORLD, *stick(np.zeros(3), AXIS * axis, THICKNESS), _rgb(colour)).moved(goal, WORLD)
        for axis, colour in zip(np.eye(3), CYCLE, strict=False)
    ]
    recorder = Recorder(robot, Drawing((*drawing.shapes, *axes)))
    recorder.add(time, scene.q[row], scene.v[row])
    image = ImageOps.pad(strobe_image(recorder.recording(), count=1), SIZE, color='white')
    return np.array(image)


def _rgb(colour: str) -> tuple[float, float, float]:
    red, green, blue = bytes.fromhex(colour.removeprefix('#'))
    return red / 255.0, green / 255.0, blue / 255.0


@lru_cache(maxsize=1)
def _robot_drawing() -> Drawing:
    return urdf_drawing(reach_task().robot, resolve(URDF))
