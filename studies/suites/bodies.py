# SPDX-License-Identifier: Apache-2.0
"""Short names for joints, placements and inertias of the published problems."""

from __future__ import annotations

from typing import Any

import numpy as np

import kane_dynamics as kd

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def at(*position: float) -> kd.Pose:
    """Return the pose of a frame moved to a position [m] and not turned."""
    return kd.Pose.from_rotation_and_position((1.0, 0.0, 0.0, 0.0), position)


def inertia(mass: float, com: Any = (0, 0, 0), diagonal: Any = (0, 0, 0)) -> kd.Inertia:
    """Return an inertia whose tensor is diagonal."""
    return kd.Inertia(mass, com, np.diag(diagonal))


def box(mass: float, com: Any, *sides: float) -> kd.Inertia:
    """Return the inertia of a box of sides [m] along the axes."""
    x, y, z = np.square(sides) * mass / 12.0
    return inertia(mass, com, (y + z, z + x, x + y))


def revolute(name: str, axis: Any = Z) -> kd.Joint:
    """Return a revolute joint."""
    return kd.Joint(name, kd.Revolute(axis))


def prismatic(name: str, axis: Any = X) -> kd.Joint:
    """Return a prismatic joint."""
    return kd.Joint(name, kd.Prismatic(axis))
