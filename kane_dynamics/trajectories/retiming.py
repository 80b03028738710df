# SPDX-License-Identifier: Apache-2.0
"""
Time-optimal motion along a given path under the limits of the whole robot, base and arm.

Limits are efforts, speeds and accelerations of joints, friction of wheels and tipping over. Rows
are checked at other places of the cells too; where one is exceeded cells are halved and the row is
drawn in by what it was exceeded. Cells are cut where u jumps from one limit to another.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kane_dynamics.analysis.ground_contacts import GroundContacts
from kane_dynamics.analysis.motion_limits import SafetyMargins
from kane_dynamics.dynamics import Dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_count, as_nonnegative, as_positive
from kane_dynamics.trajectories.effort_points import CLOSEST, GAP
from kane_dynamics.trajectories.joint_trajectory import JointTrajectory
from kane_dynamics.trajectories.limit_rows import shared
from kane_dynamics.trajectories.path_cells import LimitUse, MotionUses, PathCells
from kane_dynamics.trajectories.path_limits import PathLimits
from kane_dynamics.trajectories.paths import Path
from kane_dynamics.trajectories.robot_limits import Bounds
from kane_dynamics.trajectories.speed_profile import SmoothedProfile, SpeedProfile, Timing
from kane_dynamics.typing import Floats

__all__ = ['Retimed', 'retime']

TOLERANCE = 5e-4  # of a limit, that it may be exceeded by between looks
LOSS = 2e-3  # of the duration, that cells too large may cost, as they are estimated
# all of each limit may be used
FULL = SafetyMargins(edge=0.0, friction=1.0, effort=1.0, speed=1.0)
_ROUNDS = 12  # of cutting cells
_BETWEEN = 12  # cells between knots to begin with: they are cut so fine in any case
_SETTLED = 1e-5  # relative change of the duration
_APART = 1e-10  # of a path: places that differ
_INSIDE = 1e-7  # of the duration: what is just before or behind
_JUMP = 0.01  # of an effort's largest size
_HALVINGS = 8  # of times between points
_PARTS = (0.2, 0.5, 0.8)  # of the time between two, at which their line is compared
_WINDOW = 2.0**-10  # of the duration: the least
_STEPS = 2  # of windows, to twice as much


@dataclass(frozen=True, eq=False)
class Retimed:
    """
    A path with its fastest timing.

    Parameters
    ----------
    limits : PathLimits
        Robot, path and limits.
    profile : SpeedProfile or SmoothedProfile
        The speed along the path.
    uses : mapping of str to LimitUse
        By name of the limit.
    slowed : float
        Factor of the duration by which all was slowed in the end; 1 where nothing was.
    shares_freely : bool
        Whether redundant motors share as the limits need it.

    """

    limits: PathLimits
    profile: Timing
    uses: dict[str, LimitUse]
    slowed: float
    shares_freely: bool = False

    @property
    def duration(self) -> float:
        """Return how long it takes [s]."""
        return self.profile.duration

    def at(self, times: Floats) -> tuple[Floats, Floats, Floats]:
        """Return q, v and a at times from 0 to the duration, each of shape (n, nv)."""
        s, u, x = self.profile.at(times)
        q, tangent, bend = self.limits.path.at(s)
        u, x = u[:, None], x[:, None]
        return q, tangent * np.sqrt(x), tangent * u + bend * x

    def efforts(self, times: Floats) -> Floats:
        """Return the efforts of the motors at times, shape (n, nv); at the ends just inside."""
        limits, (s, u, x) = self.limits, self.profile.at(times)
        q, tangent, bend = limits.points(s)
        x = np.maximum(x, np.finfo(float).tiny)  # at the ends, too, friction has its sign
        v, a = tangent * np.sqrt(x)[:, None], tangent * u[:, None] + bend * x[:, None]
        efforts = limits.dynamics.constrained_inverse_dynamics(q, v, a, limits.actuated).effort
        if not self.shares_freely:
            return efforts
        z = shared(limits.at(s).use(u, x), limits.shares(s))
        return np.asarray(efforts + np.einsum('nvr,nr->nv', limits.balancing(q)[1], z))

    def motion(self, step: float = 0.01) -> JointTrajectory:
        """
        Return points of the motion, two of them `effort_points.GAP` apart where efforts jump.

        Parameters
        ----------
        step : float
            Largest time between points [s].

        Raises
        ------
        InvalidInputError
            If it is not positive.

        """
        names, times = self.limits.dynamics.robot.velocity_names, self._times(step)
        return JointTrajectory(names, times, *self.at(times))

    def points(self, step: float = 0.01, error: float = 0.1) -> JointTrajectory:
        """
        Return points of the motion with efforts, and a last one at rest.

        Parameters
        ----------
        step : float
            Largest time between points [s].
        error : float
            Largest difference of a line between points from the efforts [N m or N]; points are
            not put closer than `effort_points.CLOSEST` for it.

        Raises
        ------
        InvalidInputError
            If one is not positive.

        """
        bound, times = as_positive('error [N m or N]', error), self._times(step)
        efforts = self.efforts(times)
        for _ in range(_HALVINGS):
            long = np.flatnonzero(np.diff(times) >= 2.0 * CLOSEST)
            gap, rise = (np.diff(x, axis=0)[long] for x in (times, efforts))
            samples = [self.efforts(times[long] + part * gap) for part in _PARTS]
            lines = [efforts[long] + part * rise for part in _PARTS]
            off = (np.abs(np.subtract(samples, lines)) > bound).any(axis=(0, 2))
            times = np.insert(times, 1 + long[off], (times[long] + _PARTS[1] * gap)[off])
            efforts = np.insert(efforts, 1 + long[off], samples[1][off], axis=0)
        q, v, a = (np.concatenate([x, 0.0 * x[-1:]]) for x in self.at(times))
        q[-1] = q[-2]
        dynamics, actuated = self.limits.dynamics, self.limits.actuated
        standstill = dynamics.constrained_inverse_dynamics(q[-1], v[-1], a[-1], actuated).effort
        times = np.append(times, times[-1] + GAP)
        names = dynamics.robot.velocity_names
        return JointTrajectory(names, times, q, v, a, np.vstack([efforts, standstill]))

    def _times(self, step: float) -> Floats:
        """Return times of points, two of them a gap apart where efforts jump."""
        most, end = as_positive('step [s]', step), self.duration
        even = np.linspace(0.0, end, max(int(np.ceil(end / most)), 1) + 1)
        near, inside = end * _INSIDE, self.profile.times[1:-1]
        before, behind = self.efforts(inside - near), self.efforts(inside + near)
        size = np.abs(before).max(axis=0, initial=0.0)
        gap = min(GAP, even[1])
        jumps = inside[(np.abs(behind - before) > _JUMP * size).any(axis=1)]
        jumps = jumps[(jumps > gap) & (jumps < end - gap)]
        sides = np.union1d(jumps - 0.5 * gap, jumps + 0.5 * gap)
        kept = (
            times[(np.abs(times[:, None] - jumps) > reach * gap).all(axis=1)]
            for times, reach in ((even, 0.75), (sides, 0.49))
        )
        return np.union1d(*kept)


def retime(
    dynamics: Dynamics,
    path: Path,
    actuated: Sequence[str],
    *,
    contacts: GroundContacts | None = None,
    kept: SafetyMargins = FULL,
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
    contacts : GroundContacts, optional
        From `ground_contacts` or `base_ground_contacts`: friction of the wheels and tipping over
        count. Neither does where left out.
    kept : SafetyMargins
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
        over it, and where limits would then be exceeded the whole motion is slower. It is at least
        a thousandth of the duration; 0: not at all.
    cells : int
        Of the grid to begin with.

    Raises
    ------
    InfeasiblePathError
        If there is no such motion; it says where on the path, and which limits.
    ConstraintError
        If a tangent of the path leaves the constraint rows.
    InvalidInputError, NameNotFoundError
        If a number is not legal, a speed does not exist, or nothing limits the motion.
    NotSolvedError
        If limits are exceeded however fine the grid is.

    Examples
    --------
    >>> from kane_dynamics.trajectories.paths import SplinePath
    >>> from kane_dynamics.trajectories.retiming import retime
    >>> robot = kd.serial_chain(2)
    >>> path = SplinePath([[0.0, 0.0], [0.5, 0.2], [1.0, 0.0]])
    >>> names = robot.joint_names
    >>> limits = {name: 1.0 for name in names}
    >>> found = retime(kd.dynamics(robot), path, names, velocities=limits, accelerations=limits)
    >>> max(use.largest for use in found.uses.values()) <= 1.001
    True

    """
    bounds = efforts, velocities, accelerations
    limits = PathLimits(dynamics, path, actuated, contacts, kept, *bounds)
    window, count = as_nonnegative('smoothing [s]', smoothing), as_count('cells', cells, 2)
    profile = _fastest(limits, count, share_freely)
    motion = _kept(limits, profile, share_freely)
    if window == 0.0:
        return motion
    return _smoothed(motion, profile.slowed(1.0 / motion.slowed), window)


