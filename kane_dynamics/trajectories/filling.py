# SPDX-License-Identifier: Apache-2.0
"""
Efforts at the points of a trajectory, and points so close that a line between them will do.

A joint_trajectory_controller moves along the spline of the points and feeds their efforts forward,
but the efforts **linearly** between the points. So points are put in between, on the same spline:
the motion stays what it was, the error of the effort becomes as small as is wanted. Where the
acceleration jumps, as at the points of cubic splines, two points stand `GAP` apart. After the
last point its effort is held, so a last point `GAP` later has the effort of the robot at rest.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_nonnegative, as_positive
from kane_dynamics.trajectories.points import TrajectoryPoints
from kane_dynamics.trajectories.trajectory import Trajectory
from kane_dynamics.typing import Floats

EffortOf: TypeAlias = Callable[[float, Floats, Floats, Floats], Floats]
"""effort(time, position, velocity, acceleration): what one state of the joints needs."""

GAP = 1e-3
"""Time between the two points where efforts jump [s]: a period of a usual controller."""
CLOSEST = 1e-3
"""Least time between points that are put in for the error's sake [s]."""
SMOOTH = 1e-6
"""Jump of an effort, relative to its size, that is none: that of rounding at 9 digits."""

MOST = 100_000
"""Efforts that are found for one trajectory: three minutes of points 2 ms apart, and more."""
LINES = 0.8
"""Part of the wanted error that lines between points may take; the rest is for small jumps."""

LOOKS = (0.5, 0.25, 0.75, 0.125, 0.375, 0.625, 0.875)
"""Where between two points a line is compared; halves, which smaller intervals look at again."""


class Sample(NamedTuple):
    """One state of the joints and its effort; arrays of shape (k,)."""

    time: float
    position: Floats
    velocity: Floats
    acceleration: Floats
    effort: Floats


def filled(
    points: TrajectoryPoints, effort: EffortOf, *, error: float = np.inf, rate: float = 0.0
) -> TrajectoryPoints:
    """
    Return a trajectory with efforts, which moves exactly as the given one does.

    Parameters
    ----------
    points : TrajectoryPoints
        Motion; its efforts are not looked at.
    effort : callable
        effort(time, position, velocity, acceleration) of one state, arrays of shape (k,).
    error : float
        Largest difference that a line between points may have from the effort [N m or N]; points
        are not put closer than `CLOSEST` for it.
    rate : float
        Least number of points per second; 0: no more than the given ones and those for `error`.

    Raises
    ------
    InvalidInputError
        If `error` is not > 0, `rate` is negative, an effort is not finite, or more than `MOST`
        efforts are needed.

    """
    least = as_nonnegative('rate [Hz]', rate)
    bound = np.inf if error == np.inf else as_positive('error [N m or N]', error)
    end = float(points.times[-1])
    too_many = (
        f'efforts within {bound:g} N m or N, {least:g} points a second, until {end:g} s: need at '
        f'most {MOST} efforts of a trajectory; give a larger error, a lower rate, or less time'
    )
    if (end - float(points.times[0])) * least > MOST:
        raise InvalidInputError(too_many)
    counted = _at_most(MOST, effort, too_many)
    samples: list[Sample] = []
    for motion in _motions(points):
        segment = _Segment(motion, counted)
        result = segment.samples(least, LINES * bound)
        if samples and _jumps(samples[-1].effort, result[0].effort, bound):
            half = 0.5 * (result[1].time - result[0].time)
            samples.append(segment.at(result[0].time + min(GAP, half)))
        samples += result[1:] if samples else result
    held = _at_rest(points, effort)
    if not samples:
        samples.append(held)
    elif _stops(points) and _jumps(samples[-1].effort, held.effort, bound):
        samples.append(held._replace(time=held.time + GAP))
    return _points(points, samples)


