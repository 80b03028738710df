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
import scipy
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
# Reciprocal condition below which a mass matrix, or a system of rows of unit length, counts as
# singular: above roundoff of a hundred speeds, below the spread of inertias of a robot with
# fingers (1e-11).
SINGULAR = 1e-14


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
        If M is not positive definite, or the mass of some speed is nothing but roundoff of that
        of the speeds before it.

    """
    try:
        factor: Floats = scipy.linalg.cholesky(mass_matrix, lower=True)
        own_part = np.square(factor.diagonal()) / mass_matrix.diagonal()
        if (own_part > SINGULAR).all():
            return factor
    except np.linalg.LinAlgError:
        pass  # said below
    eigenvalues = np.linalg.eigvalsh(mass_matrix)
    raise SingularMassMatrixError(
        'the mass matrix is not positive definite: eigenvalues from '
        f'{eigenvalues[0]:.3e} to {eigenvalues[-1]:.3e}; a link that moves has no inertia'
    )


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


@dataclass(frozen=True, eq=False, slots=True)
class GaussSolution:
    """
    What Gauss's principle and the Udwadia-Kalaba equations speak of.

    Parameters
    ----------
    free_acceleration : ndarray, shape (nv,)
        M^-1 Q, the acceleration without constraints.
    scaled_rows : ndarray, shape (k, nv)
        D = A L^-T (62).
    omega : ndarray, shape (nv, nv)
        The projector Omega = 1 - L D^+ A M^-1 of (63).
    least_constraint : float
        (vdot - free)' M (vdot - free)/2: Gauss's function (31) above its free minimum.

    """

    free_acceleration: Floats
    scaled_rows: Floats
    omega: Floats
    least_constraint: float


def gauss_solution(
    mass_matrix: Floats, force: Floats, A: Floats, acceleration: Floats
) -> GaussSolution:
    """Return what the principle says of a motion that `constrained_motion` found."""
    factor = cholesky_factor(mass_matrix)
    D = scipy.linalg.solve_triangular(factor, A.T, lower=True).T
    scaled = unit_scaling(np.linalg.norm(D, axis=1))[:, None] * D
    _, sizes, Vt = np.linalg.svd(scaled, full_matrices=False)
    range_of_rows = Vt[sizes > RANK_TOLERANCE * sizes.max(initial=1.0)].T
    half = scipy.linalg.solve_triangular(factor, np.eye(len(force)), lower=True)  # L^-1
    omega = np.eye(len(force)) - factor @ range_of_rows @ (range_of_rows.T @ half)
    free = scipy.linalg.cho_solve((factor, True), force)
    gap = acceleration - free
    return GaussSolution(free, D, omega, 0.5 * float(gap @ mass_matrix @ gap))


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
