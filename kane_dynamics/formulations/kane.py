# SPDX-License-Identifier: Apache-2.0
r"""
Kane's method: partial velocities (Gillespie (23)-(35), Parsa (48)), and equations of motion.

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
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from kane_dynamics.algorithms.independent_speeds import partition_speeds
from kane_dynamics.algorithms.kinematics import body_jacobians
from kane_dynamics.algorithms.udwadia_kalaba import Motion, cholesky_factor
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.formulations.generalized_speeds import (
    GeneralizedSpeeds,
    checked_generalized_speeds,
)
from kane_dynamics.formulations.problem import Problem, SpeedSolution, in_velocities, speed_balance
from kane_dynamics.robot.robot import Robot
from kane_dynamics.robot.state import checked_coordinates
from kane_dynamics.typing import Floats


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
