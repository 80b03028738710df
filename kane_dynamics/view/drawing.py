# SPDX-License-Identifier: Apache-2.0
"""What a robot looks like: the shapes of its URDF, or boxes with the inertia of its bodies."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np

from kane_dynamics.algebra.inertia import Inertia
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.exceptions import InvalidInputError, MissingPackageError
from kane_dynamics.robot.resources import resolve
from kane_dynamics.robot.robot import WORLD, Robot
from kane_dynamics.robot.state import checked_robot
from kane_dynamics.robot.urdf.records import UrdfVisual, read_visuals
from kane_dynamics.typing import ArrayLike, Floats, NDArray

__all__ = ['Drawing', 'simple_drawing', 'urdf_drawing']

AROUND = 24  # corners of a circle
Faces = NDArray[np.int64]
# vertices, shape (n, 3) [m], and the numbers of the corners of each triangle, shape (m, 3)
Triangles = tuple[Floats, Faces]


@dataclass(frozen=True, eq=False)
class Shape:
    """A surface that moves with a body."""

    body: int  # Index of the body; -1 is the world
    vertices: Floats  # shape (n, 3): Corners in the frame of the body [m]
    faces: Faces  # shape (m, 3): Corners of each triangle, counterclockwise seen from outside
    colour: tuple[float, float, float] = (0.7, 0.72, 0.75)  # Red, green, blue, from 0 to 1

    def __post_init__(self) -> None:
        vertices, faces, colour = map(np.asarray, (self.vertices, self.faces, self.colour))
        for name, x, kinds in (('vertices [m]', vertices, 'fiu'), ('faces', faces, 'iu')):
            if x.ndim != 2 or x.shape[1] != 3 or x.dtype.kind not in kinds:
                raise InvalidInputError(f'{name}: need shape (n, 3), got {x.dtype} of {x.shape}')
        if colour.shape != (3,) or not np.isfinite(np.concatenate([vertices, [colour]])).all():
            raise InvalidInputError(f'vertices [m], colour: need finite numbers, got {colour}')
        if faces.size and not 0 <= faces.min() <= faces.max() < len(vertices):
            raise InvalidInputError(
                f'faces: need numbers of the {len(vertices)} vertices, got '
                f'{faces.min()} to {faces.max()}'
            )

    def moved(self, pose: Pose, body: int) -> Shape:
        """Return the same surface, its frame placed in the frame of another body."""
        turned = self.vertices @ pose.rotation_matrix().T + pose.position()
        return Shape(body, turned, self.faces, self.colour)


def box(size: ArrayLike) -> Triangles:
    """Return a box about the origin with three sides [m]."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    quads = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    faces = [(a, b, c) for a, b, c, _ in quads] + [(a, c, d) for a, _, c, d in quads]
    return 0.5 * corners * np.asarray(size, dtype=float), np.array(faces, dtype=np.int64)


def cylinder(radius: float, length: float) -> Triangles:
    """Return a cylinder about z, its middle in the origin [m]."""
    h = 0.5 * length
    return turned_profile(np.array([[0.0, -h], [radius, -h], [radius, h], [0.0, h]]))


