# SPDX-License-Identifier: Apache-2.0
r"""
The canonical generalized inversion form of Kane's equations (Bajodah and Chen, (18)-(63)).

With canonical speeds :math:`w = Q^{1/2} v` (Q = M) and the explicit constraints
:math:`A_1 v = B`, :math:`A_1 = [-D\ 1]`, :math:`A_2 = [1\ D^T]`, the two scaled matrices
:math:`\bar A_1 = A_1 Q^{-1/2}` and :math:`\bar A_2 = A_2 Q^{1/2}` have orthogonal row spaces (35),
and

.. math:: \dot w = \bar A_1^+ V_1 + \bar A_2^+ \bar A_2 V_2 \quad (40), \qquad
   \dot v = Q^{-1/2}(\dot w - \dot Q^{1/2} v) \quad (44)

splits the motion into a constraint part and a momentum part. :math:`\dot Q^{1/2}` solves a
Sylvester equation with :math:`\dot M = C + C^T`; it cancels in :math:`\dot v` but not in
:math:`\dot w`. The deviation (55) from the free motion is the least possible one: Gauss's
principle (56)-(63).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.algorithms.independent_speeds import Partition, partition_speeds
from kane_dynamics.exceptions import SingularMassMatrixError

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class CanonicalSolution:
    """
    Solution of the canonical form with what it is made of.

    Parameters
    ----------
    acceleration : ndarray, shape (nv,)
        vdot (44).
    multipliers : ndarray, shape (k,)
        Of the given rows, of least norm where rows repeat others.
    partition : Partition
        Independent and dependent speeds.
    canonical_acceleration : ndarray, shape (nv,)
        wdot (40).
    constraint_part, momentum_part : ndarray, shape (nv,)
        Its two orthogonal parts.
    V1 : ndarray, shape (m,)
        (24).
    V2 : ndarray, shape (nv,)
        (29), the canonical acceleration of the free robot (49).
    deviation : float
        ||wdot_h - wdot||, the least deviation (56).

    """

    acceleration: Floats
    multipliers: Floats
    partition: Partition
    canonical_acceleration: Floats
    constraint_part: Floats
    momentum_part: Floats
    V1: Floats
    V2: Floats
    deviation: float


def canonical_motion(
    mass: Floats,
    mass_rate: Floats,
    force: Floats,
    v: Floats,
    A: Floats,
    b0: Floats,
    b: Floats,
) -> CanonicalSolution:
    """
    Return the motion by the canonical generalized inversion form.

    Parameters
    ----------
    mass, mass_rate : ndarray, shape (nv, nv)
        M, positive definite, and dM/dt along v.
    force : ndarray, shape (nv,)
        F - L of (4): tau - C v - g and all other given forces.
    v : ndarray, shape (nv,)
        Speeds.
    A : ndarray, shape (k, nv)
        Constraint rows.
    b0, b : ndarray, shape (k,)
        Right sides of A v = b0 and A vdot = b.

    Raises
    ------
    SingularMassMatrixError
        If M is not positive definite.
    InconsistentConstraintsError
        If no speed satisfies A v = b0, or no acceleration A vdot = b.

    """
    partition = partition_speeds(A, b0, b)
    values, vectors = np.linalg.eigh(mass)
    if not values[0] > 0.0:
        raise SingularMassMatrixError(
            f'canonical speeds need a positive definite mass matrix, least eigenvalue {values[0]}'
        )
    roots = np.sqrt(values)
    inverse_root = (vectors / roots) @ vectors.T  # Q^-1/2
    root = (vectors * roots) @ vectors.T
    turned = vectors.T @ mass_rate @ vectors  # Sylvester equation of d/dt Q^1/2
    root_rate_v = vectors @ ((turned / (roots[:, None] + roots)) @ (vectors.T @ v))
    A1 = partition.rows @ inverse_root  # (19)
    A2 = partition.basis.T @ root  # (22)
    V1 = partition.acceleration_offset + A1 @ root_rate_v  # (24)
    V2 = inverse_root @ force + root_rate_v  # (29)
    constraint_part = A1.T @ np.linalg.solve(A1 @ A1.T, V1)  # (27)
    momentum_part = A2.T @ np.linalg.solve(A2 @ A2.T, A2 @ V2)  # (32)
    w_rate = constraint_part + momentum_part  # (40)
    acceleration = inverse_root @ (w_rate - root_rate_v)  # (44)
    lacking = (mass @ acceleration - force)[partition.dependent]  # -(F_D + F_D*)
    return CanonicalSolution(
        acceleration,
        partition.to_multipliers @ lacking,
        partition,
        w_rate,
        constraint_part,
        momentum_part,
        V1,
        V2,
        float(np.linalg.norm(V2 - w_rate)),
    )
