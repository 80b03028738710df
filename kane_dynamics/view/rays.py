# SPDX-License-Identifier: Apache-2.0
"""
Triangles as light and shadow: rays cast on the processor by Embree, no display and no OpenGL.

The picture is the mean of passes. In each pass one parallel ray a pixel finds the nearest
triangle, one ray goes on to a point of the sun and one to a point of the sky; what they meet lies
in shadow. All numbers of a pass are fixed: the same robot gives the same picture.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.exceptions import InvalidInputError, MissingPackageError
from kane_dynamics.typing import Floats
from kane_dynamics.view.camera import Camera
from kane_dynamics.view.painted import LIGHT, Painted

INSTALL = "pip install 'kane_dynamics[pictures]'"
AMBIENT, SUN, SKY = 0.34, 0.45, 0.3  # parts of the light
SUN_RADIUS = 0.06  # of its disc, seen from one metre [m]
GROUND_SHADOW = 0.6  # how dark the darkest shadow on the ground is
LIFT = 1e-4  # of the scene's size: shadow rays begin this far above a surface
GENERATOR = np.array([0.7548776662466927, 0.5698402909980532])  # of an even sequence in a square
FAR = 2.0  # of the scene's size: rays begin this far in front


class Light(NamedTuple):
    """One pass: place in the pixel, shape (2,), from 0 to 1; to sun and sky, shapes (3,)."""

    place: Floats
    sun: Floats
    sky: Floats


def render(
    surface: Painted,
    camera: Camera,
    low: Floats,
    high: Floats,
    size: tuple[int, int],
    passes: int = 9,
) -> NDArray[np.uint8]:
    """
    Return the picture of triangles and of their shadow on the ground.

    The ground, z = 0, is drawn where the camera looks down on it, and hides nothing.

    Parameters
    ----------
    surface : Painted
        Triangles in the world with colours.
    camera : Camera
        Where it is seen from.
    low, high : ndarray, shape (2,)
        Corners of the paper, in the camera's axes [m].
    size : tuple of int
        Columns and rows of pixels.
    passes : int
        More are smoother and take longer.

    Returns
    -------
    ndarray of uint8, shape (rows, columns, 4)
        Red, green, blue and opacity, from above to below; clear where nothing is.

    Raises
    ------
    MissingPackageError
        If embreex is not installed.
    InvalidInputError
        If there are no pixels or passes.

    """
    if min(*size, passes) < 1:
        raise InvalidInputError(f'pixels and passes: need at least 1, got {size} and {passes}')
    scene = RayScene(surface.corners)
    columns, rows = size
    total = np.zeros((rows * columns, 4))
    grid = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)[::-1]), axis=-1)
    for canonical_robot in _passes(passes):
        flat = low + (grid.reshape(-1, 2) + canonical_robot.place) / size * (high - low)
        total += _one_pass(scene, surface, camera, flat, canonical_robot)
    opacity = total[:, 3:]
    colour = np.divide(total[:, :3], opacity, out=np.ones_like(total[:, :3]), where=opacity > 0.0)
    pixels = np.hstack([np.minimum(colour, 1.0), opacity / passes])
    return np.rint(255.0 * pixels).astype(np.uint8).reshape(rows, columns, 4)


def can_render() -> bool:
    """Return whether what casts the rays is installed."""
    return find_spec('embreex') is not None


class RayScene:
    """
    Triangles that rays meet.

    Parameters
    ----------
    corners : ndarray, shape (m, 3, 3)
        In the world [m].

    Raises
    ------
    MissingPackageError
        If embreex is not installed.

    Attributes
    ----------
    size : float
        Diagonal of the box around all triangles [m].

    """

    def __init__(self, corners: Floats) -> None:
        try:
            scenes = import_module('embreex.rtcore_scene')
            meshes = import_module('embreex.mesh_construction')
        except ImportError as error:
            raise MissingPackageError('a shaded picture', 'embreex', INSTALL) from error
        self._scene: Any = None
        self.size = 1.0
        if len(corners):
            every = corners.reshape(-1, 3)
            self.size = float(np.linalg.norm(np.ptp(every, axis=0)))
            self._middle = 0.5 * (every.max(axis=0) + every.min(axis=0))
            self._scene = scenes.EmbreeScene()
            self._mesh = meshes.TriangleMesh(self._scene, corners.astype(np.float32))

    def first(self, flat: Floats, camera: Camera) -> tuple[NDArray[np.int64], Floats]:
        """Return the nearest triangle under each point of the paper, or -1, and where, (n, 3)."""
        if self._scene is None:
            return np.full(len(flat), -1), np.zeros((len(flat), 3))
        start = camera.lifted(flat, float(camera.depth(self._middle)) + FAR * self.size)
        results = self._scene.run(start.astype(np.float32), _all(-camera.towards, start), output=1)
        triangle = results['primID'].astype(np.int64)
        distance = np.where(triangle >= 0, results['tfar'], 0.0)[:, None]
        return triangle, start - distance * camera.towards

    def free(self, points: Floats, direction: Floats) -> Floats:
        """Return 1 where nothing lies between points and what shines from a direction, or 0."""
        if self._scene is None or not len(points):
            return np.ones(len(points))
        ways = _all(direction, points)
        hidden = self._scene.run(points.astype(np.float32), ways, query='OCCLUDED')
        return np.where(hidden < 0, 1.0, 0.0)


def _one_pass(
    scene: RayScene, surface: Painted, camera: Camera, flat: Floats, canonical_robot: Light
) -> Floats:
    """Return colour times opacity, and opacity, of each point of the paper, shape (n, 4)."""
    result = np.zeros((len(flat), 4))
    triangle, points = scene.first(flat, camera)
    hit = triangle >= 0
    normals = surface.normals[triangle[hit]]
    normals = np.where(normals @ camera.towards < 0.0, -1.0, 1.0)[:, None] * normals
    lit = _light(scene, points[hit], normals, canonical_robot)
    result[hit, :3] = lit[:, None] * surface.colours[triangle[hit]]
    result[hit, 3] = 1.0
    if camera.towards[2] > 0.0:  # the ground
        below = camera.lifted(flat[~hit], 0.0)
        below -= (below[:, 2] / camera.towards[2])[:, None] * camera.towards
        upward = np.tile([0.0, 0.0, 1.0], (len(below), 1))
        open_light = AMBIENT + SUN * canonical_robot.sun[2] + 2.0 * SKY * canonical_robot.sky[2]
        shadow = 1.0 - _light(scene, below, upward, canonical_robot) / open_light
        result[~hit, 3] = GROUND_SHADOW * shadow
    return result


def _light(scene: RayScene, points: Floats, normals: Floats, canonical_robot: Light) -> Floats:
    """Return the light on surfaces that are seen from the side of their normals, shape (n,)."""
    lit = np.full(len(points), AMBIENT)
    start = points + LIFT * scene.size * normals
    for direction, strength in ((canonical_robot.sun, SUN), (canonical_robot.sky, 2.0 * SKY)):
        facing = normals @ direction
        towards = facing > 0.0
        free = scene.free(start[towards], direction)
        lit[towards] += strength * facing[towards] * free
    return lit


def _passes(count: int) -> Iterator[Light]:
    """Yield the passes: evenly over the pixel, the disc of the sun and the half sphere of sky."""
    across = np.cross(LIGHT, [0.0, 0.0, 1.0])
    across /= np.linalg.norm(across)
    along = np.cross(LIGHT, across)
    for k in range(count):
        place = (0.5 + k * GENERATOR) % 1.0
        part, angle = (k + 0.5) / count, 2.0 * np.pi * (k * GENERATOR[0] % 1.0)
        turn = np.array([np.cos(angle), np.sin(angle)])
        offset = SUN_RADIUS * np.sqrt(part) * turn
        sun = LIGHT + offset[0] * across + offset[1] * along
        sky = np.append(np.sqrt(1.0 - part**2) * turn, part)  # equal areas have equal heights
        yield Light(place, sun / np.linalg.norm(sun), sky)


def _all(direction: Floats, points: Floats) -> NDArray[np.float32]:
    return np.tile(direction.astype(np.float32), (len(points), 1))
