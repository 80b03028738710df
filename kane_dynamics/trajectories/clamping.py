# SPDX-License-Identifier: Apache-2.0
"""Efforts of a trajectory within the limits of the joints, and what that took from them."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.trajectories.points import TrajectoryPoints
from kane_dynamics.typing import Floats


class Clamped(NamedTuple):
    """
    The largest effort of a joint that goes beyond its limit.

    Attributes
    ----------
    joint : str
        Its name.
    time : float
        When [s].
    effort, limit : float
        What the motion needs and what there is [N m or N].

    """

    joint: str
    time: float
    effort: float
    limit: float

    def text(self) -> str:
        """Return it in words."""
        return (
            f"'{self.joint}' needs {self.effort:.4g} at {self.time:.3f} s, limit {self.limit:.4g}"
        )


def clamped_points(
    points: TrajectoryPoints, limit: Floats
) -> tuple[TrajectoryPoints, tuple[Clamped, ...]]:
    """
    Return the trajectory with efforts within plus or minus their limits, and what was beyond.

    Parameters
    ----------
    points : TrajectoryPoints
        With efforts.
    limit : ndarray, shape (k,)
        Of each joint [N m or N]; infinite where there is none.

    Raises
    ------
    InvalidInputError
        If the points have no efforts.

    """
    if points.efforts is None:
        raise InvalidInputError('clamped_points: the points have no efforts')
    over = []
    for j in np.nonzero((np.abs(points.efforts) > limit).any(axis=0))[0]:
        i = int(np.argmax(np.abs(points.efforts[:, j])))
        worst = float(points.efforts[i, j])
        over.append(Clamped(points.names[j], float(points.times[i]), worst, float(limit[j])))
    return replace(points, efforts=np.clip(points.efforts, -limit, limit)), tuple(over)
