# SPDX-License-Identifier: Apache-2.0
"""
Dual quaternions P + eps D with eps^2 = 0 (Silva et al., section 2).

`DualQuaternion` is the general element. Twists ``omega + eps v`` and wrenches ``f + eps tau`` are
pure ones. Vectors of twists are stored ``(omega, v)``, vectors of wrenches ``(tau, f)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kane_dynamics.algebra.quaternions import (
    Quaternion,
    cross,
    dot,
    make_quaternion,
    pure,
    scale,
    vec4,
)
from kane_dynamics.algebra.scalars import Scalar, as_array, sqrt
from kane_dynamics.typing import NDArray

ZERO = make_quaternion(0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False, slots=True)
class DualQuaternion:
    """
    The dual quaternion ``primary + eps dual``.

    Parameters
    ----------
    primary, dual : quaternion
        P(h) and D(h) of (1).

    """

    primary: Quaternion
    dual: Quaternion

    __array_ufunc__ = None  # keep numpy from taking over `array * dual quaternion`

    def __add__(self, b: DualQuaternion) -> DualQuaternion:
        return DualQuaternion(self.primary + b.primary, self.dual + b.dual)

    def __sub__(self, b: DualQuaternion) -> DualQuaternion:
        return DualQuaternion(self.primary - b.primary, self.dual - b.dual)

    def __neg__(self) -> DualQuaternion:
        return DualQuaternion(-self.primary, -self.dual)

    def __mul__(self, b: DualQuaternion | Scalar) -> DualQuaternion:
        """Return the product a b = P_a P_b + eps (P_a D_b + D_a P_b), or b times a scalar."""
        if isinstance(b, DualQuaternion):
            return DualQuaternion(
                self.primary * b.primary, self.primary * b.dual + self.dual * b.primary
            )
        return DualQuaternion(scale(self.primary, b), scale(self.dual, b))

    def __rmul__(self, s: Scalar) -> DualQuaternion:
        return DualQuaternion(scale(self.primary, s), scale(self.dual, s))

    def conjugate(self) -> DualQuaternion:
        """Return h* = Re(h) - Im(h): both parts are conjugated, eps is unchanged."""
        return DualQuaternion(self.primary.conjugate(), self.dual.conjugate())

    def real(self) -> tuple[Scalar, Scalar]:
        """Return the dual number Re(h) = h_1 + eps h_5 as the pair (h_1, h_5)."""
        return self.primary.w, self.dual.w

    def imaginary(self) -> DualQuaternion:
        """Return Im(h) = h - Re(h), a pure dual quaternion."""
        p, d = self.primary, self.dual
        return DualQuaternion(pure((p.x, p.y, p.z)), pure((d.x, d.y, d.z)))

    def norm(self) -> tuple[Scalar, Scalar]:
        """
        Return the dual number ||h|| = sqrt(h h*) as the pair (primary, dual).

        With P != 0: ``||P|| + eps <P, D> / ||P||``.
        """
        p, d = self.primary, self.dual
        primary = sqrt(p.w * p.w + dot(p, p))
        return primary, (p.w * d.w + dot(p, d)) / primary


def twist(angular: Quaternion, linear: Quaternion) -> DualQuaternion:
    """
    Return omega + eps v from two pure quaternions [rad/s, m/s] (6).

    Parameters
    ----------
    angular, linear : quaternion
        omega [rad/s] and v [m/s], pure.

    Examples
    --------
    >>> from kane_dynamics.algebra import pure, twist, vec6
    >>> vec6(twist(pure([0, 0, 1.0]), pure([2.0, 0, 0])))
    array([0., 0., 1., 2., 0., 0.])

    """
    return DualQuaternion(angular, linear)


def wrench(force: Quaternion, moment: Quaternion) -> DualQuaternion:
    """
    Return f + eps tau from two pure quaternions [N, N m] (24).

    Parameters
    ----------
    force, moment : quaternion
        f [N] and tau [N m], pure.

    Examples
    --------
    >>> from kane_dynamics.algebra import pure, vec6, wrench
    >>> vec6(wrench(pure([1.0, 0, 0]), pure([0, 0, 2.0])))  # force first
    array([1., 0., 0., 0., 0., 2.])

    """
    return DualQuaternion(force, moment)


def twist_from_vector(vector: Sequence[Scalar] | NDArray) -> DualQuaternion:
    """
    Return omega + eps v from the vector (omega, v), shape (6,).

    Parameters
    ----------
    vector : array_like, shape (6,)
        (omega, v) [rad/s, m/s].

    Examples
    --------
    >>> from kane_dynamics.algebra import twist_from_vector, vec6
    >>> vec6(twist_from_vector([0, 0, 1.0, 2.0, 0, 0]))
    array([0., 0., 1., 2., 0., 0.])

    """
    return DualQuaternion(pure(vector[:3]), pure(vector[3:]))


def wrench_from_vector(vector: Sequence[Scalar] | NDArray) -> DualQuaternion:
    """
    Return f + eps tau from the vector (tau, f), shape (6,).

    Parameters
    ----------
    vector : array_like, shape (6,)
        (tau, f) [N m, N].

    Examples
    --------
    >>> from kane_dynamics.algebra import vec6, wrench_from_vector
    >>> vec6(wrench_from_vector([0, 0, 2.0, 1.0, 0, 0]))  # moment first; out comes force first
    array([1., 0., 0., 0., 0., 2.])

    """
    return DualQuaternion(pure(vector[3:]), pure(vector[:3]))


def vec6(h: DualQuaternion) -> NDArray:
    """
    Return (P, D) of a pure dual quaternion, shape (6,): (omega, v), or (f, tau) of a wrench.

    Parameters
    ----------
    h : DualQuaternion
        Pure: its real parts are not read.

    Examples
    --------
    >>> from kane_dynamics.algebra import twist_from_vector, vec6
    >>> vec6(twist_from_vector([0, 0, 1.0, 2.0, 0, 0]))
    array([0., 0., 1., 2., 0., 0.])

    """
    p, d = h.primary, h.dual
    return as_array((p.x, p.y, p.z, d.x, d.y, d.z))


def vec8(h: DualQuaternion) -> NDArray:
    """
    Return the eight components (w, x, y, z, w', x', y', z'), shape (8,).

    Parameters
    ----------
    h : DualQuaternion
        Any.

    Examples
    --------
    >>> from kane_dynamics.algebra import exp, twist_from_vector, vec8
    >>> half_turn = exp(twist_from_vector([0, 0, np.pi / 2, 0, 0, 0]))
    >>> np.allclose(vec8(half_turn), [0, 0, 0, 1, 0, 0, 0, 0])
    True

    """
    return np.concatenate((vec4(h.primary), vec4(h.dual)))


def from_vec8(vector: Sequence[Scalar] | NDArray) -> DualQuaternion:
    """
    Return the dual quaternion of eight components, the inverse of `vec8`.

    Parameters
    ----------
    vector : array_like, shape (8,)
        (w, x, y, z, w', x', y', z').

    Examples
    --------
    >>> from kane_dynamics.algebra import from_vec8, vec8
    >>> vec8(from_vec8([1.0, 0, 0, 0, 0, 0.5, 0, 0]))
    array([1. , 0. , 0. , 0. , 0. , 0.5, 0. , 0. ])

    """
    return DualQuaternion(make_quaternion(*vector[:4]), make_quaternion(*vector[4:]))


def dual_cross(a: DualQuaternion, b: DualQuaternion) -> DualQuaternion:
    """
    Return a x b = P_a x P_b + eps (P_a x D_b + D_a x P_b) of pure dual quaternions (8).

    Parameters
    ----------
    a, b : DualQuaternion
        Pure.

    Examples
    --------
    >>> from kane_dynamics.algebra import dual_cross, twist_from_vector, vec6
    >>> turn, slide = (twist_from_vector(x) for x in ([0, 0, 1.0, 0, 0, 0], [0, 0, 0, 1.0, 0, 0]))
    >>> vec6(dual_cross(turn, slide))
    array([0., 0., 0., 0., 1., 0.])

    """
    return DualQuaternion(
        cross(a.primary, b.primary), cross(a.primary, b.dual) + cross(a.dual, b.primary)
    )


def power(a: DualQuaternion, b: DualQuaternion) -> Scalar:
    """
    Return D<a, b>: the power [W] of a wrench on a twist, in either order, in one frame.

    Parameters
    ----------
    a, b : DualQuaternion
        A wrench [N, N m] and a twist [rad/s, m/s], both pure.

    Examples
    --------
    >>> from kane_dynamics.algebra import power, twist_from_vector, wrench_from_vector
    >>> force, motion = [0, 0, 2.0, 3.0, 0, 0], [0, 0, 0.5, 4.0, 0, 0]
    >>> float(power(wrench_from_vector(force), twist_from_vector(motion)))
    13.0

    """
    return dot(a.primary, b.dual) + dot(a.dual, b.primary)
