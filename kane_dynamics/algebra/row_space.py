# SPDX-License-Identifier: Apache-2.0
r"""
What rows leave of a motion, and of other rows, in the metric M = L L'.

.. math:: M (x - x_f) = A^T \lambda + C^T p, \quad A x = c, \qquad L^{-1} A^T = [Q_1\ Q_2]\,[R; 0]

In :math:`L^T (x - x_f) = Q_1 y_1 + Q_2 y_2`, the rows A make :math:`y_1 = R^{-T} (c - A x_f)`,
forces p along rows C the rest, :math:`y_2 = G^T p` with :math:`G = C L^{-T} Q_2`. All is factored
once for many free motions, right sides and forces.
"""

import numpy as np

from kane_dynamics.algebra.matrices import orthonormal, row_lengths, solve_lower
from kane_dynamics.typing import Bools, Floats

# Length of a row, of that before, that the rows A leave nothing of.
_HELD = 1e-10


class RowSpace:
    """Independent rows A that hold, of shape (m, nv), and rows C beside them, (k, nv)."""

    def __init__(self, factor: Floats, A: Floats, C: Floats) -> None:
        self.factor, self.A, self.C = factor, A, C
        m = len(A)
        both = solve_lower(factor, np.concatenate([A, C]).T)
        self._Q, R = orthonormal(both[:, :m], complete=True)
        self._R = R.T
        turned = both[:, m:].T @ self._Q
        self._along, self.beside = turned[:, :m], turned[:, m:]
        lengths = row_lengths(self.beside)
        self.held: Bools = lengths <= _HELD * row_lengths(turned)  # nothing is left of these
        self.lengths = np.where(self.held, 0.0, lengths)  # of the rows of G

    def nearest(self, free: Floats, c: Floats, p: Floats) -> tuple[Floats, Floats]:
        """Return the x that rows and forces p make of a free one, and lambda; columns alike."""
        first = solve_lower(self._R, c - self.A @ free)
        step = self._Q @ np.concatenate([first, self.beside.T @ p])
        x = free + solve_lower(self.factor, step, transposed=True)
        return x, solve_lower(self._R, first - self._along.T @ p, transposed=True)
