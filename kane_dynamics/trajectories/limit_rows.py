# SPDX-License-Identifier: Apache-2.0
r"""
Limits of a motion along a path as rows, with redundant motors or without.

Multipliers that balance each other, N z, change no motion but efforts and tractions:
:math:`a u + b x + c + Z z \le 1`. What is left of it without z is a polygon in u and x, found
from inside by linear programs in the directions of its sides (Bretl and Lall 2008).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog

from kane_dynamics.algorithms.least_distance import nearest_above
from kane_dynamics.exceptions import InfeasiblePathError, NotSolvedError
from kane_dynamics.typing import Bools, Floats, Indices

_STEPS = 20  # of a pace, each by the rows exceeded at the one before
_SAFE = 1e-12  # of a pace: roundoff


@dataclass(frozen=True, eq=False)
class LimitRows:
    """a u + b x + d sqrt(x) + c <= 1 at places along a path."""

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

    def merged(self, new: LimitRows, parents: Indices, mask: Bools) -> LimitRows:
        """Return these rows at places of `parents`, with new ones where `mask` is true."""
        results = [part[parents] for part in self._parts]
        for part, other in zip(results, new._parts, strict=True):
            part[mask] = other
        return LimitRows(*results)

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


def largest_scaling(inertial: Floats, drag: Floats, still: Floats, most: float) -> float:
    """Return the largest factor of speed, up to 1, with which uses are at most `most`."""
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


_WIDE = 1e4  # bound of u and x where limits leave them free
_FLAT = 1e-7  # of a polygon: sides that move by less are sides
_MOST = 24  # corners
_MET = 1e-7  # of limits, that rounding may ask beyond the least use
_ALIKE = 12  # digits to which places are alike
_DIRECTIONS = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])


def projected(rows: LimitRows, shares: Floats, s: Floats, known: dict[bytes, Floats]) -> LimitRows:
    """Return rows without z, as many at each place."""
    results = []
    for k, (a, b, c, one) in enumerate(zip(rows.a, rows.b, rows.c, shares, strict=True)):
        matrix = np.column_stack([a, b, one])
        key = np.round(np.column_stack([matrix, c]), _ALIKE).tobytes()
        if key not in known:
            corners = _corners(matrix, 1.0 - c)
            if corners is None:
                raise InfeasiblePathError(
                    'no motion keeps all limits', s[k], ['however redundant motors share']
                )
            known[key] = _sides(corners)
        results.append(known[key])
    size = max(len(sides) for sides in results)
    padded = np.array([np.pad(x, ((0, size - len(x)), (0, 0))) for x in results])
    a, b, c = np.moveaxis(padded, 2, 0)
    return LimitRows(a, b, np.zeros_like(a), c)


def least_uses(uses: Floats, shares: Floats) -> Floats:
    """Return uses, shape (n, m), with z such that the largest is least, where it is above 1."""
    known: dict[bytes, Floats] = {}
    results = []
    for use, one in zip(uses, shares, strict=True):
        key = np.round(np.column_stack([use, one]), _ALIKE).tobytes()
        if key not in known:
            known[key] = use if use.max() <= 1.0 else use + one @ _least(use, one)[0]
        results.append(known[key])
    return np.array(results)


def shared(uses: Floats, shares: Floats) -> Floats:
    """Return the least z with which no use is above 1, or above what it is at least, (n, r)."""
    results = []
    for use, one in zip(uses, shares, strict=True):
        bound = max(1.0, _least(use, one)[1] + _MET)
        none = np.zeros((0, one.shape[1]))
        start, nothing = np.zeros(one.shape[1]), np.zeros(0)
        near = nearest_above(np.eye(len(start)), none, start, nothing, -one, use - bound)
        results.append(near.x)
    return np.array(results)


def _least(use: Floats, share: Floats) -> tuple[Floats, float]:
    """Return z with the least largest use, and that."""
    cost = np.zeros(share.shape[1] + 1)
    cost[-1] = 1.0
    rows = np.column_stack([share, -np.ones(len(use))])
    solution = linprog(cost, rows, -use, bounds=(None, None))
    if solution.x is None:
        raise NotSolvedError(f'retiming: sharing of redundant motors: {solution.message}')
    return solution.x[:-1], float(solution.x[-1])


def _corners(matrix: Floats, room: Floats) -> Floats | None:
    """Return corners in u and x of matrix (u, x, z) <= room, counterclockwise; None: empty."""
    free = [(None, None)] * (matrix.shape[1] - 2)
    bounds = [(-_WIDE, _WIDE), (0.0, _WIDE), *free]

    def farthest(direction: Floats) -> Floats | None:
        cost = np.zeros(matrix.shape[1])
        cost[:2] = -direction
        solution = linprog(cost, matrix, room, bounds=bounds)
        return None if solution.x is None else np.asarray(solution.x[:2])

    several = [farthest(direction) for direction in _DIRECTIONS]
    corners = [corner for corner in several if corner is not None]
    if len(corners) < len(several):
        return None
    k = 0
    while k < len(corners) and len(corners) < _MOST:
        side = corners[(k + 1) % len(corners)] - corners[k]
        size = float(np.linalg.norm(side))
        if size > _FLAT:
            outward = np.array([side[1], -side[0]]) / size
            new = farthest(outward)
            if new is not None and outward @ (new - corners[k]) > _FLAT * (1.0 + size):
                corners.insert(k + 1, new)
                continue
        k += 1
    return np.array(corners)


def _sides(corners: Floats) -> Floats:
    """Return rows (a, b, c) of a u + b x + c <= 1 for the sides of a polygon."""
    along = np.roll(corners, -1, axis=0) - corners
    lengths = np.linalg.norm(along, axis=1)
    kept = lengths > _FLAT
    outward = np.column_stack([along[:, 1], -along[:, 0]])[kept] / lengths[kept, None]
    reach = np.sum(outward * corners[kept], axis=1)
    return np.column_stack([outward, 1.0 - reach])
