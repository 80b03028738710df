# SPDX-License-Identifier: Apache-2.0
"""Motions of motors over time, Fourier series and strokes, and what they use of the limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from scipy.integrate import cumulative_trapezoid

from kane_dynamics.analysis.ground_contacts import GroundContacts
from kane_dynamics.analysis.motion_limits import SafetyMargins
from kane_dynamics.dynamics import Dynamics
from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.identification.base_parameters import leading_columns
from kane_dynamics.identification.equations import CHUNK
from kane_dynamics.robot.joint_tables import known_limits
from kane_dynamics.trajectories.joint_trajectory import JointTrajectory
from kane_dynamics.trajectories.path_limits import PathLimits
from kane_dynamics.trajectories.paths import PathPoints
from kane_dynamics.typing import Floats

HARMONICS, PERIOD, FADE = 5, 10.0, 1.0  # of a series; [s], [s]
SLOW, SPEEDS = 0.01, 7  # least speed of strokes [rad/s or m/s], and how many speeds
EVEN, BLEND = 2.0, 0.5  # of a stroke: at constant speed, and from rest to it [s]
RANGE = 0.95  # of a joint's range that is used
_STEEPEST = 1.5  # mean acceleration of a blend to its largest
Motion = Callable[[Floats], Sequence[Floats]]  # positions, velocities, accelerations, (n, k)


def series(centres: Floats, waves: Floats, duration: float) -> Motion:
    """Return faded series about centres, (m, k), of coefficients, (m, 2 HARMONICS, k)."""
    order = np.arange(1, HARMONICS + 1)
    rate, fade = 2.0 * np.pi / PERIOD * order, np.poly1d([6.0, -15.0, 10.0, 0.0, 0.0, 0.0])
    sizes = (waves[:, :HARMONICS] - 1j * waves[:, HARMONICS:]) / order[:, None]

    def motion(times: Floats) -> Sequence[Floats]:
        """Return the motions one after the other, each at its part of the times."""
        t = times.reshape(len(waves), -1)[0]
        turns = np.exp(1j * np.outer(t, rate))
        x, v, a = ((turns * (1j * rate) ** n @ sizes).real for n in range(3))
        u = np.clip(np.minimum(t, duration - t) / FADE, 0.0, 1.0)[:, None]
        way = np.where(t < 0.5 * duration, 1.0, -1.0)[:, None] / FADE
        f, df, ddf = (fade.deriv(n)(u) * way**n for n in range(3))
        motions = centres[:, None] + f * x, df * x + f * v, ddf * x + 2.0 * df * v + f * a
        return [part.reshape(len(times), -1) for part in motions]

    return motion


def strokes(names: Sequence[str], centre: Floats, fastest: Floats) -> JointTrajectory:
    """Return motions back and forth at SPEEDS constant speeds up to the fastest, with its sign."""
    slowest = np.sign(fastest) * np.minimum(SLOW, np.abs(fastest))
    ways = np.array([0.5 * BLEND, 0.5 * BLEND + EVEN, BLEND + EVEN])
    positions, velocities = [centre], [0.0 * centre]
    for level in np.geomspace(slowest, fastest, SPEEDS):
        there = np.outer(ways, level)
        positions += [*(centre + there), *(centre + there[-1] - there)]
        velocities += [level, level, 0.0 * level, -level, -level, 0.0 * level]
    times = np.cumsum(np.append(0.0, np.tile([BLEND, EVEN, BLEND], 2 * SPEEDS)))
    rates = np.array(velocities)
    return JointTrajectory(tuple(names), times, np.array(positions), rates, 0.0 * rates)


@dataclass(frozen=True, eq=False)
class PlannedPath:
    """A motion of motors over time as a path; a base stays at the origin of its axes."""

    space: MotionSpace
    motion: Motion
    length: float = 1.0

    def at(self, s: Floats) -> PathPoints:
        """Return q, v and a at times, shape (n,)."""
        space = self.space
        q, v, a = np.tile(space.q_start, (len(s), 1)), *np.zeros((2, len(s), len(space.q_start)))
        for whole, part in zip((q, v, a), self.motion(s), strict=True):
            whole[:, space.columns] = part
        if space.dynamics.labels:
            v = space.dynamics.consistent_velocity(q, v, space.known)
            a = space.dynamics.consistent_acceleration(q, v, a, space.known)
        return PathPoints(q, v, a)


def base_distance(times: Floats, points: PathPoints) -> Floats:
    """Return how far a planar base is from its start, shape (n,)."""
    if np.ptp(points.q[:, :3], axis=0).any():  # motors of its own move it
        return np.asarray(np.linalg.norm(points.q[:, :2], axis=1))
    turn = np.exp(1j * cumulative_trapezoid(points.tangent[:, 2], times, initial=0.0))
    along = turn * (points.tangent[:, 0] + 1j * points.tangent[:, 1])
    return np.abs(cumulative_trapezoid(along, times, initial=0.0))


class MotionSpace:
    """Motions of motors, and the limits of the robot and of the floor around it."""

    def __init__(
        self,
        dynamics: Dynamics,
        motors: Sequence[str],
        still: Sequence[str],
        q_start: Floats,
        contacts: GroundContacts | None,
        kept: SafetyMargins,
        acceleration: float,
        floor: float,
    ) -> None:
        robot, self.dynamics, self.q_start, self._floor = dynamics.robot, dynamics, q_start, floor
        self.known = _independent_speeds(dynamics, motors, still, q_start)
        self.moving = tuple(n for n in self.known if n in motors and n not in still)
        self.columns = q = np.array([robot.coordinate_index(n) for n in self.moving], np.intp)
        each = np.eye(len(q))
        units = PlannedPath(
            self, lambda t: [np.resize(k * each, (len(t), len(q))) for k in (0, 1, 0)]
        )
        rates = dict.fromkeys(self.moving, acceleration)
        self._limits = PathLimits(dynamics, units, motors, contacts, kept, accelerations=rates)
        lower, upper = robot.lower[q], robot.upper[q]
        self.bounded = b = np.isfinite(lower) & np.isfinite(upper)
        self.middle, self.reach = q_start[q], np.full(len(q), np.pi)
        lower, upper = lower[b], upper[b]
        self.middle[b], self.reach[b] = 0.5 * (lower + upper), 0.5 * RANGE * (upper - lower)
        if stuck := [name for name, way in zip(self.moving, self.reach, strict=True) if way <= 0]:
            raise InvalidInputError(f'limits leave {stuck} no way to move; leave out by --joints')
        self._mobile = robot.base == 'planar'
        if self._mobile:  # what moves the base has the floor for its range
            ways = np.linalg.norm(units.at(np.zeros(len(q))).tangent[:, :2], axis=1)
            drives = ways > 0.0
            self.reach[drives] = floor / (ways[drives] * drives.sum())
        speeds = known_limits(robot.velocity_limit[q], kept.speed)
        self.fastest = np.minimum(speeds, acceleration * BLEND / _STEEPEST)
        names = [f'position of {self.moving[k]}' for k in np.flatnonzero(b)]
        self.names = (*self._limits.names, *names, *names, *['way of the base'] * self._mobile)

    def uses(self, path: PlannedPath, times: Floats, count: int = 1) -> Floats:
        """Return the largest use of each limit by the motions of a path, (count, m); 1 is all."""
        limits, every = self._limits.on(path), np.tile(times, count)
        size = CHUNK if count == 1 else len(every)
        parts = [every[k : k + size] for k in range(0, len(every), size)]
        rows = np.concatenate([limits.at(t).use(0.0 * t, 1.0 + 0.0 * t) for t in parts])
        points = path.at(every)
        ways = ((points.q[:, self.columns] - self.middle) / self.reach)[:, self.bounded]
        both = np.hstack([rows, ways, -ways]).reshape(count, len(times), -1).max(axis=1)
        if not self._mobile:
            return np.asarray(both)
        motions = zip(*(np.split(x, count) for x in points), strict=True)
        ends = [base_distance(times, PathPoints(*one)).max() / self._floor for one in motions]
        return np.column_stack([both, ends])


def _independent_speeds(
    dynamics: Dynamics, motors: Sequence[str], still: Sequence[str], q_start: Floats
) -> tuple[str, ...]:
    """Return speeds that determine all others: those that stand still first, then other motors."""
    names = dynamics.robot.velocity_names
    A = np.asarray(dynamics.constraint_rows(q_start, np.zeros(len(names))).matrix, dtype=float)
    free = scipy.linalg.null_space(np.vstack([A, np.zeros((1, len(names)))]))
    ranks = [0 if name in still else 1 if name in motors else 2 for name in names]
    return tuple(names[k] for k in leading_columns(free.T, ranks))
