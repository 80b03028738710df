# SPDX-License-Identifier: Apache-2.0
r"""
Poses, their exponential and logarithm, and rotation vectors (Silva et al., section 2).

`Pose`, the unit dual quaternion x = r + eps p r / 2, stores the pair (r, p) instead of the eight
components, so that a traced recursion never forms p = 2 D(x) P(x)*, whose r r* = 1 an expression
graph cannot see.

A frame that is turned by the rotation vector e from another, and whose e changes at the rate u,
turns at :math:`\omega = J(e) u` beside it, with the left Jacobian

.. math:: J(e) u = u + c_2\, e\times u + c_3\, e\times(e\times u)

and :math:`c_k(s) = \sum_j (-s)^j / (2j + k)!` of :math:`s = \lVert e\rVert^2` (Stumpff). With
:math:`c_2 = 1/2 - s c_4`, :math:`c_3 = 1/6 - s c_5` and
:math:`2 c_k' = k c_{k+2} - c_{k+1}` everything follows from :math:`c_4, c_5`.

Vectors are pure quaternions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kane_dynamics.algebra.dual_quaternion import ZERO, DualQuaternion
from kane_dynamics.algebra.matrices import block_matrix, matrix_of, product, skew
from kane_dynamics.algebra.quaternions import (
    Quaternion,
    cross,
    dot,
    make_quaternion,
    pure,
    rotate,
    rotate_back,
    rotation_rows,
    scale,
    vec3,
)
from kane_dynamics.algebra.scalars import Scalar, arctan2, cos, sin, sqrt, where
from kane_dynamics.typing import NDArray


@dataclass(frozen=True, eq=False, slots=True)
class Pose:
    """
    The pose x_B^A of frame B in frame A: first rotate, then translate.

    Parameters
    ----------
    rotation : quaternion
        Unit quaternion r_B^A; takes components in B to components in A by Ad(r).
    translation : quaternion
        Pure quaternion of p_AB^A [m]: the origin of B, in A.

    Examples
    --------
    >>> pose = kd.Pose.shift([1.0, 0, 0]) * kd.Pose.shift([0, 2.0, 0])
    >>> pose.position()
    array([1., 2., 0.])

    """

    rotation: Quaternion
    translation: Quaternion

    @staticmethod
    def identity() -> Pose:
        """Return x = 1."""
        return Pose(make_quaternion(1.0, 0.0, 0.0, 0.0), ZERO)

    @staticmethod
    def from_rotation_and_position(
        wxyz: Sequence[Scalar] | NDArray, position: Sequence[Scalar] | NDArray
    ) -> Pose:
        """Return the pose of a unit quaternion (w, x, y, z) and a position [m]."""
        return Pose(make_quaternion(*wxyz), pure(position))

    @staticmethod
    def shift(position: Sequence[Scalar] | NDArray) -> Pose:
        """Return the pose of a frame with the same axes, and its origin at a position [m]."""
        return Pose(make_quaternion(1.0, 0.0, 0.0, 0.0), pure(position))

    @staticmethod
    def from_dual_quaternion(x: DualQuaternion) -> Pose:
        """Return the pose of a unit dual quaternion: r = P(x), p = 2 D(x) P(x)*."""
        p = scale(x.dual * x.primary.conjugate(), 2.0)
        return Pose(x.primary, pure((p.x, p.y, p.z)))

    def __mul__(self, x_C_B: Pose) -> Pose:
        """Return x_C^A = x_B^A x_C^B."""
        return Pose(
            self.rotation * x_C_B.rotation,
            self.translation + rotate(self.rotation, x_C_B.translation),
        )

    def conjugate(self) -> Pose:
        """Return x* = x_A^B, the inverse."""
        r = self.rotation.conjugate()
        return Pose(r, -rotate(r, self.translation))

    def dual_quaternion(self) -> DualQuaternion:
        """Return x = r + eps p r / 2 as a general dual quaternion."""
        return DualQuaternion(self.rotation, scale(self.translation * self.rotation, 0.5))

    def adjoint(self, h: DualQuaternion) -> DualQuaternion:
        """
        Return Ad(x) h = x h x* of a pure dual quaternion h (3).

        For a twist or a wrench given in B this is the same one expressed in A: both the axes and
        the reference point change. ``Ad(x) h = r P r* + eps (r D r* + p x r P r*)``.
        """
        primary = rotate(self.rotation, h.primary)
        dual = rotate(self.rotation, h.dual)
        return DualQuaternion(primary, dual + cross(self.translation, primary))

    def adjoint_inverse(self, h: DualQuaternion) -> DualQuaternion:
        """Return Ad(x*) h, from A to B, without forming x*."""
        r = self.rotation
        moved = h.dual - cross(self.translation, h.primary)
        return DualQuaternion(rotate_back(r, h.primary), rotate_back(r, moved))

    def rotation_matrix(self) -> NDArray:
        """Return R_B^A, shape (3, 3)."""
        return matrix_of(rotation_rows(self.rotation))

    def position(self) -> NDArray:
        """Return p_AB^A [m], shape (3,)."""
        return vec3(self.translation)

    def adjoint_matrix(self) -> NDArray:
        """Return the matrix of Ad(x) on stacked (P, D), shape (6, 6): [[R, 0], [S(p) R, R]]."""
        R = self.rotation_matrix()
        return block_matrix(R, R, product(skew(self.position()), R))


# Series below: the next term of either series is under 1e-17 of the value there.
SERIES_BELOW = 0.1


def _sinc_and_slope(phi_squared: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """Return cos(phi), sinc(phi) = sin(phi)/phi and (cos - sinc)/phi^2, smooth through 0."""
    s = phi_squared
    small = s < SERIES_BELOW**2
    phi = sqrt(where(small, 1.0, s))
    sinc = where(
        small,
        1.0 - s / 6.0 * (1.0 - s / 20.0 * (1.0 - s / 42.0 * (1.0 - s / 72.0))),
        sin(phi) / phi,
    )
    slope = where(
        small,
        -1.0 / 3.0 * (1.0 - s / 10.0 * (1.0 - s / 28.0 * (1.0 - s / 54.0 * (1.0 - s / 88.0)))),
        (cos(phi) - sin(phi) / phi) / (phi * phi),
    )
    return sinc + slope * s, sinc, slope


def exp(h: DualQuaternion) -> DualQuaternion:
    """
    Return the unit dual quaternion exp(h) of a pure dual quaternion h.

    Parameters
    ----------
    h : DualQuaternion
        Pure: half angle and half way along the axis.

    Examples
    --------
    >>> from kane_dynamics.algebra import exp, log, twist_from_vector, vec6
    >>> h = twist_from_vector([0.1, 0.2, 0.3, 1.0, 2.0, 3.0])
    >>> np.allclose(vec6(log(exp(h))), vec6(h))
    True

    """
    theta, d = h.primary, h.dual
    cosine, sinc, slope = _sinc_and_slope(dot(theta, theta))
    along = dot(theta, d)
    primary = make_quaternion(cosine, *(sinc * c for c in (theta.x, theta.y, theta.z)))
    dual = make_quaternion(
        -sinc * along,
        *(
            sinc * b + slope * along * a
            for a, b in ((theta.x, d.x), (theta.y, d.y), (theta.z, d.z))
        ),
    )
    return DualQuaternion(primary, dual)


def log(x: DualQuaternion) -> DualQuaternion:
    """
    Return the pure dual quaternion h with exp(h) = x or exp(h) = -x, half angle in [0, pi/2].

    x and -x are the same pose; the representative with Re(P(x)) >= 0 is taken, so the rotation
    angle is at most pi. At exactly pi the sign of the axis follows x.

    Parameters
    ----------
    x : DualQuaternion
        Unit.

    Notes
    -----
    Inverts `exp` term by term: ``Re D = -sinc <theta, d>`` gives the component along the axis
    (sinc >= 2/pi on the whole range), then ``Im D = sinc d + c <theta, d> theta`` gives d.

    Examples
    --------
    >>> from kane_dynamics.algebra import exp, log, twist_from_vector, vec6
    >>> half_turn = exp(twist_from_vector([0, 0, np.pi / 4, 0, 0, 0]))  # a quarter turn about z
    >>> np.allclose(vec6(log(half_turn)), [0, 0, np.pi / 4, 0, 0, 0])
    True

    """
    p, d = x.primary, x.dual
    if p.w < 0.0:
        p, d = -p, -d
    axis, moment = pure((p.x, p.y, p.z)), pure((d.x, d.y, d.z))
    phi = float(np.arctan2(np.sqrt(dot(axis, axis)), p.w))
    _, sinc, slope = _sinc_and_slope(phi * phi)
    along = -d.w / sinc
    theta = scale(axis, 1.0 / sinc)
    return DualQuaternion(theta, scale(moment - scale(theta, slope * along), 1.0 / sinc))


_SERIES_BELOW = 1.0  # of s: the closed forms lose a digit and a half there
_TERMS = 8  # the next one is below 1e-17 of the first
_SMALL = 1e-8  # of sin^2(angle / 2): its fourth power is roundoff


def rotation_vector(r: Quaternion) -> Quaternion:
    """Return the rotation vector of a unit quaternion, at most pi long [rad]."""
    w, sine2 = r.w, r.x * r.x + r.y * r.y + r.z * r.z
    back = where(w < 0.0, -1.0, 1.0)
    w = back * w
    small = sine2 < _SMALL
    sine, near = sqrt(where(small, 1.0, sine2)), where(small, w, 1.0)
    factor = where(small, (1.0 - sine2 / (3.0 * near * near)) / near, arctan2(sine, w) / sine)
    return pure([2.0 * back * factor * x for x in (r.x, r.y, r.z)])


def turned_by(e: Quaternion, u: Quaternion) -> Quaternion:
    """Return J(e) u, the angular velocity [rad/s] at which a rotation vector e has the rate u."""
    c2, c3, _, _ = _coefficients(dot(e, e))
    across = cross(e, u)
    return u + (scale(across, c2) + scale(cross(e, across), c3))


def turned_by_rate(e: Quaternion, rate: Quaternion, u: Quaternion) -> Quaternion:
    """Return dJ/dt u, where e changes at a rate [rad/s]."""
    c2, c3, c4, c5 = _coefficients(dot(e, e))
    grows = 2.0 * dot(e, rate)
    slope2, slope3 = grows * (c4 - 0.5 * c3), grows * (1.5 * c5 - 0.5 * c4)
    across, moved = cross(e, u), cross(rate, u)
    twice = cross(rate, across) + cross(e, moved)
    first = scale(across, slope2) + scale(moved, c2)
    return first + (scale(cross(e, across), slope3) + scale(twice, c3))


def rate_of_turning(e: Quaternion, omega: Quaternion) -> Quaternion:
    """Return J(e)^-1 omega, the rate of a rotation vector e, shorter than 2 pi [rad/s]."""
    c2, c3, c4, _ = _coefficients(dot(e, e))
    across = cross(e, omega)
    bent = (0.5 * c3 - c4) / c2
    return omega + (scale(across, -0.5) + scale(cross(e, across), bent))


def _coefficients(s: Scalar) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """Return c_2 to c_5 of s."""
    small = s < _SERIES_BELOW
    large = where(small, 1.0, s)
    phi = sqrt(large)
    c4 = where(small, _series(4, s), (cos(phi) - 1.0 + 0.5 * large) / (large * large))
    c5 = where(small, _series(5, s), (sin(phi) / phi - 1.0 + large / 6.0) / (large * large))
    return 0.5 - s * c4, 1.0 / 6.0 - s * c5, c4, c5


def _series(k: int, s: Scalar) -> Scalar:
    """Return the first terms of c_k."""
    total: Scalar = 0.0
    for j in reversed(range(_TERMS)):
        total = 1.0 / math.factorial(2 * j + k) - s * total
    return total
