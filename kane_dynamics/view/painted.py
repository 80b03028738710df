# SPDX-License-Identifier: Apache-2.0
"""Triangles of a robot in some states, in the world, with the colours of its shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kane_dynamics.typing import Floats
from kane_dynamics.view.scene import placed
from kane_dynamics.view.shapes import Shape

LIGHT = np.array([-0.35, -0.75, 0.9]) / np.linalg.norm([-0.35, -0.75, 0.9])
"""To the sun."""


class Painted(NamedTuple):
    """
    Triangles with an extent.

    Parameters
    ----------
    corners : ndarray, shape (m, 3, 3)
        Of each triangle, in the world [m].
    normals : ndarray, shape (m, 3)
        Unit vectors.
    colours : ndarray, shape (m, 3)
        Red, green, blue, from 0 to 1.

    """

    corners: Floats
    normals: Floats
    colours: Floats


def painted(shapes: Sequence[Shape], poses: Floats, pale: float = 0.0) -> Painted:
    """
    Return the triangles of shapes in some states.

    Parameters
    ----------
    shapes : sequence of Shape
        What the robot looks like.
    poses : ndarray, shape (m, b, 7)
        Position [m] and (w, x, y, z) of each body, in each state.
    pale : float
        How near to white all colours are, from 0 to 1.

    """
    corners, colours = [np.zeros((0, 3, 3))], [np.zeros((0, 3))]
    for state in poses:
        for shape in shapes:
            corners.append(placed(shape, state)[shape.faces])
            tint = np.array(shape.colour) * (1.0 - pale) + pale
            colours.append(np.tile(tint, (len(shape.faces), 1)))
    every = np.concatenate(corners)
    normals = np.cross(every[:, 1] - every[:, 0], every[:, 2] - every[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    solid = lengths > 0.0
    return Painted(
        every[solid], normals[solid] / lengths[solid, None], np.concatenate(colours)[solid]
    )
