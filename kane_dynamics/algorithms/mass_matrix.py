# SPDX-License-Identifier: Apache-2.0
r"""
The mass matrix: by composite inertias, and in closed form with the Coriolis matrix.

M of (46) is :math:`\sum_i J_i^T\Psi_i J_i`. Summing first over all bodies that a joint carries, as
kernels do, gives their composite inertia (Featherstone, Rigid Body Dynamics Algorithms, section
6.2), and

.. math:: M_{kl} = \mathcal D\langle S_l, \mathrm{Ad}\, I^c_i(S_k)\rangle

for every speed k of body i and l of i or its ancestors: O(n d) instead of O(n^3), with the zeros
of the tree. `gauss_mass_matrix` is what it is tested against.

Gauss's principle in dual quaternion algebra, dqGP (Silva et al., section 4, (31)-(52)).

:math:`M_{GP} a + C_{GP} v + g_{GP} = \tau_{GP}` in closed form from the body Jacobians. The matrix
C of (47) makes :math:`\dot M - 2 C` skew (52). Armature (rotor inertia) adds a constant diagonal
to M and nothing to C.

At the centres of mass :math:`\nu_{c_i} = J_i v` and :math:`a_{c_i} = J_i \dot v + \dot J_i v`,
both (omega, v) in the axes of body i, (33), (34). The columns are found by recursion over the
tree instead of by (33): :math:`J_i = \mathrm{Ad}\,J_{\lambda(i)} + S_i` and, by (9),
:math:`\dot J_i = \mathrm{Ad}\,\dot J_{\lambda(i)} - \xi_J\times\mathrm{Ad}\,J_{\lambda(i)} +
\dot S_i`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kane_dynamics.algebra.dual_quaternion import DualQuaternion, power, vec6
from kane_dynamics.algebra.inertia import Inertia
from kane_dynamics.algebra.matrices import block_matrix, product, scaled, skew, symmetric_of
from kane_dynamics.algebra.pose import Pose
from kane_dynamics.algebra.quaternions import Quaternion, cross, dot, pure, rotate, scale, vec3
from kane_dynamics.algebra.scalars import REAL_NUMBER, Scalar, as_array
from kane_dynamics.robot.motion import JointMotion, joint_motion
from kane_dynamics.robot.robot import WORLD, Robot
from kane_dynamics.typing import NDArray


class BodyJacobian(NamedTuple):
    """Jacobian of a body at its centre of mass, (omega, v) in the body's axes."""

    jacobian: NDArray  # shape (6, nv): J_i and its time derivative
    rate: NDArray  # shape (6, nv): J_i and its time derivative
    from_world: NDArray  # R_0^i, rotation of world components into the body's axes


def body_jacobians(robot: Robot, q: Any, v: Any) -> list[BodyJacobian]:
    """Return J_i, dJ_i/dt (33), (34) of every body at its centre of mass."""
    at_origin: list[BodyJacobian] = []
    at_com: list[BodyJacobian] = []
    for i, parent in enumerate(robot.parents):
        joint = joint_motion(robot, i, q, v)
        child = _child(robot.nv, joint, None if parent == WORLD else at_origin[parent])
        at_origin.append(child)
        at_com.append(_shifted(child, robot.bodies[i].inertia.com))
    return at_com


def _child(nv: int, joint: JointMotion, parent: BodyJacobian | None) -> BodyJacobian:
    """Return the Jacobian of a body at the origin of its frame from that of its parent."""
    x_P_i = joint.placement * joint.pose
    to_child = x_P_i.conjugate()
    rotation = to_child.rotation_matrix()
    local = _in_columns(nv, joint, [vec6(axis) for axis in joint.axes])
    own_rate = _in_columns(nv, joint, [vec6(axis) for axis in joint.axes_rate or ()])
    if parent is None:
        return BodyJacobian(local, own_rate, rotation)
    adjoint = to_child.adjoint_matrix()
    from_parent = product(adjoint, parent.jacobian)
    from_parent_rate = product(adjoint, parent.rate) - product(
        cross_matrix(joint.twist), from_parent
    )
    from_world = product(rotation, parent.from_world)
    return BodyJacobian(from_parent + local, from_parent_rate + own_rate, from_world)


