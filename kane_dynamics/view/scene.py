# SPDX-License-Identifier: Apache-2.0
"""A robot, the ground and force arrows in the scene of a viser server."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from kane_dynamics.exceptions import MissingPackageError
from kane_dynamics.robot.checks import as_choice
from kane_dynamics.typing import Floats
from kane_dynamics.view.drawing import INSTALL, Shape
from kane_dynamics.view.forces import Force
from kane_dynamics.view.style import STATE_COLOURS, linear

LONGEST_ARROW = 0.5  # of the robot's size
LEAST_ARROW = 1e-3  # of the longest; shorter ones are not shown
LEAST_SIZE = 0.1  # of a robot, for cameras and arrows [m]
# azimuth and elevation of the direction towards the viewer [deg]
VIEWS = {'oblique': (-60.0, 25.0), 'side': (-90.0, 0.0), 'top': (-90.0, 90.0)}


def start_server(host: str = 'localhost', port: int = 8080) -> Any:
    """Return a viser server; where the port is taken, on the next free one."""
    try:
        viser = import_module('viser')
    except ImportError as error:
        raise MissingPackageError('the window', 'viser', INSTALL) from error
    return viser.ViserServer(host=host, port=port, verbose=False)


class Scene:
    """Draws states; nothing here knows about time."""

    def __init__(
        self, server: Any, body_names: Sequence[str], shapes: Sequence[Shape], size: float
    ) -> None:
        self._server, self._size, self.strength = server, size, 1.0
        scene = server.scene
        scene.set_up_direction('+z')
        scene.add_grid(
            '/ground',
            infinite_grid=True,
            cell_size=0.1,
            section_size=1.0,
            fade_distance=12.0 * size,
        )
        self.bodies = {
            name: scene.add_frame(f'/robot/{name}', show_axes=False) for name in body_names
        }
        parents = ['/world', *(f'/robot/{name}' for name in body_names)]
        for k, shape in enumerate(shapes):
            scene.add_mesh_simple(
                f'{parents[shape.body + 1]}/shape_{k}',
                shape.vertices,
                shape.faces,
                color=tuple(round(255 * c) for c in shape.colour),
                flat_shading=True,
                side='double',
            )
        self.arrows: dict[str, Any] = {}

    def camera(self, centre: Floats, size: float) -> None:
        """Look at a point [m] from above, to see a space of some size [m] about it."""
        camera = self._server.initial_camera
        camera.look_at = tuple(centre)
        camera.position = tuple(centre + size * np.array([0.75, -0.75, 0.5]))

    def show(self, poses: Floats, forces: Sequence[Force]) -> None:
        """Draw a state."""
        with self._server.atomic():
            for node, pose in zip(self.bodies.values(), poses, strict=True):
                node.position, node.wxyz = pose[:3], pose[3:]
            acting = {force.name: force for force in forces if force.state != 'open'}
            for name in {*self.arrows, *acting}:
                self._show_arrow(name, acting.get(name))

    def _show_arrow(self, name: str, force: Force | None) -> None:
        length = LONGEST_ARROW * self._size / self.strength
        arrow = np.zeros(3) if force is None else length * np.asarray(force.vector)
        visible = bool(np.linalg.norm(arrow) > LEAST_ARROW * LONGEST_ARROW * self._size)
        if force is None or not visible:
            if name in self.arrows:
                self.arrows[name].visible = False
            return
        ends = np.array([[force.point, force.point + arrow]], dtype=np.float32)
        colour = np.array([linear(STATE_COLOURS[force.state])], dtype=np.uint8)
        if name not in self.arrows:
            thin = 0.008 * self._size
            self.arrows[name] = self._server.scene.add_arrows(
                f'/forces/{name}',
                ends,
                colour,
                shaft_radius=thin,
                head_radius=2.5 * thin,
                head_length=5.0 * thin,
            )
            return
        node = self.arrows[name]
        node.points, node.colors = ends, colour
        node.visible = True


def extent(shapes: Sequence[Shape], poses: Floats) -> tuple[Floats, float]:
    """Return the middle of a robot in several states, (m, b, 7), and its largest side [m]."""
    corners = [placed(shape, state) for shape in shapes for state in poses]
    every = np.concatenate([np.zeros((0, 3)), *corners, *poses[:, :, :3]])
    if not len(every):
        return np.zeros(3), 1.0
    low, high = every.min(axis=0), every.max(axis=0)
    return 0.5 * (low + high), max(float((high - low).max()), LEAST_SIZE)


def placed(shape: Shape, poses: Floats) -> Floats:
    """Return the vertices of a shape in the world, shape (n, 3) [m]."""
    if shape.body < 0:
        return shape.vertices
    pose = poses[shape.body]
    w, axis = pose[3], pose[4:]
    turned = np.cross(axis, shape.vertices)
    placed_at: Floats = shape.vertices + 2.0 * (w * turned + np.cross(axis, turned)) + pose[:3]
    return placed_at


def paper_axes(view: str) -> Floats:
    """Return right, up and towards the viewer of a view as rows, shape (3, 3)."""
    azimuth, elevation = np.radians(VIEWS[as_choice('view', view, VIEWS)])
    right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
    level = np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
    towards = np.cos(elevation) * level + np.sin(elevation) * np.array([0.0, 0.0, 1.0])
    return np.array([right, np.cross(towards, right), towards])
