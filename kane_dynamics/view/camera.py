# SPDX-License-Identifier: Apache-2.0
"""A parallel projection: points in the world to points on paper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kane_dynamics.robot.checks import as_choice
from kane_dynamics.typing import Floats

# azimuth and elevation of the direction towards the viewer [deg]
VIEWS = {'oblique': (-60.0, 25.0), 'side': (-90.0, 0.0), 'top': (-90.0, 90.0)}


@dataclass(frozen=True, eq=False)
class Camera:
    """
    Axes of the paper in the world.

    Parameters
    ----------
    right, up, towards : ndarray, shape (3,)
        Unit vectors at right angles; `towards` the viewer.

    """

    right: Floats
    up: Floats
    towards: Floats

    @staticmethod
    def named(view: str) -> Camera:
        """
        Return the camera of a view: 'oblique', 'side' (x, z) or 'top' (x, y).

        Raises
        ------
        InvalidInputError
            If there is no such view.

        """
        azimuth, elevation = np.radians(VIEWS[as_choice('view', view, VIEWS)])
        right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
        level = np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
        towards = np.cos(elevation) * level + np.sin(elevation) * np.array([0.0, 0.0, 1.0])
        return Camera(right, np.cross(towards, right), towards)

    def flat(self, points: Floats) -> Floats:
        """Return where points are on paper, shape (..., 2) [m]."""
        return np.stack([points @ self.right, points @ self.up], axis=-1)

    def lifted(self, flat: Floats, depth: float) -> Floats:
        """Return the points of some depth [m] above points on paper, shape (..., 3) [m]."""
        right, up = flat[..., :1] * self.right, flat[..., 1:] * self.up
        points: Floats = right + up + depth * self.towards
        return points

    def depth(self, points: Floats) -> Floats:
        """Return how near points are to the viewer, shape (...) [m]."""
        nearness: Floats = points @ self.towards
        return nearness
