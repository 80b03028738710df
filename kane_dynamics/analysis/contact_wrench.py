# SPDX-License-Identifier: Apache-2.0
r"""
The wrench on one frame that explains external efforts, by weighted least squares.

:math:`J^T w = r` with the covariance S of r: w of least :math:`(J^T w - r)^T S^{-1} (J^T w - r)`,
and its covariance :math:`(J S^{-1} J^T)^{-1}`. Wrenches that the joints do not feel,
:math:`J^T w = 0`, are unknown: they are left out of w, and their variance is `UNKNOWN`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_numbers, not_finite
from kane_dynamics.typing import Floats

__all__ = ['ContactWrench', 'contact_wrench']

UNKNOWN = 1e9
"""Variance [N^2 or N^2 m^2] along a wrench that the joints do not feel: finite for filters."""
_FELT = 1e-7  # of the largest singular value; roundoff of Jacobians is far below


@dataclass(frozen=True, eq=False, slots=True)
class ContactWrench:
    """
    A wrench (tau, f) and how well it is known.

    Parameters
    ----------
    wrench : ndarray, shape (6,)
        In the axes of the Jacobian, at its origin [N m, N].
    covariance : ndarray, shape (6, 6)
        In the same order; `UNKNOWN` along what is not felt.
    unfelt : ndarray, shape (k, 6)
        Unit wrenches, in N m and N, that the joints do not feel.

    """

    wrench: Floats
    covariance: Floats
    unfelt: Floats


def contact_wrench(
    jacobian: ArrayLike, efforts: ArrayLike, covariance: ArrayLike
) -> ContactWrench:
    """
    Return the wrench on a frame that explains efforts best.

    Parameters
    ----------
    jacobian : array_like, shape (6, n)
        Of the frame, (omega, v) = J u, for the observed speeds u.
    efforts : array_like, shape (n,)
        External efforts at these speeds [N m or N].
    covariance : array_like, shape (n, n)
        Of the efforts.

    Raises
    ------
    InvalidInputError
        If shapes do not fit, or the covariance is not positive definite.

    """
    J, r = as_numbers('jacobian', jacobian), as_numbers('efforts [N m or N]', efforts)
    S = as_numbers('covariance', covariance)
    n = len(r) if r.ndim == 1 else 0
    if J.shape != (6, n) or S.shape != (n, n):
        raise InvalidInputError(
            'jacobian, efforts and covariance: need shapes (6, n), (n,), (n, n), got '
            f'{J.shape}, {r.shape}, {S.shape}'
        )
    for name, x in (('jacobian', J), ('efforts [N m or N]', r), ('covariance', S)):
        if not np.isfinite(x).all():
            raise InvalidInputError(f'{name}: need finite numbers, got {not_finite(x)}')
    try:
        root = np.linalg.cholesky(S)
    except np.linalg.LinAlgError as error:
        lowest = np.linalg.eigvalsh(S)[0]
        raise InvalidInputError(
            f'covariance must be positive definite, got one with the eigenvalue {lowest:g}'
        ) from error
    white = scipy.linalg.solve_triangular(root, np.column_stack([J.T, r]), lower=True)
    left, sizes, right = np.linalg.svd(white[:, :6])
    felt = int(np.sum(sizes > _FELT * sizes.max(initial=0.0)))
    inverse = right[:felt].T / sizes[:felt]
    unfelt = right[felt:]
    wrench = inverse @ (left[:, :felt].T @ white[:, 6])
    return ContactWrench(wrench, inverse @ inverse.T + UNKNOWN * (unfelt.T @ unfelt), unfelt)
