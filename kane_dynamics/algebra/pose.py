# SPDX-License-Identifier: Apache-2.0
"""
Poses: unit dual quaternions x = r + eps p r / 2 (Silva et al., section 2).

`Pose` stores the pair (r, p) instead of the eight components, so that a traced recursion never
forms p = 2 D(x) P(x)*, whose r r* = 1 an expression graph cannot see.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.algebra.dual_quaternion import ZERO, DualQuaternion
from kane_dynamics.algebra.matrices import matrix_of, product, skew
from kane_dynamics.algebra.quaternions import (
    Quaternion,
    cross,
    make_quaternion,
    pure,
    rotate,
    rotate_back,
    rotation_rows,
    scale,
    vec3,
)
from kane_dynamics.algebra.scalars import Scalar


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

    """

    rotation: Quaternion
    translation: Quaternion

    @staticmethod
    def identity() -> Pose:
        """Return x = 1."""
        return Pose(make_quaternion(1.0, 0.0, 0.0, 0.0), ZERO)

    @staticmethod
    def from_rotation_and_position(
        wxyz: Sequence[Scalar] | NDArray[Any], position: Sequence[Scalar] | NDArray[Any]
    ) -> Pose:
        """Return the pose of a unit quaternion (w, x, y, z) and a position [m]."""
        return Pose(make_quaternion(*wxyz), pure(position))

    @staticmethod
    def shift(position: Sequence[Scalar] | NDArray[Any]) -> Pose:
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

    def rotation_matrix(self) -> NDArray[Any]:
        """Return R_B^A, shape (3, 3)."""
        return matrix_of(rotation_rows(self.rotation))

    def position(self) -> NDArray[Any]:
        """Return p_AB^A [m], shape (3,)."""
        return vec3(self.translation)

    def adjoint_matrix(self) -> NDArray[Any]:
        """Return the matrix of Ad(x) on stacked (P, D), shape (6, 6): [[R, 0], [S(p) R, R]]."""
        R = self.rotation_matrix()
        lever = product(skew(self.position()), R)
        matrix = np.zeros((6, 6), dtype=np.result_type(R, lever))
        matrix[:3, :3] = matrix[3:, 3:] = R
        matrix[3:, :3] = lever
        return matrix
