# SPDX-License-Identifier: Apache-2.0
r"""
Forward dynamics of a tree by articulated bodies, in O(n).

Featherstone, Rigid Body Dynamics Algorithms (2008), section 7.3: what hangs on a joint answers a
twist rate with the wrench :math:`I^A \dot\xi + p^A`, as a rigid body does but with joints that
give way. Three ways over the tree: outward twists and the bias wrenches (7.32)-(7.34), inward
articulated inertias (7.21)-(7.27) with (7.43)-(7.48), outward accelerations (7.49)-(7.51).

Every joint must own its speeds: not for followers (mimic joints), whose speed moves several.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kane_dynamics.algebra.dual_quaternion import DualQuaternion, power
from kane_dynamics.algebra.inertia import Inertia
from kane_dynamics.algebra.matrices import matrix_of, product, skew, symmetric_of
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import Quaternion, dot, pure, rotate, scale, vec3
from kane_dynamics.algebra.scalars import Scalar, as_array
from kane_dynamics.algorithms.mass_matrix import CompositeInertia
from kane_dynamics.algorithms.newton_euler import inertial_wrench
from kane_dynamics.algorithms.sparse_ldl import TreeFactor, checked_pivot, factor_tree, smaller
from kane_dynamics.robot.motion import (
    AT_REST,
    JointMotion,
    along_axes,
    body_twist,
    body_twist_rate,
)
from kane_dynamics.typing import NDArray

Matrix = NDArray


@dataclass(frozen=True, eq=False, slots=True)
class ArticulatedInertia:
    """A symmetric map of twists on wrenches about the origin of a frame, in its axes."""

    mass: Matrix  # shape (3, 3): M, H, I of f = M v + H' omega, tau = H v + I omega
    coupling: Matrix  # shape (3, 3): M, H, I of f = M v + H' omega, tau = H v + I omega
    tensor: Matrix  # shape (3, 3): M, H, I of f = M v + H' omega, tau = H v + I omega

    @staticmethod
    def of_rigid(body: CompositeInertia) -> ArticulatedInertia:
        """Return the inertia of rigid bodies: f = m v + omega x h, tau = I omega + h x v."""
        m, zero = body.mass, 0.0
        mass = matrix_of(((m, zero, zero), (zero, m, zero), (zero, zero, m)))
        tensor = matrix_of([(row.x, row.y, row.z) for row in body.tensor])
        return ArticulatedInertia(mass, skew(vec3(body.moment)), tensor)

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(
            self.mass + other.mass, self.coupling + other.coupling, self.tensor + other.tensor
        )

    def wrench(self, rate: DualQuaternion) -> DualQuaternion:
        """Return f + eps tau of a twist or a twist rate omega + eps v."""
        omega, v = vec3(rate.primary), vec3(rate.dual)
        force = product(self.mass, v) + product(self.coupling.T, omega)
        moment = product(self.coupling, v) + product(self.tensor, omega)
        return DualQuaternion(pure(force), pure(moment))

    def without(
        self, wrenches: Sequence[DualQuaternion], factor: TreeFactor
    ) -> ArticulatedInertia:
        """Return I^A - U D^-1 U' for the wrenches U of unit rates that need no force (7.23)."""
        forces = np.array([vec3(u.primary) for u in wrenches]).T
        moments = np.array([vec3(u.dual) for u in wrenches]).T
        solved_forces = np.array([as_array(factor.solve(list(row))) for row in forces]).T
        solved_moments = np.array([as_array(factor.solve(list(row))) for row in moments]).T
        return ArticulatedInertia(
            self.mass - _symmetric(forces, solved_forces),
            self.coupling - product(moments, solved_forces),
            self.tensor - _symmetric(moments, solved_moments),
        )

    def moved(self, x_B_A: Pose) -> ArticulatedInertia:
        """Return the same about the origin of A, given the pose of B in A (2.66)."""
        R, lever = x_B_A.rotation_matrix(), skew(x_B_A.position())
        mass, tensor = _turned(R, self.mass), _turned(R, self.tensor)
        coupling = product(product(R, self.coupling), R.T)
        shifted = product(lever, mass)
        half = product(lever, coupling.T + 0.5 * shifted.T)
        return ArticulatedInertia(mass, coupling + shifted, tensor + _doubled(half))


class Hinge(NamedTuple):
    """What the way inward leaves of a joint for the way outward."""

    wrenches: list[DualQuaternion]  # U = I^A S, one for each axis
    factor: TreeFactor  # Of D = S' U + armature
    effort: list[Scalar]  # u = tau - S' (I^A c + p^A) for each axis