def _kept(limits: PathLimits, timing: Timing, free: bool) -> Retimed:
    """Return a motion that is slowed by what limits ask for."""
    uses = MotionUses(limits, timing, free)
    scaling = uses.scaling(TOLERANCE)
    slower = timing if scaling == 1.0 else timing.slowed(scaling)
    return Retimed(limits, slower, uses.report(scaling), 1.0 / scaling, free)


def _smoothed(quick: Retimed, profile: SpeedProfile, window: float) -> Retimed:
    """Return the shortest smoothed motion of a long enough window; a longer may be slowed less."""
    least, candidates = quick.duration * _WINDOW, list[Retimed]()
    for k in itertools.count(max(int(np.ceil(_STEPS * np.log2(window / least))), 0)):
        longer = least * 2.0 ** (k / _STEPS)
        if candidates and quick.duration + longer >= min(one.duration for one in candidates):
            break
        timing = SmoothedProfile(profile, longer)
        candidates.append(_kept(quick.limits, timing, quick.shares_freely))
    return min(candidates, key=lambda one: one.duration)


def _fastest(limits: PathLimits, count: int, free: bool) -> SpeedProfile:
    """Return the fastest profile on a grid that is cut where limits ask for it."""
    # cells that grow with the time from rest: steps of time are even there
    grid = limits.path.length * np.sin(np.linspace(0.0, 0.5 * np.pi, count + 1)) ** 2
    if not limits.points(grid).tangent.any():
        raise InvalidInputError('path: no coordinate moves along it')
    knots = getattr(limits.path, 'knots', grid[:1])
    if (most := _BETWEEN * (len(knots) - 1)) > count:
        knots = np.interp(np.arange(most + 1) / _BETWEEN, np.arange(len(knots)), knots)
    every = np.sort(np.concatenate([grid, knots, limits.reversals(grid)]))
    apart = np.diff(every) > _APART * limits.path.length
    cells = PathCells.on(limits, np.append(every[:-1][apart], every[-1]), free)
    profile = cells.fastest()
    for _ in range(_ROUNDS):
        before, profile = profile, cells.fastest(profile)
        cuts = cells.cuts(profile, TOLERANCE, LOSS)
        if len(cuts):
            cells = cells.split(cuts)
        elif abs(profile.duration / before.duration - 1.0) < _SETTLED:
            break
    return profile
