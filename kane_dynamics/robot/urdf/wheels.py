# SPDX-License-Identifier: Apache-2.0
"""Wheels and balls from collision shapes; no other use is made of ``<collision>``."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import make_quaternion, rotate, vec3
from kane_dynamics.robot.body import Vector, WheelShape
from kane_dynamics.robot.joint_kinds import Free, JointKind, Revolute, Spherical
from kane_dynamics.robot.urdf.records import UrdfLink
from kane_dynamics.typing import Floats

_PARALLEL = 1e-3  # sine between the axis of a wheel and that of its collision cylinder
_CENTRED = 1e-4  # distance from the wheel's axis, in radii: above what printed digits leave
_Z = make_quaternion(0.0, 0.0, 0.0, 1.0)


def wheel_shape(links: Iterable[tuple[Pose, UrdfLink]], kind: JointKind) -> WheelShape | None:
    """
    Return the collision cylinder or sphere that a joint turns, or None.

    Parameters
    ----------
    links : iterable of (Pose, UrdfLink)
        Links that turn together, each with its pose in their body frame.
    kind : JointKind
        Of a revolute joint the first shape counts whose centre is on the axis, or else the first
        around it; cylinders only where they are parallel to the axis. A free or spherical joint
        must have a single one.

    """
    shapes = [
        _shape(x_L_B * shape.origin.pose(), shape.radius, shape.is_sphere)
        for x_L_B, link in links
        for shape in link.rounds
        if shape.radius > 0.0
    ]
    if isinstance(kind, (Free, Spherical)):
        return shapes[0] if len(shapes) == 1 else None
    if not isinstance(kind, Revolute):
        return None
    n = np.array(kind.axis)
    around = [_around(shape, n) for shape in shapes if _is_around(shape, n)]
    return next((shape for shape, centred in around if centred), next(iter(around), (None,))[0])


def _shape(x: Pose, radius: float, is_sphere: bool) -> WheelShape:
    axis = None if is_sphere else _vector(vec3(rotate(x.rotation, _Z)))
    return WheelShape(radius, _vector(vec3(x.translation)), axis)


def _is_around(shape: WheelShape, n: Floats) -> bool:
    """Return whether an axis goes through a shape, along it."""
    tilt = 0.0 if shape.axis is None else float(np.linalg.norm(np.cross(n, shape.axis)))
    return tilt <= _PARALLEL and bool(np.linalg.norm(np.cross(n, shape.centre)) < shape.radius)


def _around(shape: WheelShape, n: Floats) -> tuple[WheelShape, bool]:
    """Return a shape, on the axis where it is off by printed digits only, and whether it is."""
    on_axis = n * (n @ shape.centre)
    if np.linalg.norm(on_axis - shape.centre) > _CENTRED * shape.radius:
        return shape, False
    return WheelShape(shape.radius, _vector(on_axis), shape.axis), True


def _vector(x: Iterable[float]) -> Vector:
    a, b, c = x
    return float(a), float(b), float(c)
