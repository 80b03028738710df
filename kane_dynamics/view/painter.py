# SPDX-License-Identifier: Apache-2.0
"""Flat pictures of shapes: triangles painted from back to front, quickly, by Matplotlib."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from matplotlib.collections import PolyCollection

from kane_dynamics.typing import Floats
from kane_dynamics.view.camera import Camera
from kane_dynamics.view.painted import LIGHT, Painted
from kane_dynamics.view.shapes import Shape

MOST_FACES = 400  # of a mesh; larger ones are drawn as the hull of their outermost vertices
DIRECTIONS = 100  # in which these are looked for
DARKEST = 0.55  # of a surface that turns its side to the light


def polygons(surface: Painted, camera: Camera, zorder: float) -> PolyCollection:
    """Return the triangles on the paper of a camera, the nearest last; by `small_triangles`."""
    shade = DARKEST + (1.0 - DARKEST) * np.abs(surface.normals @ LIGHT)
    order = np.argsort(camera.depth(surface.corners.mean(axis=1)))
    tints = (shade[:, None] * surface.colours)[order]
    flat = list(camera.flat(surface.corners[order]))
    return PolyCollection(flat, facecolors=tints, edgecolors=tints, linewidths=0.4, zorder=zorder)


def small_triangles(shape: Shape, longest: float) -> Shape:
    """Return a surface for drawing from back to front: without triangles that reach far [m]."""
    many = len(shape.faces) > MOST_FACES
    triangles = _coarse_hull(shape.vertices) if many else shape.vertices[shape.faces]
    while True:
        edges = np.linalg.norm(triangles - triangles[:, [1, 2, 0]], axis=-1)
        large = edges.max(axis=1, initial=0.0) > longest
        if not large.any():
            corners = triangles.reshape(-1, 3)
            return replace(shape, vertices=corners, faces=np.arange(len(corners)).reshape(-1, 3))
        first = edges[large].argmax(axis=1)  # the longest edge begins here
        order = (first[:, None] + np.arange(3)) % 3
        a, b, c = np.moveaxis(np.take_along_axis(triangles[large], order[..., None], 1), 1, 0)
        middle = 0.5 * (a + b)
        halves = [np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)]
        triangles = np.concatenate([triangles[~large], *halves])


def _coarse_hull(vertices: Floats) -> Floats:
    """Return the convex hull of the vertices that lie outermost, shape (m, 3, 3)."""
    from scipy.spatial import ConvexHull

    k = np.arange(DIRECTIONS)
    height, angle = 1.0 - (2.0 * k + 1.0) / DIRECTIONS, np.pi * (1.0 + np.sqrt(5.0)) * k
    round_about = np.sqrt(1.0 - height**2)
    outward = np.array([round_about * np.cos(angle), round_about * np.sin(angle), height])
    outermost = vertices[np.unique((vertices @ outward).argmax(axis=0))]
    corners: Floats = outermost[ConvexHull(outermost, qhull_options='QJ').simplices]
    return corners
