# SPDX-License-Identifier: Apache-2.0
"""Surfaces to draw: triangles in the frame of a body. Boxes, cylinders, spheres as triangles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kane_dynamics.algebra.pose import Pose
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.typing import Floats

AROUND = 24  # corners of a circle
Faces = NDArray[np.int64]
Triangles = tuple[Floats, Faces]
"""Vertices, shape (n, 3) [m], and the numbers of the corners of each triangle, shape (m, 3)."""


@dataclass(frozen=True, eq=False)
class Shape:
    """A surface that moves with a body."""

    body: int  # Index of the body; -1 is the world
    vertices: Floats  # shape (n, 3): Corners in the frame of the body [m]
    faces: Faces  # shape (m, 3): Corners of each triangle, counterclockwise seen from outside
    colour: tuple[float, float, float] = (0.7, 0.72, 0.75)  # Red, green, blue, from 0 to 1

    def __post_init__(self) -> None:
        vertices, faces = np.asarray(self.vertices), np.asarray(self.faces)
        if vertices.ndim != 2 or vertices.shape[1] != 3 or not np.isfinite(vertices).all():
            raise InvalidInputError(
                f'vertices [m]: need shape (n, 3), finite, got {vertices.shape}'
            )
        if faces.ndim != 2 or faces.shape[1] != 3:
            raise InvalidInputError(f'faces: need shape (m, 3), got {faces.shape}')
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
