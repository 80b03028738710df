# SPDX-License-Identifier: Apache-2.0
r"""
Kane's equations with embedded constraints (Gillespie (44)-(46), Parsa (43)-(50)).

With the speeds v as generalized speeds, :math:`F = Q` the generalized active forces (velocity
terms included) and :math:`F^* = -M\dot v`, the dependent speeds :math:`v_D = D v_I + E`
recombine the equations of the independent ones,

.. math:: \tilde F_r + \tilde F_r^* = 0, \qquad \tilde F = F_I + D^T F_D,

which is :math:`(B^T M B)\dot v_I = B^T (Q - M\gamma)` with the tangent basis B and
:math:`\gamma = [0; e]`. The constraint forces are what the dependent equations lack,
:math:`\lambda = -(F_D + F_D^*)`. M may be singular as long as :math:`B^T M B` is not
(Roithmayr et al.).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from kane_dynamics.algorithms.independent_speeds import Partition, partition_speeds
from kane_dynamics.algorithms.udwadia_kalaba import cholesky_factor

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class KaneSolution:
    """
    Solution of Kane's equations with what they are made of.

    Parameters
    ----------
    acceleration : ndarray, shape (nv,)
        vdot.
    multipliers : ndarray, shape (k,)
        Of the given rows, of least norm where rows repeat others.
    partition : Partition
        Independent and dependent speeds.
    reduced_mass : ndarray, shape (p, p)
        B' M B.
    active_force : ndarray, shape (p,)
        F~ = F_I + D' F_D, velocity terms included.
    inertia_force : ndarray, shape (p,)
        F~* = F*_I + D' F*_D at the solution; equal to -F~.

    """

    acceleration: Floats
    multipliers: Floats
    partition: Partition
    reduced_mass: Floats
    active_force: Floats
    inertia_force: Floats


def kane_motion(mass: Floats, force: Floats, A: Floats, b0: Floats, b: Floats) -> KaneSolution:
    """
    Return the motion by Kane's equations in the independent speeds.

    Parameters
    ----------
    mass : ndarray, shape (nv, nv)
        M, positive semidefinite.
    force : ndarray, shape (nv,)
        Q = tau - C v - g and all other given forces.
    A : ndarray, shape (k, nv)
        Constraint rows.
    b0, b : ndarray, shape (k,)
        Right sides of A v = b0 and A vdot = b.

    Raises
    ------
    SingularMassMatrixError
        If some independent speed moves no mass.
    InconsistentConstraintsError
        If no speed satisfies A v = b0, or no acceleration A vdot = b.

    """
    partition = partition_speeds(A, b0, b)
    B, dependent = partition.basis, partition.dependent
    offset = np.zeros(len(force))
    offset[dependent] = partition.acceleration_offset
    reduced = B.T @ mass @ B
    right_side = B.T @ (force - mass @ offset)
    factor = cholesky_factor(reduced)
    acceleration = B @ scipy.linalg.cho_solve((factor, True), right_side) + offset
    lacking = mass @ acceleration - force  # -(F + F*)
    multipliers = partition.to_multipliers @ lacking[dependent]
    active, inertia = B.T @ force, -(B.T @ (mass @ acceleration))
    return KaneSolution(acceleration, multipliers, partition, reduced, active, inertia)
