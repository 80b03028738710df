# SPDX-License-Identifier: Apache-2.0
"""Cells of a path with their limit rows, and how much a motion uses of each limit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from kane_dynamics.exceptions import InfeasiblePathError, InvalidInputError, NotSolvedError
from kane_dynamics.trajectories.limit_rows import (
    LimitRows,
    largest_scaling,
    least_uses,
    peaks,
    projected,
)
from kane_dynamics.trajectories.path_limits import PathLimits
from kane_dynamics.trajectories.speed_profile import (
    FAST,
    CellInequalities,
    SpeedProfile,
    Speeds,
    Timing,
)
from kane_dynamics.typing import Floats

# of a cell, and of the times between jumps; friction has its sign just inside the ends
_LOOKS = np.array([1e-6, 0.25, 0.5, 0.75, 1.0 - 1e-6])
_BOTH = slice(None, None, len(_LOOKS) - 1)  # ends, where limits hold
_SPARE = 1e-9  # of a limit, that may be exceeded: a robot at a limit may move
_PART = 0.5  # of what a limit leaves at rest that a change of u may take
_STEADY = 0.1  # of u, that its change in a cell may be
_JUMP = 0.5  # of u, by which the cells beside one differ that has a switch
_ENDS = 0.05  # of a cell, nearer to which it is not cut
_SHORTEST = 1e-8  # of a path: a cell
_LEAST = 1e-3  # of a limit: what it leaves at rest, at least
_TRIES = 25  # quarters of x near which roots are linear
_UNLIMITED = 1e-3 * FAST


@dataclass(frozen=True, eq=False)
class PathCells:
    """Cells with their rows at both ends and at three places between them."""

    limits: PathLimits
    grid: Floats
    rows: LimitRows
    shares: Floats | None
    known: dict[bytes, Floats] = field(default_factory=dict)

    @classmethod
    def on(cls, limits: PathLimits, grid: Floats, free: bool) -> PathCells:
        """Return the cells of a grid."""
        s = _looks(grid[:-1], grid[1:])
        rows = limits.at(s.ravel()).reshaped(*s.shape)
        if not free:
            return cls(limits, grid, rows, None)
        shares = limits.shares(s.ravel())
        return cls(limits, grid, rows, shares.reshape(*s.shape, *shares.shape[1:]))

    def split(self, cuts: Floats) -> PathCells:
        """Return cells that are cut at places, too; rows of the others are not evaluated again."""
        grid = np.union1d(self.grid, cuts)
        if self.shares is not None:
            return replace(PathCells.on(self.limits, grid, free=True), known=self.known)
        parents = np.searchsorted(self.grid, 0.5 * (grid[1:] + grid[:-1])) - 1
        new = np.diff(grid) != np.diff(self.grid)[parents]
        s = _looks(grid[:-1][new], grid[1:][new])
        rows = self.limits.at(s.ravel()).reshaped(*s.shape)
        return PathCells(self.limits, grid, self.rows.merged(rows, parents, new), None)

    def fastest(self, before: SpeedProfile | None = None) -> SpeedProfile:
        """Return the fastest profile, linearised about the one before."""
        at = _BOTH if self.shares is None else slice(None)
        rows = self.rows[:, at]
        if before is None:
            none = np.zeros(len(self.grid) - 1)
            return self._profile(replace(rows, d=np.zeros_like(rows.d)), none)
        changes = self._changes(before)
        if not rows.d.any():
            return self._profile(rows, changes)
        # what keeps the rows keeps the linear ones at its x, too: begin at what keeps all of them
        u, x = before.of(_looks(self.grid[:-1], self.grid[1:])[:, at])
        drag, still = rows.d * np.sqrt(x)[..., None], rows.c
        inertial = rows.use(u, x) - drag - still
        x = x * (largest_scaling(inertial, drag, still, 1.0) or 1.0) ** 2
        for _ in range(_TRIES):
            try:
                return self._profile(rows.linear(x), changes)
            except InfeasiblePathError:
                x = 0.25 * x
        return self._profile(rows.linear(x), changes)

    def cuts(self, profile: SpeedProfile, tolerance: float, loss: float) -> Floats:
        """Return where to cut cells whose limits are exceeded, or keep the motion too slow."""
        grid, h = self.grid, np.diff(self.grid)
        u, x = profile.of(_looks(grid[:-1], grid[1:]))
        rows = self.rows if self.shares is None else self._shared(self.rows.linear(x))
        use = rows.use(u, x)
        # all might be faster by this: a limit that leaves little at rest is reached by little
        part = (use - rows.c) / np.maximum(1.0 - rows.c, _LEAST)
        idle = 1.0 - part[:, 1:-1].max(axis=2).mean(axis=1)
        lost = 0.5 * np.diff(profile.times) * np.clip(idle, 0.0, 1.0)
        cut = peaks(use).max(axis=1) > 1.0 + tolerance
        if lost.sum() > loss * profile.duration:
            cut |= lost > loss * profile.duration / len(h)
        cut &= h > _SHORTEST * grid[-1]
        # where u jumps from what it is before to what it is behind
        before, behind = profile.u[:-2], profile.u[2:]
        gap, squares = before - behind, profile.squares
        jumps = np.abs(gap) > _JUMP * np.maximum(np.abs(before), np.abs(behind))
        meet = 0.5 * (squares[2:-1] - squares[1:-2]) - h[1:-1] * behind
        share = np.full(len(h), 0.5)
        np.divide(meet, h[1:-1] * gap, out=share[1:-1], where=jumps)
        share[np.abs(share - 0.5) > 0.5 - _ENDS] = 0.5
        return np.asarray((grid[:-1] + share * h)[cut])

    def _changes(self, before: SpeedProfile) -> Floats:
        """Return half of what u changes by in each cell; a robot at rest keeps room to move."""
        middles = 0.5 * (self.grid[1:] + self.grid[:-1])
        changes = 0.5 * np.diff(self.grid) * before.slopes[before.cells(middles)]
        size, room = np.abs(self.rows.a[:, _BOTH]), _PART * np.abs(1.0 - self.rows.c[:, _BOTH])
        most = np.divide(room, size, out=np.full_like(size, np.inf), where=size > 0.0)
        steady = _STEADY * np.abs(before.of(middles)[0])
        bound = np.minimum(steady, most.min(axis=(1, 2), initial=np.inf))
        return np.clip(changes, -bound, bound)

    def _shared(self, rows: LimitRows) -> LimitRows:
        """Return rows without d as the limits have them, however motors share."""
        if self.shares is None:
            return rows
        s = _looks(self.grid[:-1], self.grid[1:])
        flat = self.shares.reshape(-1, *self.shares.shape[2:])
        polygons = projected(rows.reshaped(-1), flat, s.ravel(), self.known)
        return polygons.reshaped(*s.shape)

    def _profile(self, rows: LimitRows, changes: Floats) -> SpeedProfile:
        """Return the fastest profile under rows without d, u changing as given in the cells."""
        shared, h, change = self._shared(rows), np.diff(self.grid)[:, None], changes[:, None]
        first, last = shared[:, 0], shared[:, -1]
        a = np.concatenate([first.a, last.a + 2.0 * h * last.b], axis=1)
        b = np.concatenate([first.b, last.b], axis=1)
        c = np.concatenate([first.c - first.a * change, last.c + last.a * change], axis=1)
        speeds = CellInequalities(h[:, 0], a, b, 1.0 + _SPARE - c).fastest()
        if speeds.lost >= 0:
            raise self._infeasible(speeds)
        if speeds.x.max() > _UNLIMITED:
            place = self.grid[int(np.argmax(speeds.x))]
            raise InvalidInputError(f'retiming: nothing limits the speed at {place:g} of the path')
        return SpeedProfile(self.grid, speeds.x, changes)

    def _infeasible(self, speeds: Speeds) -> InfeasiblePathError:
        """Return what to say of a path along which no motion keeps the limits."""
        k, used = speeds.lost, self.rows.c
        if speeds.rows:
            count = used.shape[-1]
            several = [self._says(row % count, used[k, -(row // count)]) for row in speeds.rows]
            words = 'no speed and acceleration keep all limits'
            return InfeasiblePathError(words, self.grid[k], dict.fromkeys(several))
        # most is used at rest where the path is hardest, of what is left of it
        cell, look, row = np.unravel_index(int(np.argmax(used[k:])), used[k:].shape)
        place = _looks(self.grid[k:-1], self.grid[k + 1 :])[cell, look]
        said = self._says(int(row), used[k + cell, look])
        return InfeasiblePathError('no motion keeps all limits to the end; hardest', place, [said])

    def _says(self, row: int, used: Floats) -> str:
        if self.shares is not None:
            return 'all limits together, however redundant motors share'
        return self.limits.says(row, float(used[row]))


def _looks(starts: Floats, ends: Floats) -> Floats:
    """Return places in cells, shape (n, 5)."""
    return np.asarray(starts[:, None] + (ends - starts)[:, None] * _LOOKS)


_REACHED = 0.99  # use of a limit that is active


@dataclass(frozen=True, slots=True)
class LimitUse:
    """What a motion uses of one limit."""

    largest: float  # All of it is 1; of speeds it is the square
    place: float  # Where on the path that is
    active: float  # Part of the duration in which the limit is reached


class MotionUses:
    """Uses of all limits, at the ends of the smooth parts of a motion and between them."""

    def __init__(self, limits: PathLimits, timing: Timing, free: bool) -> None:
        starts, self._lengths = timing.times[:-1], np.diff(timing.times)
        moments = (starts[:, None] + self._lengths[:, None] * _LOOKS).ravel()
        self._limits, (self._s, u, x) = limits, timing.at(moments)
        rows = limits.at(self._s)
        self._drag, self._still, use = rows.d * np.sqrt(x)[:, None], rows.c, rows.use(u, x)
        if free:
            shares = limits.shares(self._s)
            self._still, use = least_uses(rows.c, shares), least_uses(use, shares)
        self._inertial = use - self._drag - self._still

    def scaling(self, tolerance: float) -> float:
        """Return the largest factor of speed, up to 1, with which no limit is exceeded by more."""
        scaling = largest_scaling(self._inertial, self._drag, self._still, 1.0 + tolerance)
        if scaling <= 0.0:
            at, row = np.unravel_index(int(np.argmax(self._still)), self._still.shape)
            raise NotSolvedError(
                f'retiming: {self._limits.says(int(row), float(self._still[at, row]))} at '
                f'{self._s[at]:g} of the path: only speed carries the robot over, and on '
                'this grid limits are exceeded; give more cells'
            )
        return scaling

    def report(self, scaling: float) -> dict[str, LimitUse]:
        """Return what is used of each limit at a part of the speed, by name."""
        every = scaling * (scaling * self._inertial + self._drag) + self._still
        uses: dict[str, LimitUse] = {}
        names = self._limits.names
        for name in dict.fromkeys(names):
            most = every[:, [one == name for one in names]].max(axis=1)
            worst = int(np.argmax(most))
            reached = most.reshape(len(self._lengths), -1).max(axis=1) >= _REACHED
            active = float(self._lengths[reached].sum() / self._lengths.sum())
            uses[name] = LimitUse(float(most[worst]), float(self._s[worst]), active)
        return uses
