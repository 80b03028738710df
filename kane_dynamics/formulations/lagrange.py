# SPDX-License-Identifier: Apache-2.0
r"""
Lagrange's equations in closed form, without differentiating M (Parsa, (17)-(42)).

:math:`J_i = [J_{\omega i}; J_{v i}]` takes the speeds to :math:`\omega_i` in the axes of body i
and to :math:`\dot c_i`, the velocity of its centre of mass, in **world** axes. So
:math:`J_i v` is no twist, and with :math:`M_i = \mathrm{blkdiag}(I_i, m_i 1)` and
:math:`W_i = \mathrm{blkdiag}([\omega_i\times], 0)`

.. math:: \sum_i J_i^T \Big[M_i \frac{d}{dt}(J_i v) + W_i M_i J_i v\Big] = \sum_i J_i^T w_i
   \quad (34), (35), \qquad M \dot v + C v = \tau + f_c \quad (42).

These hold for any speeds v. Armature adds a constant diagonal to M and nothing else.

Under constraints they are Kane's (Parsa, (12), (43)-(50)). With :math:`v = B u + d`, :math:`A B =
0` and :math:`A d = b_0` (12), (13), and with :math:`T_i = J_i B` (48), the partial velocities of
the bodies,

.. math:: \sum_i T_i^T \Big[M_i \frac{d}{dt}(J_i v) + W_i M_i J_i v\Big] = \sum_i T_i^T w_i
   \quad (50),

that is :math:`(B^T M B) \dot u = B^T (f - h - M \gamma)` with any :math:`\gamma` of
:math:`A \gamma = b`. Here B is orthonormal, from the singular value decomposition of the rows, and
:math:`\gamma` the one of least norm. Motor armature is part of M though of no body.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy

from kane_dynamics.algebra.inertia import Inertia
from kane_dynamics.algebra.matrices import block_matrix, product, skew
from kane_dynamics.algebra.scalars import as_array
from kane_dynamics.algorithms.independent_speeds import reduce_rows
from kane_dynamics.algorithms.mass_matrix import BodyJacobian, body_jacobians, psi
from kane_dynamics.algorithms.udwadia_kalaba import (
    Details,
    Motion,
    cholesky_factor,
    motion_of,
    selected_rows,
)
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.formulations.problem import Problem
from kane_dynamics.robot.robot import Robot
from kane_dynamics.typing import Floats, NDArray


class LagrangeJacobian(NamedTuple):
    """Jacobian of a body: omega in body axes, the velocity of its mass centre in world axes."""

    jacobian: NDArray  # J_i of (26), angular rows first, and its time derivative
    rate: NDArray  # shape (6, nv): J_i of (26), angular rows first, and its time derivative
    omega: NDArray  # shape (3,): J_omega v, in the body's axes [rad/s] (19)
    mass: NDArray
    to_world: NDArray  # R_i, rotation of components in the body's axes into world axes (33)

    @property
    def precession(self) -> NDArray:
        """Return W_i = blkdiag([omega x], 0), shape (6, 6) [rad/s] (30)."""
        return block_matrix(skew(self.omega), np.zeros((3, 3)))


def lagrange_jacobians(robot: Robot, q: Any, v: Any) -> list[LagrangeJacobian]:
    """Return J_i, dJ_i/dt, W_i and M_i (19), (20), (26), (30) of every body."""
    speeds = as_array(v)
    return [
        _in_mixed_axes(body.inertia, at_com, speeds)
        for body, at_com in zip(robot.bodies, body_jacobians(robot, q, v), strict=True)
    ]


def _in_mixed_axes(inertia: Inertia, at_com: BodyJacobian, v: NDArray) -> LagrangeJacobian:
    """Return J_i and its rate from those with both parts in the body's axes."""
    angular, linear = at_com.jacobian[:3], at_com.jacobian[3:]
    omega = product(angular, v)
    to_world = at_com.from_world.T
    linear_rate = at_com.rate[3:] + product(skew(omega), linear)  # of R J_v, in body axes
    return LagrangeJacobian(
        np.vstack([angular, product(to_world, linear)]),
        np.vstack([at_com.rate[:3], product(to_world, linear_rate)]),
        omega,
        psi(inertia),
        to_world,
    )


def mass_of_bodies(robot: Robot, bodies: Sequence[LagrangeJacobian]) -> NDArray:
    """Return M (39) from the Jacobians of all bodies, shape (nv, nv)."""
    total: NDArray = np.diag(robot.armature)
    for body in bodies:
        total = total + product(body.jacobian.T, product(body.mass, body.jacobian))
    return total


def velocity_force_of_bodies(robot: Robot, bodies: Sequence[LagrangeJacobian], v: Any) -> NDArray:
    """Return h (39) from the Jacobians of all bodies at speeds v, shape (nv,) [N m or N]."""
    total: NDArray = np.zeros(robot.nv)
    speeds = as_array(v)
    for body in bodies:
        momentum = product(body.mass, product(body.jacobian, speeds))
        inertial = product(body.mass, product(body.rate, speeds))
        inertial = inertial + product(body.precession, momentum)  # (37)
        total = total + product(body.jacobian.T, inertial)
    return total


@dataclass(frozen=True, eq=False, slots=True)
class LagrangeSolution(Details):
    """Solution of (50) with what it is made of."""

    acceleration: Floats  # shape (nv,): vdot = B udot + gamma
    multipliers: Floats  # shape (m,): lambda with A' lambda = M vdot + h - f
    basis: Floats  # shape (nv, p): B = dv/du, orthonormal columns with A B = 0 (13), p = nv - m
    acceleration_offset: Floats
    speed_rate: Floats  # shape (p,): udot
    reduced_mass: Floats  # shape (p, p): B' M B
    projected_jacobians: tuple[Floats, ...]  # shape (6, p): T_i = J_i B (48) of every body
    projected_force: Floats  # shape (p,): B' f, the right side of (50)
    projected_velocity_force: Floats  # shape (p,): B' h


def lagrange_motion(
    jacobians: Sequence[Floats],
    mass: Floats,
    velocity_force: Floats,
    force: Floats,
    rows: ConstraintRows,
) -> LagrangeSolution:
    """Return the motion by (50)."""
    reduced_rows = reduce_rows(rows.matrix)
    normal, to_normal = reduced_rows.rows, reduced_rows.to_reduced
    B = reduced_rows.tangent.T
    offset = normal.T @ (to_normal @ rows.acceleration)
    reduced = B.T @ mass @ B
    right_side = B.T @ (force - velocity_force - mass @ offset)
    speed_rate = scipy.linalg.cho_solve((cholesky_factor(reduced), True), right_side)  # (50)
    acceleration = B @ speed_rate + offset
    lacking = mass @ acceleration + velocity_force - force
    return LagrangeSolution(
        acceleration,
        to_normal.T @ (normal @ lacking),
        B,
        offset,
        speed_rate,
        reduced,
        tuple(jacobian @ B for jacobian in jacobians),
        B.T @ force,
        B.T @ velocity_force,
    )


def by_lagrange(problem: Problem) -> Motion:
    """Solve Parsa's closed form of Lagrange's and Kane's equations ((38)-(50))."""
    terms, q = problem.terms, problem.q
    jacobians, mass, velocity_force = terms.lagrange_terms(q, problem.v)
    selection = selected_rows(mass, problem.rows)
    force = problem.applied - terms.gravity_force(q)
    result = lagrange_motion(jacobians, mass, velocity_force, force, selection.independent)
    return motion_of(selection, problem.v, result.acceleration, result.multipliers, result)
