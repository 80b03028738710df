# SPDX-License-Identifier: Apache-2.0
"""Solves with lower triangular matrices, by LAPACK at once: small ones are mostly overhead."""

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


def solve_squared(L: Matrix, B: Matrix) -> Matrix:
    """Return (L L')^-1 B; parameters and errors as for `solve_lower`."""
    return solve_lower(L, solve_lower(L, B), transposed=True)