def _in_columns(nv: int, joint: JointMotion, vectors: list[NDArray]) -> NDArray:
    """Return a (6, nv) matrix with vectors in the columns of a joint."""
    matrix = np.zeros((6, nv), dtype=np.result_type(float, *vectors))
    for column, vector in zip(range(nv)[joint.columns], vectors, strict=False):
        matrix[:, column] = vector
    return matrix


def _shifted(at_origin: BodyJacobian, com: NDArray) -> BodyJacobian:
    """Return the Jacobian of the point `com` of the body: v_C = v_B + omega x p_BC."""
    shift = np.eye(6, dtype=com.dtype)
    shift[3:, :3] = -skew(com)
    jacobian, rate = product(shift, at_origin.jacobian), product(shift, at_origin.rate)
    return BodyJacobian(jacobian, rate, at_origin.from_world)


def cross_matrix(twist: DualQuaternion) -> NDArray:
    """Return the matrix of xi x h on (P, D), shape (6, 6): [[S(P), 0], [S(D), S(P)]] (8)."""
    angular, linear = skew(vec3(twist.primary)), skew(vec3(twist.dual))
    return block_matrix(angular, angular, linear)


Rows = tuple[Quaternion, Quaternion, Quaternion]
LowerTriangle = list[dict[int, Scalar]]


@dataclass(frozen=True, eq=False, slots=True)
class CompositeInertia:
    """Inertia of several bodies about the origin of a frame, in its axes."""

    mass: Scalar  # [kg]
    moment: Quaternion  # First moment, mass times centre of mass [kg m]
    tensor: Rows  # Rows of the second moment about the origin [kg m^2]

    @staticmethod
    def of_body(inertia: Inertia) -> CompositeInertia:
        """Return the inertia of one body about the origin of its frame."""
        arm = skew(inertia.com)
        about_origin = inertia.tensor - scaled(arm @ arm, inertia.mass)
        x, y, z = (pure(row) for row in about_origin.tolist())
        return CompositeInertia(
            inertia.mass, pure(scaled(inertia.com, inertia.mass).tolist()), (x, y, z)
        )

    def __add__(self, other: CompositeInertia) -> CompositeInertia:
        x, y, z = (a + b for a, b in zip(self.tensor, other.tensor, strict=True))
        return CompositeInertia(self.mass + other.mass, self.moment + other.moment, (x, y, z))

    def momentum(self, twist: DualQuaternion) -> DualQuaternion:
        """Return p + eps L about the origin: m v + omega x h and I omega + h x v."""
        omega, velocity = twist.primary, twist.dual
        linear = scale(velocity, self.mass) + cross(omega, self.moment)
        spin = pure([dot(row, omega) for row in self.tensor])
        return DualQuaternion(linear, spin + cross(self.moment, velocity))

    def moved(self, x_B_A: Pose) -> CompositeInertia:
        """Return the same bodies about the origin of A, given the pose of B in A."""
        rotation, mass = x_B_A.rotation, self.mass
        moment = rotate(rotation, self.moment)
        p, h = _components(x_B_A.translation), _components(moment)
        half = [_components(rotate(rotation, row)) for row in self.tensor]  # columns of R I
        rotated = [
            _components(rotate(rotation, pure(list(row)))) for row in zip(*half, strict=True)
        ]
        arm = 2.0 * dot(x_B_A.translation, moment) + mass * dot(
            x_B_A.translation, x_B_A.translation
        )

        def entry(i: int, j: int) -> Scalar:  # R I R' + arm 1 - p h' - h p' - m p p'
            shifted = rotated[i][j] - p[i] * h[j] - p[j] * (h[i] + mass * p[i])
            return shifted + arm if i == j else shifted

        x, y, z = (pure(row) for row in symmetric_of(entry).tolist())
        return CompositeInertia(mass, moment + scale(x_B_A.translation, mass), (x, y, z))


def _components(a: Quaternion) -> tuple[Scalar, Scalar, Scalar]:
    return a.x, a.y, a.z


