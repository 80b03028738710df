# SPDX-License-Identifier: Apache-2.0
r"""
Kane's method: partial velocities, and its equations embedded, nonminimal and canonical.

Partial velocities (Gillespie (23)-(35), Parsa (48)):

.. math:: \omega_i = \sum_r \omega_{i,r} u_r + \omega_{i,t}, \qquad
   v_{c_i} = \sum_r v_{i,r} u_r + v_{i,t}

They are the columns of :math:`J_i W`; the remainders are :math:`J_i X`.

Kane's equations with embedded constraints (Gillespie (44)-(46), Parsa (43)-(50)): with generalized
active forces F and generalized inertia forces :math:`F^* = -Q \dot u - L`, the dependent speeds
:math:`u_D = D u_I + E` recombine the equations of the independent ones,

.. math:: \tilde F + \tilde F^* = 0, \qquad \tilde F = F_I + D^T F_D, \qquad
   \tilde F^* = F^*_I + D^T F^*_D,

which is :math:`(B^T Q B)\dot u_I = B^T (F - L - Q\gamma)` with the tangent basis B and
:math:`\gamma = [0; e]`. The constraint forces are what the dependent equations lack,
:math:`\lambda = -(F_D + F_D^*)`. Q may be singular as long as :math:`B^T Q B` is not
(Roithmayr et al.).

Nonminimal: all speeds at once (Roithmayr et al. (8), (9); Bajodah and Chen (17)).

.. math:: \begin{bmatrix} A_1 \\ A_2 Q \end{bmatrix} \dot u
   = \begin{bmatrix} \dot B - \dot A_1 u \\ A_2 (F - L) \end{bmatrix}, \qquad
   A_1 = [-D\ 1],\quad A_2 = [1\ D^T],

where Q = M is symmetric for every choice of speeds (the corrigendum's (11)). Q may be singular,
as for massless points and slender rods, as long as the constraints bind what has no mass.

Canonical generalized inversion form (Bajodah and Chen, (18)-(63)).

With canonical speeds :math:`w = Q^{1/2} u` (Q = M) and the explicit constraints
:math:`A_1 u = B`, :math:`A_1 = [-D\ 1]`, :math:`A_2 = [1\ D^T]`, the two scaled matrices
:math:`\bar A_1 = A_1 Q^{-1/2}` and :math:`\bar A_2 = A_2 Q^{1/2}` have orthogonal row spaces (35),
and

.. math:: \dot w = \bar A_1^+ V_1 + \bar A_2^+ \bar A_2 V_2 \quad (40), \qquad
   \dot u = Q^{-1/2}(\dot w - \dot Q^{1/2} u) \quad (44)

splits the motion into a constraint part and a momentum part. :math:`\dot Q^{1/2}` solves a
Sylvester equation with :math:`\dot Q`; it cancels in :math:`\dot u` but not in
:math:`\dot w`. The deviation (55) from the free motion is the least possible one: Gauss's
principle (56)-(63).
"""

from dataclasses import dataclass

import numpy as np
import scipy

from kane_dynamics.algorithms.independent_speeds import partition_speeds
from kane_dynamics.algorithms.mass_matrix import body_jacobians
from kane_dynamics.algorithms.udwadia_kalaba import SINGULAR, Motion, cholesky_factor, solve_square
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.exceptions import SingularMassMatrixError
from kane_dynamics.formulations.generalized_speeds import (
    GeneralizedSpeeds,
    checked_generalized_speeds,
)
from kane_dynamics.formulations.problem import (
    Problem,
    SpeedSolution,
    in_velocities,
    mass_rate,
    speed_balance,
)
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_coordinates
from kane_dynamics.typing import ArrayLike, Floats


@dataclass(frozen=True, eq=False, slots=True)
class PartialVelocity:
    """
    Partial velocities of a body and of its centre of mass, in the body's axes.

    Parameters
    ----------
    body : str
        Name of the body.
    omega, v : ndarray, shape (3, nu)
        Partial angular velocities, and partial velocities of the centre of mass.
    omega_t, v_t : ndarray, shape (3,)
        What remains at u = 0.

    """

    body: str
    omega: Floats
    v: Floats
    omega_t: Floats
    v_t: Floats


