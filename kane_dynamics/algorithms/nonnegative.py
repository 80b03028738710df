# SPDX-License-Identifier: Apache-2.0
"""Nonnegative least squares (Lawson and Hanson): pushes of contacts, in finitely many steps."""

from __future__ import annotations

import numpy as np
import scipy

from kane_dynamics.exceptions import ContactError
from kane_dynamics.typing import Floats

# Each step makes the residual smaller but for roundoff; some three per unknown are usual.
_STEPS = 100


def nonnegative_least_squares(matrix: Floats, target: Floats) -> tuple[Floats, float]:
    """
    Return the x >= 0 of least |G x - h|, and that residual.

    Parameters
    ----------
    matrix : ndarray, shape (n, k)
        G.
    target : ndarray, shape (n,)
        h.

    Raises
    ------
    ContactError
        If roundoff keeps the set of positive x from settling.

    """
    if not matrix.shape[1]:  # SciPy 1.17 frees memory twice there
        return np.zeros(0), float(np.linalg.norm(target))
    steps = _STEPS * (1 + matrix.shape[1])
    try:
        x, residual = scipy.optimize.nnls(matrix, target, maxiter=steps)
    except RuntimeError as error:
        raise ContactError(
            f'which of {matrix.shape[1]} contacts push does not settle in {steps} steps'
        ) from error
    return x, float(residual)
