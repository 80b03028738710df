# SPDX-License-Identifier: Apache-2.0
r"""
The fastest profile of speed under rows that are linear in u and x, by reachability (toppra).

Each cell of the grid has one u. Its rows hold in the middle, where x is the mean of both ends:
that is of second order in the size of cells. Backwards toppra gives the speeds from which the end
can be reached (Pham and Pham 2018); forwards the largest u is taken that stays among them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from kane_dynamics.exceptions import InfeasiblePathError, InvalidInputError, MissingPackageError
from kane_dynamics.trajectories.path_limits import LimitRows
from kane_dynamics.trajectories.speed_profile import SpeedProfile
from kane_dynamics.typing import Floats

Says = Callable[[int, float], str]
_NONE = 1e-12  # of the largest coefficient of a row: what does not depend on u, or on x
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
    found = [_bounds_at(*row) for row in zip(rows.a, rows.b, 1.0 - rows.c, strict=True)]
    lower, upper, culprits = zip(*found, strict=True)
    return SpeedBounds(np.array(lower), np.array(upper), list(culprits))


def _bounds_at(a: Floats, b: Floats, room: Floats) -> tuple[float, float, tuple[int, int]]:
    """Return bounds of x, and the rows that give them, where a u + b x <= room."""
    size = np.abs(a) > _NONE * np.abs(a).max(initial=0.0)
    above, below, free = (
        np.flatnonzero(which) for which in (size & (a > 0.0), size & (a < 0.0), ~size)
    )
    up, down = a[above][:, None], -a[below][None, :]
    slopes = np.concatenate([(down * b[above][:, None] + up * b[below]).ravel(), b[free]])
    rests = np.concatenate([(down * room[above][:, None] + up * room[below]).ravel(), room[free]])
    pairs = [(int(i), int(k)) for i in above for k in below] + [(int(i), int(i)) for i in free]
    lower, upper, first, second = 0.0, np.inf, -1, -1
    tiny = _NONE * np.abs(slopes).max(initial=0.0)
    with np.errstate(divide='ignore', invalid='ignore'):
        places = rests / slopes
    held, lifted = slopes > tiny, slopes < -tiny
    if held.any():
        second = int(np.argmin(np.where(held, places, np.inf)))
        upper = float(places[second])
    if lifted.any():
        first = int(np.argmax(np.where(lifted, places, -np.inf)))
        lower = max(float(places[first]), 0.0)
    never = ~held & ~lifted & (rests < 0.0)
    if never.any():
        second = int(np.argmin(np.where(never, rests, np.inf)))
        upper = -np.inf
    return lower, upper, _named(pairs, first if lower > 0.0 else -1, second)


def _named(pairs: list[tuple[int, int]], first: int, second: int) -> tuple[int, int]:
    """Return the rows of two bounds, those of the tighter one where there is only one."""
    if second >= 0:
        return pairs[second]
    return pairs[first] if first >= 0 else (-1, -1)


def fastest(grid: Floats, cells: LimitRows, nodes: LimitRows, says: Says) -> SpeedProfile:
    """
    Return the fastest profile from rest to rest.

    Parameters
    ----------
    grid : ndarray, shape (n + 1,)
        Places on the path.
    cells, nodes : LimitRows
        Rows without d in the middles of the cells, and at the grid.
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
    time = _time_unit(grid, cells, bounds.upper)
    scaled = time**2
    reachable = _controllable(
        grid,
        (cells.a / scaled, cells.b / scaled, cells.c),
        (bounds.lower * scaled, np.minimum(bounds.upper * scaled, _MANY)),
    )
    lost = np.flatnonzero(np.isnan(reachable).any(axis=1))
    if len(lost) or reachable[0, 0] > _MET:
        # most is used at rest where the path is hardest, of what is left of it
        left = cells.c[int(lost[-1]) if len(lost) else 0 :]
        worst, k = divmod(int(np.argmax(left)), left.shape[1])
        at = len(cells.c) - len(left) + worst
        said = says(k, float(cells.c[at, k]))
        raise InfeasiblePathError(
            'no motion keeps all limits to the end; hardest', grid[at], [said]
        )
    return SpeedProfile(grid, _forward(grid, cells, reachable / scaled))


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


def _forward(grid: Floats, cells: LimitRows, reachable: Floats) -> Floats:
    """Return the largest u of each cell that keeps its rows and stays among reachable x."""
    x, found = 0.0, []
    for h, a, b, room, (low, high) in zip(
        np.diff(grid), cells.a, cells.b, 1.0 - cells.c, reachable[1:], strict=True
    ):
        slope = a + h * b
        rising = slope > _NONE * np.abs(slope).max(initial=0.0)
        most = np.min((room - b * x)[rising] / slope[rising], initial=np.inf)
        after = np.clip(x + 2.0 * h * most, max(low, 0.0), high)
        found.append((after - x) / (2.0 * h))
        x = float(after)
    return np.array(found)


def _controllable(
    grid: Floats, rows: tuple[Floats, Floats, Floats], bounds: tuple[Floats, Floats]
) -> Floats:
    """Return the least and largest x at the grid from which the end can be reached, (n + 1, 2)."""
    toppra = _toppra()
    steps = np.diff(grid)[:, None]
    a, b, c = rows
    idle = np.zeros((1, a.shape[1]))  # after the last cell nothing is asked
    parts = [np.concatenate([part, idle]) for part in (a + steps * b, b, c)]
    count = a.shape[1]
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
