# SPDX-License-Identifier: Apache-2.0
"""Limits along a path as rows in u = s'' and x = s'^2."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.typing import Floats, Indices

_SAME = 1e-9  # of coefficients that do not change along a path


@dataclass(frozen=True, eq=False)
class LimitRows:
    """
    a u + b x + d sqrt(x) + c <= 1 at places along a path.

    Parameters
    ----------
    a, b, d, c : ndarray, shape (n, m)
        Coefficients.

    """

    a: Floats
    b: Floats
    d: Floats
    c: Floats

    def use(self, u: Floats, x: Floats) -> Floats:
        """Return what motions use of each limit, shape (n, m); all at 1."""
        return self.a * u[:, None] + self.b * x[:, None] + self.still(x)

    def still(self, x: Floats) -> Floats:
        """Return what is used without acceleration or centrifugal forces."""
        return self.c + self.d * np.sqrt(x)[:, None]

    def part(self, places: slice | Indices) -> LimitRows:
        """Return the rows at some of the places."""
        return LimitRows(self.a[places], self.b[places], self.d[places], self.c[places])

    def followed_by(self, others: LimitRows) -> LimitRows:
        """Return these rows and those at other places."""
        pairs = ((getattr(self, name), getattr(others, name)) for name in 'abdc')
        return LimitRows(*(np.concatenate(pair) for pair in pairs))

    def drawn_in(self, tight: Floats) -> LimitRows:
        """Return rows of which so much, shape (n, m), is left."""
        return replace(self, c=self.c + tight)

    def alike(self, others: LimitRows) -> NDArray[np.bool_]:
        """Return which rows are the same in others but for roundoff, shape (n, m)."""
        pairs = ((getattr(self, name), getattr(others, name)) for name in 'abdc')
        return np.logical_and.reduce([np.isclose(*pair, rtol=_SAME, atol=_SAME) for pair in pairs])

    def tangent(self, x: Floats) -> LimitRows:
        """Return rows without d that touch these at x: the root lies below its tangents."""
        root = np.sqrt(x)[:, None]
        slope = np.divide(self.d, 2.0 * root, out=np.zeros_like(self.d), where=root > 0.0)
        rest = np.zeros_like(self.d)
        return LimitRows(self.a, self.b + slope, rest, self.c + 0.5 * self.d * root)