def line_error(points: TrajectoryPoints, effort: EffortOf, step: float = 1e-3) -> Floats:
    """
    Return the largest error of efforts that are linear between points, shape (k,) [N m or N].

    Parameters
    ----------
    points : TrajectoryPoints
        With efforts.
    effort : callable
        As for `filled`.
    step : float
        Time between looks [s]; nothing is seen between points closer than `GAP`, where efforts
        jump.

    """
    if points.efforts is None:
        raise InvalidInputError('line_error: the points have no efforts')
    worst = np.zeros(len(points.names))
    for k, motion in enumerate(_motions(points)):
        start, end = points.times[k : k + 2]
        if end - start <= 1.5 * GAP:
            continue
        ends = points.efforts[k : k + 2]
        for part in np.linspace(0.0, 1.0, max(round((end - start) / step), 3)):
            time = start + part * (end - start)
            line = (1.0 - part) * ends[0] + part * ends[1]
            target = effort(time, *motion.at(min(time, end)))
            worst = np.maximum(worst, np.abs(line - target))
    return worst


class _Segment:
    """The spline between two neighbouring points, and efforts on it."""

    def __init__(self, motion: Trajectory, effort: EffortOf) -> None:
        self._motion, self._effort = motion, effort
        self._known: dict[float, Sample] = {}

    def samples(self, rate: float, error: float) -> list[Sample]:
        """Return samples from one end to the other, `rate` per second and as `error` needs."""
        start, end = self._motion.start, self._motion.end
        parts = max(int(np.ceil((end - start) * rate * (1.0 - 1e-9))), 1)
        times = np.linspace(start, end, parts + 1).tolist()
        result = [self.at(start)]
        for left, right in itertools.pairwise(times):
            result += self._refined(left, right, error)
        return result

    def _refined(self, left: float, right: float, error: float) -> list[Sample]:
        """Return the samples after `left` up to `right` between which lines will do."""
        ends = self.at(left), self.at(right)
        if error == np.inf or right - left < 2.0 * CLOSEST:
            return [ends[1]]
        middle = 0.5 * (left + right)
        for part in LOOKS:
            line = (1.0 - part) * ends[0].effort + part * ends[1].effort
            if (np.abs(self.at(left + part * (right - left)).effort - line) > error).any():
                return self._refined(left, middle, error) + self._refined(middle, right, error)
        return [ends[1]]

    def at(self, time: float) -> Sample:
        """Return the sample at a time [s]."""
        if time not in self._known:
            motion = self._motion.at(time)
            self._known[time] = Sample(time, *motion, self._effort(time, *motion))
        return self._known[time]


def _at_most(count: int, effort: EffortOf, problem: str) -> EffortOf:
    """Return efforts that can be asked for so often; raises InvalidInputError at one more."""
    left = iter(range(count))

    def counted(time: float, *motion: Floats) -> Floats:
        if next(left, None) is None:
            raise InvalidInputError(problem)
        return effort(time, *motion)

    return counted


def _motions(points: TrajectoryPoints) -> list[Trajectory]:
    """Return the splines between neighbouring points."""
    rows = (points.positions, points.velocities, points.accelerations)
    values = [x for x in rows if x is not None]
    return [
        Trajectory(points.times[k : k + 2], *(x[k : k + 2] for x in values))
        for k in range(len(points.times) - 1)
    ]


def _at_rest(points: TrajectoryPoints, effort: EffortOf) -> Sample:
    """Return what holds the last position."""
    time, last = float(points.times[-1]), points.positions[-1]
    remainder = np.zeros_like(last)
    return Sample(time, last, remainder, remainder, effort(time, last, remainder, remainder))


def _stops(points: TrajectoryPoints) -> bool:
    """Return whether the joints are at rest at the last point."""
    return points.velocities is None or not points.velocities[-1].any()


def _jumps(before: Floats, after: Floats, error: float) -> bool:
    """Return whether efforts on both sides of one time differ by more than may be left."""
    size = SMOOTH * (1.0 + np.maximum(np.abs(before), np.abs(after)))
    bound = size if error == np.inf else np.maximum(size, (1.0 - LINES) * error)
    return bool((np.abs(after - before) > bound).any())


def _points(values: TrajectoryPoints, samples: list[Sample]) -> TrajectoryPoints:
    """Return samples as points that have the fields of the given ones, and efforts."""
    times, positions, velocities, accelerations, efforts = (
        np.array([getattr(sample, field) for sample in samples]) for field in Sample._fields
    )
    return TrajectoryPoints(
        values.names,
        times,
        positions,
        None if values.velocities is None else velocities,
        None if values.accelerations is None else accelerations,
        efforts,
    )