def partial_velocities(
    robot: Robot, q: ArrayLike, speeds: GeneralizedSpeeds | None = None, time: float = 0.0
) -> tuple[PartialVelocity, ...]:
    """
    Return the partial velocities of all bodies, in the robot's order of bodies.

    Parameters
    ----------
    robot : Robot
        The robot.
    q : array_like, shape (nq,)
        Coordinates.
    speeds : GeneralizedSpeeds, optional
        u; the robot's own speeds v where left out.
    time : float
        t of speeds that depend on time [s].

    Raises
    ------
    InvalidInputError
        If a shape is wrong, a number is not finite, or W is not finite at q.

    Examples
    --------
    >>> first = kd.partial_velocities(kd.serial_chain(2), [0.0, 0.0])[0]
    >>> first.omega.shape
    (3, 2)

    """
    coordinates = checked_coordinates(robot, q)
    W, X = np.eye(robot.nv), np.zeros(robot.nv)
    if speeds is not None:
        W, X = checked_generalized_speeds(speeds, robot).matrices(coordinates, time)
    result = []
    for body, at_com in zip(
        robot.bodies, body_jacobians(robot, coordinates, [0.0] * robot.nv), strict=True
    ):
        columns, remainder = at_com.jacobian @ W, at_com.jacobian @ X
        result.append(
            PartialVelocity(body.name, columns[:3], columns[3:], remainder[:3], remainder[3:])
        )
    return tuple(result)


@dataclass(frozen=True, eq=False, slots=True)
class KaneSolution(SpeedSolution):
    """Solution of Kane's equations with what they are made of."""

    reduced_mass: Floats  # shape (p, p): B' Q B
    active_force: Floats  # F and F* at the solution, without regard to the constraints
    inertia_force: Floats  # F and F* at the solution, without regard to the constraints
    reduced_active_force: Floats  # shape (p,): F~ = F_I + D' F_D and F~* = F*_I + D' F*_D
    reduced_inertia_force: Floats  # shape (p,): F~ = F_I + D' F_D and F~* = F*_I + D' F*_D


def kane_motion(
    mass: Floats, active_force: Floats, remainder: Floats, u: Floats, rows: ConstraintRows
) -> KaneSolution:
    """Return the motion by Kane's equations in the independent speeds."""
    partition = partition_speeds(rows)
    B, dependent = partition.basis, partition.dependent
    offset = np.zeros(len(u))
    offset[dependent] = partition.acceleration_offset
    reduced = B.T @ mass @ B
    right_side = B.T @ (active_force - remainder - mass @ offset)
    factor = cholesky_factor(reduced)
    u_rate = B @ scipy.linalg.cho_solve((factor, True), right_side) + offset
    inertia_force = -(mass @ u_rate + remainder)
    lacking = -(active_force + inertia_force)[dependent]
    return KaneSolution(
        u,
        u_rate,
        partition.to_multipliers @ lacking,
        partition,
        reduced,
        active_force,
        inertia_force,
        B.T @ active_force,
        B.T @ inertia_force,
    )


def by_kane(problem: Problem) -> Motion:
    """Solve Kane's equations in the independent speeds (Gillespie (44)-(46))."""
    selection, balance = speed_balance(problem)
    result = kane_motion(
        balance.mass, balance.active_force, balance.remainder, balance.map.u, balance.rows
    )
    return in_velocities(problem, selection, balance, result)


@dataclass(frozen=True, eq=False, slots=True)
class NonminimalSolution(SpeedSolution):
    """Solution of the nonminimal equations with what they are made of."""

    mass: Floats  # shape (nu, nu): Q
    system: Floats  # shape (nu, nu): [A_1
    right_side: Floats  # shape (nu,): [dB/dt - dA_1/dt u; A_2 (F - L)]


def nonminimal_motion(
    mass: Floats, force: Floats, u: Floats, rows: ConstraintRows
) -> NonminimalSolution:
    """Return the motion by the nonminimal equations."""
    partition = partition_speeds(rows)
    A2 = partition.basis.T
    system = np.vstack([partition.rows, A2 @ mass])
    right_side = np.concatenate([partition.acceleration_offset, A2 @ force])
    u_rate, rank = solve_square(system, right_side)
    if rank < len(u):
        raise SingularMassMatrixError(
            f'[A_1; A_2 M] has rank {rank} of {len(u)}: an independent speed moves no mass'
        )
    lacking = (mass @ u_rate - force)[partition.dependent]  # -(F_D + F_D*)
    return NonminimalSolution(
        u, u_rate, partition.to_multipliers @ lacking, partition, mass, system, right_side
    )


