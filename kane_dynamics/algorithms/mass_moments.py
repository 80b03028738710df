# SPDX-License-Identifier: Apache-2.0
r"""
Moments of mass about the origins of body frames, and what of them joints do not move.

A body enters the efforts of joints by :math:`m = \int dm`, :math:`h = \int r\,dm` and
:math:`\Sigma = \int r r^T dm`. What lies on the axis of a turning joint moves with the parent as
well: m, h along the axis and Sigma along it may count as the parent's, and seven of ten numbers
are left. A body that slides turns as its parent does: its Sigma may count there, and m and h are
left (Khalil and Kleinfinger, IEEE J. Robotics and Automation 3(6), 1987, in moments of inertia).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.algebra.inertia import Inertia
from kane_dynamics.algebra.matrices import matrix_of, scaled
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.scalars import Scalar, is_number
from kane_dynamics.robot.canonical_frames import cleaned
from kane_dynamics.robot.joint_kinds import JointKind, Prismatic, Revolute
from kane_dynamics.robot.robot import WORLD, Robot


@dataclass(frozen=True, eq=False, slots=True)
class MassMoments:
    """
    Moments of mass about the origin of a frame, in its axes.

    Parameters
    ----------
    mass : scalar
        m [kg].
    first : ndarray, shape (3,)
        h [kg m].
    second : ndarray, shape (3, 3)
        Sigma [kg m^2]; the tensor of inertia is its trace times 1, less Sigma.

    """

    mass: Scalar
    first: NDArray[Any]
    second: NDArray[Any]

    @staticmethod
    def of_body(inertia: Inertia) -> MassMoments:
        """Return the moments of one body about the origin of its frame."""
        mass, com, tensor = inertia.mass, inertia.com, inertia.tensor
        half = 0.5 * (tensor[0, 0] + tensor[1, 1] + tensor[2, 2])
        first = scaled(com, mass)
        second = matrix_of(
            [
                [(half if i == j else 0.0) - tensor[i, j] + first[i] * com[j] for j in range(3)]
                for i in range(3)
            ]
        )
        return MassMoments(mass, first, second)

    def __add__(self, other: MassMoments) -> MassMoments:
        return MassMoments(
            self.mass + other.mass, self.first + other.first, self.second + other.second
        )

    def __sub__(self, other: MassMoments) -> MassMoments:
        return MassMoments(
            self.mass - other.mass, self.first - other.first, self.second - other.second
        )

    def cleaned_beside(self, whole: MassMoments) -> MassMoments:
        """Return these moments, those that are roundoff beside a whole exactly zero; numbers."""
        first = cleaned(self.first, np.abs(whole.first).max())
        return MassMoments(self.mass, first, cleaned(self.second, np.abs(whole.second).max()))

    def moved(self, x_B_A: Pose) -> MassMoments:
        """Return the same masses about the origin of A, given the pose of B in A; numbers."""
        R, p = x_B_A.rotation_matrix(), x_B_A.position()
        h = R @ self.first
        shift = np.outer(p, h) + np.outer(h, p) + self.mass * np.outer(p, p)
        return MassMoments(self.mass, h + self.mass * p, R @ self.second @ R.T + shift)

    def unmoved(self, kind: JointKind) -> MassMoments:
        """Return what of the masses on a joint moves as well with the parent; numbers."""
        if isinstance(kind, Revolute):
            z = np.array(kind.axis)
            along = (z @ self.second @ z) * np.outer(z, z)
            return MassMoments(self.mass, (self.first @ z) * z, along)
        second = self.second if isinstance(kind, Prismatic) else np.zeros((3, 3))
        return MassMoments(0.0, np.zeros(3), second)


def lumped_moments(robot: Robot) -> list[MassMoments]:
    """
    Return the moments of all bodies, with what joints do not move at their parents.

    Efforts, energies and momenta of the tree are the same; wrenches between bodies are not. Bodies
    whose masses are traced keep all of theirs.
    """
    moments = [MassMoments.of_body(body.inertia) for body in robot.bodies]
    for i in reversed(range(len(moments))):
        if not is_number(moments[i].mass):
            continue
        body, parent = robot.bodies[i], robot.parents[i]
        unmoved = moments[i].unmoved(body.joint.kind)
        moments[i] = (moments[i] - unmoved).cleaned_beside(moments[i])
        if parent != WORLD:
            moments[parent] = moments[parent] + unmoved.moved(body.placement)
    return moments
