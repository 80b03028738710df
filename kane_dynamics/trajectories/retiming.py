# SPDX-License-Identifier: Apache-2.0
"""
Time-optimal motion along a given path under the limits of the whole robot, base and arm.

Limits are efforts, speeds and accelerations of joints, friction of wheels and tipping over. Rows
are checked at other places of the cells too; where one is exceeded cells are halved and the row is
drawn in by what it was exceeded. Cells are cut where u jumps from one limit to another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kane_dynamics.control.motion_limits import Reserve
from kane_dynamics.control.stance import Stance
from kane_dynamics.dynamics import Dynamics
from kane_dynamics.model.checks import as_count, as_nonnegative, as_positive
from kane_dynamics.trajectories.cell_search import CellSearch, LimitUse
from kane_dynamics.trajectories.free_sharing import shared
from kane_dynamics.trajectories.joint_bounds import Bounds
from kane_dynamics.trajectories.path_limits import PathLimits
from kane_dynamics.trajectories.paths import Path, PathPoints
from kane_dynamics.trajectories.points import TrajectoryPoints
from kane_dynamics.trajectories.speed_profile import SpeedProfile
from kane_dynamics.typing import Floats

__all__ = ['Retimed', 'retime']

TOLERANCE = 5e-4  # of a limit, that it may be exceeded by
FULL = Reserve(edge=0.0, friction=1.0, effort=1.0, speed=1.0)
"""All of each limit may be used."""
_ROUNDS = 8  # of halving
_SPLITS = 2  # rounds in which cells are cut where u jumps
_COARSE = 2e-3  # of a limit, beyond which a cell is halved


@dataclass(frozen=True, eq=False)
class Retimed:
    """
    A path with its fastest timing.

    Parameters
    ----------
    limits : PathLimits
        Robot, path and limits.
    profile : SpeedProfile
        The speed along the path.
    uses : mapping of str to LimitUse
        By name of the limit.
    slowed : float
        Factor of the duration by which all was slowed in the end; 1 where nothing was.
    shares_freely : bool
        Whether redundant motors share as the limits need it.

    """

    limits: PathLimits
    profile: SpeedProfile
    uses: dict[str, LimitUse]
    slowed: float
    shares_freely: bool = False

    @property
    def duration(self) -> float:
        """Return how long it takes [s]."""
        return self.profile.duration

    def at(self, times: Floats) -> tuple[Floats, Floats, Floats]:
        """Return q, v and a at times from 0 to the duration, each of shape (n, nv)."""
        places = self.profile.places(times)
        return self._motion(places, self.limits.path.at(places))

    def _motion(self, places: Floats, points: PathPoints) -> tuple[Floats, Floats, Floats]:
        u, x = (part[:, None] for part in self.profile.of(places))
        return points.q, points.tangent * np.sqrt(x), points.tangent * u + points.bend * x

    def efforts(self, times: Floats) -> Floats:
        """Return the efforts of the motors at times, shape (n, nv)."""
        limits, places = self.limits, self.profile.places(times)
        q, v, a = self._motion(places, limits.points(places))
        efforts = limits.dynamics.constrained_inverse_dynamics(q, v, a, limits.actuated).effort
        if not self.shares_freely:
            return efforts
        uses = self.limits.at(places).use(*self.profile.of(places))
        z = shared(uses, self.limits.shares(places))
        return np.asarray(efforts + np.einsum('nvr,nr->nv', self.limits.balancing(q)[1], z))

    def points(self, step: float = 0.01) -> TrajectoryPoints:
        """
        Return points of the motion with efforts.

        Parameters
        ----------
        step : float
            Largest time between points [s].

        Raises
        ------
        InvalidInputError
            If it is not positive.

        """
        count = int(np.ceil(self.duration / as_positive('step [s]', step))) + 1
        times = np.linspace(0.0, self.duration, max(count, 2))
        names = self.limits.dynamics.robot.velocity_names
        return TrajectoryPoints(names, times, *self.at(times), self.efforts(times))


def retime(
    dynamics: Dynamics,
    path: Path,
    actuated: Sequence[str],
    *,
    contacts: Stance | None = None,
    kept: Reserve = FULL,
    efforts: Bounds | None = None,
    velocities: Bounds | None = None,
    accelerations: Bounds | None = None,
    share_freely: bool = False,
    smoothing: float = 0.0,
    cells: int = 200,
) -> Retimed:
    """
    Return the fastest motion from rest to rest along a path.

    No limit is exceeded by more than 0.1 %, between the cells either.

    Parameters
    ----------
    dynamics : Dynamics
        Of the robot under its constraints, from `dynamics` or `compile`.
    path : Path
        A `SplinePath` or `RolledPath`; its tangents keep the constraint rows.
    actuated : sequence of str
        Speeds that have motors.
    contacts : Stance, optional
        What the robot stands on, from `stance` or `base_stance`: friction of its wheels and
        tipping over count. Neither does where left out.
    kept : Reserve
        What is left of the limits.
    efforts, velocities : mapping of str to float or (float, float), optional
        Bounds that count instead of the robot's, by speed: of both signs, or lower and upper.
    accelerations : mapping of str to float or (float, float), optional
        Bounds of accelerations; the robot has none.
    share_freely : bool
        Whether redundant motors share as the limits need it, which takes linear programs; else
        they share with least efforts, as `constrained_inverse_dynamics` has them.
    smoothing : float
        Time [s] that a change of acceleration takes at least: the speed along the path is the mean
        over it, and where limits would then be exceeded the whole motion is slower. 0: not at all.
    cells : int
        Of the grid to begin with.

    Raises
    ------
    MissingPackageError
        If toppra is not installed.
    InfeasiblePathError
        If there is no such motion; it says where on the path, and which limits.
    ConstraintError
        If a tangent of the path leaves the constraint rows.
    InvalidInputError, NameNotFoundError
        If a number is not legal, a speed does not exist, or nothing limits the motion.
    NotSolvedError
        If limits are exceeded however fine the grid is.

    """
    limits = PathLimits(
        dynamics,
        path,
        actuated,
        contacts,
        kept,
        {} if efforts is None else efforts,
        {} if velocities is None else velocities,
        {} if accelerations is None else accelerations,
    )
    smooth = as_nonnegative('smoothing [s]', smoothing)
    search, profile = _searched(limits, as_count('cells', cells, 1), share_freely)
    if smooth > 0.0:
        profile = profile.smoothed(smooth)
    pace = search.pace(profile, TOLERANCE)
    slower = profile if pace == 1.0 else profile.slowed(pace)
    return Retimed(limits, slower, search.report(slower), 1.0 / pace, share_freely)


def _searched(limits: PathLimits, count: int, free: bool) -> tuple[CellSearch, SpeedProfile]:
    """Return the fastest profile on a grid that is cut where limits ask for it, and the grid."""
    # cells that grow with the time from rest: steps of time are even there
    grid = 0.5 * limits.path.length * (1.0 - np.cos(np.pi * np.arange(count + 1) / count))
    tight = np.zeros((count, len(limits.names)))
    search = CellSearch(limits, grid, tight, free)
    for k in range(_ROUNDS):
        profile, switches = search.fastest()
        excess = search.excess(profile)
        exceeded = excess.max() > TOLERANCE
        if not exceeded and (k >= _SPLITS or not len(switches)):
            break
        if exceeded:
            tight = tight + np.maximum(excess, 0.0)
        new = np.concatenate([profile.middles[excess.max(axis=1) > _COARSE], switches])
        cut = np.searchsorted(grid, new) - 1
        tight = np.repeat(tight, 1 + np.bincount(cut, minlength=len(tight)), axis=0)
        grid = np.sort(np.concatenate([grid, new]))
        search = CellSearch(limits, grid, tight, free, search)
    return search, profile
