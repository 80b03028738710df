# SPDX-License-Identifier: Apache-2.0
"""
Collision flags, and the contact wrench that explains external efforts.

:math:`J^T w = r` with the covariance S of r: w of least :math:`(J^T w - r)^T S^{-1} (J^T w - r)`,
and its covariance :math:`(J S^{-1} J^T)^{-1}`. Wrenches that the joints do not feel,
:math:`J^T w = 0`, are unknown: they are left out of w, and their variance is `UNKNOWN`.
"""

from dataclasses import dataclass

import numpy as np
import scipy

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot import checks
from kane_dynamics.typing import ArrayLike, Floats

__all__ = ['CollisionFlags', 'ContactWrench', 'contact_wrench']

RELEASE = 0.5
"""Part of the threshold below which a flag goes down again."""


class CollisionFlags:
    """
    One flag for each joint, with hysteresis in height and in time.

    Parameters
    ----------
    thresholds : array_like, shape (n,)
        ``|external effort|`` from which a flag rises [N m or N].
    hold : float
        How long efforts must be beyond before a flag changes [s].

    Attributes
    ----------
    raised : ndarray of bool, shape (n,)
        The flags.

    Raises
    ------
    InvalidInputError
        If a threshold is not above zero, or the time is below zero.

    """

    def __init__(self, thresholds: ArrayLike, hold: float = 0.0) -> None:
        self._thresholds = np.array(checks.as_numbers('thresholds [N m or N]', thresholds))
        if self._thresholds.ndim != 1 or not (self._thresholds > 0.0).all():
            raise InvalidInputError(
                f'thresholds [N m or N] must be > 0, got {checks.describe(thresholds)}'
            )
        self._hold = checks.as_nonnegative('hold [s]', hold)
        self.reset()

    def reset(self) -> None:
        """Take all flags down."""
        self.raised = np.zeros(len(self._thresholds), dtype=bool)
        self._since = np.zeros(len(self._thresholds))

    def update(self, efforts: ArrayLike, step: float) -> bool:
        """
        Return whether a flag is up after efforts that have lasted a step.

        Parameters
        ----------
        efforts : array_like, shape (n,)
            External efforts [N m or N].
        step : float
            Time since the ones before [s].

        Raises
        ------
        InvalidInputError
            If there are other than n finite efforts, or the step is not above zero.

        """
        size = np.abs(checks.as_vector('efforts [N m or N]', efforts, len(self._thresholds)))
        bound = np.where(self.raised, RELEASE, 1.0) * self._thresholds
        changes = (size > bound) != self.raised
        self._since = np.where(changes, self._since + checks.as_positive('step [s]', step), 0.0)
        turn = changes & (self._since >= self._hold)
        self.raised = self.raised ^ turn
        self._since = np.where(turn, 0.0, self._since)
        return bool(self.raised.any())


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

    Examples
    --------
    >>> from kane_dynamics.analysis.contacts import contact_wrench
    >>> push = np.array([0.0, 0, 0, 1.0, 0, 0])  # 1 N along x
    >>> J = np.random.default_rng(0).normal(size=(6, 8))
    >>> np.allclose(contact_wrench(J, J.T @ push, np.eye(8)).wrench, push)
    True

    """
    r = checks.as_shaped('efforts [N m or N]', efforts, ('n',))
    J = checks.as_shaped('jacobian', jacobian, (6, len(r)))
    S = checks.as_shaped('covariance', covariance, (len(r), len(r)))
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
