# SPDX-License-Identifier: Apache-2.0
"""States at the door: lists of finite floats that fit the robot, or an error."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.model.checks import as_vector
from kane_dynamics.model.joint_kinds import Free, Spherical
from kane_dynamics.model.robot import Robot

UNIT_TOLERANCE = 1e-3  # a quaternion further from unit length than this is no rotation gone stale


def checked_coordinates(robot: Robot, q: ArrayLike) -> list[float]:
    """
    Return q as a list of floats.

    Raises
    ------
    InvalidInputError
        If the shape is not (nq,), a number is not finite, or a quaternion is not unit.

    """
    vector = as_vector('q', q, robot.nq)
    for body, index in zip(robot.bodies, robot.indices, strict=True):
        if isinstance(body.joint.kind, (Spherical, Free)):
            wxyz = vector[index.q][-4:]
            if abs(np.linalg.norm(wxyz) - 1.0) > UNIT_TOLERANCE:
                raise InvalidInputError(
                    f"q: joint '{body.joint.name}' needs a unit quaternion (w, x, y, z), got "
                    f'{wxyz}'
                )
    coordinates: list[float] = vector.tolist()
    return coordinates


def checked_speeds(robot: Robot, v: ArrayLike, name: str = 'v') -> list[float]:
    """
    Return speeds, or any vector over them, as a list of floats.

    Raises
    ------
    InvalidInputError
        If the shape is not (nv,) or a number is not finite.

    """
    speeds: list[float] = as_vector(name, v, robot.nv).tolist()
    return speeds
