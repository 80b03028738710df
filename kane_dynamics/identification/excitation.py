# SPDX-License-Identifier: Apache-2.0
r"""
Motions that show the parameters of a robot, within its limits.

Joints move along Fourier series (Swevers et al., IEEE Transactions on Robotics and Automation
13(5), 1997) about a centre c_j, faded in and out by a quintic f(t), so that they begin and end at
rest:

.. math:: q_j(t) = c_j + f(t) \sum_{l=1}^{5} \frac{a_{lj} \cos l w t + b_{lj} \sin l w t}{l}

Centres and coefficients minimise the logarithm of the condition number of the base columns that
the efforts show, each of unit length, with a penalty beyond limits, from several random starts.
After that all joints go back and forth at constant speeds, for their friction. A base on wheels
moves as its drives roll.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
from scipy.optimize import minimize

from kane_dynamics.analysis.ground_contacts import GroundContacts
from kane_dynamics.analysis.momentum_observer import ObservedSpeeds
from kane_dynamics.analysis.motion_limits import SafetyMargins
from kane_dynamics.dynamics import Dynamics, checked_dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.identification.base_parameters import BaseParameters, base_parameters
from kane_dynamics.identification.constrained_samples import independent_speeds
from kane_dynamics.identification.equations import Equations
from kane_dynamics.identification.friction import MOTOR_SIDE
from kane_dynamics.identification.planned_motion import (
    BLEND,
    EVEN,
    HARMONICS,
    PERIOD,
    MotionSpace,
    PlannedPath,
    series,
    strokes,
)
from kane_dynamics.identification.samples import Samples
from kane_dynamics.robot.checks import as_names, as_positive
from kane_dynamics.robot.joint_tables import known_limits
from kane_dynamics.robot.state import checked_coordinates
from kane_dynamics.trajectories.joint_trajectory import ROWS, JointTrajectory
from kane_dynamics.typing import ArrayLike, Floats

__all__ = ['ExcitingMotion', 'exciting_motion']

_STARTS, _DRAWS, _STEPS = 2, 12, 25  # of the search; random motions before it; its iterations
_GRID, _POINTS, _FINE = 0.2, 0.04, 1e-3  # [s] of the search, of the result, of its check
_ROOM = 0.97  # of the limits, in the search: between its instants more of them is used
_PENALTY = 30.0  # of the square of what is used beyond
_MIDDLE = 0.6  # of the ranges, for random centres
_DIFFERENCE = 1e-6  # of the variables
_EXACT = 1e-14  # of eigenvalues: roundoff
_TOGETHER = 40  # motions that are computed at once
_HALVINGS = 7  # of a factor of size
_FAST = 0.9  # of the limits of speed and acceleration, for strokes
KEPT = SafetyMargins()


@dataclass(frozen=True, eq=False)
class ExcitingMotion:
    """
    A motion for a recording.

    Parameters
    ----------
    trajectory : JointTrajectory
        Of all joints.
    twists : ndarray, shape (n, 3)
        Of the root link of a planar base at the times of the trajectory, in its axes.
    uses : mapping of str to float
        The largest part of each limit that is used, at instants 1 ms apart; 1 is all.
    base : BaseParameters
        What the motion shows.
    random_condition : float
        Median of the condition numbers of the random motions that the search began with.

    """

    trajectory: JointTrajectory
    twists: Floats
    uses: dict[str, float]
    base: BaseParameters
    random_condition: float


def exciting_motion(
    dynamics: Dynamics,
    actuated: Sequence[str],
    *,
    speeds: ObservedSpeeds | None = None,
    still: Sequence[str] = (),
    contacts: GroundContacts | None = None,
    kept: SafetyMargins = KEPT,
    start: ArrayLike | None = None,
    acceleration: float = 5.0,
    floor: float = 1.0,
    duration: float = 20.0,
    seed: int = 0,
    tell: Callable[[str, int, int], object] = lambda text, done, total: None,
) -> ExcitingMotion:
    """
    Return a motion from rest to rest that shows what efforts can show.

    Limits are position, speed and effort of each motor, `acceleration`, and of a base on wheels
    those of `contacts` and the way from its start. Collisions are not among them.

    Parameters
    ----------
    dynamics : Dynamics
        Of the robot under the constraints of its base; compiled ones are quicker.
    actuated, still : sequence of str
        Speeds that have motors; those of them that shall not move.
    speeds : ObservedSpeeds, optional
        Speeds whose efforts will be measured; all that have motors where left out.
    contacts, kept : GroundContacts, optional, and SafetyMargins
        What a base stands on: then traction and tipping over are limits; what is left of them.
    start : array_like, shape (nq,), optional
        Coordinates of joints that no motor moves, and of the centre where a range is unbounded.
    acceleration, floor, duration : float
        Largest of all motors [rad/s^2 or m/s^2], longest way of a base from its start [m], and of
        the series [s]; strokes at constant speed take 42 s more.
    seed, tell : int, callable
        Of the random motions; called with words, steps done and steps in all.

    Raises
    ------
    InvalidInputError
        If a number is not positive, or no random motion keeps the limits, however small.

    Examples
    --------
    >>> from kane_dynamics.identification.excitation import exciting_motion
    >>> motion = exciting_motion(kd.compile(kd.serial_chain(1)), ['joint_1'])
    >>> motion.base.rank, motion.trajectory.end, motion.base.condition < motion.random_condition
    (6, 62.0, True)

    """
    robot = checked_dynamics(dynamics).robot
    as_positive('acceleration', acceleration)
    as_positive('floor [m]', floor)
    as_positive('duration [s]', duration)
    q_start = np.array(checked_coordinates(robot, robot.neutral() if start is None else start))
    q_start[: 3 * (robot.base == 'planar')] = 0.0
    motors = as_names('actuated', actuated)
    space = MotionSpace(dynamics, motors, still, q_start, contacts, kept, acceleration, floor)
    observed = independent_speeds(dynamics, motors) if speeds is None else speeds
    terms = dict.fromkeys((name for name in observed.names if name in space.moving), MOTOR_SIDE)
    search = _Search(space, Equations(dynamics, observed, terms), duration)
    shape = _DRAWS, 1 + 2 * HARMONICS, len(space.moving)
    xs = np.random.default_rng(seed).uniform(-1.0, 1.0, shape)
    xs[:, 0] *= _MIDDLE
    draws = sorted(map(search.within, xs.reshape(_DRAWS, -1)), key=itemgetter(0))
    if draws[0][0] == np.inf:
        values = search.uses(0.0 * draws[0][1][None])[0].tolist()
        uses = dict(zip(space.names, values, strict=True))
        raise InvalidInputError(f'no random motion keeps the limits; uses at rest: {uses}')
    steps = itertools.count(1)
    solutions = [
        search.improved(draw, lambda _: tell('exciting motion', next(steps), _STARTS * _STEPS))
        for draw in draws[:_STARTS]
    ]
    best = min(solutions, key=itemgetter(0))[1]
    return search.result(best, float(np.median([condition for condition, _ in draws])))


class _Search:
    """Motions by variables of size 1: of each motor its centre, and then its coefficients."""

    def __init__(self, space: MotionSpace, equations: Equations, duration: float) -> None:
        self._space, self._equations, self._duration = space, equations, duration
        self._times = np.arange(0.0, duration + 0.5 * _GRID, _GRID)
        self._sizes = np.minimum(space.reach, space.fastest * PERIOD / (2.0 * np.pi))
        efforts = known_limits(equations.dynamics.robot.effort_limit[equations.speeds.indices])
        known = efforts[np.isfinite(efforts)]
        self._weights = 1.0 / np.minimum(efforts, np.max(known, initial=1.0))

    def path(self, xs: Floats) -> PlannedPath:
        """Return the motions of rows of variables as a path."""
        parts, space = xs.reshape(len(xs), -1, len(self._sizes)), self._space
        centres = space.middle + np.where(space.bounded, parts[:, 0] * space.reach, 0.0)
        motion = series(centres, parts[:, 1:] * self._sizes, self._duration)
        return PlannedPath(space, motion, self._duration)

    def uses(self, xs: Floats) -> Floats:
        """Return what motions use of each limit, shape (len(xs), m)."""
        return self._space.uses(self.path(xs), self._times, len(xs))

    def smaller(self, x: Floats, factor: float) -> Floats:
        """Return the variables of smaller waves about the same centre."""
        n = len(self._sizes)
        return np.concatenate([x[:n], factor * x[n:]])

    def rows(self, path: PlannedPath, times: Floats) -> Floats:
        """Return the equations of motions, each speed's by its limit of effort."""
        q, v, a = path.at(times)
        index, none = np.arange(len(times)), np.zeros_like(v)
        samples = Samples(times, q, v, a, none, none, q, v, none, index)
        rows = np.concatenate([*self._equations.chunks([samples])])[..., :-1]
        return np.asarray((rows * self._weights[:, None]).reshape(-1, rows.shape[-1]))

    def base(self, path: PlannedPath, times: Floats) -> BaseParameters:
        """Return what a motion shows."""
        equations = self._equations
        return base_parameters(self.rows(path, times), equations.names, equations.preferences)

    def within(self, x: Floats) -> tuple[float, Floats]:
        """Return the condition number of waves as large as limits allow, and their variables."""
        factor = _largest(lambda f: self.uses(self.smaller(x, f)[None]), _ROOM)
        x = self.smaller(x, factor)
        return self.base(self.path(x[None]), self._times).condition if factor else np.inf, x

    def improved(
        self, draw: tuple[float, Floats], step: Callable[[Floats], object]
    ) -> tuple[float, Floats]:
        """Return a lower condition number and its variables, from those of a start."""
        columns = self.base(self.path(draw[1][None]), self._times).independent

        def costs(xs: Floats) -> Floats:
            """Return logarithms of condition numbers, with what is used beyond limits."""
            every = np.tile(self._times, len(xs))
            W = self.rows(self.path(xs), every)[:, columns].reshape(len(xs), -1, len(columns))
            W = W / np.linalg.norm(W, axis=1, keepdims=True)
            squares = np.linalg.eigvalsh(W.transpose(0, 2, 1) @ W)[:, [0, -1]]
            beyond = np.maximum(self.uses(xs) - _ROOM, 0.0)
            least, most = np.maximum(squares, _EXACT).T
            return np.asarray(0.5 * np.log(most / least) + _PENALTY * (beyond**2).sum(axis=1))

        def sloped(x: Floats) -> tuple[float, Floats]:
            """Return a cost and its derivatives."""
            there = np.vstack([x, x + _DIFFERENCE * np.eye(len(x))])
            parts = (there[k : k + _TOGETHER] for k in range(0, len(there), _TOGETHER))
            first, *others = np.concatenate([costs(part) for part in parts])
            return first, (np.array(others) - first) / _DIFFERENCE

        options = {'maxiter': _STEPS}
        solution = minimize(
            sloped, draw[1], jac=True, method='L-BFGS-B', options=options, callback=step
        )
        return min(self.within(solution.x), draw, key=itemgetter(0))

    def result(self, x: Floats, random_condition: float) -> ExcitingMotion:
        """Return the motion of variables and strokes after it, within limits at every instant."""
        space = self._space
        even = np.linspace(0.0, self._duration, int(np.ceil(self._duration / _POINTS)) + 1)

        def waves(factor: float) -> JointTrajectory:
            motion = self.path(self.smaller(x, factor)[None]).motion
            return JointTrajectory(space.moving, even, *motion(even))

        def uses(points: JointTrajectory, step: float = _FINE) -> Floats:
            times = np.linspace(0.0, points.end, int(np.ceil(points.end / step)) + 1)
            return space.uses(PlannedPath(space, points.sampled, points.end), times)[0]

        first = waves(_largest(lambda f: uses(waves(f)), 1.0))
        centre = first.positions[-1]
        inward = np.where(space.bounded & (centre > space.middle), -1.0, 1.0)
        ways = space.reach + np.where(space.bounded, np.abs(centre - space.middle), 0.0)
        fastest = _FAST * inward * np.minimum(space.fastest, ways / (EVEN + BLEND))

        def whole(factor: float) -> JointTrajectory:
            second = strokes(space.moving, centre, factor * fastest)
            parts = ((getattr(first, name), getattr(second, name)[1:]) for name in ROWS[:3])
            times = np.append(first.times, first.end + second.times[1:])
            return JointTrajectory(space.moving, times, *map(np.vstack, parts))

        factor = _largest(lambda f: uses(whole(f), _GRID), _ROOM)
        factor *= _largest(lambda f: uses(whole(f * factor)), 1.0)
        points = whole(factor) if factor else first
        path, largest = PlannedPath(space, points.sampled, points.end), dict[str, float]()
        for name, use in zip(space.names, uses(points).tolist(), strict=True):
            largest[name] = max(largest.get(name, use), use)
        robot, rows = self._equations.dynamics.robot, path.at(points.times)
        names = robot.coordinate_names
        pose = names[: 3 * (robot.base == 'planar')]
        joints = [name for name in names if name in space.moving or name not in pose]
        trajectory = JointTrajectory(names, points.times, *rows).of(joints)
        base = self.base(path, np.arange(0.0, points.end, _GRID))
        twists = rows.tangent[:, : len(pose)]
        return ExcitingMotion(trajectory, twists, largest, base, random_condition)


def _largest(uses: Callable[[float], Floats], most: float) -> float:
    """Return the largest factor up to 1 of which no use is above a bound; 0: there is none."""
    if uses(1.0).max() <= most:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if uses(middle).max() <= most else (low, middle)
    return low
