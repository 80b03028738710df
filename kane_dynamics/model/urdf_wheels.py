# SPDX-License-Identifier: Apache-2.0
"""Wheel radii from collision shapes; no other use is made of ``<collision>``."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import cross, make_quaternion, pure, rotate, vec3
from kane_dynamics.model.urdf_records import UrdfLink, Vector

_PARALLEL = 1e-3  # sine between the axis of a wheel and that of its collision cylinder
_CENTRED = 1e-2  # distance of a wheel's collision shape from the wheel's axis, in radii
_Z = make_quaternion(0.0, 0.0, 0.0, 1.0)


def collision_radius(links: Iterable[tuple[Pose, UrdfLink]], axis: Vector) -> float | None:
    """
    Return the radius [m] of the first collision cylinder or sphere around an axis, or None.

    Parameters
    ----------
    links : iterable of (Pose, UrdfLink)
        Links that turn together, each with its pose in their body frame.
    axis : tuple of float
        Unit axis through the origin of that frame. A cylinder counts if it is parallel to the
        axis; both shapes count only if they are centred on it.

    """
    wheel_axis = pure(axis)
    for x_L_B, link in links:
        for shape in link.rounds:
            x = x_L_B * shape.origin.pose()
            off_axis = np.linalg.norm(vec3(cross(wheel_axis, x.translation)))
            tilt = np.linalg.norm(vec3(cross(wheel_axis, rotate(x.rotation, _Z))))
            if shape.radius <= 0.0 or off_axis > _CENTRED * shape.radius:
                continue
            if shape.is_sphere or tilt <= _PARALLEL:
                return shape.radius
    return None
