# SPDX-License-Identifier: Apache-2.0
"""Planes of the world that wheels and points touch: the ground, slopes, kerbs, walls."""

from __future__ import annotations

from dataclasses import dataclass
from math import copysign
from typing import Any

import numpy as np

from kane_dynamics.exceptions import ConstraintError, InvalidInputError
from kane_dynamics.robot.checks import as_number, as_vector, describe
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats

_ROUNDOFF = 1e-12  # of a unit vector that was brought to unit length


@dataclass(frozen=True)
class Plane:
    """
    The plane <n, p> = offset of the world; what stands on it is on the side that n points to.

    Parameters
    ----------
    normal : array_like, shape (3,)
        n, in world axes, towards the free side; brought to unit length.
    offset : float
        Distance of the plane from the origin of the world, along n [m].

    Raises
    ------
    InvalidInputError
        If a number is not finite, or n is zero.

    """

    normal: Any = (0.0, 0.0, 1.0)
    offset: float = 0.0

    def __post_init__(self) -> None:
        n = as_vector('normal', self.normal, 3)
        if not n.any():
            raise InvalidInputError(f'normal: need a direction, got {n}')
        x, y, z = (n / np.linalg.norm(n)).tolist()
        object.__setattr__(self, 'normal', (x, y, z))
        object.__setattr__(self, 'offset', as_number('offset [m]', self.offset))

    def directions(self) -> Floats:
        """
        Return unit vectors x and y in the plane, x y n right-handed, in world axes, shape (2, 3).

        The axes x and y of the world, turned with its z onto n by the shortest way (where n points
        down: x and -y with -z). Duff et al., Building an orthonormal basis, revisited, JCGT 2017.
        """
        x, y, z = self.normal
        sign = copysign(1.0, z)
        a = -1.0 / (sign + z)
        first = (1.0 + sign * x * x * a, sign * x * y * a, -sign * x)
        second = (x * y * a, sign + y * y * a, -y)
        return np.array([first, second])


GROUND = Plane()
"""z = 0."""


def checked_plane(robot: Robot, plane: Any) -> Plane:
    """
    Return a plane on which a robot can move.

    Raises
    ------
    InvalidInputError
        If it is no plane.
    ConstraintError
        If it is inclined and the robot has a planar base.

    """
    if not isinstance(plane, Plane):
        raise InvalidInputError(f'plane: need a kane_dynamics.Plane, got {describe(plane)}')
    if robot.base == 'planar' and abs(plane.normal[2] - 1.0) > _ROUNDOFF:
        raise ConstraintError(
            f'plane: a planar base moves in z = 0, got normal {plane.normal}; a slope is '
            'another direction of gravity (set_gravity), or takes a floating base'
        )
    return plane
