# SPDX-License-Identifier: Apache-2.0
r"""
Derivatives of inverse and of constrained forward dynamics.

A motion makes :math:`r = N(q, v, a) - A^T\lambda - \tau` and :math:`c = A a - b` vanish. Their
derivatives at fixed a and lambda come from the traced graph; those of a and lambda follow from

.. math:: \begin{bmatrix} M & -A^T \\ A & 0 \end{bmatrix}
   \begin{bmatrix} \mathrm{d}a \\ \mathrm{d}\lambda \end{bmatrix}
   = -\begin{bmatrix} \mathrm{d}r \\ \mathrm{d}c \end{bmatrix} .

Derivatives with respect to q are taken along its tangent, :math:`q \oplus \delta`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kane_dynamics.typing import Floats


@dataclass(frozen=True, eq=False, slots=True)
class Derivatives:
    """
    Derivatives of a function of (q, v, x), x being accelerations or efforts.

    Parameters
    ----------
    dq, dv, dx : ndarray, shape (nv, nv)
        Row i holds the derivatives of component i; dq along the tangent of q.

    """

    dq: Floats
    dv: Floats
    dx: Floats


def of_inverse_dynamics(balance: Floats, mass: Floats) -> Derivatives:
    """Return d tau / d(q, v, a) from the derivatives of the balance without constraints' rows."""
    nv = len(mass)
    return Derivatives(balance[:nv, :nv], balance[:nv, nv:], mass)


def of_forward_dynamics(balance: Floats, mass: Floats, A: Floats) -> Derivatives:
    """
    Return d vdot / d(q, v, tau).

    Parameters
    ----------
    balance : ndarray, shape (nv + k, 2 nv)
        Derivatives of (r, c) at the motion.
    mass : ndarray, shape (nv, nv)
        M.
    A : ndarray, shape (k, nv)
        Independent constraint rows.

    """
    nv, count = len(mass), len(A)
    matrix = np.block([[mass, -A.T], [A, np.zeros((count, count))]])
    efforts = np.vstack([-np.eye(nv), np.zeros((count, nv))])
    solution = -np.linalg.solve(matrix, np.hstack([balance, efforts]))
    return Derivatives(solution[:nv, :nv], solution[:nv, nv : 2 * nv], solution[:nv, 2 * nv :])
