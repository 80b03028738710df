# SPDX-License-Identifier: Apache-2.0
r"""
The fastest profile of speed under rows that are linear in u and x, by reachability (toppra).

Backwards over the cells of a grid toppra gives the speeds from which the end can be reached (Pham
and Pham 2018); forwards the largest u is taken that stays among them (`cell_steps`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from kane_dynamics.exceptions import InfeasiblePathError, InvalidInputError, MissingPackageError
from kane_dynamics.trajectories.cell_steps import CellSteps
from kane_dynamics.trajectories.limit_rows import LimitRows
from kane_dynamics.trajectories.speed_profile import SpeedProfile
from kane_dynamics.typing import Floats

Says = Callable[[int, float], str]
_NONE = 1e-12  # of the largest coefficient of a row: what does not depend on u, or on x
_BLOCK = 64  # places at once: pairs of rows take memory
_MET = 1e-9  # what bounds that meet may cross by
_MANY = 1e6  # bound of x where there is none, in units of the solver


@dataclass(frozen=True, eq=False)
class SpeedBounds:
    """
    Bounds of x at places, by all rows together.

    Parameters
    ----------
    lower, upper : ndarray, shape (n,)
        Of x; infinite where nothing bounds it.
    rows : list of (int, int)
        Rows that give them at each place.

    """

    lower: Floats
    upper: Floats
    rows: list[tuple[int, int]]


def speed_bounds(rows: LimitRows) -> SpeedBounds:
    """Return the x for which some u keeps all rows, at each place (Fourier and Motzkin)."""
    count = len(rows.a)
    if not rows.a.shape[1]:
        return SpeedBounds(np.zeros(count), np.full(count, np.inf), count * [(-1, -1)])
    blocks = [slice(k, k + _BLOCK) for k in range(0, count, _BLOCK)]
    found = [_bounds_at(*(part[k] for part in (rows.a, rows.b, 1.0 - rows.c))) for k in blocks]
    lower, upper, culprits = (list(several) for several in zip(*found, strict=True))
    return SpeedBounds(np.concatenate(lower), np.concatenate(upper), [*itertools.chain(*culprits)])


def _bounds_at(a: Floats, b: Floats, room: Floats) -> tuple[Floats, Floats, list[tuple[int, int]]]:
    """Return bounds of x, and the rows that give them, where a u + b x <= room, all (n, m)."""
    count = a.shape[1]
    own = np.arange(count)
    size = np.abs(a)
    of_u = size > _NONE * size.max(axis=1, keepdims=True, initial=0.0)
    # u drops out of a row from above and one from below; the diagonal is for rows without u
    pairs = (of_u & (a > 0.0))[:, :, None] & (of_u & (a < 0.0))[:, None]
    pairs[:, own, own] = ~of_u
    up, down = a[:, :, None], -a[:, None, :]
    slopes, rests = (down * x[:, :, None] + up * x[:, None, :] for x in (b, room))
    slopes[:, own, own], rests[:, own, own] = b, room
    slopes, rests, pairs = (x.reshape(len(a), -1) for x in (slopes, rests, pairs))
    tiny = _NONE * np.abs(np.where(pairs, slopes, 0.0)).max(axis=1, keepdims=True, initial=0.0)
    held, lifted = pairs & (slopes > tiny), pairs & (slopes < -tiny)
    never = pairs & ~held & ~lifted & (rests < 0.0)
    with np.errstate(divide='ignore', invalid='ignore'):
        places = rests / slopes
    uppers = np.where(never, -np.inf, np.where(held, places, np.inf))
    lowers = np.where(lifted, places, -np.inf)
    found: list[tuple[int, int]] = []
    every, second, first = np.arange(len(a)), uppers.argmin(axis=1), lowers.argmax(axis=1)
    for k in range(len(a)):
        best = second[k] if uppers[k, second[k]] < np.inf else first[k]
        named = uppers[k, second[k]] < np.inf or lowers[k, first[k]] > 0.0
        found.append((int(best) // count, int(best) % count) if named else (-1, -1))
    lower: Floats = np.maximum(lowers[every, first], 0.0)
    upper: Floats = uppers[every, second]
    return lower, upper, found


class Fastest(NamedTuple):
    """The fastest profile on a grid, and the places in its cells where u jumps."""

    profile: SpeedProfile
    switches: Floats


def fastest(grid: Floats, cells: CellSteps, nodes: LimitRows, says: Says) -> Fastest:
    """
    Return the fastest profile from rest to rest.

    Parameters
    ----------
    grid : ndarray, shape (n + 1,)
        Places on the path.
    cells : CellSteps
        Rows in the cells.
    nodes : LimitRows
        Rows without d at the grid.
    says : callable
        Words for a row and its c.

    Raises
    ------
    MissingPackageError
        If toppra is not installed.
    InfeasiblePathError
        If there is none; it says where, and which limits.
    InvalidInputError
        If nothing limits the speed.

    """
    bounds = speed_bounds(nodes)
    crossed = bounds.lower > bounds.upper + _MET * (1.0 + bounds.lower)
    if crossed.any():
        at = int(np.argmax(crossed))
        words = dict.fromkeys(says(k, float(nodes.c[at, k])) for k in bounds.rows[at])
        raise InfeasiblePathError('no speed and acceleration keep all limits', grid[at], words)
    middles, rows = cells.middles, cells.rows
    time = _time_unit(grid, middles, bounds.upper)
    scaled = time**2
    reachable = _controllable(
        grid,
        (rows.a / scaled, rows.b / scaled, rows.c),
        (bounds.lower * scaled, np.minimum(bounds.upper * scaled, _MANY)),
    )
    lost = np.flatnonzero(np.isnan(reachable).any(axis=1))
    if len(lost) or reachable[0, 0] > _MET:
        # most is used at rest where the path is hardest, of what is left of it
        left = middles.c[int(lost[-1]) if len(lost) else 0 :]
        worst, k = divmod(int(np.argmax(left)), left.shape[1])
        at = len(middles.c) - len(left) + worst
        said = says(k, float(middles.c[at, k]))
        raise InfeasiblePathError(
            'no motion keeps all limits to the end; hardest', grid[at], [said]
        )
    u, x = _forward(cells, reachable / scaled)
    arcs = cells.arcs(u, x)
    return Fastest(SpeedProfile(grid, u, arcs.ends), cells.switches(grid, u, x, arcs))


def _time_unit(grid: Floats, cells: LimitRows, upper: Floats) -> float:
    """Return about the duration: numbers of the solver are then about 1."""
    with np.errstate(divide='ignore', invalid='ignore'):
        room = np.maximum(1.0 - cells.c, 1e-3)
        most = np.where(cells.a > 0.0, room / cells.a, np.inf).min(axis=1, initial=np.inf)
        length = grid[-1] - grid[0]
        times = [
            length / np.sqrt(np.median(upper)),
            2.0 * np.sqrt(length / np.median(most)),
        ]
    if not max(times) > 0.0:
        raise InvalidInputError('retiming: nothing limits the speed of this path')
    return float(max(times))


def _forward(cells: CellSteps, reachable: Floats) -> tuple[Floats, Floats]:
    """Return the largest u that stays among reachable x, and x at the grid."""
    x, found = [0.0], []
    for k, (low, high) in enumerate(reachable[1:]):
        h = 2.0 * cells.lengths[k]
        after = float(np.clip(x[-1] + h * cells.most(k, x[-1]), max(low, 0.0), high))
        found.append((after - x[-1]) / h)
        x.append(after)
    return np.array(found), np.array(x)


def _controllable(
    grid: Floats, rows: tuple[Floats, Floats, Floats], bounds: tuple[Floats, Floats]
) -> Floats:
    """Return the least and largest x at the grid from which the end can be reached, (n + 1, 2)."""
    toppra = _toppra()
    count = rows[0].shape[1]
    idle = np.zeros((1, count))  # after the last cell nothing is asked
    parts = [np.concatenate([part, idle]) for part in rows]
    limit = _cell_rows(toppra, parts, np.eye(count), np.stack(bounds, axis=1))
    line = toppra.SplineInterpolator(grid[[0, -1]], grid[[0, -1], None])
    found: Floats = toppra.algorithm.TOPPRA(
        [limit], line, gridpoints=grid, solver_wrapper='seidel'
    ).compute_controllable_sets(0.0, 0.0)
    return found


def _cell_rows(toppra: ModuleType, parts: list[Floats], rows: Floats, bounds: Floats) -> Any:
    """Return the rows as toppra takes them."""

    class CellRows(toppra.constraint.LinearConstraint):  # type: ignore[name-defined,misc]
        """F (a u + b x + c) <= 1 with the same F in each cell."""

        def __init__(self) -> None:
            super().__init__()
            self.identical, self.dof = True, 1

        def compute_constraint_params(self, path: Any, gridpoints: Any) -> tuple[Any, ...]:
            return (*parts, rows, np.ones(len(rows)), None, bounds)

    return CellRows()


def _toppra() -> ModuleType:
    try:
        found = import_module('toppra')
        import_module('toppra.constraint')
        import_module('toppra.algorithm')
        return found
    except ImportError as error:
        raise MissingPackageError(
            'retiming', 'toppra', "pip install 'kane_dynamics[retime]'"
        ) from error
