# SPDX-License-Identifier: Apache-2.0
r"""
Kane's equations with embedded constraints (Gillespie (44)-(46), Parsa (43)-(50)).

With generalized active forces F and generalized inertia forces :math:`F^* = -Q \dot u - L`, the
dependent speeds :math:`u_D = D u_I + E` recombine the equations of the independent ones,

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

from kane_dynamics.algorithms.independent_speeds import partition_speeds
from kane_dynamics.algorithms.methods.motion import Motion
from kane_dynamics.algorithms.methods.problem import Problem
from kane_dynamics.algorithms.methods.speed_balance import (
    SpeedSolution,
    in_velocities,
    speed_balance,
)
from kane_dynamics.algorithms.udwadia_kalaba import cholesky_factor
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.typing import Floats


@dataclass(frozen=True, eq=False, slots=True)
class KaneSolution(SpeedSolution):
    """
    Solution of Kane's equations with what they are made of.

    Parameters
    ----------
    reduced_mass : ndarray, shape (p, p)
        B' Q B.
    active_force, inertia_force : ndarray, shape (nu,)
        F and F* at the solution, without regard to the constraints.
    reduced_active_force, reduced_inertia_force : ndarray, shape (p,)
        F~ = F_I + D' F_D and F~* = F*_I + D' F*_D; their sum vanishes.

    """

    reduced_mass: Floats
    active_force: Floats
    inertia_force: Floats
    reduced_active_force: Floats
    reduced_inertia_force: Floats


def kane_motion(
    mass: Floats, active_force: Floats, remainder: Floats, u: Floats, rows: ConstraintRows
) -> KaneSolution:
    """
    Return the motion by Kane's equations in the independent speeds.

    Parameters
    ----------
    mass : ndarray, shape (nu, nu)
        Q of F* = -Q udot - L, positive semidefinite.
    active_force, remainder : ndarray, shape (nu,)
        F, and L of F*.
    u : ndarray, shape (nu,)
        Generalized speeds.
    rows : ConstraintRows
        Independent rows A u = b0, A udot = b.

    Raises
    ------
    SingularMassMatrixError
        If some independent speed moves no mass.

    """
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
