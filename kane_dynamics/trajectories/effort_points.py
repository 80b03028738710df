# SPDX-License-Identifier: Apache-2.0
"""
Efforts at the points of a trajectory, and points so close that a line between them will do.

A joint_trajectory_controller moves along the spline of the points and feeds their efforts forward,
but the efforts **linearly** between the points. So points are put in between, on the same spline:
the motion stays what it was, and the error of the effort falls below a bound. Where the
acceleration jumps, as at the points of cubic splines, two points stand `GAP` apart. After the
last point its effort is held, so a last point `GAP` later has the effort of the robot at rest.

The controller goes from where the joints are to the first point; the effort it ramps linearly from
its last command to that of the first point. Where that is at time zero, the effort steps at once.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from kane_dynamics.exceptions import InvalidInputError
from kane_dynamics.robot.checks import as_nonnegative, as_positive
from kane_dynamics.trajectories.joint_trajectory import ROWS, JointTrajectory
from kane_dynamics.typing import ArrayLike, Floats

# effort(time, position, velocity, acceleration): what one state of the joints needs
EffortFunction: TypeAlias = Callable[[float, Floats, Floats, Floats], Floats]

GAP = 1e-3  # time between the two points where efforts jump [s]: a period of a usual controller
CLOSEST = 1e-3  # least time between points that are put in for the error's sake [s]
# jump of an effort, relative to its size, that is none: that of rounding at 9 digits
SMOOTH = 1e-6

MOST = 100_000  # efforts of one trajectory: three minutes of points 2 ms apart, and more
# part of the allowed error that lines between points may take; the rest is for small jumps
LINES = 0.8

# where between two points a line is compared; halves, which smaller intervals compare again
COMPARED = (0.5, 0.25, 0.75, 0.125, 0.375, 0.625, 0.875)


class Sample(NamedTuple):
    """One state of the joints and its effort; arrays of shape (k,)."""

    time: float
    position: Floats
    velocity: Floats
    acceleration: Floats
    effort: Floats


class EffortViolation(NamedTuple):
    """The largest effort of a joint beyond its limit: time [s], effort and limit [N m or N]."""

    joint: str
    time: float
    effort: float
    limit: float

    def __str__(self) -> str:
        """Return it in words."""
        return (
            f"'{self.joint}' needs {self.effort:.4g} at {self.time:.3f} s, limit {self.limit:.4g}"
        )


def with_efforts(
    points: JointTrajectory, effort: EffortFunction, *, error: float = np.inf, rate: float = 0.0
) -> JointTrajectory:
    """Return a trajectory with efforts, which moves exactly as `points` do."""
    least = as_nonnegative('rate [Hz]', rate)
    bound = np.inf if error == np.inf else as_positive('error [N m or N]', error)
    too_many = InvalidInputError(
        f'efforts within {bound:g} N m or N, {least:g} points a second, until {points.end:g} s: '
        f'need at most {MOST} efforts of a trajectory; give a larger error, a lower rate, or less '
        'time'
    )
    if (points.end - points.start) * least > MOST:
        raise too_many
    budget = iter(range(MOST))

    def sample(time: float, p: Floats, v: Floats, a: Floats) -> Sample:
        if next(budget, None) is None:
            raise too_many
        return Sample(time, p, v, a, effort(time, p, v, a))

    samples: list[Sample] = []
    for motion in points.segments():
        new = _between(motion, sample, least, LINES * bound)
        if samples and _jumps(samples[-1].effort, new[0].effort, bound):
            half = 0.5 * (new[1].time - new[0].time)
            time = new[0].time + min(GAP, half)
            samples.append(sample(time, *motion.at(time)))
        samples += new[1:] if samples else new
    still = np.zeros_like(points.positions[-1])
    end = sample(points.end, points.positions[-1], still, still)
    stops = points.velocities is None or not points.velocities[-1].any()
    if not samples:
        samples.append(end)
    elif stops and _jumps(samples[-1].effort, end.effort, bound):
        samples.append(end._replace(time=end.time + GAP))
    times, *rows = (np.array(column) for column in zip(*samples, strict=True))
    present: dict[str, Any] = {
        name: x for name, x in zip(ROWS, rows, strict=True) if _has(points, name)
    }
    return replace(points, times=times, **{**present, 'efforts': rows[-1]})


def line_error(points: JointTrajectory, effort: EffortFunction, step: float = 1e-3) -> Floats:
    """Return the largest error of efforts linear between points, shape (k,) [N m or N]."""
    if points.efforts is None:
        raise InvalidInputError('line_error: the points have no efforts')
    worst = np.zeros(len(points.names))
    for k, motion in enumerate(points.segments()):
        duration = motion.end - motion.start
        if duration <= 1.5 * GAP:  # there efforts jump
            continue
        ends = points.efforts[k : k + 2]
        for part in np.linspace(0.0, 1.0, max(round(duration / step), 3)):
            time = motion.start + part * duration
            line = (1.0 - part) * ends[0] + part * ends[1]
            exact = effort(time, *motion.at(min(time, motion.end)))
            worst = np.maximum(worst, np.abs(line - exact))
    return worst


def _between(
    motion: JointTrajectory, sample: Callable[..., Sample], rate: float, error: float
) -> list[Sample]:
    """Return samples of the spline of two points, `rate` a second and as `error` needs."""

    @cache
    def at(time: float) -> Sample:
        return sample(time, *motion.at(time))

    def refined(left: float, right: float) -> list[Sample]:
        """Return the samples after `left` up to `right` between which lines will do."""
        ends = at(left), at(right)
        if error == np.inf or right - left < 2.0 * CLOSEST:
            return [ends[1]]
        middle = 0.5 * (left + right)
        for part in COMPARED:
            line = (1.0 - part) * ends[0].effort + part * ends[1].effort
            if (np.abs(at(left + part * (right - left)).effort - line) > error).any():
                return refined(left, middle) + refined(middle, right)
        return [ends[1]]

    parts = max(int(np.ceil((motion.end - motion.start) * rate * (1.0 - 1e-9))), 1)
    times = np.linspace(motion.start, motion.end, parts + 1).tolist()
    return [at(times[0]), *(one for pair in pairwise(times) for one in refined(*pair))]


def _jumps(before: Floats, after: Floats, error: float) -> bool:
    """Return whether efforts on both sides of one time differ by more than the bound."""
    size = SMOOTH * (1.0 + np.maximum(np.abs(before), np.abs(after)))
    bound = size if error == np.inf else np.maximum(size, (1.0 - LINES) * error)
    return bool((np.abs(after - before) > bound).any())


def _has(points: JointTrajectory, name: str) -> bool:
    return getattr(points, name) is not None


def clip_efforts(
    points: JointTrajectory, limit: Floats
) -> tuple[JointTrajectory, tuple[EffortViolation, ...]]:
    """Return the trajectory with efforts clipped to +-limit, and what was beyond."""
    if points.efforts is None:
        raise InvalidInputError('clip_efforts: the points have no efforts')
    over = []
    for j in np.nonzero((np.abs(points.efforts) > limit).any(axis=0))[0]:
        i = int(np.argmax(np.abs(points.efforts[:, j])))
        worst = float(points.efforts[i, j]), float(limit[j])
        over.append(EffortViolation(points.names[j], float(points.times[i]), *worst))
    return replace(points, efforts=np.clip(points.efforts, -limit, limit)), tuple(over)


def starting_from(points: JointTrajectory, position: Floats, velocity: Floats) -> JointTrajectory:
    """Return a trajectory that begins at the present state, where its first point lies ahead."""
    if points.start == 0.0:
        return points
    state = position, velocity, np.zeros_like(position)
    return _joined(points, 0.0, slice(None), dict(zip(ROWS, state, strict=False)))


def with_ramp(points: JointTrajectory, duration: float) -> JointTrajectory:
    """Return a trajectory whose first point comes at `duration` [s], on the same motion."""
    first = as_nonnegative('duration of the ramp [s]', duration)
    if first <= points.start:
        return points
    if first >= points.end:
        raise InvalidInputError(
            f'the ramp takes {first:g} s, the trajectory only {points.end:g} s'
        )
    state: dict[str, ArrayLike] = dict(zip(ROWS, points.at(first), strict=False))
    if points.efforts is not None:
        state['efforts'] = [np.interp(first, points.times, column) for column in points.efforts.T]
    return _joined(points, first, points.times > first, state)


def _joined(
    points: JointTrajectory, time: float, kept: Any, state: dict[str, ArrayLike]
) -> JointTrajectory:
    """Return some of the points after a state; efforts only where the state has them."""
    rows: dict[str, Any] = {
        name: np.vstack([x, getattr(points, name)[kept]])
        for name, x in state.items()
        if _has(points, name)
    }
    times = np.append(time, points.times[kept])
    return replace(points, times=times, **{'efforts': None, **rows})