def composite_mass_matrix(robot: Robot, q: Any) -> LowerTriangle:
    """Return the nonzeros of the lower triangle of M, armature included."""
    joints = [joint_motion(robot, i, q, [0.0] * robot.nv) for i in range(len(robot.bodies))]
    subtrees = [CompositeInertia.of_body(body.inertia) for body in robot.bodies]
    lower: LowerTriangle = [{k: rotor} for k, rotor in enumerate(robot.armature.tolist())]
    for i in reversed(range(len(joints))):
        joint, parent = joints[i], robot.parents[i]
        if parent != WORLD:
            in_joint = subtrees[i].moved(joint.pose)
            subtrees[parent] = subtrees[parent] + in_joint.moved(joint.placement)
        for k, axis in enumerate(joint.axes, start=joint.columns.start):
            momentum = subtrees[i].momentum(axis)
            for m, other in enumerate(joint.axes, start=joint.columns.start):
                if m <= k:
                    _add(lower, k, m, power(other, momentum))
            ancestor, carrier = i, parent
            while carrier != WORLD:
                momentum = joints[ancestor].to_parent(momentum)
                for m, other in enumerate(
                    joints[carrier].axes, start=joints[carrier].columns.start
                ):
                    # a follower and its master share a speed: both orders of the pair count
                    twice = 2.0 if m == k else 1.0
                    _add(lower, max(k, m), min(k, m), twice * power(other, momentum))
                ancestor, carrier = carrier, robot.parents[carrier]
    return lower


def _add(lower: LowerTriangle, row: int, column: int, value: Scalar) -> None:
    if isinstance(value, REAL_NUMBER) and value == 0.0:
        return
    lower[row][column] = lower[row].get(column, 0.0) + value


def gauss_mass_matrix(robot: Robot, q: Any) -> NDArray:
    """Return M = sum_i J_i' Psi_i J_i + diag(armature) (46), shape (nv, nv)."""
    total: NDArray = np.diag(robot.armature)
    for inertia, body in _bodies_with_mass(robot, q, [0.0] * robot.nv):
        total = total + product(body.jacobian.T, product(psi(inertia), body.jacobian))
    return total


def gauss_coriolis_matrix(robot: Robot, q: Any, v: Any) -> NDArray:
    """Return C = sum_i J_i' (Sbar_i J_i + Psi_i dJ_i/dt) (47), shape (nv, nv)."""
    total: NDArray = np.zeros((robot.nv, robot.nv))
    speeds = as_array(v)
    for inertia, body in _bodies_with_mass(robot, q, v):
        omega = product(body.jacobian[:3], speeds)
        momentum_rate = product(s_bar(inertia, omega), body.jacobian)
        momentum_rate = momentum_rate + product(psi(inertia), body.rate)
        total = total + product(body.jacobian.T, momentum_rate)
    return total


def gauss_gravity_force(robot: Robot, q: Any) -> NDArray:
    """Return g = -sum_i J_D,i' R_0^i m_i gravity (50), (51), on the left side, shape (nv,)."""
    total: NDArray = np.zeros(robot.nv)
    for inertia, body in _bodies_with_mass(robot, q, [0.0] * robot.nv):
        weight = inertia.mass * product(body.from_world, robot.gravity)
        total = total - product(body.jacobian[3:].T, weight)
    return total


def psi(inertia: Inertia) -> NDArray:
    """Return Psi = blkdiag(I_c, m 1) (31), shape (6, 6)."""
    return block_matrix(inertia.tensor, scaled(np.eye(3), inertia.mass))


def s_bar(inertia: Inertia, omega: NDArray) -> NDArray:
    """Return Sbar = blkdiag(-S(I_c omega), m S(omega)) (44), shape (6, 6)."""
    spin, momentum = skew(omega), skew(product(inertia.tensor, omega))
    return block_matrix(-momentum, scaled(spin, inertia.mass))


def _bodies_with_mass(robot: Robot, q: Any, v: Any) -> Iterator[tuple[Inertia, BodyJacobian]]:
    for body, body_jacobian in zip(robot.bodies, body_jacobians(robot, q, v), strict=True):
        if not body.inertia.is_zero:
            yield body.inertia, body_jacobian
