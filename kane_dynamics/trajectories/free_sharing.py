# SPDX-License-Identifier: Apache-2.0
r"""
Limits of motions whose redundant motors share as the limits need it.

Multipliers that balance each other, N z, change no motion but efforts and tractions:
:math:`a u + b x + c + Z z \le 1`. What is left of it without z is a polygon in u and x, found
from inside by linear programs in the directions of its sides (Bretl and Lall 2008).
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from kane_dynamics.algorithms.least_distance import nearest_above
from kane_dynamics.exceptions import InfeasiblePathError, NotSolvedError
from kane_dynamics.trajectories.limit_rows import LimitRows
from kane_dynamics.typing import Floats

_WIDE = 1e4  # bound of u and x where limits leave them free
_FLAT = 1e-7  # of a polygon: sides that move by less are sides
_MOST = 24  # corners
_MET = 1e-7  # of limits, that rounding may ask beyond the least use
_ALIKE = 12  # digits to which places are alike
_DIRECTIONS = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])


def projected(
    rows: LimitRows, shares: Floats, indices: Floats, known: dict[bytes, Floats]
) -> LimitRows:
    """
    Return rows without z, as many at each place.

    Parameters
    ----------
    rows : LimitRows
        Rows without d.
    shares : ndarray, shape (n, m, r)
        Z.
    indices : ndarray, shape (n,)
        On the path.
    known : dict
        Polygons found before, to which those found are added.

    Raises
    ------
    InfeasiblePathError
        If nothing keeps all rows at a place.

    """
    result = []
    for k, (a, b, c, one) in enumerate(zip(rows.a, rows.b, rows.c, shares, strict=True)):
        matrix = np.column_stack([a, b, one])
        key = np.round(np.column_stack([matrix, c]), _ALIKE).tobytes()
        if key not in known:
            corners = _corners(matrix, 1.0 - c)
            if corners is None:
                raise InfeasiblePathError(
                    'no motion keeps all limits', indices[k], ['however redundant motors share']
                )
            known[key] = _sides(corners)
        result.append(known[key])
    size = max(len(sides) for sides in result)
    padded = np.array([np.pad(x, ((0, size - len(x)), (0, 0))) for x in result])
    a, b, c = np.moveaxis(padded, 2, 0)
    return LimitRows(a, b, np.zeros_like(a), c)


def least_uses(uses: Floats, shares: Floats) -> Floats:
    """Return uses, shape (n, m), with z such that the largest is least, where it is above 1."""
    known: dict[bytes, Floats] = {}
    result = []
    for use, one in zip(uses, shares, strict=True):
        key = np.round(np.column_stack([use, one]), _ALIKE).tobytes()
        if key not in known:
            known[key] = use if use.max() <= 1.0 else use + one @ _least(use, one)[0]
        result.append(known[key])
    return np.array(result)


def shared(uses: Floats, shares: Floats) -> Floats:
    """Return the least z with which no use is above 1, or above what it is at least, (n, r)."""
    result = []
    for use, one in zip(uses, shares, strict=True):
        bound = max(1.0, _least(use, one)[1] + _MET)
        none = np.zeros((0, one.shape[1]))
        start, nothing = np.zeros(one.shape[1]), np.zeros(0)
        near = nearest_above(np.eye(len(start)), none, start, nothing, -one, use - bound)
        result.append(near.x)
    return np.array(result)


def _least(use: Floats, share: Floats) -> tuple[Floats, float]:
    """Return z with the least largest use, and that."""
    v_ref = np.zeros(share.shape[1] + 1)
    v_ref[-1] = 1.0
    rows = np.column_stack([share, -np.ones(len(use))])
    result = linprog(v_ref, rows, -use, bounds=(None, None))
    if result.x is None:
        raise NotSolvedError(f'retiming: sharing of redundant motors: {result.message}')
    return result.x[:-1], float(result.x[-1])


def _corners(matrix: Floats, room: Floats) -> Floats | None:
    """Return corners in u and x of matrix (u, x, z) <= room, counterclockwise; None: empty."""
    free = [(None, None)] * (matrix.shape[1] - 2)
    bounds = [(-_WIDE, _WIDE), (0.0, _WIDE), *free]

    def farthest(direction: Floats) -> Floats | None:
        v_ref = np.zeros(matrix.shape[1])
        v_ref[:2] = -direction
        result = linprog(v_ref, matrix, room, bounds=bounds)
        return None if result.x is None else np.asarray(result.x[:2])

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
