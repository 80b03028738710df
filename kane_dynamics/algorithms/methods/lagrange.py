# SPDX-License-Identifier: Apache-2.0
r"""
Lagrange's equations under constraints as Kane's, in closed form (Parsa, (12), (43)-(50)).

With :math:`v = B u + d`, :math:`A B = 0` and :math:`A d = b_0` (12), (13), and with
:math:`T_i = J_i B` (48), the partial velocities of the bodies,

.. math:: \sum_i T_i^T \Big[M_i \frac{d}{dt}(J_i v) + W_i M_i J_i v\Big] = \sum_i T_i^T w_i
   \quad (50),

that is :math:`(B^T M B) \dot u = B^T (f - h - M \gamma)` with any :math:`\gamma` of
:math:`A \gamma = b`. Here B is orthonormal, from the singular value decomposition of the rows, and
:math:`\gamma` the one of least norm. Motor armature is part of M though of no body.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import scipy

from kane_dynamics.algorithms.independent_speeds import reduce_rows
from kane_dynamics.algorithms.methods.motion import Details, Motion
from kane_dynamics.algorithms.methods.problem import Problem
from kane_dynamics.algorithms.udwadia_kalaba import cholesky_factor, selected_rows
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.typing import Floats


@dataclass(frozen=True, eq=False, slots=True)
class LagrangeSolution(Details):
    """
    Solution of (50) with what it is made of.

    Parameters
    ----------
    acceleration : ndarray, shape (nv,)
        vdot = B udot + gamma.
    multipliers : ndarray, shape (m,)
        lambda with A' lambda = M vdot + h - f.
    basis : ndarray, shape (nv, p)
        B = dv/du, orthonormal columns with A B = 0 (13), p = nv - m.
    acceleration_offset : ndarray, shape (nv,)
        gamma, of least norm with A gamma = b: dB/dt u + dd/dt of (12), but for its tangent part.
    speed_rate : ndarray, shape (p,)
        udot.
    reduced_mass : ndarray, shape (p, p)
        B' M B.
    projected_jacobians : tuple of ndarray, each of shape (6, p)
        T_i = J_i B (48) of every body.
    projected_force : ndarray, shape (p,)
        B' f, the right side of (50).
    projected_velocity_force : ndarray, shape (p,)
        B' h.

    """

    acceleration: Floats
    multipliers: Floats
    basis: Floats
    acceleration_offset: Floats
    speed_rate: Floats
    reduced_mass: Floats
    projected_jacobians: tuple[Floats, ...]
    projected_force: Floats
    projected_velocity_force: Floats


def lagrange_motion(
    jacobians: Sequence[Floats],
    mass: Floats,
    velocity_force: Floats,
    force: Floats,
    rows: ConstraintRows,
) -> LagrangeSolution:
    """
    Return the motion by (50).

    Parameters
    ----------
    jacobians : sequence of ndarray, each of shape (6, nv)
        J_i (26) of every body.
    mass : ndarray, shape (nv, nv)
        M (39), positive semidefinite.
    velocity_force : ndarray, shape (nv,)
        h (39).
    force : ndarray, shape (nv,)
        f: efforts, weight, friction and all other given forces, without h.
    rows : ConstraintRows
        Independent rows A vdot = b.

    Raises
    ------
    SingularMassMatrixError
        If some allowed speed moves no mass.

    """
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
    return problem.motion(selection, result.acceleration, result.multipliers, result)
