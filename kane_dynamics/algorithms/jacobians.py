# SPDX-License-Identifier: Apache-2.0
r"""
Body Jacobians and their rates at the centres of mass (Silva et al., (33), (34)).

:math:`\nu_{c_i} = J_i v` and :math:`a_{c_i} = J_i \dot v + \dot J_i v`, both (omega, v) in the
axes of body i. The columns are found by recursion over the tree instead of by (33):
:math:`J_i = \mathrm{Ad}\,J_{\lambda(i)} + S_i` and, by (9),
:math:`\dot J_i = \mathrm{Ad}\,\dot J_{\lambda(i)} - \xi_J\times\mathrm{Ad}\,J_{\lambda(i)}
+ \dot S_i`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.algebra.dual_quaternion import DualQuaternion, vec6
from kane_dynamics.algebra.matrices import product, skew
from kane_dynamics.algebra.quaternions import vec3
from kane_dynamics.robot.motion import JointMotion, joint_motion
from kane_dynamics.robot.robot import WORLD, Robot


@dataclass(frozen=True, eq=False, slots=True)
class BodyJacobian:
    """
    Jacobian of a body at its centre of mass, (omega, v) in the body's axes.

    Parameters
    ----------
    jacobian, rate : ndarray, shape (6, nv)
        J_i and its time derivative.
    from_world : ndarray, shape (3, 3)
        R_0^i, rotation of world components into the body's axes.

    """

    jacobian: NDArray[Any]
    rate: NDArray[Any]
    from_world: NDArray[Any]


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
    payload = product(adjoint, parent.jacobian)
    carried_rate = product(adjoint, parent.rate) - product(cross_matrix(joint.twist), payload)
    from_world = product(rotation, parent.from_world)
    return BodyJacobian(payload + local, carried_rate + own_rate, from_world)


def _in_columns(nv: int, joint: JointMotion, vectors: list[NDArray[Any]]) -> NDArray[Any]:
    """Return a (6, nv) matrix with vectors in the columns of a joint."""
    matrix = np.zeros((6, nv), dtype=np.result_type(float, *vectors))
    for column, vector in zip(range(nv)[joint.columns], vectors, strict=False):
        matrix[:, column] = vector
    return matrix


def _shifted(at_origin: BodyJacobian, com: NDArray[Any]) -> BodyJacobian:
    """Return the Jacobian of the point `com` of the body: v_C = v_B + omega x p_BC."""
    shift = np.eye(6, dtype=com.dtype)
    shift[3:, :3] = -skew(com)
    jacobian, rate = product(shift, at_origin.jacobian), product(shift, at_origin.rate)
    return BodyJacobian(jacobian, rate, at_origin.from_world)


def cross_matrix(twist: DualQuaternion) -> NDArray[Any]:
    """Return the matrix of xi x h on (P, D), shape (6, 6): [[S(P), 0], [S(D), S(P)]] (8)."""
    angular, linear = skew(vec3(twist.primary)), skew(vec3(twist.dual))
    matrix = np.zeros((6, 6), dtype=np.result_type(angular, linear))
    matrix[:3, :3] = matrix[3:, 3:] = angular
    matrix[3:, :3] = linear
    return matrix