def by_nonminimal(problem: Problem) -> Motion:
    """Solve the nonminimal equations (Roithmayr et al. (9), Bajodah and Chen (17))."""
    selection, balance = speed_balance(problem)
    result = nonminimal_motion(balance.mass, balance.force, balance.map.u, balance.rows)
    return in_velocities(problem, selection, balance, result)


@dataclass(frozen=True, eq=False, slots=True)
class CanonicalSolution(SpeedSolution):
    """Solution of the canonical form with what it is made of."""

    w: Floats  # shape (nu,): Canonical speeds Q^1/2 u (18) and their rates (40)
    w_rate: Floats  # shape (nu,): Canonical speeds Q^1/2 u (18) and their rates (40)
    root: Floats  # shape (nu, nu): Q^1/2 and its time derivative
    root_rate: Floats  # shape (nu, nu): Q^1/2 and its time derivative
    scaled_constraint: Floats  # The scaled matrices A_1 Q^-1/2 (19) and A_2 Q^1/2 (22)
    scaled_tangent: Floats  # The scaled matrices A_1 Q^-1/2 (19) and A_2 Q^1/2 (22)
    V1: Floats  # shape (m,): (24)
    V2: Floats  # shape (nu,): (29), the canonical acceleration of the free robot (49)
    constraint_part: Floats
    momentum_part: Floats
    deviation: float  # ||wdot_h - wdot||, the least deviation (56)


def canonical_motion(
    mass: Floats, mass_rate: Floats, force: Floats, u: Floats, rows: ConstraintRows
) -> CanonicalSolution:
    """Return the motion by the canonical generalized inversion form."""
    partition = partition_speeds(rows)
    root, inverse_root, root_rate = matrix_roots(mass, mass_rate)
    A1 = partition.rows @ inverse_root  # (19)
    A2 = partition.basis.T @ root  # (22)
    V1 = partition.acceleration_offset + A1 @ (root_rate @ u)  # (24)
    V2 = inverse_root @ force + root_rate @ u  # (29)
    constraint_part = A1.T @ np.linalg.solve(A1 @ A1.T, V1)  # (27)
    momentum_part = A2.T @ np.linalg.solve(A2 @ A2.T, A2 @ V2)  # (32)
    w_rate = constraint_part + momentum_part  # (40)
    u_rate = inverse_root @ (w_rate - root_rate @ u)  # (44)
    lacking = (mass @ u_rate - force)[partition.dependent]  # -(F_D + F_D*)
    return CanonicalSolution(
        u,
        u_rate,
        partition.to_multipliers @ lacking,
        partition,
        root @ u,
        w_rate,
        root,
        root_rate,
        A1,
        A2,
        V1,
        V2,
        constraint_part,
        momentum_part,
        float(np.linalg.norm(V2 - w_rate)),  # (55)
    )


def matrix_roots(Q: Floats, Q_rate: Floats) -> tuple[Floats, Floats, Floats]:
    """Return Q^1/2, Q^-1/2 and d/dt Q^1/2, the solution X of Q^1/2 X + X Q^1/2 = dQ/dt."""
    values, vectors = np.linalg.eigh(Q)
    if not values[0] > SINGULAR * values[-1]:
        raise SingularMassMatrixError(
            'canonical speeds need a positive definite mass matrix, eigenvalues are from '
            f'{values[0]:.3e} to {values[-1]:.3e}'
        )
    roots = np.sqrt(values)
    turned = vectors.T @ Q_rate @ vectors
    rate = vectors @ (turned / (roots[:, None] + roots)) @ vectors.T
    return (vectors * roots) @ vectors.T, (vectors / roots) @ vectors.T, rate


def by_canonical(problem: Problem) -> Motion:
    """Solve the canonical generalized inversion form (Bajodah and Chen (44))."""
    selection, balance = speed_balance(problem)
    rate = mass_rate(problem.terms, problem.q, problem.v, balance)
    result = canonical_motion(balance.mass, rate, balance.force, balance.map.u, balance.rows)
    return in_velocities(problem, selection, balance, result)