def sphere(radius: float) -> Triangles:
    """Return a sphere about the origin [m]."""
    angle = np.linspace(-0.5 * np.pi, 0.5 * np.pi, AROUND // 2 + 1)
    return turned_profile(radius * np.column_stack([np.cos(angle), np.sin(angle)]))


def stick(start: ArrayLike, end: ArrayLike, radius: float) -> Triangles:
    """Return a thin square bar from one point to another [m]."""
    a, b = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    length = float(np.linalg.norm(b - a))
    along = (b - a) / length
    first = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
    first /= np.linalg.norm(first)
    vertices, faces = box((2.0 * radius, 2.0 * radius, length))
    axes = np.array([first, np.cross(along, first), along])
    return vertices @ axes + 0.5 * (a + b), faces


def turned_profile(profile: Floats) -> Triangles:
    """Return the surface that a profile makes when it turns about z."""
    angle = 2.0 * np.pi * np.arange(AROUND) / AROUND
    round_ = np.column_stack([np.cos(angle), np.sin(angle), np.ones(AROUND)])
    vertices = np.array([round_ * (r, r, z) for r, z in profile]).reshape(-1, 3)
    ring, k = np.meshgrid(np.arange(len(profile) - 1), np.arange(AROUND), indexing='ij')
    a, b = ring * AROUND + k, ring * AROUND + (k + 1) % AROUND
    lower = np.stack([a, b, b + AROUND], axis=-1).reshape(-1, 3)
    upper = np.stack([a, b + AROUND, a + AROUND], axis=-1).reshape(-1, 3)
    return vertices, np.concatenate([lower, upper])


LEAST_SIDE = 0.02  # of a body without an extent [m]
THICKNESS = 0.01  # of bars between joints [m]
GREYS = ((0.62, 0.66, 0.72), (0.78, 0.76, 0.70))  # of neighbours in a chain
PLAIN = (0.7, 0.72, 0.75)
INSTALL = "pip install 'kane_dynamics[view]'"


@dataclass(frozen=True, eq=False)
class Drawing:
    """
    The shapes of a robot.

    Parameters
    ----------
    shapes : tuple of Shape
        Surfaces that move with the bodies.
    notes : tuple of str
        What could not be drawn as the URDF says.

    """

    shapes: tuple[Shape, ...]
    notes: tuple[str, ...] = ()


def urdf_drawing(robot: Robot, source: str | os.PathLike[str]) -> Drawing:
    """
    Return the shapes of <visual>, or <collision> where a link has none, of a URDF.

    A body without a shape that can be drawn - a mesh that is not found, or no shape at all - is
    drawn as by `simple_drawing`.

    Parameters
    ----------
    robot : Robot
        The robot of this URDF, with any base and locked joints.
    source : str or path
        What it was loaded from.

    Raises
    ------
    UrdfError
        If the URDF is wrong.
    NameNotFoundError
        If it is that of another robot.

    """
    checked_robot(robot)
    text = isinstance(source, str) and '<' in source
    folder = None if text else Path(source).resolve().parent
    shapes: list[Shape] = []
    notes: list[str] = []
    for visual in read_visuals(source):
        frame = robot.frame(visual.link)
        try:
            vertices, faces = _triangles(visual, folder)
        except (InvalidInputError, MissingPackageError) as error:
            notes.append(f"link '{visual.link}': {error}")
            continue
        red, green, blue = (visual.colour or PLAIN)[:3]
        shape = Shape(WORLD, vertices, faces, (red, green, blue))
        shapes.append(shape.moved(frame.pose * visual.origin.pose(), frame.body))
    drawn = {shape.body for shape in shapes}
    shapes += [shape for shape in simple_drawing(robot).shapes if shape.body not in drawn]
    return Drawing(tuple(shapes), tuple(notes))


def _triangles(visual: UrdfVisual, folder: Path | None) -> Triangles:
    if visual.kind == 'box':
        return box(visual.size)
    if visual.kind == 'cylinder':
        return cylinder(*visual.size)
    if visual.kind == 'sphere':
        return sphere(*visual.size)
    if visual.kind != 'mesh':
        raise InvalidInputError('a shape that is no box, cylinder, sphere or mesh is not drawn')
    vertices, faces = read_mesh(find_mesh(visual.file, folder))
    return vertices * np.array(visual.size), faces


def simple_drawing(robot: Robot) -> Drawing:
    """
    Return a box with the mass and the inertia of each body, and bars from joint to joint.

    Parameters
    ----------
    robot : Robot
        Any robot.

    Examples
    --------
    >>> from kane_dynamics.view.drawing import simple_drawing
    >>> len(simple_drawing(kd.serial_chain(2)).shapes) > 2
    True

    """
    shapes = []
    for i, body in enumerate(checked_robot(robot).bodies):
        colour = GREYS[len(robot.ancestors(i)) % len(GREYS)]
        if body.inertia.mass > 0.0:
            shapes.append(Shape(i, *_inertia_box(body.inertia), colour))
    for child, parent in zip(robot.bodies, robot.parents, strict=True):
        away = child.placement.position()
        if parent != WORLD and np.linalg.norm(away) > THICKNESS:
            shapes.append(Shape(parent, *stick(np.zeros(3), away, 0.5 * THICKNESS), PLAIN))
    return Drawing(tuple(shapes))


def _inertia_box(inertia: Inertia) -> Triangles:
    """Return the solid box of the same mass and principal moments; thin where it has no extent."""
    moments, axes = np.linalg.eigh(inertia.tensor)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    squares = 6.0 / inertia.mass * (moments.sum() - 2.0 * moments)
    vertices, faces = box(np.maximum(np.sqrt(np.maximum(squares, 0.0)), LEAST_SIDE))
    return vertices @ axes.T + inertia.com, faces


def find_mesh(address: str, folder: Path | None) -> Path:
    """Return the file of a mesh."""
    if folder is not None:
        _, scheme, remainder = address.partition('package://')
        for above in (folder, *folder.parents) if scheme else (folder,):
            path = above / (remainder if scheme else address.removeprefix('file://'))
            if path.is_file():
                return path
    return resolve(address, 'mesh')


def read_mesh(path: Path) -> Triangles:
    """Return the triangles of a mesh file: STL, OBJ, PLY, glTF; COLLADA with pycollada."""
    try:
        trimesh = import_module('trimesh')
    except ImportError as error:
        raise MissingPackageError('reading meshes', 'trimesh', INSTALL) from error
    try:
        mesh = trimesh.load(path, force='mesh')
        return np.asarray(mesh.vertices, float), np.asarray(mesh.faces, np.int64)
    except Exception as error:  # no error family: each format's reader raises what it likes
        if 'collada' in str(error):
            raise MissingPackageError(f"'{path}'", 'pycollada', 'pip install pycollada') from error
        raise InvalidInputError(f"mesh '{path}' cannot be read: {error}") from error
