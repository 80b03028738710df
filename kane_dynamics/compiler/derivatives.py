# SPDX-License-Identifier: Apache-2.0
r"""
Derivatives of inverse and of constrained forward dynamics.

A motion makes :math:`r = N(q, v, a) - A^T\lambda - \tau` and :math:`c = A a - b` vanish. Their
derivatives at fixed a and lambda come from the traced graph; of large robots, along one direction
(forward mode): what bodies hand on goes with its derivative in one loop over bodies, so that a
direction costs a few runs of the recursion, and the 2 nv directions are one batch. Those of a and
lambda follow from

.. math:: \begin{bmatrix} M & -A^T \\ A & 0 \end{bmatrix}
   \begin{bmatrix} \mathrm{d}a \\ \mathrm{d}\lambda \end{bmatrix}
   = -\begin{bmatrix} \mathrm{d}r \\ \mathrm{d}c \end{bmatrix} .

Derivatives with respect to q are taken along its tangent, :math:`q \oplus \delta`.
"""

from dataclasses import dataclass

import numpy as np

from kane_dynamics.typing import Floats


@dataclass(frozen=True, eq=False, slots=True)
class Derivatives:
    """Derivatives of a function of (q, v, x), x being accelerations or efforts."""

    dq: Floats  # shape (nv, nv): Row i holds the derivatives of component i
    dv: Floats  # shape (nv, nv): Row i holds the derivatives of component i
    dx: Floats  # shape (nv, nv): Row i holds the derivatives of component i


def of_inverse_dynamics(balance: Floats, mass: Floats) -> Derivatives:
    """Return d tau / d(q, v, a) from the derivatives of the balance without constraints' rows."""
    nv = mass.shape[-1]
    return Derivatives(balance[..., :nv, :nv], balance[..., :nv, nv:], mass)


def of_forward_dynamics(balance: Floats, mass: Floats, A: Floats) -> Derivatives:
    """Return d vdot / d(q, v, tau), of one state or of many; arrays of numpy or CuPy."""
    many, nv, count = mass.shape[:-2], mass.shape[-1], A.shape[-2]
    corner = np.zeros_like(mass, shape=(*many, count, count))
    efforts = np.zeros_like(mass, shape=(*many, nv + count, nv))
    efforts[..., range(nv), range(nv)] = -1.0
    upper = np.concatenate([mass, -A.swapaxes(-1, -2)], axis=-1)
    matrix = np.concatenate([upper, np.concatenate([A, corner], axis=-1)], axis=-2)
    solution = -np.linalg.solve(matrix, np.concatenate([balance, efforts], axis=-1))
    x = solution[..., :nv, :]
    return Derivatives(x[..., :nv], x[..., nv : 2 * nv], x[..., 2 * nv :])
