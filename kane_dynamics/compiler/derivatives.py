# SPDX-License-Identifier: Apache-2.0
r"""
Derivatives of inverse and of constrained forward dynamics.

A motion makes :math:`r = N(q, v, a) - A^T\lambda - \tau` and :math:`c = A a - b` vanish. Their
derivatives at fixed a and lambda come from the traced graph, of large robots from `tangents`;
those of a and lambda follow from

.. math:: \begin{bmatrix} M & -A^T \\ A & 0 \end{bmatrix}
   \begin{bmatrix} \mathrm{d}a \\ \mathrm{d}\lambda \end{bmatrix}
   = -\begin{bmatrix} \mathrm{d}r \\ \mathrm{d}c \end{bmatrix} .

Derivatives with respect to q are taken along its tangent, :math:`q \oplus \delta`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.compiler.kernel_set import KernelSet
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.typing import Floats


@dataclass(frozen=True, eq=False, slots=True)
class Derivatives:
    """Derivatives of a function of (q, v, x), x being accelerations or efforts."""

    dq: Floats  # shape (nv, nv): Row i holds the derivatives of component i
    dv: Floats  # shape (nv, nv): Row i holds the derivatives of component i
    dx: Floats  # shape (nv, nv): Row i holds the derivatives of component i


def of_balance(
    kernels: KernelSet, q: ArrayLike, v: ArrayLike, a: ArrayLike, multipliers: Floats, t: Floats
) -> Floats:
    """Return the derivatives of (r, c) at one state: columns are the tangent of q, and v."""
    if max(map(np.ndim, (q, v, a))) > 1:
        raise InvalidInputError('q, v, a: need one state for derivatives, got several')
    if 'balance_derivatives' in kernels:
        return kernels['balance_derivatives'].checked(q, v, a, multipliers, t)
    if 'effort_tangent' not in kernels:
        raise InvalidInputError('compile with derivatives=True for derivatives')
    dq, dv = np.split(np.eye(2 * np.size(v)), 2, axis=1)
    efforts = kernels['effort_tangent'].checked(q, v, a, dq, dv).T
    if 'row_tangent' not in kernels:
        return efforts
    balance = kernels['row_tangent'].checked(q, v, a, multipliers, t, dq, dv).T
    balance[: len(efforts)] += efforts
    return balance


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
