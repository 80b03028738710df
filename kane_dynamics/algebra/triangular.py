# SPDX-License-Identifier: Apache-2.0
"""Triangular factors and solves with them, by LAPACK at once: small ones are mostly overhead."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def solve_lower(L: Matrix, B: Matrix, *, transposed: bool = False) -> Matrix:
    """
    Return L^-1 B, or L'^-1 B.

    Parameters
    ----------
    L : ndarray, shape (n, n)
        Lower triangular.
    B : ndarray, shape (n,) or (n, k)
        Right sides.

    Raises
    ------
    numpy.linalg.LinAlgError
        If an entry of the diagonal is zero.

    """
    if not B.size:
        return np.zeros(B.shape)
    x, info = scipy.linalg.lapack.dtrtrs(L, B.reshape(len(B), -1), lower=1, trans=int(transposed))
    if info:
        raise np.linalg.LinAlgError(f'triangular matrix with a zero at {info} of its diagonal')
    return np.asarray(x).reshape(B.shape)


def orthonormal(A: Matrix, *, complete: bool = False) -> tuple[Matrix, Matrix]:
    """
    Return Q and R of A = Q R.

    Parameters
    ----------
    A : ndarray, shape (n, m)
        m <= n columns.
    complete : bool
        Whether Q has n columns, not m.

    Returns
    -------
    tuple of ndarray, shapes (n, m) or (n, n), and (m, m)
        Orthonormal columns; R is upper triangular, what is below its diagonal is not zero.

    """
    n, m = A.shape
    if not m:
        return np.eye(n, n if complete else 0), np.zeros((0, 0))
    factors, tau, _, _ = scipy.linalg.lapack.dgeqrf(A)
    wide = factors
    if complete:
        wide = np.zeros((n, n), order='F')
        wide[:, :m] = factors
    Q, _, _ = scipy.linalg.lapack.dorgqr(wide, tau)
    return Q, factors[:m]


def solve_squared(L: Matrix, B: Matrix) -> Matrix:
    """Return (L L')^-1 B; parameters and errors as for `solve_lower`."""
    return solve_lower(L, solve_lower(L, B), transposed=True)
