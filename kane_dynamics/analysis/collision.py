# SPDX-License-Identifier: Apache-2.0
"""Collision flags of joints: external efforts beyond thresholds, for some time."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_nonnegative, as_numbers, as_positive, as_vector, describe

__all__ = ['CollisionFlags']

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
        self._thresholds = np.array(as_numbers('thresholds [N m or N]', thresholds))
        if self._thresholds.ndim != 1 or not (self._thresholds > 0.0).all():
            raise InvalidInputError(
                f'thresholds [N m or N] must be > 0, got {describe(thresholds)}'
            )
        self._hold = as_nonnegative('hold [s]', hold)
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
        size = np.abs(as_vector('efforts [N m or N]', efforts, len(self._thresholds)))
        bound = np.where(self.raised, RELEASE, 1.0) * self._thresholds
        changes = (size > bound) != self.raised
        self._since = np.where(changes, self._since + as_positive('step [s]', step), 0.0)
        turn = changes & (self._since >= self._hold)
        self.raised = self.raised ^ turn
        self._since = np.where(turn, 0.0, self._since)
        return bool(self.raised.any())
