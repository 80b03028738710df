# SPDX-License-Identifier: Apache-2.0
"""Friction cones of the wheels of a base, from the names of its constraint rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kane_dynamics.constraints.friction_cones import FrictionCone
from kane_dynamics.exceptions import NameNotFoundError
from kane_dynamics.robot.robot import Robot

SIDE = 'base/no_side_slip'


def wheel_cones(
    labels: Sequence[str], wheels: Sequence[str], friction: float, load: float
) -> list[FrictionCone]:
    """
    Return a cone for each wheel: what it pushes, and its share of the side force.

    Parameters
    ----------
    labels : sequence of str
        Names of the rows, those of `differential_drive` or of `rolling_wheel`.
    wheels : sequence of str
        Names of the wheels' joints.
    friction : float
        mu.
    load : float
        Of each wheel [N].

    Raises
    ------
    NameNotFoundError
        If there are no rows of a wheel.

    """
    cones = []
    for wheel in wheels:
        local = [name for name in labels if name.startswith(f'{wheel}/')]
        if not local:
            raise NameNotFoundError('constraint row of a wheel', wheel, labels)
        rows = dict.fromkeys(local, 1.0)
        if SIDE in labels:
            rows[SIDE] = 1.0 / len(wheels)
        cones.append(FrictionCone(rows, friction, load))
    return cones


def shared_weight(robot: Robot, wheels: int) -> float:
    """Return the load of each wheel, were the weight shared evenly by these alone [N]."""
    mass = sum(body.inertia.mass for body in robot.bodies)
    return float(mass * np.linalg.norm(robot.gravity) / wheels)
