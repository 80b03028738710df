# SPDX-License-Identifier: Apache-2.0
"""Which twists the wheels of a base allow, each steered as that needs."""

from __future__ import annotations

import numpy as np

from kane_dynamics.bases.motion_rows import SMALL
from kane_dynamics.bases.wheeled_base import WheeledBase
from kane_dynamics.typing import Floats

AXES = ('x', 'y', 'yaw')
_FIRST = (0, 2, 1)  # what drivers of bases take: speed ahead, yaw rate, and then speed aside
_ROUNDOFF = 1e-12
_CURVATURES = np.geomspace(1e-3, 1e3, 601)  # [1/m]


class TwistReach:
    """
    Twists that a base can have: of those components that its wheels leave free, the others follow.

    Parameters
    ----------
    base : WheeledBase, optional
        The base; without it every twist is possible.

    Attributes
    ----------
    axes : list of int
        Free components of (vx, vy, yaw rate).
    matrix : ndarray, shape (3, m)
        The twist from its free components.
    curvature : float
        Largest yaw rate for each m/s that steering allows [1/m].

    """

    def __init__(self, base: WheeledBase | None = None) -> None:
        self.axes, self.matrix, self.curvature = [0, 1, 2], np.eye(3), np.inf
        if base is None:
            return
        _, sizes, right = np.linalg.svd(base.fixed_rows())
        left = right[int((sizes > SMALL).sum()) :].T
        self.axes = sorted(free_components(left))
        result = left @ np.linalg.inv(left[self.axes])
        self.matrix = np.where(np.abs(result) < _ROUNDOFF, 0.0, result)
        if base.steering and len(self.axes) < len(AXES):
            turns = np.stack([np.ones_like(_CURVATURES), _CURVATURES], axis=1)
            reached = base.steering_angles(turns @ self.matrix.T).reached.all(axis=1)
            self.curvature = np.inf if reached.all() else float(_CURVATURES[np.argmin(reached)])

    def within(self, free: Floats) -> Floats:
        """Return free components with no larger yaw rate than steering allows."""
        if np.isinf(self.curvature):
            return free
        most = self.curvature * abs(free[0])
        return np.array([free[0], np.clip(free[1], -most, most)])

    def missing(self, twist: Floats) -> tuple[str, ...]:
        """Return the names of the axes along which a base cannot move as a twist asks."""
        free = self.within(twist[self.axes])
        lost = np.abs(self.matrix @ free - twist) > SMALL * np.abs(twist)
        lost &= twist != 0.0
        return tuple(name for name, gone in zip(AXES, lost, strict=True) if gone)


def free_components(columns: Floats) -> list[int]:
    """Return the components that determine a twist in the span of columns."""
    selection: list[int] = []
    for k in _FIRST:
        if np.linalg.matrix_rank(columns[[*selection, k]], SMALL) > len(selection):
            selection.append(k)
    return selection