def bias_step(
    joint: JointMotion, inertia: Inertia, twist_parent: DualQuaternion
) -> tuple[DualQuaternion, DualQuaternion, DualQuaternion]:
    """Return twist, twist rate at no acceleration and no parent's, and its wrench of a body."""
    twist = body_twist(joint, twist_parent)
    nothing = [0.0] * len(joint.axes)
    still = along_axes(joint.axes, nothing)
    joint_rate = still if joint.twist_bias is None else still + joint.twist_bias
    rate = body_twist_rate(joint, AT_REST, twist, joint_rate)
    return twist, rate, inertial_wrench(inertia, twist, AT_REST)


def inward_step(
    joint: JointMotion,
    armature: Sequence[Scalar],
    effort: Sequence[Scalar],
    articulated: ArticulatedInertia,
    bias_rate: DualQuaternion,
    bias_wrench: DualQuaternion,
) -> tuple[Hinge, ArticulatedInertia, DualQuaternion]:
    """Return the hinge, and the inertia and bias wrench that the parent feels, in its frame."""
    wrenches = [articulated.wrench(axis) for axis in joint.axes]
    lower = [
        {j: power(joint.axes[j], wrenches[k]) for j in range(k + 1)} for k in range(len(wrenches))
    ]
    for k, rotor in enumerate(armature):
        lower[k][k] = lower[k][k] + rotor
    factor = factor_tree(lower)
    wrench = bias_wrench + articulated.wrench(bias_rate)
    left = [tau - power(axis, wrench) for tau, axis in zip(effort, joint.axes, strict=True)]
    hinge = Hinge(wrenches, factor, left)
    for u, rate in zip(wrenches, factor.solve(left), strict=True):
        wrench = wrench + u * rate
    below = articulated.without(wrenches, factor)
    at_parent = below.moved(joint.pose).moved(joint.placement)
    return hinge, at_parent, joint.to_parent(wrench)


def outward_step(
    joint: JointMotion, hinge: Hinge, bias_rate: DualQuaternion, rate_parent: DualQuaternion
) -> tuple[list[Scalar], DualQuaternion]:
    """Return the accelerations along a joint's axes and the twist rate of its body."""
    from_parent = joint.to_child(rate_parent)
    left = [u - power(w, from_parent) for u, w in zip(hinge.effort, hinge.wrenches, strict=True)]
    a = hinge.factor.solve(left)
    return a, from_parent + bias_rate + along_axes(joint.axes, a)


class MassSpread(NamedTuple):
    """Mass, first moment and integral of r^2 dm about the origin of a frame, in its axes."""

    mass: Scalar
    moment: Quaternion
    square: Scalar

    @staticmethod
    def of_body(body: CompositeInertia) -> MassSpread:
        """Return those of rigid bodies."""
        x, y, z = body.tensor
        return MassSpread(body.mass, body.moment, 0.5 * (x.x + y.y + z.z))

    def moved(self, x_B_A: Pose) -> MassSpread:
        """Return the same about the origin of A, given the pose of B in A."""
        p, h = x_B_A.translation, rotate(x_B_A.rotation, self.moment)
        square = self.square + (2.0 * dot(p, h) + self.mass * dot(p, p))
        return MassSpread(self.mass, h + scale(p, self.mass), square)


def hinge_rcond(
    joint: JointMotion, armature: Sequence[Scalar], hinge: Hinge, subtree: MassSpread
) -> Scalar:
    """Return the smallest pivot by a bound of the diagonal of M, with all that a joint carries."""
    rcond = hinge.factor.rcond
    for axis, rotor, pivot in zip(joint.axes, armature, hinge.factor.pivots, strict=True):
        spin, slide = dot(axis.primary, axis.primary), dot(axis.dual, axis.dual)
        diagonal = spin * subtree.square + slide * subtree.mass + rotor
        rcond = smaller(rcond, checked_pivot(pivot, diagonal)[1])
    return rcond


def _symmetric(a: Matrix, b: Matrix) -> Matrix:
    """Return a b, which is symmetric."""
    return symmetric_of(lambda i, j: product(a[i : i + 1], b[:, j])[0])


def _turned(R: Matrix, a: Matrix) -> Matrix:
    """Return R a R' of a symmetric matrix, whose trace does not turn."""
    first, last = (product(R, row) for row in product(R, a)[[0, 2]])
    middle = a[1, 1] + ((a[0, 0] - first[0]) + (a[2, 2] - last[2]))
    return matrix_of(([*first], [first[1], middle, last[1]], [first[2], last[1], last[2]]))


def _doubled(a: Matrix) -> Matrix:
    """Return a + a'."""
    return symmetric_of(lambda i, j: a[i, j] + a[j, i])
