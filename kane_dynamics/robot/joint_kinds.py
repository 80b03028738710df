# SPDX-License-Identifier: Apache-2.0
r"""
The seven joint kinds of Silva et al., Table 1, as motions of a child frame B in a joint frame J.

Every kind gives the pose :math:`x_B^J(q)`, the motion axes :math:`S_k` with which the twist of B
relative to J, *expressed in B*, is :math:`\xi = \sum_k S_k v_k`, their rates, and how its
coordinates move with v. In the child frame the axes of every kind are constant but for the planar
one, whose speeds are the derivatives of (x, y, yaw) in the joint frame's axes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from kane_dynamics.algebra.dual_quaternion import ZERO, DualQuaternion
from kane_dynamics.algebra.matrices import skew
from kane_dynamics.algebra.pose import Pose, exp
from kane_dynamics.algebra.quaternions import (
    Quaternion,
    ScalarQuaternion,
    make_quaternion,
    normalised,
    pure,
    rotate,
    scale,
    vec3,
)
from kane_dynamics.algebra.scalars import Scalar, as_number, cos, sin, unit_axis

Axes = tuple[DualQuaternion, ...]
Scalars = Sequence[Scalar]

_I, _J, _K = (make_quaternion(0.0, *row) for row in np.eye(3))


class JointKind(ABC):
    """
    What an algorithm needs to know of a joint.

    The default is constant axes in B and coordinates that are a vector whose derivative is v.
    """

    coordinate_suffixes: ClassVar[tuple[str, ...]] = ('',)
    velocity_suffixes: ClassVar[tuple[str, ...]] = ('',)
    nq: ClassVar[int]
    nv: ClassVar[int]
    neutral: ClassVar[tuple[float, ...]]
    quaternion: ClassVar[slice | None]
    """Which of the coordinates are a unit quaternion (w, x, y, z)."""

    def __init_subclass__(cls) -> None:
        names = cls.coordinate_suffixes
        cls.nq, cls.nv = len(names), len(cls.velocity_suffixes)
        cls.neutral = tuple(float(name == '_qw') for name in names)
        cls.quaternion = slice(cls.nq - 4, cls.nq) if '_qw' in names else None

    @abstractmethod
    def pose(self, q: Scalars) -> Pose:
        """Return x_B^J(q)."""

    @abstractmethod
    def axes(self, q: Scalars) -> Axes:
        """Return the motion axes S_k in B, nv pure dual quaternions."""

    def axes_rate(self, q: Scalars, v: Scalars) -> Axes | None:
        """Return the rates dS_k/dt in B, or None where the axes are constant."""
        return None

    def coordinate_rate(self, q: Scalars, v: Scalars) -> Scalars:
        """Return dq/dt."""
        return list(v)

    def integrate(self, q: Scalars, v: Scalars, dt: Scalar) -> Scalars:
        """Return the coordinates after v has stayed constant in B for dt [s]."""
        return [a + b * dt for a, b in zip(q, v, strict=True)]


def _turn(axis: Quaternion, angle: Scalar) -> Quaternion:
    """Return r = cos(angle/2) + l sin(angle/2); traced, it rotates by sines of the whole angle."""
    half = angle * 0.5
    s = sin(half)
    r = make_quaternion(cos(half), axis.x * s, axis.y * s, axis.z * s)
    if type(r) is ScalarQuaternion is not type(axis):
        along, c, s = np.outer(vec3(axis), vec3(axis)), cos(angle), sin(angle)
        parts = np.stack([along, np.eye(3) - along, skew(vec3(axis))], axis=-1).tolist()
        r.rows = tuple(tuple(x + y * c + z * s for x, y, z in row) for row in parts)
    return r


@dataclass(frozen=True)
class _AlongAxis(JointKind):
    """One axis l, a unit vector in J (and in B)."""

    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    _l: Quaternion = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, 'axis', unit_axis(self.axis))
        object.__setattr__(self, '_l', pure(self.axis))

    def with_axis(self, axis: Scalars, pitch: Scalar) -> _AlongAxis:
        """Return the same kind along a unit axis that may be traced; its `axis` is not set."""
        other = copy(self)
        object.__setattr__(other, '_l', pure(axis))
        return other


@dataclass(frozen=True)
class Revolute(_AlongAxis):
    """
    Turns by q [rad] about `axis`: S = l.

    Parameters
    ----------
    axis : tuple of float, shape (3,)
        l in J; made a unit vector.

    """

    def pose(self, q: Scalars) -> Pose:
        return Pose(_turn(self._l, q[0]), ZERO)

    def axes(self, q: Scalars) -> Axes:
        return (DualQuaternion(self._l, ZERO),)


@dataclass(frozen=True)
class Prismatic(_AlongAxis):
    """
    Slides by q [m] along `axis`: S = eps l.

    Parameters
    ----------
    axis : tuple of float, shape (3,)
        l in J; made a unit vector.

    """

    def pose(self, q: Scalars) -> Pose:
        return Pose(make_quaternion(1.0, 0.0, 0.0, 0.0), scale(self._l, q[0]))

    def axes(self, q: Scalars) -> Axes:
        return (DualQuaternion(ZERO, self._l),)


@dataclass(frozen=True)
class Helical(_AlongAxis):
    """
    Turns by q [rad] about `axis` and slides by `pitch` q: S = l (1 + eps h), h [m/rad].

    Parameters
    ----------
    axis : tuple of float, shape (3,)
        l in J; made a unit vector.
    pitch : float
        h [m/rad].

    """

    pitch: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, 'pitch', as_number('pitch [m/rad]', self.pitch))

    def with_axis(self, axis: Scalars, pitch: Scalar) -> _AlongAxis:
        other = super().with_axis(axis, pitch)
        object.__setattr__(other, 'pitch', pitch)
        return other

    def pose(self, q: Scalars) -> Pose:
        return Pose(_turn(self._l, q[0]), scale(self._l, q[0] * self.pitch))

    def axes(self, q: Scalars) -> Axes:
        return (DualQuaternion(self._l, scale(self._l, self.pitch)),)


@dataclass(frozen=True)
class Cylindrical(_AlongAxis):
    """
    Turns by q_1 [rad] about and slides by q_2 [m] along `axis`: S = (l, eps l).

    Parameters
    ----------
    axis : tuple of float, shape (3,)
        l in J; made a unit vector.

    """

    coordinate_suffixes = velocity_suffixes = ('_rotation', '_slide')

    def pose(self, q: Scalars) -> Pose:
        return Pose(_turn(self._l, q[0]), scale(self._l, q[1]))

    def axes(self, q: Scalars) -> Axes:
        return (DualQuaternion(self._l, ZERO), DualQuaternion(ZERO, self._l))


@dataclass(frozen=True)
class Planar(JointKind):
    """
    Moves in the x, y plane of J: q = (x, y, yaw) [m, m, rad], v = dq/dt.

    The speeds of x and y are along the axes of J, as in (64), so in B the axes turn with yaw.
    """

    coordinate_suffixes = velocity_suffixes = ('_x', '_y', '_yaw')

    def pose(self, q: Scalars) -> Pose:
        x, y, yaw = q
        return Pose(_turn(_K, yaw), pure((x, y, 0.0)))

    def axes(self, q: Scalars) -> Axes:
        c, s = cos(q[2]), sin(q[2])
        return (
            DualQuaternion(ZERO, pure((c, -s, 0.0))),
            DualQuaternion(ZERO, pure((s, c, 0.0))),
            DualQuaternion(_K, ZERO),
        )

    def axes_rate(self, q: Scalars, v: Scalars) -> Axes | None:
        c, s, yaw_rate = cos(q[2]), sin(q[2]), v[2]
        return (
            DualQuaternion(ZERO, pure((-s * yaw_rate, -c * yaw_rate, 0.0))),
            DualQuaternion(ZERO, pure((c * yaw_rate, -s * yaw_rate, 0.0))),
            DualQuaternion(ZERO, ZERO),
        )


@dataclass(frozen=True)
class Spherical(JointKind):
    """Turns freely: q = unit quaternion r_B^J (w, x, y, z), v = angular velocity in B [rad/s]."""

    coordinate_suffixes = ('_qw', '_qx', '_qy', '_qz')
    velocity_suffixes = ('_wx', '_wy', '_wz')

    def pose(self, q: Scalars) -> Pose:
        return Pose(normalised(make_quaternion(*q)), ZERO)

    def axes(self, q: Scalars) -> Axes:
        return tuple(DualQuaternion(e, ZERO) for e in (_I, _J, _K))

    def coordinate_rate(self, q: Scalars, v: Scalars) -> Scalars:
        return _components(scale(make_quaternion(*q) * pure(v), 0.5))

    def integrate(self, q: Scalars, v: Scalars, dt: Scalar) -> Scalars:
        step = exp(DualQuaternion(scale(pure(v), 0.5 * dt), ZERO))
        return _components(normalised(make_quaternion(*q)) * step.primary)


@dataclass(frozen=True)
class Free(JointKind):
    """
    Moves freely (6-DoF joint, floating base).

    q = position of B in J [m] and unit quaternion r_B^J (w, x, y, z); v = (omega, v), both in B.
    """

    coordinate_suffixes = ('_x', '_y', '_z', '_qw', '_qx', '_qy', '_qz')
    velocity_suffixes = ('_wx', '_wy', '_wz', '_vx', '_vy', '_vz')

    def pose(self, q: Scalars) -> Pose:
        return Pose(normalised(make_quaternion(*q[3:])), pure(q[:3]))

    def axes(self, q: Scalars) -> Axes:
        rotations = tuple(DualQuaternion(e, ZERO) for e in (_I, _J, _K))
        return rotations + tuple(DualQuaternion(ZERO, e) for e in (_I, _J, _K))

    def coordinate_rate(self, q: Scalars, v: Scalars) -> Scalars:
        r = make_quaternion(*q[3:])
        p_rate = rotate(normalised(r), pure(v[3:]))
        return [p_rate.x, p_rate.y, p_rate.z, *_components(scale(r * pure(v[:3]), 0.5))]

    def integrate(self, q: Scalars, v: Scalars, dt: Scalar) -> Scalars:
        twist = DualQuaternion(scale(pure(v[:3]), 0.5 * dt), scale(pure(v[3:]), 0.5 * dt))
        x = self.pose(q) * Pose.from_dual_quaternion(exp(twist))
        p = x.translation
        return [p.x, p.y, p.z, *_components(x.rotation)]


def _components(r: Quaternion) -> list[Any]:
    return [r.w, r.x, r.y, r.z]
