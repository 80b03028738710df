# SPDX-License-Identifier: Apache-2.0
r"""
Gauss's principle under constraints: the Udwadia-Kalaba equations (Silva et al., (62), (63)).

With :math:`M = L L^T`, :math:`D = A L^{-T}` and :math:`Q` the unconstrained force,

.. math:: M\dot v = Q + Q_c, \qquad Q_c = L D^+ (b - A M^{-1} Q),

the acceleration nearest to the free one in the metric M among all with :math:`A\dot v = b`. The
square root :math:`M^{1/2}` of the paper may be any N with :math:`N N^T = M`; this is Cholesky's.
Rows are scaled to unit length in that metric before the rank is decided, so that neither units nor
redundant rows change the result.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from kane_dynamics.exceptions import InconsistentConstraintsError, SingularMassMatrixError

Floats = NDArray[np.float64]

# Relative singular value below which rows, scaled to unit length, count as dependent.
RANK_TOLERANCE = 1e-9
# Size, relative to the largest row, of rows that are zero but for roundoff: far below the spread
# of units (1e-6 for a row in mm and tonnes), far above 1e-16.
ROUNDOFF_ROW = 1e-12
# Contradiction of scaled rows, relative to their right side: above integration drift.
CONSISTENCY_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False, slots=True)
class ConstrainedMotion:
    """
    Solution of the constrained equations.

    Parameters
    ----------
    acceleration : ndarray, shape (nv,)
        vdot.
    multipliers : ndarray, shape (k,)
        lambda with Q_c = A' lambda, the one of least norm of the scaled rows where rows repeat.
    constraint_force : ndarray, shape (nv,)
        Q_c = A' lambda.
    rank : int
        Number of independent rows.
    residual : float
        Norm of A vdot - b.

    """

    acceleration: Floats
    multipliers: Floats
    constraint_force: Floats
    rank: int
    residual: float


def cholesky_factor(mass_matrix: Floats) -> Floats:
    """
    Return the lower triangular L with M = L L'.

    Raises
    ------
    SingularMassMatrixError
        If M is not positive definite.

    """
    try:
        factor: Floats = scipy.linalg.cholesky(mass_matrix, lower=True)
    except np.linalg.LinAlgError:
        eigenvalues = np.linalg.eigvalsh(mass_matrix)
        raise SingularMassMatrixError(
            'the mass matrix is not positive definite: eigenvalues from '
            f'{eigenvalues[0]:.3e} to {eigenvalues[-1]:.3e}; a link that moves has no inertia'
        ) from None
    return factor


def constrained_motion(
    mass_matrix: Floats, force: Floats, A: Floats, b0: Floats, b: Floats
) -> ConstrainedMotion:
    """
    Return the acceleration of least constraint (62).

    Parameters
    ----------
    mass_matrix : ndarray, shape (nv, nv)
        M, positive definite.
    force : ndarray, shape (nv,)
        Q = tau - C v - g and all other given forces.
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
    factor = cholesky_factor(mass_matrix)
    half_free = scipy.linalg.solve_triangular(factor, force, lower=True)  # L^-1 Q
    free = scipy.linalg.solve_triangular(factor, half_free, lower=True, trans='T')  # M^-1 Q
    if not len(b):
        return ConstrainedMotion(free, np.zeros(0), np.zeros(len(free)), 0, 0.0)
    D = scipy.linalg.solve_triangular(factor, A.T, lower=True).T
    scaling = unit_scaling(np.linalg.norm(D, axis=1))
    U, singular_values, Vt = scipy.linalg.svd(scaling[:, None] * D, full_matrices=True)
    rank = int(np.count_nonzero(singular_values > RANK_TOLERANCE * max(1.0, *singular_values)))
    missing = U[:, rank:].T
    check_consistent('speed satisfies A v = b0', missing, scaling * b0, rank)
    check_consistent('acceleration satisfies A vdot = b', missing, scaling * b, rank)
    gap = scaling * (b - A @ free)
    along = (U[:, :rank].T @ gap) / singular_values[:rank]
    multipliers = scaling * (U[:, :rank] @ (along / singular_values[:rank]))
    step = scipy.linalg.solve_triangular(factor, Vt[:rank].T @ along, lower=True, trans='T')
    acceleration = free + step
    residual = float(np.linalg.norm(A @ acceleration - b))
    return ConstrainedMotion(acceleration, multipliers, A.T @ multipliers, rank, residual)


def unit_scaling(sizes: Floats) -> Floats:
    """
    Return the factors that bring rows of these norms to unit length.

    Rows of roundoff (a planar loop in a tilted plane has them) are scaled as the largest row: at
    unit length they would pass for constraints.
    """
    largest = float(sizes.max(initial=0.0)) or 1.0
    scaling: Floats = 1.0 / np.where(sizes > ROUNDOFF_ROW * largest, sizes, largest)
    return scaling


def check_consistent(what: str, missing: Floats, right_side: Floats, rank: int) -> None:
    """
    Check a right side against the combinations of rows that vanish.

    Raises
    ------
    InconsistentConstraintsError
        If one of these combinations of the right side does not vanish.

    """
    contradiction = float(np.linalg.norm(missing @ right_side))
    if contradiction > CONSISTENCY_TOLERANCE * (1.0 + float(np.linalg.norm(right_side))):
        raise InconsistentConstraintsError(f'no {what}', rank, contradiction)
