# SPDX-License-Identifier: Apache-2.0
"""Limits along a path as rows in u = s'' and x = s'^2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kane_dynamics.typing import Floats, Indices

_STEPS = 20  # of a pace, each by the rows exceeded at the one before
_SAFE = 1e-12  # of a pace: roundoff


@dataclass(frozen=True, eq=False)
class LimitRows:
    """
    a u + b x + d sqrt(x) + c <= 1 at places along a path.

    Parameters
    ----------
    a, b, d, c : ndarray, shape (..., m)
        Coefficients.

    """

    a: Floats
    b: Floats
    d: Floats
    c: Floats

    def use(self, u: Floats, x: Floats) -> Floats:
        """Return what motions use of each limit, shape (..., m); all at 1."""
        inertial = self.a * u[..., None] + self.b * x[..., None]
        return inertial + self.d * np.sqrt(x)[..., None] + self.c

    def __getitem__(self, at: Any) -> LimitRows:
        """Return the rows at some of the places."""
        return LimitRows(*(part[at] for part in self._parts))

    def reshaped(self, *shape: int) -> LimitRows:
        """Return the rows with places in another shape."""
        return LimitRows(*(part.reshape(*shape, part.shape[-1]) for part in self._parts))

    def merged(self, new: LimitRows, parents: Indices, local: NDArray[np.bool_]) -> LimitRows:
        """Return these rows at places of `parents`, with new ones where `local` is true."""
        result = [part[parents] for part in self._parts]
        for part, other in zip(result, new._parts, strict=True):
            part[local] = other
        return LimitRows(*result)

    def linear(self, x: Floats) -> LimitRows:
        """Return rows without d that are these at x, and above them where it is passed faster."""
        root, rubs = np.sqrt(x)[..., None], np.maximum(self.d, 0.0)
        # of a friction that loads a limit a tangent, of one that relieves it what it is at x
        slope = np.divide(rubs, 2.0 * root, out=np.zeros_like(rubs), where=root > 0.0)
        remainder = (self.d - 0.5 * rubs) * root
        return LimitRows(self.a, self.b + slope, np.zeros_like(rubs), self.c + remainder)

    @property
    def _parts(self) -> tuple[Floats, Floats, Floats, Floats]:
        return self.a, self.b, self.d, self.c


def largest_pace(inertial: Floats, drag: Floats, still: Floats, most: float) -> float:
    """
    Return the largest factor of speed, up to 1, with which uses are at most `most`.

    Parameters
    ----------
    inertial, drag, still : ndarray of one shape
        Parts of uses that go with the square of the speed, with it, and not with it.
    most : float
        Bound of their sum.

    """
    room, scaling = most - still, 1.0
    for _ in range(_STEPS):
        over = scaling * (scaling * inertial + drag) > room
        if not over.any():
            break
        a, d, left = inertial[over], drag[over], np.maximum(room[over], 0.0)
        bend = np.sqrt(np.maximum(d * d + 4.0 * a * left, 0.0))
        scaling = float((1.0 - _SAFE) * np.min(2.0 * left / (d + bend)))
    return scaling


def peaks(values: Floats) -> Floats:
    """Return the largest of values at even places, (n, k, m), or of a parabola through three."""
    before, here, after = values[:, :-2], values[:, 1:-1], values[:, 2:]
    bend, tilt = 2.0 * here - before - after, after - before
    inside = (bend > 0.0) & (np.abs(tilt) < 2.0 * bend)
    rise = np.divide(tilt**2, 8.0 * bend, out=np.zeros_like(bend), where=inside)
    return np.asarray(np.maximum(values.max(axis=1), (here + rise).max(axis=1)))
