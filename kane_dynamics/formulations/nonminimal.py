# SPDX-License-Identifier: Apache-2.0
r"""
Nonminimal Kane's equations: all speeds at once (Roithmayr et al. (8), (9); Bajodah and Chen (17)).

.. math:: \begin{bmatrix} A_1 \\ A_2 Q \end{bmatrix} \dot u
   = \begin{bmatrix} \dot B - \dot A_1 u \\ A_2 (F - L) \end{bmatrix}, \qquad
   A_1 = [-D\ 1],\quad A_2 = [1\ D^T],

where Q = M is symmetric for every choice of speeds (the corrigendum's (11)). Q may be singular,
as for massless points and slender rods, as long as the constraints bind what has no mass.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from kane_dynamics.algorithms.forward_dynamics import Motion
from kane_dynamics.algorithms.independent_speeds import partition_speeds
from kane_dynamics.algorithms.udwadia_kalaba import SINGULAR, unit_scaling
from kane_dynamics.constraints.base import ConstraintRows
from kane_dynamics.exceptions import SingularMassMatrixError
from kane_dynamics.formulations.problem import Problem
from kane_dynamics.formulations.speed_balance import SpeedSolution, in_velocities, speed_balance
from kane_dynamics.typing import Floats


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
    scaling = unit_scaling(np.linalg.norm(system, axis=1))
    u_rate, _, rank, _ = scipy.linalg.lstsq(
        scaling[:, None] * system, scaling * right_side, cond=SINGULAR
    )
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
